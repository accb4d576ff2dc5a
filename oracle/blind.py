"""A stand-in for the builder: every name is there, and none can be used.

Dynamo's package cannot be imported without a module called
torch._dynamo.variables.builder.  Loaded in its place (builder "blind"), this one
lets the package be imported, and raises BuilderUsed as soon as something calls,
asks or looks into a name of it.  A subject that observes the same beside it has
asked no builder.
"""
from __future__ import annotations

from typing import Any


class BuilderUsed(RuntimeError):
    """Something used the builder in a process that has none."""


class _StandIn(type):
    """A class that can be imported and named in an annotation, no more."""

    def _used(cls, *args: Any, **kwargs: Any) -> Any:
        raise BuilderUsed(f"torch._dynamo.variables.builder.{cls.__name__} was used, and there is no builder here")

    __call__ = __instancecheck__ = __subclasscheck__ = _used

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls._used()


def __getattr__(name: str) -> Any:
    """The stand-in of any name, the same one each time."""
    if name.startswith("__"):
        raise AttributeError(name)
    return globals().setdefault(name, _StandIn(name, (), {}))
