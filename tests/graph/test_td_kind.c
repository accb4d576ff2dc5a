/* test_td_kind.c: the tables of kinds and choices, and what is published of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/td_graph.h"

/* On the wire of every corpus there is: rows are added, never changed. */
static struct {
    int         tag;
    char const *name;
} const published[] = {
    {1, "none"},
    {2, "bool"},
    {3, "int"},
    {4, "bigint"},
    {5, "float"},
    {6, "str"},
    {7, "device"},
    {8, "dtype"},
    {9, "size"},
    {10, "list"},
    {11, "tuple"},
    {12, "namedtuple"},
    {13, "deque"},
    {14, "odict_values"},
    {15, "range"},
    {16, "slice"},
    {17, "dict"},
    {18, "ordered_dict"},
    {19, "default_dict"},
    {20, "tensor"},
    {21, "function"},
    {22, "builtin"},
    {23, "class"},
    {24, "pymodule"},
    {25, "torch"},
    {26, "parameter"},
    {27, "tuple_iterator"},
    {28, "set"},
    {29, "frozenset"},
    {30, "enum"},
    {31, "object"},
    {32, "nn_module"},
    {33, "ndarray"},
    {34, "np_scalar"},
    {35, "partial"},
    {36, "typing"},
    {37, "bytes"},
    {38, "complex"},
    {39, "bound_method"},
    {40, "autograd"},
    {41, "higher_order"},
    {42, "module"},
    {43, "member"},
    {44, "odd_array"},
    {45, "keywords"},
    {46, "special"},
    {50, "pytree"},
    {51, "optimizer"},
    {52, "optimizer_part"},
    {53, "subclass_tensor"},
    {54, "stand_in"},
    {58, "callee"},
    {59, "fx_option"},
};

static void
published_tags_mean_what_they_meant(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        assert_int_equal(td_kind_find(published[i].name), published[i].tag);
        assert_string_equal(td_kind_info((uint8_t)published[i].tag)->name, published[i].name);
    }
}

static struct {
    uint8_t     kind;
    char const *words; /* in the order of their wire index */
} const published_choices[] = {
    {TD_KIND_DEVICE, "cpu meta cuda"},
    {TD_KIND_DTYPE, "float32 int64 bool complex64"},
    {TD_KIND_NAMEDTUPLE, "Point Pair Unit torch_max LoggingPair"},
    {TD_KIND_FUNCTION, "scale add_bias make_closure double skipped_namedtuple skipped_dynamo "
                       "skipped_lru_cache inlined collective checkpoint marked scripted script "
                       "allowed inline_chain inline_chain_of_three"},
    {TD_KIND_BUILTIN,
     "len print int list type add getitem islice reduce cast intern np_sin append"},
    {TD_KIND_CLASS, "Plain WithMeta Point Color Counter SimpleNamespace OrderedDict ABC "
                    "TaggedTensor QuietTensor"},
    {TD_KIND_PYMODULE, "os numpy objects json operator silent raising"},
    {TD_KIND_TORCH, "add relu functional Tensor Linear aten_add sqrt math torch radd"},
    {TD_KIND_ENUM, "Color_RED Color_BLUE Level_LOW"},
    {TD_KIND_OBJECT,
     "Plain CustomSetattr CustomGetattr Data Counting Raising Lying LyingMember LyingClass"},
    {TD_KIND_NN_MODULE, "Linear ReLU Sequential LSTM RNN GRU BatchNorm hooked lazy script patched "
                        "frozen"},
    {TD_KIND_NP_SCALAR, "float32 int64 bool float64 float16 complex64 uint8 uint16 longdouble "
                        "timedelta64"},
    {TD_KIND_SPECIAL, "signature fields nullcontext nullcontext_of own_nullcontext seed_method "
                      "default_generator stream process_group device_mesh Shard Placement "
                      "placement shard jagged sym_true sym_false comptime getset method_wrapper "
                      "dummy_module default_factory"},
    {TD_KIND_ODD_ARRAY, "uint16 object text records big_endian reversed readonly broadcast "
                        "subclass gaps image windows"},
    {TD_KIND_TYPING, "List Optional_int Any"},
    {TD_KIND_BOUND_METHOD, "plain module generator"},
    {TD_KIND_AUTOGRAD, "Scaler Function OddlyMade apply oddly_made_apply stale_apply other_method "
                       "context_class context instance grad_fn"},
    {TD_KIND_HIGHER_ORDER, "cond map out_dtype wrap tag_checkpoint wrap_checkpoint delegate "
                           "tracepoint trampoline unknown"},
    {TD_KIND_MODULE, "Block Sequential ModuleList ModuleDict ParameterList ParameterDict forced "
                     "unforced storing answering refusing naming comparing abstract fsdp fsdp_flat "
                     "parallel optimized"},
    {TD_KIND_MEMBER, "parameters buffers modules forward_hooks forward_pre_hooks backward_hooks "
                     "state_dict_hooks load_state_dict_pre_hooks non_persistent weight bias "
                     "running_mean training a b first forward"},
    {TD_KIND_PYTREE, "registry entry"},
    {TD_KIND_OPTIMIZER, "SGD Adam Adam_stepped RMSprop_stepped two_groups bare"},
    {TD_KIND_OPTIMIZER_PART, "param_groups group"},
    {TD_KIND_STAND_IN, "model_output begun_output undecorated_output pretrained_config"},
    {TD_KIND_CALLEE, "list empty ints set frozen_list nones nested point tuple_sub "
                     "list_sub text number dict sizes sym_int sym_float sym_bool parameter "
                     "real foreign error sym_of get element_size mod constrain manual_seed "
                     "set_rng_state disable_functorch in_bad_fork nonzero split max set_state "
                     "other_set_state function_set_state seed get_rank get_world_size Stream "
                     "current_stream"},
    {TD_KIND_FX_OPTION, "example source no_source guards no_guards specialize not_translator "
                        "twice"},
    {TD_KIND_SUBCLASS_TENSOR, "Tagged Noting Refusing Quiet QuietParameter"},
};

static void
published_choices_mean_what_they_meant(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published_choices / sizeof *published_choices; i++) {
        char const *word = published_choices[i].words;
        uint8_t     kind = published_choices[i].kind;

        for (size_t idx = 0; *word != '\0'; idx++) {
            size_t sz = strcspn(word, " ");

            assert_true(idx < td_choice_cnt(kind));
            assert_int_equal(strlen(td_choice_name(kind, idx)), sz);
            assert_memory_equal(td_choice_name(kind, idx), word, sz);
            word += sz + (word[sz] == ' ');
        }
    }
}

static void
every_tag_is_published(void **state)
{
    size_t cnt = 0;

    (void)state;
    for (int tag = 0; tag < 256; tag++) {
        cnt += td_kind_info((uint8_t)tag) != NULL;
    }
    assert_int_equal(cnt, sizeof published / sizeof *published);
}

static void
rows_are_whole(void **state)
{
    (void)state;
    for (int tag = 0; tag < 256; tag++) {
        td_kind_info_t const *info = td_kind_info((uint8_t)tag);

        if (info == NULL) {
            continue;
        }
        assert_true(info->edge_min <= info->edge_max);
        assert_true(info->family[0] != '\0' && info->meaning[0] != '\0');
        assert_int_equal(td_choice_cnt((uint8_t)tag) != 0, info->payload == TD_PAYLOAD_CHOICE);
        for (size_t idx = 0; idx < td_choice_cnt((uint8_t)tag); idx++) {
            assert_true(td_choice_path((uint8_t)tag, idx)[0] != '\0');
        }
    }
}

static void
what_is_not_there_is_not_found(void **state)
{
    (void)state;
    assert_null(td_kind_info(0));
    assert_null(td_kind_info(255));
    assert_int_equal(td_kind_find("no_such_kind"), -1);
    assert_int_equal(td_kind_find(""), -1);
    assert_int_equal(td_choice_cnt(TD_KIND_INT), 0);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(published_tags_mean_what_they_meant),
        cmocka_unit_test(published_choices_mean_what_they_meant),
        cmocka_unit_test(every_tag_is_published),
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(what_is_not_there_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
