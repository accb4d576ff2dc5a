/* test_live_source.c: every source and entry point as the spec of a case. */
#include "live_rows.h"

#define SOURCE(text, spec)                                                      \
    {                                                                           \
        "%0 = int 1\nframe\nroot build " text " %0\n", "f == [[(" spec ", 1)]]" \
    }

static live_row_t const rows[] = {
    SOURCE("local(\"x\")", "('local', 'x')"),
    SOURCE("cell(\"x\")", "('cell', 'x')"),
    SOURCE("global(\"\xc3\xa9\")", "('global', '\\u00e9')"),
    SOURCE("attr(local(\"x\"), \"w\")", "('attr', ('local', 'x'), 'w')"),
    SOURCE("item(local(\"x\"), %0)", "('item', ('local', 'x'), 1)"),
    SOURCE("param(local(\"x\"), \"w\")", "('param', ('local', 'x'), 'w')"),
    SOURCE("nnmodule(local(\"x\"))", "('nnmodule', ('local', 'x'))"),
    SOURCE("notnn(local(\"x\"))", "('notnn', ('local', 'x'))"),
    SOURCE("fsdp(local(\"x\"))", "('fsdp', ('local', 'x'))"),
    SOURCE("const(\"x\")", "('const', 'x')"),
    SOURCE("random(3)", "('random', 3)"),
    SOURCE("weak(\"x\")", "('weak', 'x')"),
    SOURCE("tupleiter(local(\"x\"), 2)", "('tupleiter', ('local', 'x'), 2)"),
    SOURCE("odict(local(\"x\"), %0)", "('odict', ('local', 'x'), 1)"),
    SOURCE("default(local(\"x\"), 0)", "('default', ('local', 'x'), 0)"),
    SOURCE("type(local(\"x\"))", "('type', ('local', 'x'))"),
    SOURCE("numpy(attr(global(\"x\"), \"w\"))", "('numpy', ('attr', ('global', 'x'), 'w'))"),
    {"%0 = enum Color_RED\nframe\nroot build item(local(\"x\"), %0) %0\n",
     "f[0][0][0][2] is objects.Color.RED"},
    {"%0 = list\nframe\nroot sourceless %0\n",
     "f == [[(('sourceless',), [])]] and f[0][0][1] is o[0]"},
    {"%0 = torch relu\n%1 = list\nframe\nroot build local(\"x\") %1\nroot fxcall %0 (ref 0, %1)\n",
     "f[0][1] == (('fxcall', (('ref', 0), [])), torch.nn.functional.relu) and "
     "f[0][1][0][1][1] is o[1]"},
    {"%0 = int 2\nframe\nroot build local(\"x\") %0\nroot fxmethod \"size\" (ref 0, %0)\n",
     "f[0][1] == (('fxmethod', 'size', (('ref', 0), 2)), None)"},
    {"%0 = int 2\nframe\nroot method \"wrap_constant_literal\" (%0)\n",
     "f[0][0] == (('method', 'wrap_constant_literal', (2,)), None)"},
    {"%0 = int 2\nframe\nroot compile \"frame\" (%0, %0)\n",
     "f[0][0] == (('compile', 'frame'), (2, 2))"},
    /* A ref counts the frame's entries, do steps too, and starts anew in each frame. */
    {"%0 = list\nframe\nroot sourceless %0\ndo clear %0\nroot sourceless %0\n"
     "root fxmethod \"size\" (ref 1, ref 0)\nframe\ndo clear %0\nroot sourceless %0\n"
     "root fxmethod \"size\" (ref 0)\n",
     "f[0][3][0][2] == (('ref', 2), ('ref', 0)) and f[1][2][0][2] == (('ref', 1),)"},
    /* One source, one spec. */
    {"%0 = int 1\nframe\nroot build local(\"x\") %0\nroot build local(\"x\") %0\n",
     "f[0][0][0] is f[0][1][0]"},
};

LIVE_ROWS_MAIN(rows)
