/* test_td_asm.c: every line of the text form, and every way to get one wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "programs.h"

/* Text behind the header line, so that line 2 is the first; what is wrong with it. */
static struct {
    char const *text;
    int         line, column;
    char const *what;
} const rows[] = {
    {"", 2, 1, "there is no root"},
    {"%0 = none\n", 3, 1, "there is no root"},
    {"%0 = none\nframe\n", 4, 1, "there is no root"},
    {"what\n", 2, 1, "no record begins with 'what'"},
    {"5\n", 2, 1, "a record is missing here"},
    {"  = x\n", 2, 3, "a record is missing here"},
    {"%1 = none\n", 2, 1, "the next node is %0"},
    {"%0 none\n", 2, 4, "'=' is missing here"},
    {"%0 = nothing\n", 2, 6, "'nothing' is no object kind"},
    {"%0 = list %0\n", 2, 11, "there is no node %0 before this line"},
    {"%0 = none\n%1 = list %0 0\n", 3, 14, "a node (%0) is missing here"},
    {"%0 = none %0\n", 2, 11, "there is no node %0 before this line"},
    {"%0 = none\n%1 = none %0\n", 3, 6, "the kind has not that many edges"},
    {"config specialize_int = \xC3\xA9\xFF\x1B\n", 2, 25,
     "'\?\?\?\?' is no value that specialize_int can have here"},
    {"%0 = bool yes\n", 2, 11, "'yes' is neither true nor false"},
    {"%0 = int 1.5\n", 2, 11, "a node (%0) is missing here"},
    {"%0 = int 9223372036854775808\n", 2, 10, "an int of 64 bits is out of range"},
    {"%0 = int\n", 2, 9, "an int of 64 bits is missing here"},
    {"%0 = bigint 5\n", 2, 13, "these are no digits of an int outside 64 bits"},
    {"%0 = float x\n", 2, 12, "this is no float that fits in 64 bits"},
    {"%0 = str x\n", 2, 10, "'\"' is missing here"},
    {"%0 = str \"x\n", 2, 10, "the text does not end in this line"},
    {"%0 = bytes \"x\"\n", 2, 12, "b\"...\" is missing here"},
    {"%0 = dtype float33\n", 2, 12, "dtype has no choice 'float33'"},
    {"%0 = range 1 2 0\n", 2, 6, "the step of a range is 0"},
    {"%0 = range 1 2\n", 2, 15, "start, stop or step is missing here"},
    {"%0 = size 1\n", 2, 11, "'[' is missing here"},
    {"%0 = size [1, 2\n", 2, 16, "']' is missing here"},
    {"%0 = tensor float33[2]\n", 2, 13, "'float33' is no dtype"},
    {"%0 = tensor float32\n", 2, 20, "'[' is missing here"},
    {"%0 = tensor float32[65]\n", 2, 21, "a dim is out of range"},
    {"%0 = tensor float32[1, 1, 1, 1, 1, 1, 1]\n", 2, 39, "at most 6 dims stand here"},
    {"%0 = tensor float32[64, 64, 64]\n", 2, 6, "the tensor holds too many elements"},
    {"%0 = tensor float32[2] transposed\n", 2, 6,
     "the layout does not fit the dims, the dtype or the kind"},
    {"%0 = tensor int64[2] grad\n", 2, 6,
     "only tensors of a floating or complex dtype can require grad"},
    {"%0 = tensor int64[2] fast\n", 2, 22, "'fast' is no layout of a tensor, nor grad"},
    {"%0 = none\n%1 = dict %0\n", 3, 6, "a key has no value"},
    {"%0 = none\n%1 = dict %0 %0\n", 3, 14, "':' is missing here"},
    {"%0 = none\n%1 = dict %0: %0 %0: %0\n", 3, 18, "',' is missing here"},
    {"%0 = none\n%1 = default_dict\n", 3, 6, "the kind has not that many edges"},
    {"%0 = list\n%1 = odict_values %0\n", 3, 6, "its edge is no ordered_dict"},
    {"frame x\n", 2, 7, "the line should end here"},
    {"%0 = none\nroot sourceless %0\n", 3, 1, "it stands before the first frame"},
    {"%0 = none\nframe\nroot guess %0\n", 4, 6, "'guess' is no entry point"},
    {"%0 = none\nframe\nroot build %0\n", 4, 12, "source kind is missing here"},
    {"%0 = none\nframe\nroot build lokal(\"x\") %0\n", 4, 12, "'lokal' is no source kind"},
    {"%0 = none\nframe\nroot build local \"x\" %0\n", 4, 18, "'(' is missing here"},
    {"%0 = none\nframe\nroot build local(\"x\" %0\n", 4, 22, "')' is missing here"},
    {"%0 = none\nframe\nroot build attr(local(\"x\")) %0\n", 4, 27, "',' is missing here"},
    {"%0 = none\nframe\nroot build local(\"x\")\n", 4, 22, "a node (%0) is missing here"},
    {"%0 = list\nframe\nroot build item(local(\"x\"), %0) %0\n", 4, 12,
     "its key is no literal, enum member, class, or tuple or slice of such"},
    {"%0 = none\nframe\nroot build random(1024) %0\n", 4, 19, "an index is out of range"},
    {"%0 = none\nframe\nroot fxcall %0 (ref 0)\n", 4, 1,
     "a ref means no earlier root of the frame"},
    {"%0 = none\nframe\nroot fxcall %0 (1)\n", 4, 17, "an argument (%0 or ref 0) is missing here"},
    {"%0 = none\nframe\nroot fxcall %0 (rev 1)\n", 4, 17, "'rev' is no argument (%0 or ref 0)"},
    {"%0 = none\nframe\nroot fxcall %0 (%0, %0, %0, %0, %0, %0, %0, %0, %0)\n", 4, 49,
     "at most 8 arguments stand here"},
    {"%0 = none\nframe\nroot method \"x\" ()\n", 4, 1, "methods.def has no such method"},
    {"%0 = none\nframe\nroot compile \"x\" ()\n", 4, 1, "compiles.def has no such function"},
    {"%0 = none\ndo sing %0\n", 3, 4, "'sing' is no change"},
    {"%0 = none\ndo append %0\n", 3, 13, "a node (%0) is missing here"},
    {"%0 = none\ndo mark_static %0 x\n", 3, 19, "an int is missing here"},
    {"%0 = none\nframe\nconstraint %0 dim 0 in 1..2\n", 4, 1, "a constraint is on tensors"},
    {"%0 = tensor int8[2]\nframe\nconstraint %0 dim 1 in 1..2\n", 4, 1,
     "the tensor has no such dim"},
    {"%0 = tensor int8[2]\nframe\nconstraint %0 dim 0 on 1..2\n", 4, 21,
     "'in' should stand here, not 'on'"},
    {"%0 = tensor int8[2]\nframe\nconstraint %0 dim 0 in 1\n", 4, 25, "'.' is missing here"},
    {"%0 = tensor int8[2]\nframe\nconstraint %0 dim 0 in 3..2\n", 4, 1,
     "the smallest size is below 0 or above the largest"},
    {"config speed = 9\n", 2, 8, "'speed' is no config value"},
    {"config specialize_int = Maybe\n", 2, 25,
     "'Maybe' is no value that specialize_int can have here"},
    {"config specialize_int = True\nconfig specialize_int = False\n", 3, 1,
     "the config key is set already"},
    {"export\nexport\n", 3, 1, "export stands there already"},
    {"%0 = str \"\xC3\xA4\" x\n", 2, 14, "a node (%0) is missing here"},
};

static void
expect_refusal(char const *text, int line, int column, char const *what)
{
    td_prog_t    prog;
    td_refusal_t refusal = {.what = ""};

    td_prog_init(&prog);
    assert_int_equal(td_prog_asm(text, strlen(text), &prog, &refusal), TD_REJECT);
    if (strcmp(refusal.what, what) != 0 || refusal.line != line || refusal.column != column) {
        print_error("in\n%s\n", text);
    }
    assert_string_equal(refusal.what, what);
    assert_int_equal(refusal.line, line);
    assert_int_equal(refusal.column, column);
    assert_int_equal(prog.order_cnt, 0);
    assert_true(refusal.offset <= strlen(text));
    td_prog_clear(&prog);
}

static void
refusals_say_where_and_why(void **state)
{
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, "tandem 1\n%s", rows[i].text);
        expect_refusal(text, rows[i].line, rows[i].column, rows[i].what);
    }
}

static void
the_header_is_looked_at(void **state)
{
    (void)state;
    expect_refusal("", 1, 1, "the header 'tandem 1' is missing");
    expect_refusal("# only a comment\n", 2, 1, "the header 'tandem 1' is missing");
    expect_refusal("%0 = none\n", 1, 1, "tandem is missing here");
    expect_refusal("random 1\n", 1, 1, "'tandem' should stand here, not 'random'");
    expect_refusal("tandem\n", 1, 7, "the format version is missing here");
    expect_refusal("tandem 2\n", 1, 8,
                   "the program has another format version; this tool reads version 1");
    expect_refusal("tandem 1 0\n", 1, 10, "the line should end here");
}

static void
too_much_is_refused(void **state)
{
    static char text[1 << 20];
    size_t      sz = (size_t)snprintf(text, sizeof text, "tandem 1\n");

    (void)state;
    for (int i = 0; i < 400; i++) {
        sz += (size_t)snprintf(text + sz, sizeof text - sz, "%%%d = str \"%0200d\"\n", i, i);
    }
    expect_refusal(text, 324, 8, "the program is full: too many bytes");
    sz = (size_t)snprintf(text, sizeof text, "tandem 1\n%%0 = none\nframe\nroot build ");
    for (int i = 0; i < 100000; i++) {
        sz += (size_t)snprintf(text + sz, sizeof text - sz, "type(");
    }
    expect_refusal(text, 4, 12 + 5 * (TD_SOURCE_DEPTH_MAX + 1), "it is nested too deeply");
}

/* Spelled another way; the same program. */
static struct {
    char const *text, *canonical;
} const spellings[] = {
    {"%0=none\nframe\nroot sourceless %0", "%0 = none\nframe\n  root sourceless %0\n"},
    {"  %0 = tensor   float32[ 2,3 ]contiguous grad # x\r\n\nframe\nroot sourceless %0\n",
     "%0 = tensor float32[2, 3] grad\nframe\n  root sourceless %0\n"},
    {"%0 = float 1e2\nframe\nroot sourceless %0\n",
     "%0 = float 100.0\nframe\n  root sourceless %0\n"},
    {"%0 = str \"\\x41\"\nframe\nroot sourceless %0\n",
     "%0 = str \"A\"\nframe\n  root sourceless %0\n"},
    {"%0 = int -0\nframe\nroot sourceless %0\n", "%0 = int 0\nframe\n  root sourceless %0\n"},
};

static void
spelling_does_not_matter(void **state)
{
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        td_prog_t prog = program(spellings[i].text);

        assert_string_equal(lines_of(&prog, text, sizeof text), spellings[i].canonical);
        td_prog_clear(&prog);
    }
}

static void
loading_tells_the_forms_apart(void **state)
{
    static char const    text[]  = "tandem 1\n%0 = none\nframe\nroot build local(\"x\") %0\n";
    static uint8_t const bytes[] = {0xA1, 0x01, 0xE0, 0x81, 0x00, 0xA1, 0x00, 0x00, 0xE5};
    td_prog_t            left, right;
    td_refusal_t         refusal;

    (void)state;
    td_prog_init(&left);
    td_prog_init(&right);
    assert_int_equal(td_prog_load((uint8_t const *)text, sizeof text - 1, &left, &refusal), TD_OK);
    assert_int_equal(td_prog_load(bytes, sizeof bytes, &right, &refusal), TD_OK);
    assert_int_equal(left.order_cnt, right.order_cnt);
    td_prog_clear(&left);
    td_prog_clear(&right);
    assert_int_equal(td_prog_load(bytes, 3, &right, &refusal), TD_REJECT);
    assert_int_equal(refusal.line, 0);
    assert_int_equal(td_prog_load((uint8_t const *)"", 0, &right, &refusal), TD_REJECT);
    assert_int_equal(refusal.line, 1);
}

static void
every_allocation_may_fail(void **state)
{
    static char const text[] =
        "tandem 1\nconfig trace_numpy = False\n%0 = str \"text\"\n%1 = list %0\n"
        "%2 = size [1, 2]\nframe\nroot build attr(local(\"xx\"), \"yy\") %1\n"
        "root fxmethod \"zz\" (ref 0)\ndo append %1 %0\n";
    int64_t  before = td_alloc_live_cnt();
    bool     fired  = true;
    uint64_t nth    = 1;

    (void)state;
    for (; fired; nth++) {
        td_prog_t    prog;
        td_refusal_t refusal;
        td_status_t  status;

        td_prog_init(&prog);
        td_nomem_arm(nth);
        status = td_prog_asm(text, sizeof text - 1, &prog, &refusal);
        fired  = td_nomem_disarm();
        assert_int_equal(status, fired ? TD_NOMEM : TD_OK);
        td_prog_clear(&prog);
        assert_int_equal(td_alloc_live_cnt(), before);
    }
    assert_true(nth > 3);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(refusals_say_where_and_why),
        cmocka_unit_test(the_header_is_looked_at),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(spelling_does_not_matter),
        cmocka_unit_test(loading_tells_the_forms_apart),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
