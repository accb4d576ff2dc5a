"""Generated files are what their scripts write, and a drifted one is noticed."""
import importlib.util
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def script(name):
    """The script scripts/<name>.py as a fresh module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["gen_fields", "gen_unicode"])
def test_the_file_in_the_tree_is_current(name, monkeypatch):
    module = script(name)
    monkeypatch.setattr(sys, "argv", [name, "--check"])
    assert module.main() == 0


@pytest.mark.parametrize("name", ["gen_fields", "gen_unicode"])
def test_a_drifted_file_fails_the_check(name, monkeypatch, tmp_path, capsys):
    module = script(name)
    drifted = tmp_path / "file"
    drifted.write_text(module.TARGET.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "TARGET", drifted)
    monkeypatch.setattr(sys, "argv", [name, "--check"])
    assert module.main() == 1
    assert "not what scripts/" in capsys.readouterr().err


def test_a_row_that_is_none_is_an_error(monkeypatch, tmp_path):
    module = script("gen_fields")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    broken = tmp_path / "fields.def"
    broken.write_text('X(Frame, roots, COMPARED, "", WRITER)\nX(Frame, guards)\n', encoding="utf-8")
    with pytest.raises(SystemExit, match="is no row"):
        module.rows_of(broken, module.FIELD_ROW)


def test_the_readme_table_counts_every_row():
    module = script("gen_fields")
    _, fields = module.read()
    text = module.markdown_text(fields)
    for row in fields:
        assert row.disposition == "COMPARED" or f"`{row.attribute}`" in text
    counts = [int(line.split("|")[2]) for line in text.splitlines() if line.startswith(("| ignored", "| implied"))]
    assert sum(counts) == sum(row.disposition != "COMPARED" for row in fields) > 0
