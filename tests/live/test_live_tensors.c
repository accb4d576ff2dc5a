/* test_live_tensors.c: tensors of each layout look as the layout says. */
#include "live_rows.h"

static live_row_t const rows[] = {
    {"%0 = tensor float32[2, 3]\n",
     "type(o[0]) is torch.Tensor and o[0].dtype is torch.float32 and o[0].stride() == (3, 1) "
     "and o[0].is_leaf and not o[0].requires_grad and o[0]._base is None and bool((o[0] == "
     "1).all())"},
    {"%0 = tensor int64[]\n", "o[0].shape == () and o[0].item() == 1"},
    {"%0 = tensor bfloat16[0, 4] grad\n", "o[0].shape == (0, 4) and o[0].requires_grad"},
    {"%0 = tensor float32[2, 3] transposed\n",
     "o[0].shape == (2, 3) and o[0].stride() == (1, 2) and o[0]._base.shape == (3, 2)"},
    {"%0 = tensor float32[4, 2, 3] transposed grad\n",
     "o[0].shape == (4, 2, 3) and o[0].stride() == (6, 1, 2) and o[0].requires_grad "
     "and o[0].is_leaf and not o[0]._base.requires_grad"},
    {"%0 = tensor float32[4, 3] expanded\n",
     "o[0].shape == (4, 3) and o[0].stride() == (0, 1) and o[0]._base.shape == (1, 3)"},
    {"%0 = tensor float32[4, 3] offset\n",
     "o[0].shape == (4, 3) and o[0].storage_offset() == 3 and o[0]._base.shape == (5, 3)"},
    {"%0 = tensor float32[4, 3] strided\n",
     "o[0].shape == (4, 3) and o[0].stride() == (6, 2) and o[0]._base.shape == (4, 6)"},
    {"%0 = tensor float32[2, 3, 4, 5] channels_last\n",
     "o[0].shape == (2, 3, 4, 5) and o[0].is_contiguous(memory_format=torch.channels_last) "
     "and not o[0].is_contiguous() and o[0]._base is None"},
    {"%0 = tensor float32[2, 3] sparse_coo\n",
     "o[0].layout is torch.sparse_coo and o[0]._nnz() == 6"},
    {"%0 = tensor float32[2, 3] sparse_csr\n", "o[0].layout is torch.sparse_csr"},
    {"%0 = tensor float16[2, 3] meta\n",
     "o[0].device.type == 'meta' and o[0].dtype is torch.float16 and o[0].shape == (2, 3)"},
    {"%0 = tensor complex64[2] conj\n", "o[0].is_conj() and o[0]._base is not None"},
    {"%0 = tensor float32[2] nonleaf grad\n",
     "not o[0].is_leaf and o[0].requires_grad and o[0].grad_fn is not None"},
    {"%0 = parameter float32[2, 3] grad\n",
     "type(o[0]) is torch.nn.Parameter and o[0].requires_grad and o[0].is_leaf"},
    {"%0 = parameter int8[2]\n", "type(o[0]) is torch.nn.Parameter and not o[0].requires_grad"},
    {"%0 = parameter float32[2, 3] transposed\n", "o[0].stride() == (1, 2)"},
    {"%0 = ndarray float64[2, 3]\n",
     "type(o[0]) is numpy.ndarray and o[0].dtype == 'float64' and o[0].flags.owndata "
     "and (o[0] == 1).all()"},
    {"%0 = ndarray bool[]\n", "o[0].shape == () and o[0].dtype == 'bool'"},
    {"%0 = ndarray float32[2, 3] transposed\n",
     "o[0].strides == (4, 8) and o[0].flags.writeable and not o[0].flags.owndata"},
    {"%0 = ndarray int32[4] strided\n", "o[0].strides == (8,) and o[0].flags.writeable"},
    {"%0 = tensor float32[2]\n%1 = list %0 %0\n", "o[1][0] is o[0] and o[1][1] is o[0]"},
    {"%0 = tensor float32[2]\n%1 = tensor float32[2]\n",
     "o[0] is not o[1] and o[0].data_ptr() != o[1].data_ptr()"},
};

/* dims_put writes "2, 3" for the dims of tensor. */
static void
dims_put(td_tensor_t const *tensor, char *out, size_t sz)
{
    out[0] = '\0';
    for (size_t i = 0; i < tensor->dim_cnt; i++) {
        snprintf(out + strlen(out), sz - strlen(out), "%s%d", i > 0 ? ", " : "", tensor->dim[i]);
    }
}

/* one_layout makes the tensor if the rules let it be; says whether they do. */
static bool
one_layout(td_tensor_t tensor)
{
    char        dims[64];
    char        text[256];
    char const *layout = td_layout_name(tensor.layout);
    td_live_t   live;

    tensor.requires_grad = tensor.layout == TD_LAYOUT_NONLEAF && td_dtype_is_floating(tensor.dtype);
    if (!td_layout_fits(TD_KIND_TENSOR, &tensor) ||
        (tensor.layout == TD_LAYOUT_NONLEAF && !tensor.requires_grad)) {
        return false;
    }
    dims_put(&tensor, dims, sizeof dims);
    snprintf(text, sizeof text, "%%0 = tensor %s[%s] %s%s\n", td_dtype_name(tensor.dtype), dims,
             tensor.layout == TD_LAYOUT_CONTIGUOUS ? "" : layout,
             tensor.requires_grad ? " grad" : "");
    live_make(text, &live);
    snprintf(text, sizeof text, "list(o[0].shape) == [%s] and o[0].dtype is torch.%s", dims,
             td_dtype_name(tensor.dtype));
    live_expect(text, &live, text);
    td_live_clear(&live);
    return true;
}

/* Every dtype with every layout that the rules let it have. */
static void
all_layouts(void **state)
{
    static td_tensor_t const shapes[] = {
        {.dim_cnt = 0},
        {.dim_cnt = 1, .dim = {0}},
        {.dim_cnt = 1, .dim = {3}},
        {.dim_cnt = 2, .dim = {2, 3}},
        {.dim_cnt = 2, .dim = {0, 3}},
        {.dim_cnt = 4, .dim = {2, 3, 4, 5}},
        {.dim_cnt = 4, .dim = {1, 1, 1, 1}},
        {.dim_cnt = 4, .dim = {2, 0, 3, 1}},
    };
    size_t made = 0;

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (size_t dtype = 0; dtype < td_dtype_cnt(); dtype++) {
            for (size_t layout = 0; layout < TD_LAYOUT_CNT; layout++) {
                td_tensor_t tensor = shapes[i];

                tensor.dtype  = (uint8_t)dtype;
                tensor.layout = (uint8_t)layout;
                made += one_layout(tensor);
            }
        }
    }
    assert_true(made > 400);
}

static void
rows_hold(void **state)
{
    (void)state;
    LIVE_ROWS_CHECK(rows);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(rows_hold),
        cmocka_unit_test(all_layouts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
