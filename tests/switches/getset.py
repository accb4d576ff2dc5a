"""Switch GETSET: a getset descriptor, which no class made in Python has."""
import types


def frames():
    return [[(("local", "code"), types.FunctionType.__code__)]]
