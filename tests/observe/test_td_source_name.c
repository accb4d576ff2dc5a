/* test_td_source_name.c: names and guard sources as the reference answers them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "observe/td_forms.h"

static td_obs_t *obs; /* made and freed around each test */

static int
setup(void **state)
{
    (void)state;
    obs = td_obs_new();
    return obs == NULL;
}

static int
teardown(void **state)
{
    (void)state;
    td_obs_free(obs);
    return 0;
}

static td_val_t
local(char const *name)
{
    return td_form_local(obs, name, strlen(name), false);
}

static td_val_t
global(char const *name)
{
    return td_form_global_source(obs, name, strlen(name));
}

static td_val_t
attr(td_val_t base, char const *member)
{
    return td_form_attr(obs, TD_SOURCE_CLASS_AttrSource, base, member, strlen(member));
}

static td_val_t
one(td_source_class_t source_class, td_val_t field)
{
    return td_form_source(obs, source_class, &field, 1);
}

static td_val_t
two(td_source_class_t source_class, td_val_t a, td_val_t b)
{
    return td_form_source(obs, source_class, (td_val_t[]){a, b}, 2);
}

static td_val_t
three(td_source_class_t source_class, td_val_t a, td_val_t b, td_val_t c)
{
    return td_form_source(obs, source_class, (td_val_t[]){a, b, c}, 3);
}

static td_val_t
item(td_val_t base, td_val_t index)
{
    return td_form_item(obs, TD_SOURCE_CLASS_GetItemSource, base, index, false);
}

static td_val_t
text(char const *bytes)
{
    return td_obs_cstr(obs, bytes);
}

static td_val_t
red(void)
{
    return td_form_enum(obs, td_form_class(obs, "m", "Outer.Color"), "RED", 3);
}

static void
expect(td_val_t tree, char const *name, char const *guard_source)
{
    size_t      sz;
    char const *spelled = td_form_source_name(obs, tree, &sz);

    assert_int_equal(td_obs_status(obs), TD_OK);
    assert_non_null(spelled);
    assert_string_equal(spelled, name);
    assert_int_equal(sz, strlen(name));
    assert_string_equal(td_form_guard_source(obs, tree), guard_source);
}

static void
roots_are_spelled(void **state)
{
    (void)state;
    expect(local("x"), "L['x']", "LOCAL");
    expect(td_form_local(obs, "x", 1, true), "L['x']", "LOCAL");
    expect(local("it's"), "L[\"it's\"]", "LOCAL");
    expect(local("a\"b'"), "L['a\"b\\'']", "LOCAL");
    expect(local("t\n\\\xC3\xA9\xC2\xA0\xED\xA0\x80\xF0\x9F\x98\x80"),
           "L['t\\n\\\\\xC3\xA9\\xa0\\ud800\xF0\x9F\x98\x80']", "LOCAL");
    expect(global("g"), "G['g']", "GLOBAL");
    expect(one(TD_SOURCE_CLASS_GlobalWeakRefSource, text("w")), "G['w']()", "GLOBAL");
    expect(one(TD_SOURCE_CLASS_ConstantSource, text("c")), "c", "CONSTANT");
    expect(one(TD_SOURCE_CLASS_RandomValueSource, td_obs_int(obs, 3)), "random_value_3",
           "RANDOM_VALUE");
    expect(two(TD_SOURCE_CLASS_GeneratorStateSource, text("cpu"), td_obs_int(obs, 42)),
           "L[generator_state_cpu_42]", "RANDOM_VALUE");
    expect(td_form_source(obs, TD_SOURCE_CLASS_DummyGlobalSource, NULL, 0), "", "GLOBAL");
    expect(td_form_source(obs, TD_SOURCE_CLASS_GlobalStateSource, NULL, 0), "", "GLOBAL");
    expect(td_form_source(obs, TD_SOURCE_CLASS_ShapeEnvSource, NULL, 0), "", "SHAPE_ENV");
    expect(td_obs_null(obs), "", "");
}

static void
attributes_are_spelled(void **state)
{
    td_val_t x = local("x");

    (void)state;
    expect(attr(x, "a"), "L['x'].a", "LOCAL");
    expect(attr(x, "0"), "getattr(L['x'], '0')", "LOCAL");
    expect(attr(x, ""), "getattr(L['x'], '')", "LOCAL");
    expect(attr(x, "layers.0"), "getattr(L['x'].layers, '0')", "LOCAL");
    expect(attr(x, "\xC3\xA9"
                   "1"),
           "L['x'].\xC3\xA9"
           "1",
           "LOCAL");
    expect(attr(x, "a b"), "getattr(L['x'], 'a b')", "LOCAL");
    expect(td_form_attr(obs, TD_SOURCE_CLASS_ParamBufferSource, x, "a.w", 3), "L['x'].a.w",
           "LOCAL_NN_MODULE");
    assert_int_equal(attr(x, "a.b"), attr(attr(x, "a"), "b"));
}

static void
items_are_spelled(void **state)
{
    td_val_t x = local("x");
    td_val_t slice =
        td_form_slice_index(obs, td_obs_int(obs, 1), td_obs_int(obs, 2), td_obs_null(obs));

    (void)state;
    expect(item(x, td_obs_int(obs, 0)), "L['x'][0]", "LOCAL");
    expect(item(x, text("k")), "L['x']['k']", "LOCAL");
    expect(item(x, td_obs_float(obs, 1.5)), "L['x'][1.5]", "LOCAL");
    expect(item(x, td_obs_bool(obs, true)), "L['x'][True]", "LOCAL");
    expect(item(x, td_obs_null(obs)), "L['x'][None]", "LOCAL");
    expect(item(x, td_obs_bigint(obs, "1180591620717411303424")), "L['x'][1180591620717411303424]",
           "LOCAL");
    expect(td_form_item(obs, TD_SOURCE_CLASS_GetItemSource, x, slice, true),
           "L['x'][slice(1, 2, None)]", "LOCAL");
    expect(item(x, local("i")), "L['x'][L['i']]", "LOCAL");
    expect(item(x, red()), "L['x'][L[\"Color\"].RED]", "LOCAL");
    expect(item(global("g"), red()), "G['g'][G[\"Color\"].RED]", "GLOBAL");
    expect(item(td_form_chained(obs, TD_SOURCE_CLASS_NNModuleSource, x), red()),
           "L['x'][L[\"Color\"].RED]", "LOCAL_NN_MODULE");
    expect(item(x, td_form_object(obs, 3)), "L['x'][<object 3>]", "LOCAL");
    expect(
        td_form_item(obs, TD_SOURCE_CLASS_TupleIteratorGetItemSource, x, td_obs_int(obs, 2), false),
        "___tuple_iterator_getitem(L['x'], 2)", "LOCAL");
    expect(two(TD_SOURCE_CLASS_ODictGetItemSource, x, text("k")), "___odict_getitem(L['x'], 'k')",
           "LOCAL");
    expect(two(TD_SOURCE_CLASS_ODictGetItemSource, x,
               td_form_class(obs, "torch.nn.modules.linear", "Linear")),
           "___odict_getitem(L['x'], __load_module(\"torch.nn.modules.linear\").Linear)", "LOCAL");
    expect(two(TD_SOURCE_CLASS_ODictGetItemSource, x, local("i")),
           "___odict_getitem(L['x'], L['i'])", "LOCAL");
}

static void
wrappings_are_spelled(void **state)
{
    td_val_t x = local("x"), zero = td_obs_int(obs, 0);

    (void)state;
    expect(td_form_chained(obs, TD_SOURCE_CLASS_NumpyTensorSource, x), "__as_tensor(L['x'])",
           "LOCAL");
    expect(td_form_chained(obs, TD_SOURCE_CLASS_TypeSource, x), "type(L['x'])", "LOCAL");
    expect(td_form_chained(obs, TD_SOURCE_CLASS_NegateSource, x), "L['x'].__neg__()", "LOCAL");
    expect(td_form_chained(obs, TD_SOURCE_CLASS_ConvertIntSource, x),
           "cast_symbool_to_symint_guardless(L['x'])", "LOCAL");
    expect(two(TD_SOURCE_CLASS_SuperSource, x, local("T")), "super(L['T'], L['x'])", "LOCAL");
    expect(three(TD_SOURCE_CLASS_DefaultsSource, x, zero, td_obs_bool(obs, false)),
           "L['x'].__defaults__[0]", "LOCAL");
    expect(three(TD_SOURCE_CLASS_DefaultsSource, x, text("k"), td_obs_bool(obs, true)),
           "L['x'].__kwdefaults__['k']", "LOCAL");
    expect(td_form_tensor_property(obs, x, "SIZE", td_obs_int(obs, 1)), "L['x'].size()[1]",
           "LOCAL");
    expect(td_form_tensor_property(obs, x, "STRIDE", zero), "L['x'].stride()[0]", "LOCAL");
    expect(td_form_tensor_property(obs, x, "STORAGE_OFFSET", td_obs_null(obs)),
           "L['x'].storage_offset()", "LOCAL");
}

/* Every base a module source can stand on, with the three answers; "" raises. */
static void
module_sources_map_their_base(void **state)
{
    td_val_t x = local("m"), g = global("m");
    td_val_t c = one(TD_SOURCE_CLASS_ConstantSource, text("m"));
    struct {
        td_val_t    base;
        char const *nn, *not_nn, *fsdp;
    } const table[] = {
        {x, "LOCAL_NN_MODULE", "LOCAL", "LOCAL_FSDP_MODULE"},
        {g, "GLOBAL_NN_MODULE", "GLOBAL", "GLOBAL_FSDP_MODULE"},
        {td_form_chained(obs, TD_SOURCE_CLASS_NNModuleSource, x), "LOCAL_NN_MODULE", "LOCAL",
         "LOCAL_FSDP_MODULE"},
        {td_form_chained(obs, TD_SOURCE_CLASS_NNModuleSource, g), "GLOBAL_NN_MODULE", "GLOBAL",
         "GLOBAL_FSDP_MODULE"},
        {td_form_chained(obs, TD_SOURCE_CLASS_FSDPNNModuleSource, x), "", "LOCAL",
         "LOCAL_FSDP_MODULE"},
        {td_form_chained(obs, TD_SOURCE_CLASS_FSDPNNModuleSource, g), "", "GLOBAL",
         "GLOBAL_FSDP_MODULE"},
        {c, "", "", ""},
    };

    (void)state;
    for (size_t idx = 0; idx < sizeof table / sizeof *table; idx++) {
        char const *name = table[idx].base == c ? "m" : idx % 2 == 0 ? "L['m']" : "G['m']";

        expect(td_form_chained(obs, TD_SOURCE_CLASS_NNModuleSource, table[idx].base), name,
               table[idx].nn);
        expect(td_form_chained(obs, TD_SOURCE_CLASS_NotNNModuleSource, table[idx].base), name,
               table[idx].not_nn);
        expect(td_form_chained(obs, TD_SOURCE_CLASS_FSDPNNModuleSource, table[idx].base), name,
               table[idx].fsdp);
    }
}

static void
what_is_no_source_has_no_name(void **state)
{
    td_val_t wrong            = td_obs_pair(obs, text("NoSource"), td_obs_int(obs, 1));
    td_val_t short_of_a_field = td_obs_pair(obs, text("LocalSource"), text("x"));

    (void)state;
    assert_null(td_form_source_name(obs, td_obs_int(obs, 3), NULL));
    assert_null(td_form_source_name(obs, wrong, NULL));
    assert_null(td_form_source_name(obs, short_of_a_field, NULL));
    assert_null(
        td_form_source_name(obs, td_obs_triple(obs, text("AttrSource"), wrong, text("a")), NULL));
    assert_int_equal(td_obs_status(obs), TD_OK);
}

static void
a_failing_allocation_is_told(void **state)
{
    td_val_t tree   = attr(item(local("x"), td_obs_int(obs, 5)), "a");
    bool     struck = true;
    uint64_t nth    = 1;

    (void)state;
    for (; struck; nth++) {
        char const *name;

        td_obs_reset(obs);
        tree = attr(item(local("x"), td_obs_int(obs, 5)), "a");
        td_nomem_arm(nth);
        name   = td_form_source_name(obs, tree, NULL);
        struck = td_nomem_disarm();
        assert_true(struck == (name == NULL));
        assert_int_equal(td_obs_status(obs), struck ? TD_NOMEM : TD_OK);
    }
    assert_true(nth > 2);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(roots_are_spelled, setup, teardown),
        cmocka_unit_test_setup_teardown(attributes_are_spelled, setup, teardown),
        cmocka_unit_test_setup_teardown(items_are_spelled, setup, teardown),
        cmocka_unit_test_setup_teardown(wrappings_are_spelled, setup, teardown),
        cmocka_unit_test_setup_teardown(module_sources_map_their_base, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_source_has_no_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failing_allocation_is_told, setup, teardown),
    };

    return cmocka_run_group_tests_name("observe.td_source_name", tests, NULL, NULL);
}
