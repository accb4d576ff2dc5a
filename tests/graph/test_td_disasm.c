/* test_td_disasm.c: what is written can be read again, to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "programs.h"

/* Every record, as it is written. */
static char const all_lines[] = "config specialize_int = True\n"
                                "config traceable_tensor_subclasses = {TaggedTensor}\n"
                                "export\n"
                                "%0 = int -5\n"
                                "%1 = list %0 %0\n"
                                "%2 = tensor float32[2, 3] transposed grad\n"
                                "%3 = function scale\n"
                                "%4 = str \"a\\n\\t\\r\\\"\\\\\\x01\xC3\xA4\"\n"
                                "%5 = dict %0: %1, %4: %2\n"
                                "%6 = default_dict %3 %0: %1, %4: %2\n"
                                "%7 = range 2 9 -3\n"
                                "%8 = size [2, -1]\n"
                                "%9 = size []\n"
                                "%10 = float 100.0\n"
                                "%11 = float nan:7ff8000000000001\n"
                                "%12 = float nan\n"
                                "%13 = float -inf\n"
                                "%14 = float -1e-300\n"
                                "%15 = float 0.30000000000000004\n"
                                "%16 = float 0.0001\n"
                                "%17 = float 123456789012345.6\n"
                                "%18 = bytes b\"\\xff\\x00a\\\"\"\n"
                                "%19 = bool false\n"
                                "%20 = bigint -9223372036854775809\n"
                                "%21 = namedtuple Point %0 %1\n"
                                "%22 = slice %0 %0 %0\n"
                                "do append %1 %1\n"
                                "frame\n"
                                "  root build local(\"x\") %1\n"
                                "  root build item(attr(local(\"m\"), \"w\"), %22) %2\n"
                                "  root build tupleiter(cell(\"\\x7f\"), 3) %2\n"
                                "  root sourceless %1\n"
                                "  %23 = none\n"
                                "  root fxcall %3 (%23, ref 0)\n"
                                "  root fxmethod \"add\" (ref 4)\n"
                                "  root method \"GraphArg.__eq__\" ()\n"
                                "  root compile \"item\" (%2)\n"
                                "  do setattr %4 \"w\" %0\n"
                                "  do mark_dynamic %2 -1\n"
                                "  do setitem %5 %0 %0\n"
                                "  constraint %2 dim 0 in 2..64 name \"batch\"\n"
                                "  constraint %2 dim 0 in 0..\n"
                                "  constraint %2 dim 0 == %2 dim 1\n"
                                "frame\n";

static void
every_record_has_its_line(void **state)
{
    td_prog_t prog = program(all_lines);
    char      text[8192];

    (void)state;
    assert_string_equal(lines_of(&prog, text, sizeof text), all_lines);
    td_prog_clear(&prog);
}

/* Text to bytes and back, for a program that is mostly odd. */
static void
expect_round_trip(td_prog_t const *prog)
{
    char        *text = td_prog_disasm(prog), *again = NULL;
    uint8_t     *bytes = NULL, *other = NULL;
    size_t       sz = 0, other_sz = 0;
    td_prog_t    read;
    td_refusal_t refusal = {.what = ""};

    td_prog_init(&read);
    assert_int_equal(td_prog_asm(text, strlen(text), &read, &refusal), TD_OK);
    assert_int_equal(td_prog_encode(prog, &bytes, &sz), TD_OK);
    assert_int_equal(td_prog_encode(&read, &other, &other_sz), TD_OK);
    assert_int_equal(sz, other_sz);
    assert_memory_equal(bytes, other, sz);
    again = td_prog_disasm(&read);
    assert_string_equal(text, again);
    td_free(again);
    td_free(other);
    td_free(bytes);
    td_free(text);
    td_prog_clear(&read);
}

static void
wild_programs_come_back(void **state)
{
    uint8_t  bytes[400];
    td_rng_t rng;

    (void)state;
    td_rng_init(&rng, 21);
    for (int i = 0; i < 3000; i++) {
        size_t    sz = random_bytes(&rng, bytes, 1, sizeof bytes);
        td_prog_t prog;

        td_prog_init(&prog);
        assert_int_equal(td_prog_repair(bytes, sz, &prog, NULL), TD_OK);
        expect_round_trip(&prog);
        td_prog_clear(&prog);
    }
}

static void
every_float_comes_back(void **state)
{
    td_rng_t rng;

    (void)state;
    td_rng_init(&rng, 22);
    for (int i = 0; i < 3000; i++) {
        td_prog_t prog = program("%0 = float 0.0\nframe\nroot sourceless %0\n");
        uint64_t  bits = td_rng_u64(&rng);

        memcpy(&prog.nodes[0].f, &bits, sizeof bits);
        expect_round_trip(&prog);
        td_prog_clear(&prog);
    }
}

static void
every_allocation_may_fail(void **state)
{
    td_prog_t prog   = program(all_lines);
    int64_t   before = td_alloc_live_cnt();
    bool      fired  = true;

    (void)state;
    for (uint64_t nth = 1; fired; nth++) {
        char *text;

        td_nomem_arm(nth);
        text  = td_prog_disasm(&prog);
        fired = td_nomem_disarm();
        assert_int_equal(text == NULL, fired);
        td_free(text);
        assert_int_equal(td_alloc_live_cnt(), before);
    }
    td_prog_clear(&prog);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_record_has_its_line),
        cmocka_unit_test(wild_programs_come_back),
        cmocka_unit_test(every_float_comes_back),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
