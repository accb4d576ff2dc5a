"""Makes the Python and Markdown forms of the observation's schema.

Usage: gen_fields.py              writes src/tandem/fields.py
       gen_fields.py --check      exit 1 when that file is not what would be written
       gen_fields.py --markdown   prints the table of ignored and implied rows, for the README

The schema is src/observe/classes.def and src/observe/fields.def.
"""
import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OBSERVE = ROOT / "src" / "observe"
TARGET = ROOT / "src" / "tandem" / "fields.py"

CLASS_ROW = re.compile(r"X\((\w+),\s*(\w+)\)")
FIELD_ROW = re.compile(r'X\((\w+),\s*(\w+),\s*(\w+),\s*"([^"]*)",\s*(\w+)\)')
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

Row = collections.namedtuple("Row", "class_name attribute disposition why form")

HEAD = '''"""The schema of observations, made by scripts/gen_fields.py from src/observe; not edited by hand."""
from typing import NamedTuple


class Field(NamedTuple):
    """One attribute of one class: disposition is COMPARED, IMPLIED (why: by what) or IGNORED (why: the reason)."""

    class_name: str
    attribute: str
    disposition: str
    why: str
    form: str


'''


def rows_of(path: pathlib.Path, pattern: "re.Pattern[str]") -> list:
    """The X(...) rows of a .def file; a row that does not have the pattern is an error."""
    text = COMMENT.sub("", path.read_text(encoding="utf-8"))
    rows = pattern.findall(text)
    if len(rows) != len(re.findall(r"\bX\(", text)) or pattern.sub("", text).strip():
        raise SystemExit(f"{path.relative_to(ROOT)}: something in it is no row")
    return rows


def read() -> "tuple[list[tuple[str, str]], list[Row]]":
    """The classes as (name, parent), and the rows."""
    classes = rows_of(OBSERVE / "classes.def", CLASS_ROW)
    fields = [Row(*row) for row in rows_of(OBSERVE / "fields.def", FIELD_ROW)]
    return classes, fields


def python_text(classes: list, fields: "list[Row]") -> str:
    """The whole of src/tandem/fields.py."""
    out = [HEAD, "# Class -> the class it inherits attributes from, or None.\nCLASSES: dict[str, str | None] = {\n"]
    for name, parent in classes:
        out.append(f'    "{name}": {"None" if parent == "NONE" else repr(parent).replace(chr(39), chr(34))},\n')
    out.append("}\n\nFIELDS: tuple[Field, ...] = (\n")
    for row in fields:
        out.append("    Field({}),\n".format(", ".join(f'"{value}"' for value in row)))
    out.append(")\n")
    return "".join(out)


def counts_text(fields: "list[Row]") -> str:
    """How many attributes have which disposition, one line."""
    counts = collections.Counter(row.disposition for row in fields)
    return (f"{len(fields)} attributes: {counts['COMPARED']} compared, {counts['IMPLIED']} implied, "
            f"{counts['IGNORED']} ignored.\n")


def grouped(rows: "list[Row]") -> "dict[str, dict[str, list[str]]]":
    """why -> class -> attributes, in the order of the schema."""
    table: "dict[str, dict[str, list[str]]]" = {}
    for row in rows:
        table.setdefault(row.why, {}).setdefault(row.class_name, []).append(row.attribute)
    return table


def markdown_text(fields: "list[Row]") -> str:
    """What is not compared: ignored rows by reason, then implied rows by what they follow from."""
    out = [counts_text(fields), "\n| not compared | count | attributes |\n| --- | --- | --- |\n"]
    for why, classes in sorted(grouped([row for row in fields if row.disposition == "IGNORED"]).items()):
        cells = "; ".join(f"{name}: " + ", ".join(f"`{attribute}`" for attribute in attributes)
                          for name, attributes in classes.items())
        out.append(f"| ignored, {why} | {sum(map(len, classes.values()))} | {cells} |\n")
    implied = [row for row in fields if row.disposition == "IMPLIED"]
    cells = "; ".join(f"{row.class_name}: `{row.attribute}` by {row.why}" for row in implied)
    out.append(f"| implied | {len(implied)} | {cells} |\n")
    return "".join(out)


def main() -> int:
    """Exit code as the usage says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    classes, fields = read()
    if options.markdown:
        sys.stdout.write(markdown_text(fields))
        return 0
    made = python_text(classes, fields)
    if not options.check:
        TARGET.write_text(made, encoding="utf-8")
        return 0
    if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != made:
        print(f"{TARGET.relative_to(ROOT)}: not what scripts/gen_fields.py writes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
