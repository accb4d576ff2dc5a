"""Programs and cases that the tests of the command line are run on."""
from __future__ import annotations

PROGRAM = """\
tandem 1
%0 = int 5
%1 = str "a"
%2 = list %0 %1
frame
  root build local("x") %2
  root build global("y") %2
"""

#: What is damaged, and the line and column that must be named.
DAMAGED = {
    "no header": ("%0 = int 5\n", "1:1"),
    "a kind that there is not": ("tandem 1\n%0 = intt 5\nframe\n  root build local(\"x\") %0\n", "2:6"),
    "an edge to nothing": ("tandem 1\n%0 = list %7\nframe\n  root build local(\"x\") %0\n", "2:11"),
    "no root": ("tandem 1\n%0 = int 5\n", "3:1"),
    "a string without end": ("tandem 1\n%0 = str \"abc\nframe\n", "2:"),
}

CASE = """\
def frames():
    shared = [1, 2]
    return [[(("local", "x"), shared), (("local", "y"), {"a": shared})], [(("local", "x"), [3])]]
"""

#: What is wrong with a case, and the place that must be named.
BAD_CASES = {
    "raises": ("def frames():\n    raise ValueError('no')\n", "2:5: ValueError: no"),
    "raises while it is read": ("x = 1\nraise KeyError('k')\n", "2:1: KeyError: 'k'"),
    "does not parse": ("def frames(:\n    pass\n", "1:12: "),
    "lacks frames": ("x = 1\n", "1:1: a case needs a function frames()"),
    "frames is no list": ("def frames():\n    return 5\n", "TypeError"),
    "a step is no pair": ("def frames():\n    return [[1]]\n", "TypeError"),
    "a source that there is not": ("def frames():\n    return [[(('locl', 'x'), 1)]]\n", "locl"),
    "a config value that there is not": (
        "CONFIG = {'nix': 1}\ndef frames():\n    return [[(('local', 'x'), 1)]]\n",
        "nix",
    ),
    "no roots": ("def frames():\n    return [[]]\n", "no roots"),
}
