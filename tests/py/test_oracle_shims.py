"""Each shim is needed: something fails when it alone, or it among others, is missing."""
from __future__ import annotations

import ast
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from oracle_children import child

pytestmark = pytest.mark.release

#: What the builder's import statements ask for: nothing loads without it.
NAMES = (
    "maybe_get_fake_mode",
    "ConvertIntSource",
    "FunctoolsPartialVariable",
    "GetSetDescriptorVariable",
    "MethodWrapperVariable",
)
#: What fails later, and how.
BEHAVIOUR = {
    "DICT_VERSION": "AttributeError: type object 'GuardBuilder' has no attribute 'DICT_VERSION'",
    "force_unspec_int_unbacked_size_like": "AttributeError: 'TracingContext' object has no attribute",
    "source_name_to_debug_name": "AttributeError: 'ShapeEnv' object has no attribute",
    "unspecified_symbol_of_zero_one": "SymNodeVariable of bool",
    "clone_input_of_fakes": "RuntimeError: ",
    "Constraint.debug_name": "AttributeError: 'Constraint' object has no attribute",
    "store_global_weakref": "AttributeError: 'InstructionTranslator' object has no attribute",
}
WITH_ALL = {
    "maybe_get_fake_mode": "TensorVariable",
    "ConvertIntSource": "cast_symbool_to_symint_guardless(L['x'])",
    "FunctoolsPartialVariable": "FunctoolsPartialVariable",
    "GetSetDescriptorVariable": "GetSetDescriptorVariable",
    "MethodWrapperVariable": "MethodWrapperVariable",
    "DICT_VERSION": "ConstDictVariable",
    "force_unspec_int_unbacked_size_like": "ConstantVariable",
    "source_name_to_debug_name": "TensorVariable",
    "unspecified_symbol_of_zero_one": "SymNodeVariable of SymBool",
    "clone_input_of_fakes": "TensorVariable",
    "Constraint.debug_name": "TensorVariable",
    "store_global_weakref": "ConstDictVariable",
}


@pytest.fixture(scope="module")
def answers(python: list[str], shared: Path) -> dict[str, dict[str, str]]:
    """What the probes say: with all shims, without each name, without all behaviour."""
    builder = shared / "reference" / "builder.py"
    runs = {"": (), "behaviour": tuple(BEHAVIOUR)} | {name: (name,) for name in NAMES}
    with ThreadPoolExecutor(2) as pool:
        started = {key: pool.submit(child, python, "shim_probe.py", builder, *out) for key, out in runs.items()}
        return {key: run.result() for key, run in started.items()}


def test_all_shims_together(answers):
    assert answers[""] == WITH_ALL


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_needed_to_load(answers, name):
    assert list(answers[name]) == ["load"]
    assert f"cannot import name '{name}'" in answers[name]["load"]
    assert ":1: ImportError" in answers[name]["load"]


@pytest.mark.parametrize("name", BEHAVIOUR)
def test_behaviour_is_needed_to_build(answers, name):
    assert answers["behaviour"][name].startswith(BEHAVIOUR[name])


def test_the_list_is_complete(root: Path):
    """Every row of SHIMS is tried above, and says all that a row has to say."""
    tree = ast.parse((root / "oracle" / "shims.py").read_text())
    rows = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.decorator_list]
    found = {}
    for row in rows:
        call = row.decorator_list[0]
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "shim":
            found[ast.literal_eval(call.args[0])] = {word.arg for word in call.keywords}
    assert set(found) == set(NAMES) | set(BEHAVIOUR)
    for name, words in found.items():
        assert {"missing", "does", "reason", "limits"} <= words, name


def test_the_installed_builder_gets_no_shim(python: list[str]):
    answer = child(python, "oracle_probe.py", "installed", "shim_names")
    assert answer == {"ConvertIntSource": False, "debug_name": False, "store_global_weakref": False}, json.dumps(answer)
