"""Switch METHOD_WRAPPER: a slot of a C class, bound to an object."""


def frames():
    return [[(("local", "length"), [1, 2].__len__)]]
