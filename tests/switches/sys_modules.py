"""Switch SYS_MODULES: the dict of all modules, alone and inside a list."""
import sys


def frames():
    return [[(("local", "modules"), sys.modules)], [(("global", "both"), [sys.modules, sys.modules])]]
