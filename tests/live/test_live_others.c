/* test_live_others.c: looked-up objects are the very ones, made ones are fresh. */
#include "live_rows.h"

static live_row_t const rows[] = {
    {"%0 = function scale\n%1 = function scale\n", "o[0] is objects.scale and o[1] is o[0]"},
    {"%0 = function make_closure\n", "o[0] is objects.closure and o[0].__closure__ is not None"},
    {"%0 = function inlined\n", "o[0]._torchdynamo_inline is objects.double"},
    {"%0 = builtin add\n", "o[0] is operator.add"},
    {"%0 = class WithMeta\n", "type(o[0]) is objects.Meta"},
    {"%0 = pymodule os\n", "o[0] is __import__('os')"},
    {"%0 = torch aten_add\n", "o[0] is torch.ops.aten.add.Tensor"},
    {"%0 = torch math\n", "o[0] is math"},
    {"%0 = enum Level_LOW\n", "o[0] is objects.Level.LOW and o[0] == 0"},
    {"%0 = typing Optional_int\n", "o[0] is objects.OptionalInt"},
    {"%0 = np_scalar float32\n%1 = np_scalar float32\n",
     "type(o[0]) is numpy.float32 and o[0] is not o[1]"},
    {"%0 = object Plain\n%1 = object Plain\n", "type(o[0]) is objects.Plain and o[0] is not o[1]"},
    {"%0 = list\n%1 = object Plain %0 %0\n", "vars(o[1]) == {'a': [], 'b': []} and o[1].a is o[0]"},
    {"%0 = int 1\n%1 = object Data %0\n", "o[1] == objects.Data(1)"},
    {"%0 = int 1\n%1 = object CustomSetattr %0\n", "vars(o[1]) == {'a': 1} and u == []"},
    {"%0 = nn_module Linear\n%1 = nn_module Linear\n",
     "type(o[0]) is torch.nn.Linear and o[0] is not o[1] and bool((o[0].weight == 0.5).all())"},
    {"%0 = nn_module Sequential\n", "[type(m) for m in o[0]] == [torch.nn.Linear, torch.nn.ReLU]"},
    {"%0 = nn_module LSTM\n", "type(o[0]) is torch.nn.LSTM"},
    {"%0 = bound_method plain\n", "type(o[0].__self__) is objects.Plain and o[0]() == 1"},
    {"%0 = bound_method generator\n", "type(o[0].__self__) is torch.Generator"},
    {"%0 = builtin len\n%1 = int 1\n%2 = partial %0 %1\n",
     "type(o[2]) is functools.partial and o[2].func is len and o[2].args == (1,)"},
    {"%0 = int 1\n%1 = partial %0 %0\n", "o[1].func is int and o[1].args == (1,)"},
    {"%0 = device cuda\n", "o[0] == torch.device('cuda', 0)"},
    {"%0 = dtype complex64\n", "o[0] is torch.complex64"},
    /* What the program's own code does is noted, with the node it belongs to. */
    {"%0 = none\n%1 = object Counting\n",
     "(len(o[1]), bool(o[1]), o[1] == 5, hash(o[1])) and "
     "u == ['1.__len__', '1.__bool__', '1.__eq__', '1.__hash__']"},
    {"%0 = object CustomGetattr\n", "not hasattr(o[0], 'nothing') and u == ['0.__getattr__']"},
    {"%0 = object Lying\n", "isinstance(o[0], list) and u == ['0.__class__']"},
    {"%0 = object CustomSetattr\n", "[setattr(o[0], 'x', 1)] and u == ['0.__setattr__']"},
};

LIVE_ROWS_MAIN(rows)
