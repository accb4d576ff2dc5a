"""Writes src/observe/unicode.def: which characters repr() and isidentifier() of Python 3.11 take.

Usage: gen_unicode.py [--check]

Names of sources are spelled in C as Python spells them, and those two questions
hang on Unicode tables. --check fails (exit 1) when the file is not what this
Python would write.
"""
import pathlib
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "observe" / "unicode.def"
HEAD = """/* unicode.def: ranges of characters beyond ASCII, made by scripts/gen_unicode.py
   from Unicode {version} (Python 3.11); not edited by hand.
   PRINTABLE(first, last)  str.isprintable: repr leaves it as it is
   START(first, last)      may begin an identifier
   CONTINUE(first, last)   may stand in one */
"""
ENTRIES_A_LINE = 4


def ranges(predicate):
    """Closed ranges of code points from 0x80 on for which predicate(character) holds."""
    first = None
    for code in range(0x80, 0x110001):
        holds = code < 0x110000 and predicate(chr(code))
        if holds and first is None:
            first = code
        elif not holds and first is not None:
            yield first, code - 1
            first = None


def text() -> str:
    """The whole file."""
    out = [HEAD.format(version=unicodedata.unidata_version)]
    for word, predicate in (
        ("PRINTABLE", str.isprintable),
        ("START", str.isidentifier),
        ("CONTINUE", lambda character: ("a" + character).isidentifier()),
    ):
        entries = [f"{word}(0x{first:X}, 0x{last:X})" for first, last in ranges(predicate)]
        for at in range(0, len(entries), ENTRIES_A_LINE):
            out.append(" ".join(entries[at:at + ENTRIES_A_LINE]) + "\n")
    return "".join(out)


def main() -> int:
    """Writes the file, or compares it with --check."""
    made = text()
    if "--check" in sys.argv[1:]:
        if TARGET.read_text(encoding="ascii") != made:
            print(f"{TARGET.relative_to(ROOT)}: not what scripts/gen_unicode.py writes", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(made, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
