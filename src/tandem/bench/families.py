"""Objects by the thousand, all of one kind: what speed is measured on.

A family's `make(n)` gives an object of about n nodes (objects that a builder makes
a tracker of) and how many they are.  Objects are allocated in the order in which
they are walked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable


@dataclass(frozen=True)
class Family:
    """nested: containers with at least one container for two leaves, which pickle in C
    is judged against; grows: also built with a million nodes; size: nodes in the
    comparison with the reference; judged: part of the geometric mean; source: where
    the object is said to come from; frames: make gives one object for each frame of
    the program, not one object; roots: one for each root of a frame."""

    name: str
    what: str
    make: Callable[[int], tuple[Any, int]]
    size: int = 1000
    nested: bool = False
    pickles: bool = True
    grows: bool = False
    judged: bool = False
    source: tuple = ("local", "x")
    frames: bool = False
    roots: bool = False

    def program(self, made: Any) -> list[list[tuple[tuple, Any]]]:
        """The frames that a pass builds of what make gave."""
        frames = made if self.frames else [made]
        return [[(self.source, one) for one in (frame if self.roots else [frame])] for frame in frames]


def flat_ints(n: int) -> tuple[list, int]:
    return [1_000_000 + index for index in range(n - 1)], n


def flat_strings(n: int) -> tuple[list, int]:
    return [f"text {index}" for index in range(n - 1)], n


def flat_tensors(n: int) -> tuple[list, int]:
    import torch

    return [torch.ones(2, 3) for _ in range(n - 1)], n


DEPTH, WIDTH = 50, 4


def deep_lists(n: int) -> tuple[list, int]:
    """Lists DEPTH levels deep; each level holds WIDTH ints before the next one."""
    nodes, towers = 1, []
    while nodes < n:
        tower: list = []
        towers.append(tower)
        for level in range(DEPTH):
            tower += range(1000, 1000 + WIDTH)
            nodes += WIDTH + 1
            if level < DEPTH - 1:
                tower.append([])
                tower = tower[-1]
    return towers, nodes


def small_lists(n: int) -> tuple[list, int]:
    """[[i], [i], ...]: a container for each leaf."""
    return [[1_000_000 + index] for index in range((n - 1) // 2)], 1 + 2 * ((n - 1) // 2)


def small_dicts(n: int) -> tuple[list, int]:
    """[{"a": i, "b": i}, ...]: a container for two leaves."""
    count = (n - 1) // 3
    return [{"a": 1_000_000 + index, "b": 2_000_000 + index} for index in range(count)], 1 + 3 * count


def _tree(depth: int, width: int) -> tuple[Any, int]:
    if depth == 0:
        return 1000, 1
    children = [_tree(depth - 1, width) for _ in range(width)]
    return {f"k{index}": child for index, (child, _) in enumerate(children)}, 1 + sum(count for _, count in children)


def dict_trees(n: int) -> tuple[dict, int]:
    """Dicts of two dicts of two dicts ...: as many leaves as containers."""
    depth = 1
    while 2 ** (depth + 1) - 1 < n:
        depth += 1
    return _tree(depth, 2)


def modules(n: int) -> tuple[list, int]:
    import torch

    return [torch.nn.Linear(2, 2) for _ in range(n - 1)], n


def modules_of_frame(n: int) -> tuple[list, int]:
    """The same as if they were made in the frame that builds them: Dynamo takes such
    modules apart instead of registering them."""
    from torch._dynamo.mutation_guard import GenerationTracker

    GenerationTracker.generation += 1  # what entering that frame will make it
    return modules(n)


def user_objects(n: int) -> tuple[list, int]:
    from .. import objects

    return [objects.Plain() for _ in range(n - 1)], n


def dynamic_ints(n: int) -> tuple[list, int]:
    """Two frames of ints under the same names: in the second one each is another
    number, and a symbol."""
    count = n // 2 - 1
    return [[1000 + step * 500 + index for index in range(count)] for step in range(2)], 2 * (count + 1)


def dynamic_tensors(n: int) -> tuple[list, int]:
    """Two frames of tensors under the same names: in the second one with other sizes."""
    import torch

    count = n // 2 - 1
    return [[torch.ones(2 + step, 3) for _ in range(count)] for step in range(2)], 2 * (count + 1)


def parameters(n: int) -> tuple[list, int]:
    import torch

    return [torch.nn.Parameter(torch.ones(2, 3)) for _ in range(n - 1)], n


def numpy_arrays(n: int) -> tuple[list, int]:
    import numpy

    return [numpy.ones((2, 3), dtype=numpy.float32) for _ in range(n - 1)], n


def sets(n: int) -> tuple[list, int]:
    """[{i, j}, ...]: sets of literals are one tracker each."""
    return [{2 * index, 2 * index + 1} for index in range(n - 1)], n


def enums(n: int) -> tuple[list, int]:
    from .. import objects

    return [objects.Level.LOW if index % 2 else objects.Color.RED for index in range(n - 1)], n


def functions(n: int) -> tuple[list, int]:
    def make(index: int) -> Callable[[], int]:
        return lambda: index

    return [make(index) for index in range(n - 1)], n


def partials(n: int) -> tuple[list, int]:
    """[partial(f, i), ...]: the partial, its function (the same all along) and an argument."""
    import functools

    def called(number: int) -> int:
        return number

    count = (n - 1) // 3
    return [functools.partial(called, 1_000_000 + index) for index in range(count)], 1 + 3 * count


def numpy_numbers(n: int) -> tuple[list, int]:
    import numpy

    return [numpy.float64(index) for index in range(n - 1)], n


def optimizers(n: int) -> tuple[list, int]:
    import torch

    parameter = torch.nn.Parameter(torch.ones(2))
    return [torch.optim.SGD([parameter], lr=0.1) for _ in range(n - 1)], n


def registries(n: int) -> tuple[list, int]:
    """The table of pytree, again and again: nobody tracks it by identity, so each is built.
    One revision makes a dict with a node for each entry of it and another one a single
    node; that is why it stands in a list and not alone in a frame, where the second would
    be the cost of a frame's first root and nothing else.  Nodes are counted as the second
    has them."""
    from torch.utils import _pytree

    return [_pytree.SUPPORTED_NODES] * (n - 1), n


def nullcontexts(n: int) -> tuple[list, int]:
    import contextlib

    return [contextlib.nullcontext() for _ in range(n - 1)], n


def sourceless(n: int) -> tuple[list, int]:
    return [index if index % 2 else f"text {index}" for index in range(n)], n


FAMILIES = (
    Family("flat ints", "a list of ints", flat_ints, grows=True, judged=True),
    Family("flat strings", "a list of strs", flat_strings, judged=True),
    Family("flat tensors", "a list of tensors", flat_tensors, size=200, pickles=False, judged=True),
    Family("deep lists", "lists nested 50 deep, 4 ints a level", deep_lists, size=251, judged=True),
    Family("small lists", "a list of lists of one int", small_lists, nested=True, grows=True),
    Family("small dicts", "a list of dicts of two ints", small_dicts, nested=True, grows=True),
    Family("dict trees", "dicts of two dicts, 9 levels", dict_trees, nested=True, grows=True, judged=True),
    Family("modules", "a list of Linear modules", modules, size=50, pickles=False, judged=True),
    Family("modules of frame", "Linear modules made in the frame", modules_of_frame, size=50, pickles=False),
    Family("user objects", "instances of a user's class", user_objects, size=200, pickles=False, judged=True),
    Family("parameters", "a list of Parameters", parameters, size=100, pickles=False),
    Family("dynamic ints", "ints that change, over two frames", dynamic_ints, size=100, pickles=False, frames=True),
    Family("dynamic tensors", "sizes that change", dynamic_tensors, size=50, pickles=False, frames=True),
    Family("numpy arrays", "a list of numpy arrays", numpy_arrays, size=100, pickles=False),
    Family("sets", "a list of sets of two ints", sets, size=200),
    Family("enums", "a list of members of two enums", enums, size=200, pickles=False),
    Family("functions", "a list of functions of a user's", functions, size=200, pickles=False),
    Family("numpy numbers", "a list of numpy floats", numpy_numbers, size=100, pickles=False),
    Family("partials", "a list of functools.partial", partials, size=200, pickles=False),
    Family("optimizers", "a list of SGD optimizers", optimizers, size=20, pickles=False),
    Family("registry", "a list of pytree's table of nodes", registries, size=50, pickles=False),
    Family("null contexts", "contexts that do nothing", nullcontexts, size=100, pickles=False),
    Family(
        "sourceless", "roots without a source", sourceless,
        size=200, pickles=False, source=("sourceless",), roots=True,
    ),
)
