#!/usr/bin/env python3
"""House rules that compilers do not know; `scripts/test --check` runs them.

Prints one line for each breach, `path:line: what to do instead`, and exits 1 if
there was one.  An exception to a rule is a row in one of the tables below, with
its reason; a row that is no longer needed is a breach too.
"""
from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LINE_MAX = 100
PYTHON_LINE_MAX = 120
FUNCTION_MAX = 70
FILE_MAX = 800

# ---- tables ------------------------------------------------------------------------

#: Which rooms a room may include from, beside itself.
MAY_INCLUDE: dict[str, set[str]] = {
    "base": set(),
    "graph": {"base"},
    "gen": {"base", "graph"},
    "observe": {"base"},
    "py": {"base", "observe"},
    "live": {"base", "graph", "py", "observe"},
    "builder": {"base", "observe", "py"},
    "reference": {"base", "observe", "py", "live"},
    "check": {"base", "graph", "gen", "observe", "py", "live", "builder", "reference"},
    "target": {"base", "graph", "gen", "check"},
    "cover": {"base", "py", "builder"},
    "tandem": {"base", "graph", "gen", "observe", "py", "live", "builder", "reference", "check"},
    "fuzz": {"base", "graph", "gen", "target"},
}

#: Rooms that never see Python, whatever they include.
PURE = {"base", "graph", "gen", "observe", "target", "fuzz"}

#: Files that include Python.h, and why.
MAY_INCLUDE_PYTHON = {
    "src/py/td_py.h": "the doorway",
    "src/builder/td_abi.h": "all that a third party's subject needs, so it stands on its own",
}

#: Functions longer than FUNCTION_MAX lines: (path, function) -> why one piece reads better.
LONG_FUNCTIONS: dict[tuple[str, str], str] = {}

#: Files longer than FILE_MAX lines, and why they are not split.
LONG_FILES: dict[str, str] = {}

#: .c files (or whole rooms) without a test file of their name, and what tests them instead.
TESTED_ELSEWHERE: dict[str, str] = {
    "src/observe/td_obs_look.c": "the reading half of td_obs.h: tests/observe/test_td_obs.c",
    "src/observe/td_obs_space.c": "the ordinals of td_obs.h: tests/observe/test_td_obs.c",
    "src/observe/td_utf8.c": "seen through strings: tests/observe/test_td_obs.c",
    "src/observe/td_obs_show.c": "tests/observe/test_td_obs_json.c",
    "src/observe/td_obs_tree.c": "tests/observe/test_td_obs_json.c",
    "src/builder/td_core.c": "every build: tests/py/test_builder.py",
    "src/cover/td_cover.c": "in a library of its own: tests/py/test_cover.py",
    "src/cover/td_cover_gate.c": "in a library of its own: tests/py/test_cover.py",
    "src/builder/td_depth.c": "cycles and deep nesting: tests/py/test_builder.py",
    "src/builder/td_dispatch.c": "every build: tests/py/test_builder.py",
    "src/builder/td_fake.c": "tensors: tests/py/test_builder.py",
    "src/builder/td_frame.c": "frames: tests/py/test_builder.py",
    "src/builder/td_frame_state.c": "frames: tests/py/test_builder.py",
    "src/builder/td_graph_in.c": "tensors: tests/py/test_builder.py",
    "src/builder/td_look_graph.c": "tensors: tests/py/test_builder.py",
    "src/builder/td_look_source.c": "every build: tests/py/test_builder.py",
    "src/builder/td_look_var.c": "every build: tests/py/test_builder.py",
    "src/builder/td_observe.c": "every build: tests/py/test_builder.py",
    "src/builder/td_predicate.c": "every build: tests/py/test_builder.py",
    "src/builder/td_shape.c": "marks and sizes: tests/py/test_builder.py",
    "src/builder/td_spec.c": "every source: tests/py/test_builder.py",
    "src/builder/td_subject.c": "every build: tests/py/test_builder.py",
    "src/builder/td_tables.c": "every build: tests/py/test_builder.py",
    "src/builder/wrap_callable.c": "callables: tests/py/test_builder.py",
    "src/builder/wrap_dict.c": "dicts: tests/py/test_builder.py",
    "src/builder/wrap_list.c": "lists: tests/py/test_builder.py",
    "src/builder/wrap_literal.c": "literals: tests/py/test_builder.py",
    "src/builder/wrap_tensor.c": "tensors: tests/py/test_builder.py",
    "src/check/side_reference.c": "needs the reference: tests/py",
    "src/check/side_subject.c": "needs the reference: tests/py",
    "src/check/td_shared.c": "shared objects: tests/py/test_compare.py",
    "src/check/td_check.c": "every entry point: tests/check/test_td_verdict.c",
    "src/check/td_pair.c": "both sides run: tests/check/test_td_verdict.c",
    "src/check/td_compare.c": "addresses of differences: tests/check/test_td_verdict.c",
    "src/check/td_report.c": "signatures and observations: tests/check/test_td_verdict.c",
    "src/check/td_render.c": "text and JSON: tests/check/test_td_verdict.c",
    "src/check/side_recorded.c": "recorded frames: tests/check/test_td_verdict.c",
    "src/builder/": "builds live objects: tests/py/test_builder.py, the corpus, tests/planted; "
                    "what needs no object has its file in tests/builder",
    "src/check/td_bench.c": "timed passes: tests/py/test_bench.py",
    "src/reference/td_bare.c": "timed passes: tests/py/test_bench.py",
    "src/target/target_differential.c": "run by tests/py/test_campaign.py",
    "src/target/target_subject.c": "run by tests/py/test_campaign.py",
    "src/target/td_campaign.c": "counts of a run: tests/py/test_campaign.py",
    "src/target/td_finding.c": "folders of a run: tests/py/test_campaign.py",
    "src/target/td_process.c": "set up by environment: tests/py/test_campaign.py",
    "src/py/td_records.c": "what every operator of corpus/fxproxy passes through: tests/py/test_corpus.py",
}

#: Calls that have a replacement: pattern of the call -> what to write instead.
BANNED = {
    r"assert": "TD_ASSERT, which stays on in every build",
    r"s?rand|random|rand_r|drand48": "td_rng, the only source of chance",
    r"strcpy|strcat|sprintf|vsprintf|gets": "a call that takes the room's size (snprintf)",
    r"strtok|asctime|ctime|gmtime|localtime": "a call without hidden state",
    r"atoi|atol|atoll|atof": "strtol and its like, which tell a bad number from 0",
    r"alloca": "the arena",
    r"PyDict_GetItem|PyDict_GetItemString": "PyDict_GetItemWithError, which does not swallow exceptions",
    r"PyObject_HasAttr|PyObject_HasAttrString": "_PyObject_LookupAttr, which does not swallow exceptions",
    r"PyEval_CallObject|PyObject_CallObject": "td_call (src/py), which records the call",
}

#: malloc and its like are hidden from the failing allocator, so they stand only here.
ALLOCATES = {
    "src/base/td_alloc.c": "the allocator itself",
    "fuzz/": "drivers run before and outside of what is tested",
}

#: Texts that only ever name one person's machine, or where packages come from.
PRIVATE = {
    r"(?<![\w.])/(?:root|work)/": "a path of one machine",
    r"(?<![\w.])/home/\w": "a path of one machine",
    r"(?<![\w.])/tmp/\w": "a path of one machine",
    r"pypi\.org|pythonhosted\.org|index-url": "the host of a package registry",
}

#: Where a PRIVATE text is meant: path -> why.
PRIVATE_ALLOWED = {
    "scripts/tidy.py": "names them in order to refuse them",
    "requirements.in": "tells how to keep hosts out of the lock file",
    "requirements.lock": "made by a tool that spells its own command line",
}

#: Names out of Dynamo's modules that src/builder writes, and why they are data.
DYNAMO_NAMES: dict[str, str] = {
    "torch._dynamo.exc.Unsupported": "the class of a refusal, as text in the observation",
    "torch._dynamo.variables.misc": "where the function is that stands for inspect.signature, as text",
    "torch._dynamo.variables.builder": "where the function is that stands for dataclasses.fields, as text",
    "torch.fx.experimental.symbolic_shapes.ConstraintViolationError": "the class of another, likewise",
    "torch._guards": "the module in the name of a guard source's class, likewise",
}

#: The list of faults stands with the tests, and is on the path of their subject alone.
PLANTED = "planted.def"

LEFTOVER = re.compile(r"\b(?:FIXME|TODO|XXX|HACK|[Ff]or now)\b")
DYNAMO = re.compile(r"torch\.(?:_dynamo|_guards|fx|_subclasses)[\w.]*")

# ---- reading C ---------------------------------------------------------------------

Breach = tuple[int, str]

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)


def blank(text: str, keep_strings: bool = False) -> str:
    """The text with comments (and strings) made blank; places and lines stay."""
    def one(match: re.Match[str]) -> str:
        token = match[0]
        if token[0] in "\"'":
            return token if keep_strings else token[0] + " " * (len(token) - 2) + token[0]
        return re.sub(r"[^\n]", " ", token)
    return _TOKEN.sub(one, text)


def without_directives(code: str) -> str:
    """The code with preprocessor lines made blank, continued ones too."""
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m[0]), code,
                  flags=re.MULTILINE)


def line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def functions(code: str) -> Iterator[tuple[str, int, int]]:
    """(name, first line, line count) of each function whose name begins a line."""
    for match in re.finditer(r"^(\w+)\([^;{}]*\)\n\{\n", code, re.MULTILINE):
        end = code.find("\n}", match.end() - 1)
        if end >= 0:
            first = line_of(code, match.start())
            yield match[1], first, line_of(code, end + 1) - first + 1


# ---- rules for C -------------------------------------------------------------------


def room_of(path: str) -> str:
    parts = path.split("/")
    return parts[1] if parts[0] == "src" else parts[0]


def check_includes(path: str, text: str) -> Iterator[Breach]:
    """Rooms depend on each other in one direction, and few see Python."""
    room = room_of(path)
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', text, re.MULTILINE):
        line, included = line_of(text, match.start()), match[1]
        target = included.split("/")[0] if "/" in included else ""
        if included == "Python.h" and path not in MAY_INCLUDE_PYTHON:
            yield line, "include py/td_py.h instead of Python.h, if the room may"
        if path.startswith("tests/"):
            continue
        if target in MAY_INCLUDE and target != room and target not in MAY_INCLUDE[room]:
            yield line, f"{room} may not include {target}"
        if match[0].rstrip().endswith('"') and "/" not in included and included != PLANTED:
            yield line, f'write the room: "{room}/{included}"'


def check_guard(path: str, text: str) -> Iterator[Breach]:
    """Header guards are TD_<ROOM>_<NAME>_H, the room said once."""
    if not path.endswith(".h"):
        return
    room = room_of(path)
    stem = Path(path).stem.removeprefix("td_").removeprefix(f"{room}_")
    guard = f"TD_{room}_{stem}_H".upper()
    if not re.search(rf"^#ifndef {guard}\n#define {guard}$", text, re.MULTILINE):
        yield 1, f"the header guard is {guard}"


def check_opening(path: str, text: str) -> Iterator[Breach]:
    """Every file says in its first words what it is."""
    if not text.startswith(f"/* {Path(path).name}: "):
        yield 1, f"begin with /* {Path(path).name}: one sentence */"


def check_lines(path: str, text: str) -> Iterator[Breach]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_MAX:
            yield number, f"{len(line)} columns; the limit is {LINE_MAX}"
        if "\t" in line:
            yield number, "a tab; indent with spaces"
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
    if path.endswith(".c") and len(lines) - 1 > FILE_MAX and path not in LONG_FILES:
        yield len(lines) - 1, f"longer than {FILE_MAX} lines: split it by family"


def check_comments(path: str, text: str) -> Iterator[Breach]:
    """// is for oneself."""
    for match in _TOKEN.finditer(text):
        if match[0].startswith("//"):
            yield line_of(text, match.start()), "write /* */; // is for yourself"


def check_functions(path: str, text: str) -> Iterator[Breach]:
    for name, line, cnt in functions(without_directives(blank(text))):
        if cnt > FUNCTION_MAX and (path, name) not in LONG_FUNCTIONS:
            yield line, f"{name} has {cnt} lines; the limit is {FUNCTION_MAX}"


def check_calls(path: str, text: str) -> Iterator[Breach]:
    code = blank(text)
    for pattern, instead in BANNED.items():
        for match in re.finditer(rf"(?<![\w.>])({pattern})\(", code):
            yield line_of(code, match.start()), f"{match[1]}: write {instead}"
    if not any(path.startswith(allowed) for allowed in ALLOCATES) and path.startswith("src/"):
        for match in re.finditer(r"(?<![\w.>])(malloc|calloc|realloc|free|strdup|strndup)\(", code):
            yield line_of(code, match.start()), f"{match[1]}: write td_{match[1]} (base/td_alloc.h)"


def check_objects(path: str, text: str) -> Iterator[Breach]:
    """Python objects live in the state record, and fields never dangle."""
    code = blank(text)
    for match in re.finditer(r"^static PyObject \*\w+\s*(?:=|;|\[)", code, re.MULTILINE):
        yield line_of(code, match.start()), "a Python object outside the state: a row of state.def"
    for match in re.finditer(r"\bPy_X?DECREF\(\(*\w+(?:->|\.)\w+\)", code):
        yield line_of(code, match.start()), "a field may be seen again: Py_CLEAR or Py_SETREF"


def closing(code: str, opening: int) -> int:
    """The place after the parenthesis that closes the one at opening, or -1."""
    depth = 0
    for place in range(opening, len(code)):
        if code[place] == "(":
            depth += 1
        elif code[place] == ")":
            depth -= 1
            if depth == 0:
                return place + 1
    return -1


def check_braces(path: str, text: str) -> Iterator[Breach]:
    code = without_directives(blank(text))
    for match in re.finditer(r"\b(?:if|for|while|switch)[ \t]*(\()", code):
        end = closing(code, match.start(1))
        rest = code[end:].lstrip() if end > 0 else "{"
        # `while (...);` ends a do loop.
        if not rest.startswith("{") and not (match[0].startswith("while") and rest.startswith(";")):
            yield line_of(code, match.start()), "braces always"
    for match in re.finditer(r"\belse\b(?!\s*(?:\{|if\b))", code):
        yield line_of(code, match.start()), "braces always"


def check_dynamo(path: str, text: str) -> Iterator[Breach]:
    """The subject names no module of the reference, so that it cannot lean on one."""
    if not path.startswith("src/builder/"):
        return
    code = blank(text, keep_strings=True)
    for match in DYNAMO.finditer(code):
        if match[0] not in DYNAMO_NAMES:
            yield line_of(code, match.start()), f"the subject may not name {match[0]}"


C_RULES: tuple[Callable[[str, str], Iterable[Breach]], ...] = (
    check_includes, check_guard, check_opening, check_lines, check_comments, check_functions,
    check_calls, check_objects, check_braces, check_dynamo)

# ---- rules for every file ----------------------------------------------------------


def check_leftovers(path: str, text: str) -> Iterator[Breach]:
    if path in ("scripts/tidy.py", "tests/py/test_tidy.py", "LICENSE"):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if match := LEFTOVER.search(line):
            yield number, f"{match[0]}: do it, or file it elsewhere"


def check_private(path: str, text: str) -> Iterator[Breach]:
    if path in PRIVATE_ALLOWED:
        return
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, what in PRIVATE.items():
            if re.search(pattern, line):
                yield number, what


def check_python(path: str, text: str) -> Iterator[Breach]:
    if not path.endswith(".py"):
        return
    first = next((line for line in text.split("\n") if line.strip() and line[0] != "#"), "")
    if first and not re.match(r'r?"""', first):
        yield 1, "begin with a docstring that says what the module is for"
    # A row of a test's table is one case, and stays on its line.
    limit = 150 if path.startswith("tests/") else PYTHON_LINE_MAX
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > limit:
            yield number, f"{len(line)} columns; the limit is {limit}"


def check_tests_exist(paths: list[str]) -> Iterator[tuple[str, int, str]]:
    """src/<room>/<file>.c has tests/<room>/test_<file>.c.

    The extension module and our interpreter are what every test in Python runs in.
    """
    have = set(paths)
    for path in paths:
        match = re.fullmatch(r"src/(?!tandem/)(\w+)/(\w+)\.c", path)
        if not match or path in TESTED_ELSEWHERE or f"src/{match[1]}/" in TESTED_ELSEWHERE:
            continue
        if f"tests/{match[1]}/test_{match[2]}.c" not in have:
            yield path, 1, f"has no tests/{match[1]}/test_{match[2]}.c"


def check_tables(paths: list[str], texts: dict[str, str]) -> Iterator[tuple[str, int, str]]:
    """A row about something that is gone would hide its return."""
    have, here = set(paths), "scripts/tidy.py"
    for path, name in LONG_FUNCTIONS:
        long = {n: cnt for n, _, cnt in functions(without_directives(blank(texts.get(path, ""))))}
        if long.get(name, 0) <= FUNCTION_MAX:
            yield here, 1, f"LONG_FUNCTIONS: {path} {name} is not long"
    for path in LONG_FILES:
        if texts.get(path, "").count("\n") <= FILE_MAX:
            yield here, 1, f"LONG_FILES: {path} is not long"
    for path in TESTED_ELSEWHERE:
        test = re.sub(r"^src/(\w+)/(\w+)\.c$", r"tests/\1/test_\2.c", path)
        if not path.endswith("/") and (path not in have or test in have):
            yield here, 1, f"TESTED_ELSEWHERE: {path} is gone or has its test"
    subject = "".join(blank(text, keep_strings=True) for path, text in texts.items()
                      if path.startswith("src/builder/") and path.endswith(".c"))
    for name in DYNAMO_NAMES:
        if name not in subject:
            yield here, 1, f"DYNAMO_NAMES: the subject does not name {name}"


# ---- running -----------------------------------------------------------------------


def project_files() -> list[str]:
    """What is committed or would be; without git, all but what a build or a run makes."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"],
            capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        made = {"build", "work", "__pycache__"}
        listed = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")
                  if not made & set(path.relative_to(ROOT).parts)]
    return sorted(path for path in set(listed) if (ROOT / path).is_file())


def breaches() -> Iterator[tuple[str, int, str]]:
    texts: dict[str, str] = {}
    for path in project_files():
        try:
            texts[path] = (ROOT / path).read_text("utf-8")
        except UnicodeDecodeError:
            continue
    for path, text in texts.items():
        rules = [check_leftovers, check_private, check_python]
        if re.match(r"(src|fuzz|tests)/.*\.[ch]$", path):
            rules += C_RULES if not path.startswith("tests/") else (
                check_includes, check_lines, check_comments, check_functions, check_braces)
        for rule in rules:
            for line, what in rule(path, text):
                yield path, line, what
    yield from check_tests_exist(list(texts))
    yield from check_tables(list(texts), texts)


def main() -> int:
    found = sorted(set(breaches()))
    for path, line, what in found:
        print(f"{path}:{line}: {what}")
    print(f"tidy: {len(found)} breaches" if found else "tidy: the house is in order", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
