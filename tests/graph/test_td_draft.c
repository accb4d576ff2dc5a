/* test_td_draft.c: a draft keeps its program valid, and within every limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/td_draft.h"
#include "programs.h"

static td_draft_t
begin(td_prog_t *prog)
{
    td_draft_t draft;

    td_prog_init(prog);
    assert_int_equal(td_draft_init(&draft, prog), TD_OK);
    return draft;
}

static void
end(td_draft_t *draft, td_prog_t *prog)
{
    td_draft_clear(draft);
    td_prog_clear(prog);
}

static td_node_t const none  = {.kind = TD_KIND_NONE};
static td_step_t const frame = {.kind = TD_STEP_FRAME};

static uint16_t
put_local(td_draft_t *draft, char const *name)
{
    td_src_t const src = {.kind = TD_SOURCE_LOCAL, .name = td_text(name)};
    uint16_t       idx = 0;

    assert_int_equal(td_draft_put_source(draft, &src, &idx), TD_OK);
    return idx;
}

static void
put_root(td_draft_t *draft, uint16_t source)
{
    td_step_t const root = {.kind = TD_STEP_ROOT, .op = TD_ENTRY_BUILD, .source = source};

    assert_int_equal(td_draft_put_step(draft, &root), TD_OK);
}

static void
equal_sources_are_one(void **state)
{
    td_prog_t  prog;
    td_draft_t draft = begin(&prog);

    (void)state;
    assert_int_equal(td_draft_put_node(&draft, &none), TD_OK);
    assert_int_equal(td_draft_put_step(&draft, &frame), TD_OK);
    put_root(&draft, put_local(&draft, "x"));
    put_root(&draft, put_local(&draft, "y"));
    put_root(&draft, put_local(&draft, "x"));
    assert_int_equal(prog.source_cnt, 2);
    assert_int_equal(prog.steps[3].source, 0);
    assert_int_equal(td_draft_finish(&draft), TD_OK);
    end(&draft, &prog);
}

static void
what_is_put_is_copied(void **state)
{
    td_prog_t  prog;
    td_draft_t draft   = begin(&prog);
    uint16_t   edges[] = {0, 0};
    char       text[]  = "text";
    td_node_t  list    = {.kind = TD_KIND_LIST, .edge_cnt = 2, .edge = edges};
    td_node_t  str     = {.kind = TD_KIND_STR, .text = {text, 4}};

    (void)state;
    assert_int_equal(td_draft_put_node(&draft, &str), TD_OK);
    assert_int_equal(td_draft_put_node(&draft, &list), TD_OK);
    memset(edges, 0xFF, sizeof edges);
    memset(text, 'z', 4);
    assert_string_equal(prog.nodes[0].text.bytes, "text");
    assert_int_equal(prog.nodes[1].edge[1], 0);
    end(&draft, &prog);
}

static void
a_refusal_changes_nothing(void **state)
{
    td_prog_t       prog;
    td_draft_t      draft = begin(&prog);
    td_node_t const odd   = {.kind = TD_KIND_RANGE};
    td_step_t const early = {.kind = TD_STEP_ROOT, .op = TD_ENTRY_SOURCELESS};
    size_t          sz    = draft.out.sz;

    (void)state;
    assert_int_equal(td_draft_put_node(&draft, &odd), TD_REJECT);
    assert_string_equal(draft.why, "the step of a range is 0");
    assert_int_equal(td_draft_put_step(&draft, &early), TD_REJECT);
    assert_string_equal(draft.why, "it stands before the first frame");
    assert_int_equal(td_draft_finish(&draft), TD_REJECT);
    assert_string_equal(draft.why, "there is no root");
    assert_int_equal(prog.order_cnt, 0);
    assert_int_equal(draft.out.sz, sz);
    assert_int_equal(td_draft_put_export(&draft), TD_OK);
    assert_int_equal(td_draft_put_export(&draft), TD_REJECT);
    end(&draft, &prog);
}

static void
keys_and_depths_are_looked_at(void **state)
{
    td_prog_t       prog;
    td_draft_t      draft = begin(&prog);
    td_node_t const list  = {.kind = TD_KIND_LIST};
    td_src_t        item  = {.kind = TD_SOURCE_ITEM};
    td_src_t        deep  = {.kind = TD_SOURCE_NOTNN};
    uint16_t        idx;

    (void)state;
    assert_int_equal(td_draft_put_node(&draft, &list), TD_OK);
    put_local(&draft, "x");
    assert_int_equal(td_draft_put_source(&draft, &item, &idx), TD_REJECT);
    for (int depth = 1; depth <= TD_SOURCE_DEPTH_MAX; depth++) {
        assert_int_equal(td_draft_put_source(&draft, &deep, &deep.base), TD_OK);
    }
    assert_int_equal(td_draft_put_source(&draft, &deep, &idx), TD_REJECT);
    assert_string_equal(draft.why, "it is nested too deeply");
    end(&draft, &prog);
}

static void
nodes_end_at_their_limit(void **state)
{
    td_prog_t  prog;
    td_draft_t draft = begin(&prog);

    (void)state;
    for (int i = 0; i < TD_NODE_CNT_MAX; i++) {
        assert_int_equal(td_draft_put_node(&draft, &none), TD_OK);
    }
    assert_int_equal(td_draft_put_node(&draft, &none), TD_LIMIT);
    assert_string_equal(draft.why, "the program is full: too many nodes");
    assert_int_equal(prog.node_cnt, TD_NODE_CNT_MAX);
    end(&draft, &prog);
}

static void
frames_end_at_their_limit(void **state)
{
    td_prog_t  prog;
    td_draft_t draft = begin(&prog);

    (void)state;
    for (int i = 0; i < TD_FRAME_CNT_MAX; i++) {
        assert_int_equal(td_draft_put_step(&draft, &frame), TD_OK);
    }
    assert_int_equal(td_draft_put_step(&draft, &frame), TD_LIMIT);
    assert_string_equal(draft.why, "the program is full: too many frames");
    end(&draft, &prog);
}

/* However full it is, a root still fits. */
static void
room_for_a_root_is_kept(void **state)
{
    td_prog_t       prog;
    td_draft_t      draft = begin(&prog);
    td_step_t const clear = {.kind = TD_STEP_DO, .op = TD_DO_CLEAR};
    td_node_t       str   = {.kind = TD_KIND_STR, .text = {NULL, 200}};
    char            text[200];
    td_status_t     status;

    (void)state;
    memset(text, 'x', sizeof text);
    str.text.bytes = text;
    do {
        status = td_draft_put_node(&draft, &str);
    } while (status == TD_OK);
    assert_int_equal(status, TD_LIMIT);
    assert_string_equal(draft.why, "the program is full: too many bytes");
    while ((status = td_draft_put_step(&draft, &clear)) == TD_OK) {}
    assert_int_equal(status, TD_LIMIT);
    for (int i = 0; i < TD_FRAME_CNT_MAX; i++) {
        assert_int_equal(td_draft_put_step(&draft, &frame), TD_OK);
    }
    put_root(&draft, put_local(&draft, "x"));
    assert_int_equal(td_draft_finish(&draft), TD_OK);
    assert_true(draft.out.sz <= TD_INPUT_SZ_MAX);
    end(&draft, &prog);
}

static void
sources_of_a_root_that_did_not_fit_go_back(void **state)
{
    td_prog_t       prog;
    td_draft_t      draft = begin(&prog);
    td_draft_mark_t mark;

    (void)state;
    assert_int_equal(td_draft_put_node(&draft, &none), TD_OK);
    assert_int_equal(td_draft_put_step(&draft, &frame), TD_OK);
    mark = td_draft_mark(&draft);
    put_local(&draft, "x");
    td_draft_rewind(&draft, mark);
    assert_int_equal(prog.source_cnt, 0);
    assert_int_equal(put_local(&draft, "y"), 0);
    put_root(&draft, 0);
    assert_int_equal(td_draft_finish(&draft), TD_OK);
    end(&draft, &prog);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(equal_sources_are_one),
        cmocka_unit_test(what_is_put_is_copied),
        cmocka_unit_test(a_refusal_changes_nothing),
        cmocka_unit_test(keys_and_depths_are_looked_at),
        cmocka_unit_test(nodes_end_at_their_limit),
        cmocka_unit_test(frames_end_at_their_limit),
        cmocka_unit_test(room_for_a_root_is_kept),
        cmocka_unit_test(sources_of_a_root_that_did_not_fit_go_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
