/* test_td_walk_tensor.c: tensors that a build made; nobody's code is asked. */
#include "walk_frames.h"

static walk_row_t const seen[] = {
    {"Case([(x, torch.ones(2, 3))])", "",
     "\"fake_tensor\":{\"kind\":\"Tensor\",\"type\":[\"class\", "
     "\"torch._subclasses.fake_tensor\", \"FakeTensor\"],\"size\":[2, 3],\"stride\":[3, 1],"
     "\"storage_offset\":0,\"dtype\":[\"torch.dtype\", \"float32\"],"
     "\"device\":[\"torch.device\", \"cpu\"],\"layout\":[\"torch.layout\", \"strided\"],"
     "\"requires_grad\":false,\"is_leaf\":true,\"constant\":null,\"base\":null,\"grad\":null,"
     "\"attributes\":[]}"},
    /* met again: in the node's meta, among the tracked */
    {"Case([(x, torch.ones(2, 3))])", "", "\"example_value\":[\"again\", 1]"},
    {"Case([(x, torch.ones(2, 3))])", "", "\"fake\":[\"again\", 1]"},
    {"Case([(x, torch.ones(4, 6)[1:, ::2])], dynamic)", "",
     "\"size\":[[\"SymInt\", \"s0\", 3], [\"SymInt\", \"s0\", 3]],"
     "\"stride\":[[\"SymInt\", \"s0*s1\", 6], [\"SymInt\", \"s1\", 2]],"
     "\"storage_offset\":[\"SymInt\", \"s2\", 6]"},
    {"Case([(x, torch.ones(2, requires_grad=True) * 2)])", "",
     "\"requires_grad\":true,\"is_leaf\":false"},
    {"Case([(x, torch.ones(2, 3).t())])", "", "\"base\":{\"kind\":\"Tensor\",\"type\":[\"class\""},
    {"Case([(x, torch.nn.Parameter(torch.ones(2)))])", "",
     "\"attributes\":[[\"_is_param\", true]]"},
    {"Case([(x, torch.eye(2).to_sparse())])", "", "\"stride\":"},
    {"Case([(x, torch.ones(2))])",
     "p = torch.nn.Parameter(torch.ones(2)); p.grad = torch.ones(2); t.specialized_value = p",
     "\"grad\":{\"kind\":\"Tensor\",\"type\":[\"class\", \"torch\", \"Tensor\"],\"size\":[2],"
     "\"stride\":[1],\"storage_offset\":null"},
    /* a program's own tensor is an object like any other */
    {"Case([(x, torch.ones(2))])", "t.specialized_value = case.objects[0]",
     "\"specialized_value\":[\"object\", 0]"},
};

static void
tensors_are_records(void **state)
{
    (void)state;
    WALK_ROWS_SEEN(seen);
}

/* A subclass that would count every question put to it. */
static char const asked[] =
    "class Asked(torch.Tensor):\n"
    "    asked = []\n"
    "    @classmethod\n"
    "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
    "        cls.asked.append(func)\n"
    "        return super().__torch_function__(func, types, args, kwargs or {})\n"
    "    @property\n"
    "    def dtype(self): self.asked.append('dtype')\n"
    "    def size(self): self.asked.append('size')\n"
    "made = torch.ones(2, 3).as_subclass(Asked)\n"
    "Asked.asked.clear()\n"
    "t.specialized_value = made\n";

static void
subclasses_are_not_asked(void **state)
{
    PyObject *taken = walk_take("Case([(x, torch.ones(2))])");
    td_obs_t *obs   = td_obs_new();
    td_val_t  record;
    char     *json;
    PyObject *empty;

    (void)state;
    walk_do(taken, asked);
    assert_int_equal(walk_run(taken, obs, &record), TD_OK);
    json = td_obs_json(obs, record, false);
    assert_non_null(strstr(json, "\"type\":[\"class\", \"__main__\", \"Asked\"],\"size\":[2, 3],"
                                 "\"stride\":[3, 1],\"storage_offset\":0,"
                                 "\"dtype\":[\"torch.dtype\", \"float32\"]"));
    empty = walk_take("Asked.asked == [] and torch._C._is_torch_function_enabled()");
    assert_ptr_equal(empty, Py_True);
    Py_DECREF(empty);
    td_free(json);
    td_obs_free(obs);
    walk_close(taken);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(tensors_are_records),
        cmocka_unit_test(subclasses_are_not_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
