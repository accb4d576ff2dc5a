"""What programs bring of their own, and objects as the extension module makes them."""
from __future__ import annotations

import gc
import subprocess
import sys

import _tandem
import pytest

from tandem import objects


def live(text: str) -> dict:
    return _tandem.testing["live"]("tandem 1\n" + text)


def test_objects_wait_with_dynamo(python):
    """A reference builder is loaded over torch._dynamo, so nothing may import it before."""
    code = "import sys, tandem.objects; print('torch' in sys.modules, 'torch._dynamo' in sys.modules)"
    done = subprocess.run([*python, "-c", code], capture_output=True, text=True, timeout=1800)
    assert done.stdout == "True False\n", done.stderr


def test_calls_are_noted_in_order_by_instance():
    """Each live program has a list of its own."""
    text = '%0 = object Counting\n%1 = object Counting\nframe\nroot build local("x") %0\n'
    one, two = live(text), live(text)
    len(one["objects"][1])
    bool(one["objects"][0])
    hash(two["objects"][0])
    assert one["user_calls"] == ["1.__len__", "0.__bool__"]
    assert two["user_calls"] == ["0.__hash__"]


def test_an_instance_that_nobody_attached_is_silent():
    counting = objects.Counting()
    assert (len(counting), bool(counting), hash(counting)) == (2, True, 7)
    assert not hasattr(objects.CustomGetattr(), "anything")


@pytest.mark.parametrize("name", ["__eq__", "__len__", "__bool__", "__hash__"])
def test_raising(name):
    raising = live('%0 = object Raising\nframe\nroot build local("x") %0\n')
    instance = raising["objects"][0]
    arguments = [1] if name == "__eq__" else []
    with pytest.raises(RuntimeError, match=name):
        getattr(type(instance), name)(instance, *arguments)
    assert raising["user_calls"] == [f"0.{name}"]


def test_factories_make_fresh_objects():
    factories = [value for name, value in vars(objects).items() if name.startswith("make_")]
    assert len(factories) >= 10
    for factory in factories:
        first, second = factory(), factory()
        assert factory.__doc__
        assert type(first) is type(second)
        once = first is objects.numpy.True_ or hasattr(factory, "cache_info")  # one a process
        assert (first is second) == once


def test_objects_die_with_the_program():
    """A frame's list, a do step and the program's objects hold on to nothing else."""
    text = '%0 = object Plain\n%1 = list %0\nframe\nroot build local("x") %1\ndo append %1 %1\n'
    made = live(text)
    plain = made["objects"][0]
    del made
    gc.collect()
    assert sys.getrefcount(plain) == 2
