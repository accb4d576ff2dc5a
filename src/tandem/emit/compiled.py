"""What compiled scripts carry: seeing what is guarded.  Text; never imported here."""

import types

import torch._dynamo
from torch._dynamo import convert_frame

SEEN = []


class Checked(convert_frame.CheckFunctionManager):
    """Notes the guards of every frame that is compiled."""

    def __init__(self, output_graph=None, *args, **kwargs):
        SEEN.append(guard_rows(output_graph.guards))
        super().__init__(output_graph, *args, **kwargs)


convert_frame.CheckFunctionManager = Checked


def compile_and_tell(function, scope, args):
    """Runs function with scope as its globals, compiled, and prints what is guarded."""
    function = types.FunctionType(function.__code__, {"torch": torch, "__name__": "tandem_program"} | scope)
    try:
        torch.compile(function, backend="eager")(*args)
    except Exception as error:
        print(f"raises {type(error).__name__}: {error}")
    for number, rows in enumerate(SEEN):
        print(f"compiled frame {number}")
        for row in rows:
            print(f"  guard {row}")
    if not SEEN:
        print("nothing was compiled")
