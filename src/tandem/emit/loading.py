"""What scripts for another builder carry.  Text; never imported here."""

import importlib.abc
import importlib.machinery
import linecache
import os

NAME = "torch._dynamo.variables.builder"


class Builder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the text of a file for the module that builds."""

    def __init__(self, path, before):
        self.path, self.before = path, before

    def find_spec(self, name, path, target=None):
        if name != NAME:
            return None
        origin = os.path.join(list(path)[0], "builder.py")
        spec = importlib.machinery.ModuleSpec(name, self, origin=origin)
        spec.has_location = True
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        self.before()
        with open(self.path, encoding="utf-8") as stream:
            text = stream.read()
        origin = module.__spec__.origin
        linecache.cache[origin] = (len(text), None, text.splitlines(True), origin)
        exec(compile(text, origin, "exec", dont_inherit=True), module.__dict__)


def load(path, before, after):
    """Imports Dynamo with the builder at path in its place."""
    finder = Builder(path, before)
    sys.meta_path.insert(0, finder)
    import torch._dynamo

    sys.meta_path.remove(finder)
    after()
