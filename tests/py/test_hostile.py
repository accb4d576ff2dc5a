"""Hostile users: case files, descriptors and options that no friend would give.

What is asked of each: one line, the exit code of the design page, no traceback and
no crash.  The cases of one test share a process.
"""
from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest
from cli_files import CASE, PROGRAM

#: Cases that are refused, and what the line says.
REFUSED = {
    "another number of frames": (
        "calls = []\ndef frames():\n    calls.append(1)\n    return [[(('local', 'x'), [1])]] * len(calls)\n",
        "TypeError: frames() gave 1 frames, then 2: it must give the same at every call",
    ),
    "another number of steps": (
        "calls = []\ndef frames():\n    calls.append(1)\n    return [[(('local', 'x'), [1])] * len(calls)]\n",
        "TypeError: frames() gave another frame 0: it must give the same at every call",
    ),
    "a frame that is emptied while it is built": (
        "F = []\nF += [[(('do',), F.clear), (('local', 'y'), [2])], [(('local', 'y'), [2])]]\n"
        "def frames():\n    return F\n",
        "TypeError: frames() gave 2 frames, then 0",
    ),
    "a source of no known word": (
        "def frames():\n    return [[(('nowhere', 'x'), 1)]]\n",
        "1:1: TypeError: frame 0, entry 0: no source spec is called 'nowhere'",
    ),
    "classes that are no set": (
        "CONFIG = {'traceable_tensor_subclasses': 7}\n" + CASE,
        "1:1: TypeError: CONFIG: traceable_tensor_subclasses must be a set",
    ),
    "exit at import": ("import sys\nsys.exit(0)\n", "2:1: SystemExit: 0"),
    "exit in frames": ("def frames():\n    raise SystemExit(0)\n", "2:5: SystemExit: 0"),
    "an exception of no known class": ("class Boom(BaseException): pass\nraise Boom('x')\n", "2:1: Boom: x"),
    "an exception without words": (
        "class E(Exception):\n    def __str__(self):\n        raise ValueError\ndef frames():\n    raise E()\n",
        "5:5: E",
    ),
    "REPORT raises": (
        "class R:\n    def __str__(self):\n        raise ValueError('no')\n"
        "REPORT = R()\ndef frames():\n    return []\n",
        "3:9: ValueError: no",
    ),
    "a module that hides everything": (
        "def __getattr__(name):\n    raise RuntimeError(name)\n",
        "2:5: RuntimeError: frames",
    ),
    "an encoding that there is not": ("# coding: nonsense\n", "1:1: unknown encoding"),
    "nested too deeply": ("x = " + "-" * 100_000 + "1\n", "1:1: it is nested too deeply to be compiled"),
    "a str that is none": (
        "class S(str):\n    def __hash__(self):\n        raise ValueError\n"
        "def frames():\n    return [[((S('local'), 'x'), 1)]]\n",
        "a source spec is a tuple that begins with a word",
    ),
}  # fmt: skip

#: Cases that are judged like any other, whatever they try.
JUDGED = {
    "closes stdout": "import os, sys\nos.close(1)\nsys.stdout.close()\n" + CASE,
    "takes stderr away": "import sys\nsys.stderr = None\n" + CASE,
    "goes elsewhere": "import os\nos.chdir('/')\n" + CASE,
    "lowers the recursion limit": "import sys\nsys.setrecursionlimit(150)\n" + CASE,
    "empties sys.path": "import sys\nsys.path.clear()\n" + CASE,
    "traces": "import sys\nsys.settrace(lambda *any: None)\nsys.setprofile(lambda *any: None)\n" + CASE,
    "turns warnings into exceptions": "import warnings\nwarnings.simplefilter('error')\n" + CASE,
    "empties sys.modules": "import sys\nfor n in list(sys.modules):\n    n.startswith('tandem') and sys.modules.pop(n)\n" + CASE,
    "lists that lie": (
        "class L(list):\n    def __len__(self):\n        return 10**9\n    __iter__ = __getitem__ = None\n"
        "class T(tuple):\n    __len__, __iter__, __getitem__ = L.__len__, None, None\n"
        "def frames():\n    return [L([T((('local', 'x'), [1]))])]\n"
    ),
    "half of a character": "def frames():\n    return [[(('local', 'x'), ['\\ud800', '\\udcff', 'a\\0b'])]]\n",
    "a source that nests deeply": (
        "def frames():\n    spec = ('local', 'x')\n    for _ in range(500):\n        spec = ('attr', spec, 'a')\n"
        "    return [[(spec, [1])]]\n"
    ),
}  # fmt: skip


def written(folder, cases):
    paths = []
    for index, text in enumerate(cases):
        paths.append(folder / f"case_{index}.py")
        paths[-1].write_text(text)
    return paths


def test_hostile_cases_are_refused_in_a_line(tandem, tmp_path):
    paths = written(tmp_path, [text for text, _ in REFUSED.values()])
    result = tandem("compare", *paths, "--json")
    assert result.returncode == 2, result.stderr
    for (what, (_, said)), path, case in zip(REFUSED.items(), paths, json.loads(result.stdout)["cases"], strict=True):
        assert case["verdict"] == "bad-input", what
        assert case["why"].startswith(f"{path}:") and said in case["why"], what
    assert "Traceback" not in result.stderr


def test_hostile_cases_do_not_reach_the_tool(tandem, tmp_path):
    """Nothing of what a case does to the process is left for the next one."""
    written(tmp_path, JUDGED.values())
    names = sorted(os.listdir(tmp_path), key=lambda name: (len(name), name))
    result = tandem("compare", *names, "--other-side", "reference", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.encode())["cases"]
    assert {what: case["verdict"] for what, case in zip(JUDGED, found, strict=True)} == dict.fromkeys(JUDGED, "agree")


#: Cases that end the process in their frames(), and how the line calls it.
ENDING = {
    "os._exit(0)": "exit code 0",
    "ctypes.CDLL(None).exit(0)": "exit code 0",
    "os.closerange(0, 100) or os._exit(2)": "exit code 2",
    "os.kill(os.getpid(), 6)": "signal 6, Aborted",
    "os.kill(os.getpid(), 9)": "signal 9, Killed",
}


@pytest.mark.parametrize("act", ENDING)
def test_a_case_that_ends_the_process(tandem, tmp_path, act):
    """Its exit code is no verdict."""
    (path,) = written(tmp_path, [f"import ctypes, os\ndef frames():\n    {act}\n"])
    result = tandem("compare", path, "--json")
    assert (result.returncode, result.stdout) == (3, "")
    assert f"tandem compare: {path}: the process was ended ({ENDING[act]}) before it was done" in result.stderr


def test_a_thread_that_is_left_holds_nobody(tandem, tmp_path):
    text = "import threading, time\nthreading.Thread(target=time.sleep, args=(3000,)).start()\n" + CASE
    (path,) = written(tmp_path, [text])
    assert tandem("compare", path, "--other-side", "reference").returncode == 0


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_reaches_who_works(python, tmp_path, number, code):
    (path,) = written(tmp_path, ["import time\nprint('here', flush=True)\ntime.sleep(3000)\n"])
    command = [*python, "-m", "tandem", "compare", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        process.stdout.readline()
        process.send_signal(number)
        said = process.stdout.read()
        assert process.wait(60) == code
    assert said == (b"tandem compare: interrupted\n" if code > 0 else b"")


def test_an_interrupt_that_a_case_swallows(python, tmp_path):
    """It ends the command all the same."""
    text = "import time\nwhile True:\n    try:\n        print('here', flush=True)\n        time.sleep(3000)\n"
    (path,) = written(tmp_path, [text + "    except KeyboardInterrupt:\n        pass\n"])
    command = [*python, "-m", "tandem", "compare", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == b"here\ntandem compare: interrupted\n"
        assert process.wait(60) == 130


def test_a_frame_that_differs_is_flaky(tandem, tmp_path):
    """The same shape with other objects: a side disagrees with itself."""
    text = "calls = []\ndef frames():\n    calls.append(1)\n    return [[(('local', 'x'), [1] * len(calls))]]\n"
    (path,) = written(tmp_path, [text])
    result = tandem("compare", path)
    assert result.returncode == 3 and "flaky" in result.stdout


def test_a_builder_that_exits(tandem, shared, tmp_path):
    builder, program = tmp_path / "builder.py", tmp_path / "a.tdm"
    text = (shared / "reference" / "builder.py").read_text()
    builder.write_text(text + "\nraise SystemExit(0)\n")
    program.write_text(PROGRAM)
    result = tandem("run", program, "--builder", builder)
    assert result.returncode == 2
    assert result.stderr == f"tandem run: {builder}:{text.count(chr(10)) + 2}:1: SystemExit: 0\n"


# ---- descriptors and options: no builder is loaded -----------------------------------


@pytest.mark.parametrize(
    "how, code, said",
    [
        ("asm {} >&-", 3, "tandem asm: stdout: Bad file descriptor\n"),
        ("disasm {} --json >&-", 3, "tandem disasm: stdout: Bad file descriptor\n"),
        ("--help >/dev/full", 3, "tandem: stdout: No space left on device\n"),
        ("asm nowhere 2>&-", 2, ""),
        ("asm nowhere 2>/dev/full", 2, ""),
        ("asm - <&-", 2, "tandem asm: -:1:1: the file is empty\n"),
        ("asm ''", 2, "tandem asm: '': No such file or directory\n"),
        ("gen --nodes -3", 2, "tandem gen: --nodes -3: from 0 to 1048576\n"),
        ("gen --only ''", 2, "tandem gen: --only: it is empty\n"),
        ("asm {} --bogus", 2, "tandem asm: unrecognized arguments: --bogus (tandem asm --help says more)\n"),
        (
            "asm <(printf 'tandem 1\\nconfig specialize_int = \\377\\n')",
            2,
            "tandem asm: /dev/fd/63:2:25: '?' is no value that specialize_int can have here\n",
        ),
        (r"gen --only $'\xff'", 2, "tandem gen: --only '\\udcff': it is no UTF-8\n"),
    ],
)
def test_descriptors_and_options(python, tmp_path, how, code, said):
    path = tmp_path / "a.tdm"
    path.write_text(PROGRAM)
    line = " ".join([*python, "-m", "tandem", how.format(path)])
    result = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=1800, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (code, said)


def test_a_name_that_is_no_utf_8(tandem, tmp_path):
    """The document is UTF-8 all the same."""
    result = tandem("run", b"\xff.tdm".decode(errors="surrogateescape"), "--json", text=False, cwd=tmp_path)
    assert result.returncode == 2
    assert json.loads(result.stdout.decode())["cases"][0]["case"] == "\udcff.tdm"


# ---- an environment that no builder can live in, or should not hear of ----------------

#: Lines of bash before the command, and how it ends.
ENVIRONMENTS = {
    "a stack that is too small": ("ulimit -s 256", 3, "the stack of a process is limited to 256 kB"),
    "another module of torch's name": (
        "echo 'raise RuntimeError(1)' >torch.py; export PYTHONPATH=$PWD:$PYTHONPATH",
        3,
        "torch 2.1.2 is needed, and importing it failed: RuntimeError: 1",
    ),
    "logs that torch does not know": ("export TORCH_LOGS=nonsense", 3, "importing it failed: ValueError: Invalid log"),
    "a stack that may grow": ("ulimit -S -s 256", 0, ""),
    "warnings that are exceptions": ("export PYTHONWARNINGS=error", 0, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environments(python, root, tmp_path, name):
    """One line where it cannot be; else as if nothing were, on a program that warns and one
    that ends at the recursion limit."""
    before, code, said = ENVIRONMENTS[name]
    programs = [root / "corpus" / "findings" / f"{one}.tdm" for one in ("list_cycle_of_two", "export_copy_without_strides")]
    line = " ".join([before + ";", *python, "-m", "tandem", "run", *map(str, programs)])
    result = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=1800, cwd=tmp_path)
    assert result.returncode == code, result.stderr
    assert said in result.stderr and result.stderr.count("\n") <= 1
