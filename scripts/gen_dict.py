#!/usr/bin/env python3
"""Writes fuzz/program.dict, the tokens of the binary form, from the tables of
src/graph.  Usage: scripts/gen_dict.py [--check]"""
from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "fuzz" / "program.dict"

#: Table, what its words are called, and what td_wire.h adds to a tag.
TABLES = (
    ("kinds.def", "kind", 0x00),
    ("sources.def", "source", 0x80),
    ("entries.def", "root", 0xA0),
    ("dos.def", "do", 0xB0),
)
RECORDS = {"frame": 0xE0, "export": 0xE1, "constraint": 0xE2, "constraint_tied": 0xE3, "config": 0xE4, "end": 0xE5}
ROW = re.compile(r'^X\(\s*(\d+),\s*\w+,\s*"(\w+)"', re.MULTILINE)


def text() -> str:
    lines = ["# Tokens of the binary form of programs; made by scripts/gen_dict.py from src/graph/*.def."]
    for table, word, base in TABLES:
        rows = ROW.findall((ROOT / "src" / "graph" / table).read_text())
        lines += [f'{word}_{name}="\\x{base + int(tag):02x}"' for tag, name in rows]
    lines += [f'{name}="\\x{opcode:02x}"' for name, opcode in RECORDS.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    if "--check" in sys.argv[1:]:
        same = OUT.is_file() and OUT.read_text() == text()
        if not same:
            print(f"{OUT}: is not what the tables say; run scripts/gen_dict.py", file=sys.stderr)
        return 0 if same else 1
    OUT.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
