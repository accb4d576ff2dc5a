"""What leaks from one program into the next, and how it is undone."""
from __future__ import annotations


def prepare(reference) -> None:
    pass


def dispatch_tables_changed() -> None:
    from torch._dynamo.variables.builder import VariableBuilder

    VariableBuilder._type_dispatch.cache_clear()
