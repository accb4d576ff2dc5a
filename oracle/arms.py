"""The arms of a builder, and how a run tells which it entered.

An *arm* is one outcome of one decision in the file.  Its id is
`L<line>/<kind>/<arm>`; a second one of that name on a line also names the
column, a third one gets a prime.  Kinds:

  fn      a function or lambda is entered
  if      T or F; in an if/elif chain only the last link has an F
  ifexp   T or F of a conditional expression
  bool    op<k>=F of `and`, op<k>=T of `or`: operand k decides; all=T, all=F: no
          operand did (only where that is not the outcome of an if, a conditional
          expression, an assertion or an enclosing and/or already)
  for     zero or some iterations of a loop or comprehension
  alt     which alternative matched: x in [A, B], isinstance(x, (A, B)), {A: .., B: ..}[x],
          the builder's two dispatch tables, its set of common constants
  assert  pass or fail
  try     ok or except
  ret, raise, unimpl   the statement (the call of unimplemented) is reached

Instrumentation appends the number of each arm that is entered to one list,
`Arms.trace`, by calling the list's own append: one C call of some 25 ns.  As the
list is in order, it says both which arms were entered and which was last.  The
code that is put in evaluates every operand once and in the file's order, calls no
code of a program that the file would not call, and keeps lines and columns.
"""
from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import itertools
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable, Iterable, Iterator

#: An arm's number must fit the bit set of td_run_t.
ARM_CNT_MAX = 1024

#: Functions that a root passes whatever it is: their arms decide nothing.
_ERRANDS = frozenset(
    "VariableBuilder." + name
    for name in (
        "__init__", "_can_lift_attrs_to_inputs", "_common_constants", "get_source", "options",
        "make_guards", "_type_dispatch", "_id_dispatch",
    )  # fmt: skip
)
#: What VariableBuilder.__call__ does once the tracker is there.
_FAREWELLS = frozenset({"self._can_lift_attrs_to_inputs(vt)", "return vt"})


@dataclasses.dataclass(frozen=True)
class Arm:
    """One decision outcome.  text is the condition; decides is False for arms that
    every root enters on its way out."""

    index: int
    id: str
    kind: str
    qualname: str
    line: int
    text: str
    arm: str
    decides: bool


def shorten(text: str, limit: int) -> str:
    """text in at most limit characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _table_keys(tree: ast.Module) -> dict[str, list[str]]:
    """For each dispatch table function of the builder the keys of its entries."""
    result: dict[str, list[str]] = {}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name not in ("_type_dispatch", "_id_dispatch"):
            continue
        keys: list[ast.expr] = []
        for node in ast.walk(function):
            is_table = isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
            if is_table and _text(node.targets[0]) == "entries":
                keys += [entry.elts[0] for entry in node.value.elts]
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and _text(node.func) == "entries.append":
                keys.append(node.args[0].elts[0])
        names: list[str] = []
        for key in keys:
            names += [_text(one) for one in key.elts] if isinstance(key, (ast.Tuple, ast.List)) else [_text(key)]
        result[function.name] = names
    return result


def _common_constants(tree: ast.Module) -> list[Any]:
    """The members of the set that _common_constants returns, sorted."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name == "_common_constants":
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and isinstance(node.value, ast.Set):
                    return sorted(ast.literal_eval(node.value))
    return []


# ---- names that instrumented code uses -----------------------------------------

_HIT, _EACH, _MEMBER, _TYPE, _ANY, _KEY, _DISPATCH, _CONSTANT = (
    "__td_hit__", "__td_each__", "__td_member__", "__td_type__", "__td_any__", "__td_key__",
    "__td_dispatch__", "__td_constant__",
)  # fmt: skip


def _call(name: str, *args: ast.expr | int) -> ast.Call:
    values = [ast.Constant(arg) if isinstance(arg, int) else arg for arg in args]
    return ast.Call(ast.Name(name, ast.Load()), values, [])


def _hit(index: int) -> ast.Call:
    """Enters arm index; its value is None."""
    return _call(_HIT, index)


def _true(index: int) -> ast.expr:
    """Enters arm index; its value is True."""
    return ast.UnaryOp(ast.Not(), _hit(index))


def _then(index: int, node: ast.expr) -> ast.expr:
    """Enters arm index, then evaluates node; node's value."""
    return ast.BoolOp(ast.Or(), [_hit(index), node])


class _Instrumenter(ast.NodeTransformer):
    """Numbers the arms of a tree in the order of their places and puts the hits in."""

    def __init__(self, tree: ast.Module) -> None:
        self.arms: list[Arm] = []
        self._ids: set[str] = set()
        self._scope: list[str] = []
        self._tables = _table_keys(tree)
        self._constants = _common_constants(tree)
        self._temporaries = itertools.count()
        self._may_bind = True  # whether := is allowed where we are
        self._varargs: str | None = None  # the function's *name, where it is not assigned to

    # -- numbering

    def arm(self, kind: str, node: ast.AST, text: str, arm: str) -> int:
        name = f"L{node.lineno}/{kind}/{arm}"
        if name in self._ids:
            name = f"L{node.lineno}.{node.col_offset}/{kind}/{arm}"
        while name in self._ids:
            name += "'"
        self._ids.add(name)
        qualname = ".".join(self._scope) or "<module>"
        is_farewell = qualname == "VariableBuilder.__call__" and text in _FAREWELLS
        decides = qualname not in _ERRANDS and not is_farewell
        self.arms.append(Arm(len(self.arms), name, kind, qualname, node.lineno, text, arm, decides))
        return len(self.arms) - 1

    def alternatives(self, node: ast.AST, text: str, names: Iterable[str], other: str | None) -> int:
        """Arms for the alternatives of node, numbered in a row; the first one's number."""
        first = len(self.arms)
        for name in names:
            self.arm("alt", node, text, name)
        if other is not None:
            self.arm("alt", node, text, other)
        return first

    def _temporary(self) -> str:
        return f"_td_{next(self._temporaries)}"

    # -- conditions

    def truth(self, node: ast.expr, covered: bool = True) -> ast.expr:
        """node where only its truth counts.  covered: its outcome is an arm already."""
        if isinstance(node, ast.BoolOp):
            return self._bool(node, covered, True)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ast.copy_location(ast.UnaryOp(node.op, self.truth(node.operand)), node)
        return self.visit(node)

    def _operand(self, node: ast.expr, truth: bool) -> ast.expr:
        if truth or not isinstance(node, ast.BoolOp):
            return self.truth(node)
        return self._bool(node, True, False)

    def _bool(self, node: ast.BoolOp, covered: bool, truth: bool) -> ast.expr:
        is_and = isinstance(node.op, ast.And)
        last = len(node.values) - 1
        rows: list[tuple[ast.expr, int, int | None]] = []
        for k, value in enumerate(node.values):
            decides = self.arm("bool", value, f"[{k}] {_text(value)}", f"op{k}={'F' if is_and else 'T'}")
            other = None
            if k == last and not covered:
                other = self.arm("bool", node, _text(node), f"all={'T' if is_and else 'F'}")
            rows.append((self._operand(value, truth), decides, other))
        make = self._bool_truth if truth else self._bool_value
        return ast.copy_location(make(is_and, rows), node)

    def _bool_truth(self, is_and: bool, rows: list) -> ast.expr:
        values: list[ast.expr] = []
        for value, decides, other in rows:
            if other is not None:
                on_true, on_false = (other, decides) if is_and else (decides, other)
                values.append(ast.IfExp(value, _true(on_true), _hit(on_false)))
            elif is_and:
                values.append(ast.BoolOp(ast.Or(), [value, _hit(decides)]))
            else:
                values.append(ast.BoolOp(ast.And(), [value, _true(decides)]))
        return ast.BoolOp(ast.And() if is_and else ast.Or(), values)

    def _bool_value(self, is_and: bool, rows: list) -> ast.expr:
        """The chain as nested conditional expressions: each operand's truth is asked once."""
        result: ast.expr | None = None
        for value, decides, other in reversed(rows):
            name = self._temporary()
            stop = _then(decides, ast.Name(name, ast.Load()))
            if result is None:
                kept = ast.Name(name, ast.Load())
                result = kept if other is None else _then(other, kept)
            on_true, on_false = (result, stop) if is_and else (stop, result)
            result = self._choose(name, value, on_true, on_false)
        return result

    def _choose(self, name: str, value: ast.expr, on_true: ast.expr, on_false: ast.expr) -> ast.expr:
        """on_true if value else on_false, where both may use value by name."""
        if self._may_bind:
            return ast.IfExp(ast.NamedExpr(ast.Name(name, ast.Store()), value), on_true, on_false)
        parameters = ast.arguments(posonlyargs=[], args=[ast.arg(name)], kwonlyargs=[], kw_defaults=[], defaults=[])
        body = ast.IfExp(ast.Name(name, ast.Load()), on_true, on_false)
        return ast.Call(ast.Lambda(parameters, body), [value], [])

    @contextlib.contextmanager
    def _binding(self, allowed: bool) -> Iterator[None]:
        before, self._may_bind = self._may_bind, allowed
        yield
        self._may_bind = before

    def visit_BoolOp(self, node):
        return self._bool(node, False, False)

    def visit_IfExp(self, node):
        on_true = self.arm("ifexp", node, _text(node.test), "T")
        on_false = self.arm("ifexp", node, _text(node.test), "F")
        test = self.truth(node.test)
        body, orelse = self.visit(node.body), self.visit(node.orelse)
        return ast.copy_location(ast.IfExp(test, _then(on_true, body), _then(on_false, orelse)), node)

    def visit_If(self, node):
        text = _text(node.test)
        on_true = self.arm("if", node, text, "T")
        link = node.orelse[0] if len(node.orelse) == 1 else None
        is_chain = isinstance(link, ast.If) and link.col_offset == node.col_offset
        on_false = None if is_chain else self.arm("if", node, text, "F")
        node.test = self.truth(node.test)
        node.body = [self._statement(on_true, node)] + self.block(node.body)
        node.orelse = self.block(node.orelse)
        if on_false is not None:
            node.orelse.insert(0, self._statement(on_false, node))
        return node

    # -- loops

    def visit_For(self, node):
        text = f"for {_text(node.target)} in {_text(node.iter)}"
        zero = self.arm("for", node, text, "zero")
        some = self.arm("for", node, text, "some")
        flag = self._temporary()
        node.iter = self.visit(node.iter)
        node.body = [self._assign(flag, _hit(some), node)] + self.block(node.body)
        none = ast.copy_location(ast.If(ast.Name(flag, ast.Load()), [self._statement(zero, node)], []), node)
        node.orelse = [none] + self.block(node.orelse)
        return [self._assign(flag, ast.Constant(True), node), node]

    def _each(self, zero: int, iterable: ast.expr) -> ast.expr:
        """iterable, entering arm zero when it is empty."""
        if isinstance(iterable, ast.Name) and iterable.id == self._varargs:  # a tuple for sure
            return ast.BoolOp(ast.Or(), [iterable, _then(zero, ast.Tuple([], ast.Load()))])
        return _call(_EACH, zero, iterable)

    def _comprehension(self, node, truth: bool = False):
        """truth: of the elements only their truth counts."""
        for loop in node.generators:
            text = f"for {_text(loop.target)} in {_text(loop.iter)}"
            zero = self.arm("for", loop.iter, text, "zero")
            some = self.arm("for", loop.iter, text, "some")
            with self._binding(False):
                iterable = self.visit(loop.iter)
            loop.iter = ast.copy_location(self._each(zero, iterable), loop.iter)
            loop.ifs = [_true(some)] + [self.truth(test, covered=False) for test in loop.ifs]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        elif truth:
            node.elt = self.truth(node.elt, covered=False)
        else:
            node.elt = self.visit(node.elt)
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    # -- alternatives

    def visit_Compare(self, node):
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In):
            options = node.comparators[0]
            if isinstance(options, (ast.List, ast.Tuple)) and len(options.elts) > 1:
                return self._member(node, options)
            if isinstance(options, ast.Call) and _text(options.func).endswith("_common_constants"):
                return self._constant(node)
        return self.generic_visit(node)

    def _member(self, node: ast.Compare, options: ast.List | ast.Tuple) -> ast.expr:
        names = [shorten(_text(one), 60) for one in options.elts]
        first = self.alternatives(node, f"{_text(node.left)} in", names, "none")
        node = self.generic_visit(node)
        return ast.copy_location(_call(_MEMBER, first, node.left, node.comparators[0]), node)

    def _constant(self, node: ast.Compare) -> ast.expr:
        names = map(str, self._constants)
        first = self.alternatives(node, f"{_text(node.left)} in common constants", names, None)
        node = self.generic_visit(node)
        constants = ast.Tuple([ast.Constant(one) for one in self._constants], ast.Load())
        return ast.copy_location(_call(_CONSTANT, first, node.left, node.comparators[0], constants), node)

    def visit_Subscript(self, node):
        if isinstance(node.value, ast.Dict) and len(node.value.keys) > 1 and isinstance(node.ctx, ast.Load):
            names = [_text(key) for key in node.value.keys]
            first = self.alternatives(node, f"table[{_text(node.slice)}]", names, "miss")
            return ast.copy_location(_call(_KEY, first, self.visit(node.value), self.visit(node.slice)), node)
        return self.generic_visit(node)

    def visit_Call(self, node):
        name = _text(node.func)
        if name in ("isinstance", "issubclass", "istype") and len(node.args) == 2:
            options = node.args[1]
            if isinstance(options, ast.Tuple) and len(options.elts) > 1:
                return self._classes(node, name, options)
        if name in ("self._type_dispatch().get", "self._id_dispatch().get"):
            table = name[5:-6]
            names = self._tables.get(table, [])
            first = self.alternatives(node, f"{table}()[{_text(node.args[0])}]", names, "miss")
            return ast.copy_location(
                _call(_DISPATCH, first, len(names), node.func.value, self.visit(node.args[0])), node
            )
        if name in ("all", "any") and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            node.args = [self._comprehension(node.args[0], truth=True)]
            return node
        if name == "unimplemented":
            index = self.arm("unimpl", node, _text(node.args[0]), "raised")
            return ast.copy_location(_then(index, self.generic_visit(node)), node)
        return self.generic_visit(node)

    def _classes(self, node: ast.Call, name: str, options: ast.Tuple) -> ast.expr:
        names = [shorten(_text(one), 60) for one in options.elts]
        first = self.alternatives(node, f"{name}({_text(node.args[0])}, …)", names, None)
        node.args = [self.visit(node.args[0]), self.visit(options)]
        value = node.args[0]
        if not isinstance(value, ast.Name):
            return ast.copy_location(_call(_TYPE if name == "istype" else _ANY, first, node.func, *node.args), node)
        if name == "istype":
            which = _call(_TYPE, first, node.func, *copy.deepcopy(node.args))
            return ast.copy_location(ast.BoolOp(ast.And(), [node, which]), node)
        # isinstance with a tuple asks class by class itself: the same questions, one by one
        asks: list[ast.expr] = []
        for index, cls in enumerate(options.elts):
            ask = ast.copy_location(ast.Call(copy.deepcopy(node.func), [copy.deepcopy(value), cls], []), node)
            asks.append(ast.BoolOp(ast.And(), [ask, _true(first + index)]))
        return ast.copy_location(ast.BoolOp(ast.Or(), asks), node)

    # -- statements

    def _statement(self, index: int, node: ast.AST) -> ast.stmt:
        return ast.copy_location(ast.Expr(_hit(index)), node)

    def _assign(self, name: str, value: ast.expr, node: ast.AST) -> ast.stmt:
        return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            result += made if isinstance(made, list) else [made]
        return result

    def visit_Assert(self, node):
        text = _text(node.test)
        passed = self.arm("assert", node, text, "pass")
        failed = self.arm("assert", node, text, "fail")
        test = self.truth(node.test)
        node.test = ast.copy_location(ast.IfExp(test, _true(passed), _hit(failed)), node.test)
        if node.msg is not None:
            node.msg = self.visit(node.msg)
        return node

    def visit_Return(self, node):
        index = self.arm("ret", node, _text(node), "reached")
        if node.value is not None:
            node.value = self.visit(node.value)
        return [self._statement(index, node), node]

    def visit_Raise(self, node):
        index = self.arm("raise", node, _text(node), "reached")
        return [self._statement(index, node), self.generic_visit(node)]

    def visit_Try(self, node):
        ok = self.arm("try", node, f"try: {_text(node.body[0])}", "ok")
        handlers = [
            self.arm("try", handler, f"except {_text(handler.type) if handler.type else ''}", "except")
            for handler in node.handlers
        ]
        node.body = self.block(node.body) + [self._statement(ok, node)]
        for handler, index in zip(node.handlers, handlers):
            handler.body = [self._statement(index, handler)] + self.block(handler.body)
        node.orelse, node.finalbody = self.block(node.orelse), self.block(node.finalbody)
        return node

    def visit_FunctionDef(self, node):
        self._scope.append(node.name)
        entered = self.arm("fn", node, f"def {node.name}", "entered")
        has_doc = ast.get_docstring(node, clean=False) is not None
        doc, body = node.body[:has_doc], node.body[has_doc:]
        hit = ast.copy_location(ast.Expr(_hit(entered)), body[0] if body else doc[0])
        before, self._varargs = self._varargs, self._vararg(node)
        with self._binding(True):
            node.body = doc + [hit] + self.block(body)
        self._varargs = before
        self._scope.pop()
        return node

    @staticmethod
    def _vararg(node: ast.FunctionDef) -> str | None:
        if node.args.vararg is None:
            return None
        name = node.args.vararg.arg
        names = (one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == name)
        return name if all(isinstance(one.ctx, ast.Load) for one in names) else None

    def visit_Lambda(self, node):
        self._scope.append("<lambda>")
        entered = self.arm("fn", node, _text(node), "entered")
        with self._binding(True):
            node.body = _then(entered, self.visit(node.body))
        self._scope.pop()
        return node

    def visit_ClassDef(self, node):
        self._scope.append(node.name)
        with self._binding(False):
            node.body = self.block(node.body)
        self._scope.pop()
        return node

    def visit_AnnAssign(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def _helpers(hit: Callable[[int], None]) -> dict[str, Callable]:
    """What instrumented code calls.  Each is a leaf: it returns before the builder
    goes on, so it adds nothing to the depth at which a recursion ends."""
    sized = {tuple, list, dict, set, frozenset, range, type({}.keys()), type({}.values()), type({}.items())}
    chain = itertools.chain
    plain_eq = object.__eq__
    positions: dict[int, tuple[dict, dict[int, int]]] = {}

    def each(zero: int, iterable: Any) -> Iterable:
        """iterable, entering arm zero if it is empty; asks it for nothing that a loop would not."""
        if type(iterable) in sized:
            if not iterable:
                hit(zero)
            return iterable
        iterator = iter(iterable)
        for first in iterator:
            return chain((first,), iterator)
        hit(zero)
        return ()

    def member(first: int, value: Any, options: Any) -> bool:
        """value in options by the rule of lists: an option is value, or equals it.  A
        value whose class has the plain __eq__ is none of them but by identity."""
        is_plain = type(value).__eq__ is plain_eq
        if is_plain and value not in options:
            hit(first + len(options))
            return False
        for index, option in enumerate(options):
            if option is value or not is_plain and option == value:
                hit(first + index)
                return True
        hit(first + len(options))
        return value in options if is_plain else False

    def exact_type(first: int, istype: Callable, value: Any, classes: tuple) -> bool:
        """istype(value, classes)."""
        cls = type(value)
        for index, one in enumerate(classes):
            if cls is one:
                hit(first + index)
                return True
        return istype(value, classes)

    def any_class(first: int, ask: Callable, value: Any, classes: tuple) -> bool:
        """isinstance or issubclass, class by class as they do it themselves."""
        for index, cls in enumerate(classes):
            if ask(value, cls):
                hit(first + index)
                return True
        return False

    def key(first: int, table: dict, wanted: Any) -> Any:
        """table[wanted]; keys are told apart by identity."""
        for index, one in enumerate(table):
            if one is wanted:
                hit(first + index)
                break
        else:
            hit(first + len(table))
        return table[wanted]

    def dispatch(first: int, count: int, table: dict, wanted: Any) -> Any:
        """table.get(wanted) of a dispatch table whose first count keys are arms; all
        keys after the last one named belong to it."""
        result = table.get(wanted)
        if result is None:
            hit(first + count)
            return None
        known = positions.get(first)
        if known is None or known[0] is not table:
            keys = {one if type(one) is int else id(one): min(index, count - 1) for index, one in enumerate(table)}
            known = positions[first] = (table, keys)
        hit(first + known[1].get(wanted if type(wanted) is int else id(wanted), count))
        return result

    def constant(first: int, value: Any, constants: Any, known: tuple) -> bool:
        """value in constants, whose members are known in order."""
        result = value in constants
        if result:
            hit(first + known.index(value))
        return result

    return {
        _HIT: hit, _EACH: each, _MEMBER: member, _TYPE: exact_type, _ANY: any_class, _KEY: key,
        _DISPATCH: dispatch, _CONSTANT: constant,
    }  # fmt: skip


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """Functions and methods of a module that its own file defines, but for those
    behind a cache: what they return may hold their lambdas for good."""
    for value in vars(module).values():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            yield value
        elif isinstance(value, type) and value.__module__ == module.__name__:
            for member in vars(value).values():
                for part in (member, getattr(member, "__func__", None), getattr(member, "fget", None)):
                    if isinstance(part, FunctionType):
                        yield part


class Arms:
    """The arms of one file and the instrumented module that enters them.

    arms    [Arm], in the order of their places
    trace   numbers of the arms entered, in order; whoever runs a root empties it
    decides bytes: 1 for each arm that can be a root's deciding arm
    is_on   whether the builder enters arms at present
    """

    def __init__(self, tree: ast.Module, filename: str) -> None:
        self._filename = filename
        self._plain = compile(tree, filename, "exec", dont_inherit=True)
        instrumenter = _Instrumenter(tree)
        instrumented = ast.Module(instrumenter.block(copy.deepcopy(tree).body), [])
        ast.fix_missing_locations(instrumented)
        self._code = compile(instrumented, filename, "exec", dont_inherit=True)
        self.arms = instrumenter.arms
        if len(self.arms) > ARM_CNT_MAX:
            raise ValueError(f"the file has {len(self.arms)} arms, more than {ARM_CNT_MAX}")
        self.trace: list[int] = []
        self.decides = bytes(arm.decides for arm in self.arms)
        self.at_import: frozenset[int] = frozenset()
        self.is_on = True
        self._switch: list[tuple[FunctionType, CodeType, CodeType]] = []

    def run(self, module: ModuleType) -> None:
        """Run the file's module body, instrumented, in module."""
        module.__dict__.update(_helpers(self.trace.append))
        exec(self._code, module.__dict__)
        self.at_import = frozenset(self.trace)
        self.trace.clear()
        plain = {(code.co_qualname, code.co_firstlineno): code for code in _codes(self._plain)}
        for function in _functions(module):
            code = function.__code__
            other = plain.get((code.co_qualname, code.co_firstlineno))
            if other is not None and code.co_filename == self._filename:
                self._switch.append((function, code, other))

    def switch(self, on: bool) -> None:
        """Put the instrumented (on) or the plain code into the builder's functions."""
        if on != self.is_on:
            for function, instrumented, plain in self._switch:
                function.__code__ = instrumented if on else plain
            self.is_on = on

    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Ids, "function: condition" and functions of all arms."""
        arms = self.arms
        return (
            tuple(arm.id for arm in arms),
            tuple(f"{arm.qualname}: {arm.text}" for arm in arms),
            tuple(arm.qualname for arm in arms),
        )

    def deciding(self, raised: bool) -> int | None:
        """The last arm of trace that decided a root; of a root that raised, the last
        arm whatever it is.  None: no arm was entered."""
        for index in reversed(self.trace):
            if raised or self.decides[index]:
                return index
        return None


def enumerate_arms(text: str) -> list[Arm]:
    """The arms of a builder's text, without running anything."""
    return Arms(ast.parse(text), "<builder>").arms
