"""The configuration values that a builder, or what it calls, reads.

A name without a prefix belongs to torch._dynamo.config; "functorch.<name>" to
torch._functorch.config.  One name is no configuration value in 2.1.2 but an
attribute of the tracing context: CONTEXT_NAMES.
"""
from __future__ import annotations

from typing import Any

import torch._dynamo.config as dynamo
import torch._functorch.config as functorch

#: Read by builder.py itself.
BUILDER_NAMES = (
    "allow_ignore_mark_dynamic",
    "allow_rnn",
    "assume_static_by_default",
    "automatic_dynamic_shapes",
    "specialize_int",
    "trace_numpy",
    "traceable_tensor_subclasses",
)

#: Read by what builder.py calls while it builds, with the reader.
HELPER_NAMES = (
    "capture_scalar_outputs",  # OutputGraph.__init__, utils.get_fake_value
    "capture_dynamic_output_shape_ops",  # OutputGraph.__init__, utils.get_fake_value
    "force_nn_module_property_static_shapes",  # utils.tensor_always_has_static_shape
    "force_parameter_static_shapes",  # utils.tensor_always_has_static_shape
    "skip_fsdp_guards",  # variables.nn_module.FSDPManagedNNModuleVariable
    "functorch.functionalize_rng_ops",  # utils.build_checkpoint_variable
    "functorch.fake_tensor_allow_meta",  # FakeTensorMode.__init__
    "translation_validation",  # ShapeEnv
    "print_specializations",  # ShapeEnv.evaluate_expr
    "inject_EVALUATE_EXPR_flip_equality_TESTING_ONLY",  # ShapeEnv.evaluate_expr
)

#: Attributes of the tracing context that a program can set like a value.
CONTEXT_NAMES = ("force_unspec_int_unbacked_size_like",)

NAMES = BUILDER_NAMES + HELPER_NAMES + CONTEXT_NAMES


class UnknownConfig(Exception):
    """A program sets a value that does not exist, or that no builder reads."""


def _where(name: str) -> tuple[dict[str, Any], str]:
    """The dict that holds a configuration value, and its key there."""
    if name.startswith("functorch."):
        return functorch._config, name[len("functorch.") :]
    return dynamo._config, name


_PLACES = tuple((name, *_where(name)) for name in NAMES if name not in CONTEXT_NAMES)


def values(overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    """Every value that a builder may read, as in force with overrides."""
    result: dict[str, Any] = {name: where[key] for name, where, key in _PLACES}
    for name in CONTEXT_NAMES:
        result[name] = False
    result.update(overrides or {})
    return result


class Override:
    """Values in force from construction to restore().

    Any value of Dynamo's configuration may be set, not only those in NAMES: a
    case may set what it likes.  restore also undoes what a do step has set.
    context_values: [(attribute, value)] for each tracing context of the program.
    """

    __slots__ = ("context_values", "_before")

    def __init__(self, overrides: dict[str, Any]) -> None:
        self.context_values: list[tuple[str, Any]] = []
        self._before: list[tuple[dict, dict]] = [
            (where, dict(where)) for where in (dynamo._config, functorch._config)
        ]
        for name in overrides:
            where, key = _where(name) if type(name) is str else ({}, "")
            if name not in CONTEXT_NAMES and key not in where:
                raise UnknownConfig(f"no such configuration value: {name!r}")
        for name, value in overrides.items():
            if name in CONTEXT_NAMES:
                if value:  # naming the default must leave no attribute that silence would not
                    self._set_context(name, value)
            else:
                where, key = _where(name)
                where[key] = value

    def _set_context(self, name: str, value: Any) -> None:
        from torch._guards import TracingContext

        if hasattr(TracingContext, name):  # the installed revision has no such thing
            self.context_values.append((name, value))

    def restore(self) -> None:
        """Put back what was there before; a second call does nothing."""
        while self._before:
            where, before = self._before.pop()
            where.update(before)
