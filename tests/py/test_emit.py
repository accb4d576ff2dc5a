"""tandem emit: scripts that need torch alone and show what `tandem show` shows."""
from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from oracle_children import child

pytestmark = pytest.mark.release

CORPUS = ROOT / "corpus"


def told(text: str) -> list:
    """A script's print-out in the form that emit_probe gives observations."""
    frames: list[dict] = []
    for line in text.splitlines():
        indent, words = len(line) - len(line.lstrip(" ")), line.strip().split(" ", 1)
        if words[0] == "frame":
            frames.append({"roots": [], "guards": []})
        elif words[0] == "root" and indent == 2:
            frames[-1]["roots"].append([])
        elif words[0] == "guard":
            (frames[-1]["guards"] if indent == 2 else frames[-1]["roots"][-1][-1][1]).append(line.strip()[6:])
        elif words[0] == "raises":
            frames[-1]["roots"][-1] = words[1].split(":")[0]
        elif words[0].endswith("Variable") and not line.endswith("(again)"):
            frames[-1]["roots"][-1].append([words[0], []])
    return frames


def _row(row: str) -> str:
    """A guard without what observations call by its number: the object whose id a name
    holds, and an index that is an object of the program; a script is the module of its classes."""
    row = re.sub(r"__dict_key_(\d+|<object \d+>)", "__dict_key_n", row.strip())
    row = re.sub(r"<object \d+>|<enum <class '[^']*'> \w+>|<\w+\.\w+: [^>]*>|\bslice\([^()]*\)", "n", row)
    row = re.sub(r"<class '[\w.]*?(\w+)'>|<enum '(\w+)'>", r"<\1\2>", row).replace("tandem.objects", "__main__")
    return re.sub(r"\[(n|[A-Za-z][\w.]*\(.*?\))\]", "[n]", row)


def _root(root: str | list) -> str | list:
    return root if isinstance(root, str) else sorted([kind, sorted(map(_row, rows))] for kind, rows in root)


def plain(frames: list) -> list:
    """Without the order in which attributes hold trackers."""
    return [
        {"roots": [_root(root) for root in frame["roots"]], "guards": sorted(map(_row, frame["guards"]))}
        for frame in frames
    ]


def both(python: list[str], corpus: Path, folder: Path, builder: str = "") -> tuple[dict[str, Any], dict[str, str]]:
    """What the reference shows of each program, and what each script prints."""
    shown = child(python, "emit_probe.py", corpus, builder, folder)
    names = ("script",) if builder else ("script", "compiled")
    paths = folder / "scripts.json"
    paths.write_text(json.dumps([row[name] for row in shown.values() for name in names if name in row]))
    ran = child(python, "emit_runner.py", paths, *([builder] if builder else []))
    assert ran["foreign"] == [], "a script imported something of ours"
    return shown, ran["said"]


@pytest.fixture(scope="module")
def installed(python: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, str]]:
    return both(python, CORPUS, tmp_path_factory.mktemp("emit"))


def test_scripts_show_what_show_shows(installed) -> None:
    shown, said = installed
    written = {path: row for path, row in shown.items() if "script" in row}
    differ = {path: (plain(row["shown"]), plain(told(said[row["script"]]))) for path, row in written.items()}
    refused = {path: row["why"]["script"] for path, row in shown.items() if "script" not in row}
    reasons = ("export constraints", "a root of entry", "wrap_fx_proxy options")
    assert all(any(one in why for one in reasons) for why in refused.values()), refused
    assert {path: pair for path, pair in differ.items() if pair[0] != pair[1]} == {}
    assert len(differ) >= 80
    assert sum(len(frame["roots"]) for ours, _ in differ.values() for frame in ours) >= 200


def test_compiled_functions_have_the_same_guards(installed) -> None:
    shown, said = installed
    compared = 0
    for path, row in shown.items():
        if "compiled" not in row or any(isinstance(root, str) for frame in row["shown"] for root in frame["roots"]):
            continue
        text = said[row["compiled"]]
        have = {line.strip()[6:].strip() for line in text.splitlines() if line.strip().startswith("guard ")}
        # A root that is the tracker of one before it shows nothing of its own.
        roots = [root for frame in row["shown"] for root in frame["roots"] if root]
        wanted = {one.strip() for root in roots for one in root[0][1]}
        assert wanted <= have, (path, sorted(wanted - have), text)
        compared += 1
    assert compared >= 20
    refused = {row["why"]["compiled"] for row in shown.values() if "compiled" in row["why"]}
    assert any("frame state" in why for why in refused) and any("const" in why for why in refused)


def test_scripts_for_another_builder(python, shared, tmp_path) -> None:
    shown, said = both(python, CORPUS / "callable", tmp_path, str(shared / "reference" / "builder.py"))
    for path, row in shown.items():
        assert plain(row["shown"]) == plain(told(said[row["script"]])), path


def test_command(tandem, tmp_path) -> None:
    program = CORPUS / "dict" / "alias.tdm"
    script = tmp_path / "alias.py"
    assert tandem("emit", program, "-o", script).returncode == 0
    alone = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, timeout=1800, cwd=tmp_path)
    assert alone.returncode == 0 and "ConstDictVariable L['a']" in alone.stdout
    two = tmp_path / "two.tdm"
    two.write_text('tandem 1\n%0 = int 1\nframe\n  root build local("x") %0\nframe\n  root build local("x") %0\n')
    refused = tandem("emit", "--compile", "--json", two)
    assert refused.returncode == 1 and json.loads(refused.stdout)["written"] is False
    assert "frame state" in json.loads(refused.stdout)["why"] and refused.stderr.count("\n") == 1
