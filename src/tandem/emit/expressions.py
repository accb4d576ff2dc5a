"""Nodes, sources and changes of a program as Python text."""

from __future__ import annotations

import ast
import keyword
import re
import textwrap

from .. import core
from ..errors import TandemError
from .reading import SOURCE, Do, Node, Program


class CannotEmit(TandemError):
    """A program that no script of the wanted kind can show; str() says why."""

    exit_code = 1


#: Kinds whose members and keys hash alike everywhere (as the objects are made).
_FIXED = {"bool", "int", "bigint", "str", "bytes", "range", "size", "device", "enum", "np_scalar"}
_UNHASHABLE = {
    "list", "deque", "set", "slice", "dict", "ordered_dict", "default_dict", "ndarray", "odd_array", "optimizer_part",
    "stand_in",
}  # fmt: skip
_MARKS = ("mark_dynamic", "mark_weak_dynamic", "mark_static", "mark_static_address")
_MAY_SET = {"object", "nn_module", "module", "tensor", "parameter", "ordered_dict", "partial", "keywords"}

_DICTS = ("dict", "ordered_dict", "default_dict")
_ALLOWS = {"append": ("list", "deque"), "reverse": ("list", "deque"), "clear": ("list", *_DICTS, "set")}
_ALLOWS |= {"setitem": ("list", *_DICTS), "delitem": ("list", *_DICTS), "move_to_end": ("ordered_dict",)}
_TYPES = {
    "list": "list", "dict": "dict", "set": "set", "deque": "collections.deque",
    "ordered_dict": "collections.OrderedDict", "default_dict": "collections.defaultdict",
}  # fmt: skip

_TRACKER = "torch._dynamo.mutation_guard.GenerationTracker"
_MODULE_CHANGES = {
    "mark_class_dynamic": _TRACKER + ".mark_class_dynamic, type({0})",
    "make_new": _TRACKER + ".tag, {0}",
    "patch_forward": "setattr, {0}, 'forward', {1}",
}

_SOURCES = {
    "local": "LocalSource({0})",
    "cell": "LocalSource({0}, cell_or_freevar=True)",
    "global": "GlobalSource({0})",
    "attr": "AttrSource({0}, {1})",
    "item": "GetItemSource({0}, {1})",
    "param": "ParamBufferSource({0}, {1})",
    "nnmodule": "NNModuleSource({0})",
    "notnn": "NotNNModuleSource({0})",
    "fsdp": "FSDPNNModuleSource({0})",
    "const": "ConstantSource({0})",
    "random": "RandomValueSource({0})",
    "weak": "GlobalWeakRefSource({0})",
    "tupleiter": "TupleIteratorGetItemSource({0}, {1})",
    "odict": "ODictGetItemSource({0}, {1})",
    "default": "DefaultsSource({0}, {1})",
    "type": "TypeSource({0})",
    "numpy": "NumpyTensorSource({0})",
}


def _word(expression: ast.expr) -> str | None:
    """The kind of a source; None: it is none."""
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
        return expression.func.id.removeprefix(SOURCE)
    return None


def source(expression: ast.expr) -> str:
    """A source as the call that makes it."""
    word = _word(expression)
    if word is None or not isinstance(expression, ast.Call):
        return ast.unparse(expression)
    return _SOURCES[word].format(*map(source, expression.args))


def scope(expression: ast.expr) -> tuple[str, str] | None:
    """("local"|"global", name) when a source is a variable of the frame."""
    word = {"local": "local", "cell": "local", "global": "global"}.get(_word(expression) or "")
    if word is None or not isinstance(expression, ast.Call):
        return None
    return word, ast.literal_eval(expression.args[0])


def spelled(expression: ast.expr, bound: set[str], objects: Objects) -> str:
    """A source as what a function would write; CannotEmit for those that none can."""
    word = _word(expression)
    assert isinstance(expression, ast.Call)
    if word in ("local", "global"):
        name = ast.literal_eval(expression.args[0])
        if not name.isidentifier() or keyword.iskeyword(name):
            raise CannotEmit(f"{name!r} is no name that a function could use")
        if name not in bound:
            raise CannotEmit(f"nothing in the frame gives the variable {name!r} an object")
        return name
    if word == "attr":
        name = ast.literal_eval(expression.args[1])
        if not name.isidentifier() or keyword.iskeyword(name):
            raise CannotEmit(f"{name!r} is no attribute that a function could read")
        return f"{spelled(expression.args[0], bound, objects)}.{name}"
    if word == "item":
        key = objects.nodes[int(ast.unparse(expression.args[1])[1:])]
        if key.kind not in ("none", "bool", "int", "str"):
            raise CannotEmit(f"a key of kind {key.kind} is none that a function writes down")
        return f"{spelled(expression.args[0], bound, objects)}[{objects.lines(key)[0].partition(' = ')[2]}]"
    raise CannotEmit(f"a source of kind {word} is none that a compiled function reads")


# ---- objects ----------------------------------------------------------------------


class Objects:
    """Expressions for a program's nodes; `needs` collects what of tandem.objects they
    name, `imports` which modules."""

    def __init__(self, program: Program) -> None:
        self.nodes = program.nodes()
        self.needs: set[str] = set()
        self.imports: set[str] = set()
        self.paths = {(kind, word): path for kind, word, path in core.choices()}

    def _path(self, path: str) -> str:
        """The expression of "module:attribute"."""
        module, _, attribute = path.partition(":")
        if module == "tandem.objects":
            self.needs.add(attribute.split(".")[0])
            return attribute or "sys.modules[__name__]"
        if module == "builtins":
            return attribute
        self.imports.add(module)
        return f"{module}.{attribute}" if attribute else module

    def _choice(self, node: Node) -> str:
        path = self.paths[node.kind, node.payload]
        if node.kind == "device":
            return f"torch.device({path!r})"
        text = self._path(path)
        return f"{text}()" if ":make_" in path else text

    def _fixed(self, index: int) -> bool:
        node = self.nodes[index]
        if node.kind == "float":
            return not node.payload.startswith("nan")
        if node.kind in ("tuple", "frozenset", "complex"):
            return all(map(self._fixed, node.edges))
        return node.kind in _FIXED

    def hashes(self, index: int) -> bool:
        """Whether an object of this kind may be a key."""
        node = self.nodes[index]
        if node.kind in ("tuple", "namedtuple", "frozenset"):
            return all(map(self.hashes, node.edges))
        return node.kind not in _UNHASHABLE

    def lines(self, node: Node) -> list[str]:
        """The statements that make n<index>."""
        name = f"n{node.index}"
        make = getattr(self, f"_{node.kind}", None)
        if make is None:
            return [f"{name} = {self._choice(node)}"]
        made = make(node, [f"n{edge}" for edge in node.edges])
        return [f"{name} = {made}"] if isinstance(made, str) else [f"{name} = {made[0]}", *made[1:]]

    def _none(self, node: Node, edges: list[str]) -> str:
        return "None"

    def _bool(self, node: Node, edges: list[str]) -> str:
        return node.payload.capitalize()

    def _int(self, node: Node, edges: list[str]) -> str:
        return node.payload

    _bigint = _int

    def _float(self, node: Node, edges: list[str]) -> str:
        if node.payload.startswith("nan:"):
            self.imports.add("struct")
            return f'struct.unpack(">d", bytes.fromhex("{node.payload[4:]}"))[0]'
        return f'float("{node.payload}")' if node.payload.lstrip("-") in ("inf", "nan") else node.payload

    def _str(self, node: Node, edges: list[str]) -> str:
        return ascii(ast.literal_eval(node.payload))

    def _bytes(self, node: Node, edges: list[str]) -> str:
        return node.payload

    def _size(self, node: Node, edges: list[str]) -> str:
        return f"torch.Size({node.payload})"

    def _list(self, node: Node, edges: list[str]) -> str:
        return f"[{', '.join(edges)}]"

    def _tuple(self, node: Node, edges: list[str]) -> str:
        return f"({', '.join(edges)}{',' if len(edges) == 1 else ''})"

    def _namedtuple(self, node: Node, edges: list[str]) -> str:
        path = self.paths[node.kind, node.payload]
        cls, members = self._path(path), self._list(node, edges)
        self.needs.add("members_of")
        make = f"tuple.__new__({cls}, members_of({cls}, {members}))"
        return make if path.startswith("tandem.objects") else f"{cls}(members_of({cls}, {members}))"

    def _deque(self, node: Node, edges: list[str]) -> str:
        self.imports.add("collections")
        return f"collections.deque({self._list(node, edges)})"

    def _range(self, node: Node, edges: list[str]) -> str:
        return f"range({', '.join(node.payload.split())})"

    def _slice(self, node: Node, edges: list[str]) -> str:
        return f"slice({', '.join(edges)})"

    def _odict_values(self, node: Node, edges: list[str]) -> str:
        return f"{edges[0]}.values()"

    def _tuple_iterator(self, node: Node, edges: list[str]) -> str:
        return f"iter({edges[0]})"

    def _pairs(self, node: Node, start: int, empty: str) -> list[str]:
        name = f"n{node.index}"
        pairs = list(zip(node.edges[start::2], node.edges[start + 1 :: 2]))
        return [empty, *(f"change({name}.__setitem__, n{key}, n{value})" for key, value in pairs if self.hashes(key))]

    def _dict(self, node: Node, edges: list[str]) -> list[str]:
        return self._pairs(node, 0, "{}")

    def _ordered_dict(self, node: Node, edges: list[str]) -> list[str]:
        self.imports.add("collections")
        return self._pairs(node, 0, "collections.OrderedDict()")

    def _default_dict(self, node: Node, edges: list[str]) -> list[str]:
        self.imports.add("collections")
        return self._pairs(node, 1, f"collections.defaultdict({edges[0]} if callable({edges[0]}) else None)")

    def _members(self, node: Node) -> str:
        alone = len(set(node.edges)) == 1
        kept = [edge for edge in node.edges if self.hashes(edge) and (alone or self._fixed(edge))]
        return f"[{', '.join(f'n{edge}' for edge in kept)}]"

    def _set(self, node: Node, edges: list[str]) -> str:
        return f"set({self._members(node)})"

    def _frozenset(self, node: Node, edges: list[str]) -> str:
        return f"frozenset({self._members(node)})"

    def _module(self, node: Node, edges: list[str]) -> str:
        return f"{self._path(self.paths[node.kind, node.payload])}({', '.join(edges)})"

    def _member(self, node: Node, edges: list[str]) -> str:
        self.needs.add("member_of")
        return f"member_of({edges[0]}, {self.paths[node.kind, node.payload]!r})"

    def _applied(self, node: Node, edges: list[str]) -> str:
        return f"{self._choice(node)}({', '.join(edges)})"

    _optimizer = _optimizer_part = _subclass_tensor = _stand_in = _applied

    def _partial(self, node: Node, edges: list[str]) -> str:
        self.imports.add("functools")
        first = edges[0]
        return f"functools.partial({first} if callable({first}) else int{''.join(f', {edge}' for edge in edges[1:])})"

    def _keywords(self, node: Node, edges: list[str]) -> str:
        self.imports.add("functools")
        first = edges[0]
        named = "".join(f", {name}={edge}" for name, edge in zip("abcd", edges[1:]))
        return f"functools.partial({first} if callable({first}) else int{named})"

    def _complex(self, node: Node, edges: list[str]) -> str:
        parts = [edge if self.nodes[int(edge[1:])].kind in ("int", "float", "bool") else "0" for edge in edges]
        return f"complex({parts[0]}, {parts[1]})"

    def _object(self, node: Node, edges: list[str]) -> list[str]:
        name = f"n{node.index}"
        sets = [f'object.__setattr__({name}, "{attribute}", {edge})' for attribute, edge in zip("abcd", edges)]
        return [f"{self._choice(node)}()", *sets]

    def _tensor(self, node: Node, edges: list[str]) -> str:
        text, grad = _tensor(node)
        layout = node.payload.split("]", 1)[1].split()
        if not grad:
            return text
        if "nonleaf" in layout or layout == ["grad"]:
            return text
        return f"{text}.requires_grad_()"

    def _parameter(self, node: Node, edges: list[str]) -> str:
        text, grad = _tensor(node, leaf=True)
        return f"torch.nn.Parameter({text}, {grad})"

    def _ndarray(self, node: Node, edges: list[str]) -> str:
        self.imports.add("numpy")
        dtype, dims, layout = _parts(node)
        if layout == "contiguous":
            return f"numpy.ones({_shape(dims)}, {dtype!r})"
        return f"{_tensor(node, leaf=True)[0]}.numpy()"


def _parts(node: Node) -> tuple[str, list[int], str]:
    found = re.fullmatch(r"(\w+)\[([\d, ]*)\](.*)", node.payload)
    assert found is not None, node.payload
    words = [word for word in found[3].split() if word != "grad"]
    return found[1], [int(dim) for dim in found[2].replace(",", " ").split()], words[0] if words else "contiguous"


def _shape(dims: list[int]) -> str:
    return f"({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''})"


def _tensor(node: Node, leaf: bool = False) -> tuple[str, bool]:
    """The expression of a tensor's memory, and whether it requires grad."""
    dtype, dims, layout = _parts(node)
    grad = node.payload.endswith(" grad")

    def ones(dims: list[int], more: str = "") -> str:
        return f"torch.ones({_shape(dims)}, dtype=torch.{dtype}{more})"

    if layout == "transposed":
        return f"{ones([*dims[:-2], dims[-1], dims[-2]])}.transpose(-1, -2)", grad
    if layout == "expanded":
        return f"{ones([1, *dims[1:]])}.expand({_shape(dims)})", grad
    if layout == "offset":
        return f"{ones([dims[0] + 1, *dims[1:]])}[1:]", grad
    if layout == "strided":
        return f"{ones([*dims[:-1], dims[-1] * 2])}[..., ::2]", grad
    if layout == "channels_last":
        return f"{ones(dims)}.contiguous(memory_format=torch.channels_last)", grad
    if layout == "meta":
        return f'torch.empty({_shape(dims)}, dtype=torch.{dtype}, device="meta")', grad
    if layout == "nonleaf" and not leaf:
        return f"{ones(dims, ', requires_grad=True')}.clone()", grad
    method = {"sparse_coo": ".to_sparse()", "sparse_csr": ".to_sparse_csr()", "conj": ".conj()"}.get(layout, "")
    more = ", requires_grad=True" if grad and not leaf and layout == "contiguous" else ""
    return ones(dims, more) + method, grad


# ---- changes ----------------------------------------------------------------------


def change(do: Do, objects: Objects) -> str | None:
    """A change as a statement; None where the object does not allow it."""
    kind = objects.nodes[do.target].kind
    if kind != "member" or do.op not in _ALLOWS:
        return _change(do, kind, objects)
    # Only the script sees what the module has under that name.
    objects.imports.add("collections")
    cases = [(_TYPES[held], _change(do, held, objects)) for held in _ALLOWS[do.op]]
    text = "\n".join(
        f"if type(n{do.target}) is {held}:\n{textwrap.indent(text, '    ')}" for held, text in cases if text is not None
    )
    return text or None


def _change(do: Do, kind: str, objects: Objects) -> str | None:
    target, given = f"n{do.target}", [ast.unparse(one) for one in do.operands]
    if do.op in _MARKS:
        if kind not in ("tensor", "parameter"):
            return None
        if do.op == "mark_static_address":
            return f"change(torch._dynamo.mark_static_address, {target}, {given[0] != '0'})"
        if do.op == "mark_weak_dynamic":
            return f"change(torch._dynamo.maybe_mark_dynamic, {target}, {given[0]})"
        return f"change(torch._dynamo.{do.op}, {target}, {given[0]})"
    if do.op == "setattr":
        return f"change(setattr, {target}, {given[0]}, {given[1]})" if kind in _MAY_SET else None
    if do.op in _MODULE_CHANGES:
        text = _MODULE_CHANGES[do.op].format(target, *given)
        return f"change({text})" if kind in ("nn_module", "module") else None
    if do.op in ("setitem", "delitem"):
        return _item(do.op, kind, target, given, objects)
    if do.op == "move_to_end":
        hashes = objects.hashes(int(given[0][1:]))
        return f"change({target}.move_to_end, {given[0]})" if kind == "ordered_dict" and hashes else None
    rest = "".join(f", {one}" for one in given)
    return f"change({target}.{do.op}{rest})" if kind in _ALLOWS[do.op] else None


def _item(op: str, kind: str, target: str, given: list[str], objects: Objects) -> str | None:
    index = objects.nodes[int(given[0][1:])]
    rest = "".join(f", {one}" for one in given[1:])
    if kind == "list" and index.kind in ("int", "bigint"):
        return f"if {target}:\n    {target}.__{op}__({given[0]} % len({target}){rest})"
    if kind in _DICTS and objects.hashes(index.index):
        return f"change({target}.__{op}__, {given[0]}{rest})"
    return None
