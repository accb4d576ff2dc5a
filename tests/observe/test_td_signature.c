/* test_td_signature.c: what is the same finding, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "observe/td_signature.h"
#include "value_text.h"

typedef struct {
    char const *reference, *subject, *signature;
} signature_case_t;

static char const *
signature_of(td_obs_t *obs, char const *reference, char const *subject)
{
    td_obs_diff_t        diffs[8];
    td_signature_parts_t parts = {
        .diffs = diffs, .entry = "wrap", .function = "f", .condition = "c"};

    parts.diff_cnt = td_obs_diff(obs, value_of(obs, reference), value_of(obs, subject), diffs, 8);
    assert_true(parts.diff_cnt > 0);
    return td_signature_text(obs, &parts);
}

static void
signatures_say_what_and_not_where(void **state)
{
    static signature_case_t const table[] = {
        {"Frame{roots=[1, 2, Root{tracker=ListVariable{items=[3, ConstantVariable{value=5}]}}]}",
         "Frame{roots=[1, 2, Root{tracker=ListVariable{items=[3, ConstantVariable{value='a'}]}}]}",
         "wrap | ConstantVariable.value | roots[].tracker.items[].value | int / str | f: c"},
        {"ListVariable{guards=([L'x', 'LIST_LENGTH', false, null])}", "ListVariable{guards=()}",
         "wrap | ListVariable.guards | guards | guard LIST_LENGTH missing | f: c"},
        {"ListVariable{guards=()}", "ListVariable{guards=([L'y', 'ID_MATCH', false, null])}",
         "wrap | ListVariable.guards | guards | guard ID_MATCH extra | f: c"},
        {"ListVariable{source=L'x'}", "ListVariable{source=['NNModuleSource', L'x']}",
         "wrap | ListVariable.source | source | LocalSource / NNModuleSource | f: c"},
        {"[ListVariable{}]", "[TupleVariable{}]",
         "wrap | ListVariable.kind | [] | ListVariable / TupleVariable | f: c"},
        {"[1]", "[1, 2]", "wrap |  | [] | missing / int | f: c"},
        {"ConstantVariable{value=['torch.dtype', 'float32']}", "ConstantVariable{value=null}",
         "wrap | ConstantVariable.value | value | torch.dtype / None | f: c"},
        {"Root{outcome='tracker', tracker=ListVariable{}}",
         "Root{outcome='exception', exception=Exception{kind='m.Unsupported', message='no x of "
         "3'}}",
         "wrap | Root.outcome | outcome | tracker ListVariable / exception m.Unsupported: no x of "
         "# | f: c"},
        {"Root{exception=Exception{kind='E', message='size 3 at 0x7f'}}",
         "Root{exception=Exception{kind='E', message='other'}}",
         "wrap | Exception.message | exception.message | size # at # / other | f: c"},
    };
    td_obs_t *obs = td_obs_new();

    (void)state;
    for (size_t idx = 0; idx < sizeof table / sizeof *table; idx++) {
        assert_string_equal(signature_of(obs, table[idx].reference, table[idx].subject),
                            table[idx].signature);
    }
    td_obs_free(obs);
}

static void
messages_lose_what_a_program_puts_in(void **state)
{
    static char const *const table[][2] = {
        {"call 'f' of \"g\" and `h`", "call '' of '' and ''"},
        {"can't find it's end", "can't find it's end"},
        {"float32 of 12 and 0xABC, 1.5e3 or -7", "float32 of # and #, # or -#"},
        {"<object 12> is <object x>", "# is <object x>"},
        {"a\n   b\tc", "a b c"},
        {"an open 'quote", "an open 'quote"},
        {"'it's'", "''"},
        {"", ""},
    };
    td_obs_t *obs = td_obs_new();
    char      text[1000];

    (void)state;
    for (size_t idx = 0; idx < sizeof table / sizeof *table; idx++) {
        assert_string_equal(td_signature_message(obs, table[idx][0], strlen(table[idx][0])),
                            table[idx][1]);
    }
    memset(text, 'x', sizeof text);
    assert_int_equal(strlen(td_signature_message(obs, text, sizeof text)), 200);
    td_obs_free(obs);
}

static void
hashes_are_eight_digits(void **state)
{
    char hash[TD_SIGNATURE_HASH_SZ];

    (void)state;
    td_signature_hash("", hash);
    assert_string_equal(hash, "811c9dc5"); /* published value of FNV-1a */
    td_signature_hash("foobar", hash);
    assert_string_equal(hash, "bf9cf968");
}

static void
a_failing_allocation_is_told(void **state)
{
    td_obs_t *obs    = td_obs_new();
    bool      struck = true;

    (void)state;
    for (uint64_t nth = 1; struck; nth++) {
        td_obs_diff_t        diff  = {"value", "ConstantVariable.value", 0, 0};
        td_signature_parts_t parts = {&diff, 1, "wrap", "", ""};
        char const          *text;

        td_obs_reset(obs);
        diff.reference = td_obs_int(obs, 1);
        diff.subject   = td_obs_null(obs);
        td_nomem_arm(nth);
        text   = td_signature_text(obs, &parts);
        struck = td_nomem_disarm();
        assert_true(struck == (text == NULL));
        assert_int_equal(td_obs_status(obs), struck ? TD_NOMEM : TD_OK);
    }
    td_obs_free(obs);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(signatures_say_what_and_not_where),
        cmocka_unit_test(messages_lose_what_a_program_puts_in),
        cmocka_unit_test(hashes_are_eight_digits),
        cmocka_unit_test(a_failing_allocation_is_told),
    };

    return cmocka_run_group_tests_name("observe.td_signature", tests, NULL, NULL);
}
