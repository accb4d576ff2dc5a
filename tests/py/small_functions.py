"""Thirty small functions through Dynamo, under stock torch or under an overlay.

    python small_functions.py stock|BUILDER

Prints for each function its results, the graphs that were made and the guards, as
JSON.  What follows from an id (ID_MATCH and the like) is left out of guard code.
"""
from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import json
import math
import operator
import re
import sys
import warnings


def setting(builder: str):
    """torch with the wanted builder in place."""
    if builder != "stock":
        from tandem.oracle import loader

        loader.load(builder)
    import torch
    import torch._dynamo

    return torch


class Color(enum.Enum):
    RED = 2


@dataclasses.dataclass
class Scale:
    by: float = 2.0


Pair = collections.namedtuple("Pair", "one other")
FACTOR = 3
TABLE = {"a": 2, "b": [3, 4]}


def helper(x, by=2):
    return x * by


def functions(torch):
    """[(function, [arguments of one call, ...])]: each call may compile anew."""
    ones = torch.ones

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)
            self.scale = 2
            with torch.no_grad():
                self.layer.weight.fill_(0.5)
                self.layer.bias.fill_(0.25)

        def forward(self, x):
            return self.layer(x) * self.scale

    net = Net()

    class Holder:
        def __init__(self):
            self.by = 2
            self.items = [1, 2]

    def with_set_attribute(x, holder):
        holder.seen = x + 1
        return x * holder.by

    def with_append(x, items):
        items.append(x + 1)
        return items[0] + 1

    def with_closure():
        by = 4

        def inner(x):
            return x * by

        return inner

    return [
        (lambda x: x + 1, [(ones(2, 3),), (ones(2, 4),), (ones(5, 4),)]),
        (lambda x, y: x @ y, [(ones(2, 3), ones(3, 2))]),
        (lambda x, n: x * n, [(ones(2), 5), (ones(2), 6), (ones(2), 7)]),
        (lambda x, f: x * f, [(ones(2), 0.5), (ones(2), 1.5)]),
        (lambda x, s: x + len(s), [(ones(2), "abc"), (ones(2), "abcd")]),
        (lambda x, flag: x + 1 if flag else x - 1, [(ones(2), True), (ones(2), False)]),
        (lambda x, l: x + l[0] + len(l), [(ones(2), [1, 2]), (ones(2), [1, 2, 3])]),
        (lambda x, t: x + t[0][1], [(ones(2), ((1, 0), 3))]),
        (lambda l: l[0] + l[1], [([ones(2), ones(2)],)]),
        (lambda x, y: x + y, [(lambda t: (t, t))(ones(2))]),
        (lambda x, d: x * d["a"], [(ones(2), {"a": 1, "b": 2})]),
        (lambda d: d["x"] + d["y"], [(collections.OrderedDict(x=ones(2), y=ones(2)),)]),
        (lambda x, d: x + sum(d.values()), [(ones(2), {"a": 1, "b": 0})]),
        (lambda p: p.one + p.other, [(Pair(ones(2), ones(2)),)]),
        (lambda x, r: x + sum(i for i in r), [(ones(2), range(3))]),
        (lambda x, s: x[s], [(ones(6), slice(0, 4, 2))]),
        (lambda x, c: x + (1 if c is Color.RED else 0), [(ones(2), Color.RED)]),
        (lambda x, d: x.to(d), [(ones(2), torch.float64)]),
        (lambda x: x.view(x.size(0), -1).sum(), [(ones(2, 3),), (ones(4, 3),), (ones(4, 5),)]),
        (lambda x: torch.nn.functional.relu(x) + math.pi, [(ones(2),)]),
        (lambda x: helper(x) + helper(x, by=FACTOR), [(ones(2),)]),
        (lambda x: x + TABLE["b"][1], [(ones(2),)]),
        (with_closure(), [(ones(2),)]),
        (net, [(ones(2, 3),), (ones(4, 3),)]),
        (lambda x, m: m(x) + m.layer.weight.sum(), [(ones(2, 3), net)]),
        (with_set_attribute, [(ones(2), Holder())]),
        (with_append, [(ones(2), [ones(2)])]),
        (lambda x: operator.add(x, x).sum().item() + 1, [(ones(2),)]),
        (lambda x, f: f(x), [(ones(2), torch.sin), (ones(2), helper)]),
        (lambda x, o: x * o.by + len(o.items), [(ones(2), Holder())]),
        (lambda x: functools.reduce(operator.mul, [x, x, x]), [(ones(2),)]),
        (lambda x, s: x * s.by, [(ones(2), Scale())]),
    ]


IDS = re.compile(r"\b\d{6,}\b|0x[0-9a-f]+")


def guard_rows(guards) -> list:
    rows = []
    for guard in guards:
        code = [IDS.sub("<id>", line) for line in guard.code_list or ()]
        name = getattr(guard.create_fn, "func", guard.create_fn).__name__
        rows.append([guard.name, guard.source.name, name, sorted(code)])
    return sorted(rows, key=str)


def run(torch, function, calls) -> dict:
    """What compiling function for its calls, one after the other, gave."""
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    graphs: list = []
    guards: list = []

    def backend(graph, inputs):
        nodes = [[n.op, n.name, IDS.sub("<id>", str(n.target)), str(n.args)] for n in graph.graph.nodes]
        graphs.append([nodes, [str(getattr(one, "shape", one)) for one in inputs]])
        return graph.forward

    compiled = torch._dynamo.optimize(backend, guard_export_fn=lambda made: guards.append(guard_rows(made)))(function)
    results = [str(compiled(*args)) for args in calls]
    breaks = {IDS.sub("<id>", key): count for key, count in counters["graph_break"].items()}
    return {"results": results, "graphs": graphs, "guards": guards, "breaks": breaks}


def main(builder: str) -> None:
    warnings.simplefilter("ignore")
    torch = setting(builder)
    print("\n" + json.dumps([run(torch, *row) for row in functions(torch)]))


if __name__ == "__main__":
    main(sys.argv[1])
