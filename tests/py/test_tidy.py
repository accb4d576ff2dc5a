"""The house rules: each refuses what it is there for, and nothing beside it."""
from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


def load(root: Path):
    spec = importlib.util.spec_from_file_location("tidy", root / "scripts" / "tidy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tidy(root: Path):
    return load(root)


LONG = "int\nlong_one(void)\n{\n" + "    f();\n" * 70 + "}\n"

#: rule, path, text, how many breaches.
CASES = [
    ("check_includes", "src/builder/a.c", '#include "graph/td_graph.h"\n', 1),
    ("check_includes", "src/builder/a.c", '#include "observe/td_obs.h"\n', 0),
    ("check_includes", "src/observe/a.c", '#include "py/td_py.h"\n', 1),
    ("check_includes", "src/live/a.c", "#include <Python.h>\n", 1),
    ("check_includes", "src/py/td_py.h", "#include <Python.h>\n", 0),
    ("check_includes", "src/live/a.c", '#include "td_live.h"\n', 1),
    ("check_guard", "src/graph/td_kind.h", "#ifndef TD_GRAPH_KIND_H\n#define TD_GRAPH_KIND_H\n", 0),
    ("check_guard", "src/graph/td_kind.h", "#ifndef KIND_H\n#define KIND_H\n", 1),
    ("check_guard", "src/check/td_check_case.h", "#ifndef TD_CHECK_CASE_H\n#define TD_CHECK_CASE_H\n", 0),
    ("check_opening", "src/base/a.c", "/* a.c: what it is. */\n", 0),
    ("check_opening", "src/base/a.c", "/* what it is. */\n", 1),
    ("check_lines", "src/base/a.c", "x" * 101 + "\n", 1),
    ("check_lines", "src/base/a.c", "x" * 100 + "\n", 0),
    ("check_lines", "src/base/a.c", "int x; \n", 1),
    ("check_lines", "src/base/a.c", "x\n" * 801, 1),
    ("check_comments", "src/base/a.c", "int x; // mine\n", 1),
    ("check_comments", "src/base/a.c", 'char *x = "//"; /* a // b */\n', 0),
    ("check_functions", "src/base/a.c", LONG, 1),
    ("check_functions", "src/base/a.c", LONG.replace("    f();\n", "", 4), 0),
    ("check_calls", "src/base/a.c", "    assert(x);\n", 1),
    ("check_calls", "src/base/a.c", "    static_assert(x); TD_ASSERT(x); self->free(x);\n", 0),
    ("check_calls", "src/graph/a.c", "    x = malloc(4);\n", 1),
    ("check_calls", "src/base/td_alloc.c", "    x = malloc(4);\n", 0),
    ("check_calls", "src/graph/a.c", "    x = td_malloc(4); /* not malloc(4) */\n", 0),
    ("check_calls", "src/py/a.c", '    x = PyDict_GetItemString(d, "x");\n', 1),
    ("check_calls", "src/py/a.c", "    x = PyDict_GetItemWithError(d, k);\n", 0),
    ("check_objects", "src/py/a.c", "static PyObject *cache;\n", 1),
    ("check_objects", "src/py/a.c", "static PyObject *\nmake(void)\n", 0),
    ("check_objects", "src/py/a.c", "    Py_DECREF(self->dict);\n", 1),
    ("check_objects", "src/py/a.c", "    Py_DECREF(dict);\n    Py_CLEAR(self->dict);\n", 0),
    ("check_braces", "src/base/a.c", "    if (f(x))\n        g();\n", 1),
    ("check_braces", "src/base/a.c", "    if (f(x) &&\n        g(y)) {\n    } else {\n    }\n", 0),
    ("check_braces", "src/base/a.c", "    } else\n        g();\n", 1),
    ("check_braces", "src/base/a.c", "    do {\n    } while (x);\n    for (;;) {\n    }\n", 0),
    ("check_braces", "src/base/a.c", "#define X(a) if (a) b\n", 0),
    ("check_dynamo", "src/builder/a.c", 'import("torch._dynamo.variables");\n', 1),
    ("check_dynamo", "src/builder/a.c", "/* mirrors torch._dynamo.variables */\n", 0),
    ("check_dynamo", "src/builder/a.c", 'kind("torch._dynamo.exc.Unsupported");\n', 0),
    ("check_dynamo", "src/check/a.c", 'import("torch._dynamo.variables");\n', 0),
    ("check_leftovers", "src/base/a.c", "/* TO" "DO: later */\n", 1),
    ("check_leftovers", "src/base/a.c", "/* good fo" "r now */\n", 1),
    ("check_leftovers", "src/base/a.c", "/* method, for nowhere */\n", 0),
    ("check_private", "README.md", "see /ro" "ot/x\n", 1),
    ("check_private", "README.md", "see /ho" "me/someone\n", 1),
    ("check_private", "README.md", "see corpus/work/x and src/root/y\n", 0),
    ("check_python", "a.py", "import os\n", 1),
    ("check_python", "a.py", '#!/usr/bin/env python3\n"""What it is for."""\n', 0),
]


@pytest.mark.parametrize("rule, path, text, cnt", CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)])
def test_rule(tidy, rule: str, path: str, text: str, cnt: int) -> None:
    found = list(getattr(tidy, rule)(path, text))
    assert len(found) == cnt, found


def test_each_rule_is_tried(tidy) -> None:
    tried = {case[0] for case in CASES}
    rules = {rule.__name__ for rule in tidy.C_RULES} | {"check_leftovers", "check_private", "check_python"}
    assert rules == tried


def test_each_file_has_its_test(tidy) -> None:
    paths = ["src/base/td_new.c", "src/base/td_old.c", "tests/base/test_td_old.c", "src/tandem/_tandem.c"]
    assert [path for path, _, _ in tidy.check_tests_exist(paths)] == ["src/base/td_new.c"]


def test_a_row_that_is_not_needed_is_refused(tidy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "LONG_FUNCTIONS", {("src/a.c", "f"): "why"})
    monkeypatch.setattr(tidy, "LONG_FILES", {"src/a.c": "why"})
    monkeypatch.setattr(tidy, "TESTED_ELSEWHERE", {"src/base/a.c": "why"})
    monkeypatch.setattr(tidy, "DYNAMO_NAMES", {"torch.fx": "why"})
    assert len(list(tidy.check_tables(["src/a.c"], {"src/a.c": "int x;\n"}))) == 4
