"""tandem.compare(): both builders on objects of the caller's own."""
from __future__ import annotations

import json
import subprocess
import textwrap

import pytest


@pytest.fixture
def script(python, shared, tmp_path):
    """Runs Python text in a process of its own with `compare(frames, ...)` bound to
    the mission's builder; gives what it printed as JSON."""

    def run(text):
        prelude = f"""
            import functools, json, torch
            import tandem
            from tandem import errors
            compare = functools.partial(tandem.compare, builder={str(shared / "reference" / "builder.py")!r})
        """
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(prelude) + textwrap.dedent(text))
        result = subprocess.run([*python, path], capture_output=True, text=True, timeout=1800)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return run


def test_a_list_is_shared_and_a_callable_is_called_once_a_side(script):
    found = script(
        """
        calls = []
        def frames():
            calls.append(1)
            return [[(("local", "x"), [1, "a"])]]
        shared = compare([[(("local", "x"), [1, "a"])], [(("local", "x"), [2, "a"])]])
        own = compare(frames)
        print(json.dumps({"shared": shared, "own": own, "calls": len(calls)}))
        """
    )
    assert found["shared"]["verdict"] == found["own"]["verdict"] == "agree"
    assert found["shared"]["roots"] == ["agree", "agree"]
    assert found["calls"] == 2
    assert found["shared"]["reference"]["frames"][0]["roots"][0]["tracker"]["kind"] == "ListVariable"


def test_shared_objects_are_changed_by_do_steps_once(script):
    found = script(
        """
        items = [1]
        def more():
            items.append(len(items))
        steps = [(("local", "x"), items), (("do",), more), (("global", "y"), items), (("do",), more)]
        found = compare([steps, [(("local", "x"), items)]])
        print(json.dumps({"found": found, "items": items}))
        """
    )
    assert found["items"] == [1, 1, 2]
    assert found["found"]["verdict"] == "agree", found["found"]["divergences"]


def test_config_holds_meanwhile(script):
    found = script(
        """
        compare([[(("local", "x"), 7)]])
        import torch._dynamo.config as config  # loaded by now, with the builder in place
        before = config.specialize_int
        one = compare([[(("local", "x"), 7)]], {"specialize_int": True})
        print(json.dumps({"one": one, "same": config.specialize_int == before}))
        """
    )
    assert found["one"]["verdict"] == "agree" and found["same"]


def test_what_is_no_case_is_bad_input(script):
    found = script(
        """
        said = []
        for frames in ([[1]], 5, [[]], lambda: 1 / 0):
            try:
                said.append(compare(frames)["verdict"])
            except errors.BadInput as error:
                said.append(str(error))
        print(json.dumps(said))
        """
    )
    assert len(found) == 4 and found[2] == "bad-input"
    assert "ZeroDivisionError" in found[3]


def test_objects_keep_their_counts(script):
    """Nothing is kept alive once a comparison is over."""
    found = script(
        """
        import gc, sys
        objects = [[1, 2], {"a": (3, 4)}, torch.ones(2, 3), (5, [6])]
        def once():
            compare([[(("local", f"x{i}"), value) for i, value in enumerate(objects)]])
            gc.collect()
            return [sys.getrefcount(value) for value in objects]
        once()
        print(json.dumps([once(), once()]))
        """
    )
    assert found[0] == found[1]
