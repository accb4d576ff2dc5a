/* test_td_canon_text.c: ids in names and messages. */
#include <inttypes.h>

#include "canon_rows.h"

typedef struct {
    td_obs_t  *obs;
    PyObject  *objects; /* owned: (plain, shared) */
    td_canon_t canon;
} text_case_t;

static void
text_open(text_case_t *text)
{
    text->obs     = td_obs_new();
    text->objects = canon_eval("(plain, shared)");
    assert_int_equal(td_canon_init(&text->canon, text->obs, text->objects), TD_OK);
}

static void
text_close(text_case_t *text)
{
    td_obs_free(text->obs);
    Py_DECREF(text->objects);
}

static uintptr_t
text_id(text_case_t const *text, Py_ssize_t idx)
{
    return (uintptr_t)PyTuple_GET_ITEM(text->objects, idx);
}

static void
expect(text_case_t const *text, td_val_t val, char const *wanted)
{
    assert_string_equal(td_obs_get_str(text->obs, val, NULL), wanted);
}

static void
names_hold_ordinals(void **state)
{
    text_case_t text;
    char        name[128];

    (void)state;
    text_open(&text);
    (void)snprintf(name, sizeof(name), "G_dict_key_%" PRIuPTR "_exp_dict_key_%" PRIuPTR,
                   text_id(&text, 1), text_id(&text, 0));
    expect(&text, td_canon_name(&text.canon, name, strlen(name)),
           "G_dict_key_<object 1>_exp_dict_key_<object 0>");
    /* an id that nobody was met with is one nobody was met with, twice the same */
    expect(&text, td_canon_name(&text.canon, "dict_key_12345", 14), "dict_key_<object 2>");
    expect(&text, td_canon_name(&text.canon, "x_dict_key_12345", 16), "x_dict_key_<object 2>");
    text_close(&text);
}

static void
names_without_ids_stay(void **state)
{
    static char const *const names[] = {
        "", "x", "dict_key_", "dict_key_x", "dict_key_0_", "d_dict_ke_12345678", "L_x_99999999999"};
    text_case_t text;

    (void)state;
    text_open(&text);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        expect(&text, td_canon_name(&text.canon, names[i], strlen(names[i])), names[i]);
    }
    text_close(&text);
}

static void
message_is(text_case_t *text, char const *message, PyObject *const *objects, size_t object_cnt,
           char const *wanted)
{
    PyObject *str = PyUnicode_FromString(message);

    expect(text, td_canon_text(&text->canon, str, objects, object_cnt), wanted);
    Py_DECREF(str);
}

static void
messages_hold_ordinals(void **state)
{
    text_case_t text;
    PyObject   *other = canon_eval("Plain()");
    char        message[256];

    (void)state;
    text_open(&text);
    (void)snprintf(message, sizeof(message), "<Plain at 0x%" PRIxPTR "> key %" PRIuPTR ".",
                   text_id(&text, 0), text_id(&text, 1));
    message_is(&text, message, NULL, 0, "<Plain at <object 0>> key <object 1>.");
    (void)snprintf(message, sizeof(message), "0x%" PRIxPTR, (uintptr_t)other);
    message_is(&text, message, &other, 1, "<object 2>");
    text_close(&text);
    Py_DECREF(other);
}

/* A number that is nobody's id, however large, is part of the message. */
static void
other_numbers_stay(void **state)
{
    static char const *const messages[] = {
        "140737488355328",     "0x7fffdeadbeef",   "0x", "0", "99999999999999999999999999",
        "size 12345678901234", "f\xc3\xa4hig 0xzz"};
    text_case_t text;
    char        message[64];

    (void)state;
    text_open(&text);
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); ++i) {
        message_is(&text, messages[i], NULL, 0, messages[i]);
    }
    (void)snprintf(message, sizeof(message), "9%" PRIuPTR, text_id(&text, 0));
    message_is(&text, message, NULL, 0, message); /* a longer number that ends like one */
    text_close(&text);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(names_hold_ordinals),
        cmocka_unit_test(names_without_ids_stay),
        cmocka_unit_test(messages_hold_ordinals),
        cmocka_unit_test(other_numbers_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
