"""Expressions compiled to closures: one pass over the AST, then evaluation without looking at it again."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..domain.python import (
    MISSING,
    Alike,
    Bool,
    Choice,
    DictCell,
    Int,
    IteratorCell,
    Lazy,
    ListCell,
    Origin,
    PartlyKnown,
    SetCell,
    Slice,
    Unknown,
    Value,
)
from ..source.module import Chunk
from ..source.span import Site
from . import alike, partial_dicts, text
from . import operators as ops
from .frame import Code, Eval, Exec, Frame, Function, Parameter, Unending
from .machine import Machine
from .naming import labelled
from .scope import Scope, comprehension_scope, function_scope

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip

#: A generator that yields more is given up.
LONGEST_GENERATOR = 1024


class ExprCompiler:
    """Compiles the expressions of one chunk."""

    def __init__(self, path: str, chunk: Chunk) -> None:
        self.path = path
        self.chunk = chunk

    def site(self, node: ast.expr | ast.stmt | ast.arg | ast.pattern) -> Site:
        """The node's place in the chunk."""
        start, end = self.chunk.range(node)
        return Site(self.path, self.chunk.key, start, end)

    def expr(self, node: ast.expr, scope: Scope) -> Eval:
        """Compiles any expression."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            why = f"{type(node).__name__} is not understood"
            return lambda fr: Unknown(why)
        return method(node, scope)

    # -- leaves ------------------------------------------------------------------------------------

    def _Constant(self, node: ast.Constant, scope: Scope) -> Eval:
        if type(node.value) is int:
            value: Value = Int(node.value, Origin(self.site(node), "literal"))
        else:
            value = node.value
        return lambda fr: value

    def _JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Eval:
        parts = [self._text_part(v, scope) for v in node.values]
        return lambda fr: text.joined(fr, parts)

    def _text_part(self, v: ast.expr, scope: Scope) -> Eval | str:
        if isinstance(v, ast.Constant):
            return str(v.value)
        if not isinstance(v, ast.FormattedValue):
            return self.expr(v, scope)
        value, site = self.expr(v.value, scope), self.site(v.value)
        spec = self._JoinedStr(v.format_spec, scope) if isinstance(v.format_spec, ast.JoinedStr) else None
        conversion = v.conversion
        return lambda fr: text.formatted(fr, value(fr), conversion, spec(fr) if spec else "", site)

    def _Name(self, node: ast.Name, scope: Scope) -> Eval:
        return self.load(node.id, scope)

    def load(self, name: str, scope: Scope) -> Eval:
        """Reads a variable: of this frame, of an enclosing one, or of the module."""
        if scope.kind == "class":
            return self._load_in_class(name, scope)
        depth = _depth(name, scope)
        if depth is None:
            return lambda fr: fr.module.read(fr.m, name)
        return _load_local(name) if depth == 0 else _load_up(name, depth)

    def _load_in_class(self, name: str, scope: Scope) -> Eval:
        """In a class body: a name of the class (of another member, perhaps), else of where the class stands."""
        outer = self.load(name, scope.up) if scope.up is not None and scope.up.kind != "module" else None

        def load(fr: Frame) -> Value:
            if fr.members:
                fr.module.note(fr.m, f"{fr.members}.{name}")
            v = fr.vars.get(name, MISSING)
            if v is not MISSING:
                return fr.m.select(v)
            return fr.module.read(fr.m, name) if outer is None or fr.up is None else outer(fr.up)

        return load

    # -- operators ---------------------------------------------------------------------------------

    def _BinOp(self, node: ast.BinOp, scope: Scope) -> Eval:
        op, left, right, site = (
            _BINARY[type(node.op)],
            self.expr(node.left, scope),
            self.expr(node.right, scope),
            self.site(node),
        )
        return lambda fr: ops.binary(fr.m, op, left(fr), right(fr), site)

    def _UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Eval:
        op, operand, site = _UNARY[type(node.op)], self.expr(node.operand, scope), self.site(node)
        return lambda fr: ops.unary(fr.m, op, operand(fr), site)

    def _Compare(self, node: ast.Compare, scope: Scope) -> Eval:
        site = self.site(node)
        terms = [self.expr(e, scope) for e in (node.left, *node.comparators)]
        signs = [_COMPARE[type(o)] for o in node.ops]
        if len(signs) == 1:
            sign, left, right = signs[0], *terms
            return lambda fr: ops.compare(fr.m, sign, left(fr), right(fr), site)

        def chained(fr: Frame) -> Value:
            left = terms[0](fr)
            parts: list[Value] = []
            for sign, term in zip(signs, terms[1:], strict=True):
                right = term(fr)
                parts.append(ops.compare(fr.m, sign, left, right, site))
                if parts[-1] is False:
                    return False  # what follows is not evaluated
                left = right
            return ops.conjunction(fr.m, parts)

        return chained

    def _BoolOp(self, node: ast.BoolOp, scope: Scope) -> Eval:
        terms = [self.expr(e, scope) for e in node.values]
        stop = isinstance(node.op, ast.Or)

        def from_term(fr: Frame, i: int) -> Value:
            v = terms[i](fr)
            if i == len(terms) - 1:
                return v
            c = ops.truth(fr.m, v)
            if isinstance(c, bool):
                return v if c == stop else from_term(fr, i + 1)
            if stop:
                return fr.m.branch(c, lambda: _proven(v, True), lambda: from_term(fr, i + 1))
            return fr.m.branch(c, lambda: from_term(fr, i + 1), lambda: _proven(v, False))

        return lambda fr: from_term(fr, 0)

    def _IfExp(self, node: ast.IfExp, scope: Scope) -> Eval:
        test, yes, no = (self.expr(e, scope) for e in (node.test, node.body, node.orelse))
        return lambda fr: fr.m.branch(ops.truth(fr.m, test(fr)), lambda: yes(fr), lambda: no(fr))

    def _NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Eval:
        value, store = self.expr(node.value, scope), self.store_name(node.target.id, scope)

        def assign(fr: Frame) -> Value:
            v = value(fr)
            store(fr, v)
            return v

        return assign

    # -- access ------------------------------------------------------------------------------------

    def _Attribute(self, node: ast.Attribute, scope: Scope) -> Eval:
        value, name, site = self.expr(node.value, scope), node.attr, self.site(node)
        return lambda fr: fr.m.program.attributes.get(fr.m, value(fr), name, site)

    def _Subscript(self, node: ast.Subscript, scope: Scope) -> Eval:
        value, index, site, where = (
            self.expr(node.value, scope),
            self.expr(node.slice, scope),
            self.site(node),
            self.site(node.slice),
        )
        return lambda fr: fr.m.program.items.get(fr.m, value(fr), index(fr), site, where)

    def _Slice(self, node: ast.Slice, scope: Scope) -> Eval:
        parts = [None if e is None else self.expr(e, scope) for e in (node.lower, node.upper, node.step)]
        return lambda fr: Slice(*(None if p is None else p(fr) for p in parts))

    # -- displays ----------------------------------------------------------------------------------

    def _Tuple(self, node: ast.Tuple, scope: Scope) -> Eval:
        return self._sequence(node.elts, scope)

    def _List(self, node: ast.List, scope: Scope) -> Eval:
        items = self._sequence(node.elts, scope)
        return lambda fr: ListCell({"items": items(fr)})

    def _Set(self, node: ast.Set, scope: Scope) -> Eval:
        items = self._sequence(node.elts, scope)
        return lambda fr: SetCell({"items": items(fr)})

    def _sequence(self, elts: list[ast.expr], scope: Scope) -> Eval:
        if not any(isinstance(e, ast.Starred) for e in elts):
            plain = [self.expr(e, scope) for e in elts]
            return lambda fr: tuple([e(fr) for e in plain])
        parts = [
            (isinstance(e, ast.Starred), self.expr(e.value if isinstance(e, ast.Starred) else e, scope)) for e in elts
        ]

        def build(fr: Frame) -> Value:
            out: list[Value] = []
            for star, e in parts:
                v = e(fr)
                if not star:
                    out.append(v)
                    continue
                items = fr.m.program.items.iterate(fr.m, v)
                if items is None:
                    return fr.m.unknown("a display with a star of unknown length", v)
                out.extend(items)
            return tuple(out)

        return build

    def _Dict(self, node: ast.Dict, scope: Scope) -> Eval:
        parts = [
            (None if k is None else self.expr(k, scope), self.expr(v, scope))
            for k, v in zip(node.keys, node.values, strict=True)
        ]

        def build(fr: Frame) -> Value:
            cell = DictCell({"items": {}})
            for key, value in parts:
                if key is None:
                    fr.m.program.items.update(fr.m, cell, value(fr))
                else:
                    fr.m.program.items.put(fr.m, cell, key(fr), value(fr))
            return cell

        return build

    # -- comprehensions ----------------------------------------------------------------------------

    def _ListComp(self, node: ast.ListComp, scope: Scope) -> Eval:
        items = self._comprehension(node, [node.elt], scope)
        return lambda fr: ListCell({"items": fr.m.lift(_single, items(fr))})

    def _GeneratorExp(self, node: ast.GeneratorExp, scope: Scope) -> Eval:
        """Its first source is evaluated at once, everything else when the first element is asked for."""
        first, items = self._comprehension_parts(node, [node.elt], scope)

        def build(fr: Frame) -> Value:
            source = first(fr)

            def run(m: Machine) -> Value:
                return m.lift(_single, items(fr, source, m))

            return IteratorCell({"items": Lazy(run, (source, fr))})

        return build

    def _SetComp(self, node: ast.SetComp, scope: Scope) -> Eval:
        items = self._comprehension(node, [node.elt], scope)
        return lambda fr: SetCell({"items": fr.m.lift(_single, items(fr))})

    def _DictComp(self, node: ast.DictComp, scope: Scope) -> Eval:
        items = self._comprehension(node, [node.key, node.value], scope)

        def build(fr: Frame) -> Value:
            return DictCell({"items": fr.m.lift(lambda pairs: _dict_of(fr, pairs), items(fr))})

        return build

    def _comprehension(self, node: Any, elements: list[ast.expr], scope: Scope) -> Eval:
        first, items = self._comprehension_parts(node, elements, scope)
        return lambda fr: items(fr, first(fr), fr.m)

    def _comprehension_parts(self, node: Any, elements: list[ast.expr], scope: Scope) -> tuple[Eval, Any]:
        """The first source, and what is made of its value."""
        inner = comprehension_scope(node, scope)
        first = self.expr(node.generators[0].iter, scope)
        levels = []
        for i, g in enumerate(node.generators):
            source = None if i == 0 else self.expr(g.iter, inner)
            levels.append((source, self.target(g.target, inner), [self.expr(c, inner) for c in g.ifs]))
        values = [self.expr(e, inner) for e in elements]
        in_class = scope.kind == "class"
        return first, lambda fr, source, m: _run_comprehension(m, fr, fr.up if in_class else fr, source, levels, values)

    # -- functions ---------------------------------------------------------------------------------

    def _Lambda(self, node: ast.Lambda, scope: Scope) -> Eval:
        inner = function_scope(node, scope)
        body = self.expr(node.body, inner)

        def run(fr: Frame) -> int:
            fr.ret = body(fr)
            return 1

        return self.function(node, "<lambda>", run, inner, scope)

    def function(self, node: Any, name: str, run: Exec, inner: Scope, scope: Scope, yields: int = 0) -> Eval:
        """A function object over compiled code: defaults are evaluated where it is defined. `yields`: 1 where it is
        a generator that yields once in any case, 2 for any other generator."""
        parameters, defaults, annotations = self._parameters(node.args, scope)
        code = Code(name, parameters, run, self.site(node), inner.locals, yields > 0, yields == 1)
        is_class_body = scope.kind == "class"

        def make(fr: Frame) -> Value:
            up = fr.up if is_class_body else fr
            fn = Function(code, up, fr.module, {n: d(fr) for n, d in defaults.items()}, annotations)
            fr.made.append(fn)
            return fn

        return make

    def _parameters(
        self, a: ast.arguments, scope: Scope
    ) -> tuple[tuple[Parameter, ...], dict[str, Eval], dict[str, Eval]]:
        out: list[Parameter] = []
        defaults: dict[str, Eval] = {}
        annotations: dict[str, Eval] = {}
        plain = [*a.posonlyargs, *a.args]
        padded = [None] * (len(plain) - len(a.defaults)) + list(a.defaults)
        rows: list[tuple[ast.arg, str, ast.expr | None]] = []
        rows += [
            (p, "positional" if i < len(a.posonlyargs) else "normal", d)
            for i, (p, d) in enumerate(zip(plain, padded, strict=True))
        ]
        rows += [(a.vararg, "*", None)] if a.vararg else []
        rows += [(p, "keyword", d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
        rows += [(a.kwarg, "**", None)] if a.kwarg else []
        for p, kind, default in rows:
            annotation = ast.unparse(p.annotation) if p.annotation else ""
            out.append(Parameter(p.arg, kind, self.site(p), annotation, default is not None))
            if default is not None:
                defaults[p.arg] = self.expr(default, scope)
            if p.annotation is not None:
                annotations[p.arg] = self.expr(p.annotation, scope)
        return tuple(out), defaults, annotations

    # -- calls -------------------------------------------------------------------------------------

    def _Call(self, node: ast.Call, scope: Scope) -> Eval:
        func, site = self.expr(node.func, scope), self.site(node)
        stars = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        args = [
            (isinstance(a, ast.Starred), self.expr(a.value if isinstance(a, ast.Starred) else a, scope), self.site(a))
            for a in node.args
        ]
        kwargs = [(k.arg, self.expr(k.value, scope), self.site(k.value)) for k in node.keywords]
        if stars:
            return lambda fr: fr.m.program.calls.call_starred(fr, func(fr), args, kwargs, site)
        evals = [a[1] for a in args]
        sites = tuple(a[2] for a in args)
        named = [(k, e) for k, e, _ in kwargs if k is not None]
        kw_sites = {k: s for k, _, s in kwargs if k is not None}

        def call(fr: Frame) -> Value:
            f = func(fr)
            return fr.m.program.calls.call(
                fr.m, f, tuple([e(fr) for e in evals]), site, {k: e(fr) for k, e in named}, sites, kw_sites, fr
            )

        return call

    def _Starred(self, node: ast.Starred, scope: Scope) -> Eval:
        value = self.expr(node.value, scope)
        return lambda fr: fr.m.unknown("a star here", value(fr))

    def _Await(self, node: ast.Await, scope: Scope) -> Eval:
        value = self.expr(node.value, scope)
        return lambda fr: fr.m.unknown("await", value(fr))

    def _Yield(self, node: ast.Yield, scope: Scope) -> Eval:
        value = self.expr(node.value, scope) if node.value else (lambda fr: None)

        def run(fr: Frame) -> Value:
            v = value(fr)
            if fr.on_yield is not None:
                return fr.on_yield(v)
            if fr.yielded is not None:
                grown = fr.m.lift(lambda items: (*items, v) if type(items) is tuple else items, fr.yielded["items"])
                if type(grown) is tuple and len(grown) > LONGEST_GENERATOR:
                    raise Unending
                fr.m.write(fr.yielded, "items", grown)
            return None

        return run

    def _YieldFrom(self, node: ast.YieldFrom, scope: Scope) -> Eval:
        value = self.expr(node.value, scope)

        def run(fr: Frame) -> Value:
            more = fr.m.program.items.iterate(fr.m, value(fr))
            if fr.yielded is not None:
                grown = fr.m.lift(
                    lambda items: (
                        (*items, *more) if type(items) is tuple and more is not None else Unknown("a generator")
                    ),
                    fr.yielded["items"],
                )
                fr.m.write(fr.yielded, "items", grown)
            return Unknown("the value of yield from")

        return run

    # -- targets -----------------------------------------------------------------------------------

    def store_name(self, name: str, scope: Scope) -> Callable[[Frame, Value], None]:
        """Writes a variable."""
        owner = scope
        while owner.kind == "comprehension" and name not in owner.locals and owner.up is not None:
            owner = owner.up  # a walrus in a comprehension binds in the enclosing function
        depth = _depth(name, scope)
        if depth is None or (owner.kind == "module"):
            return lambda fr, v: fr.module.write(fr.m, name, v)
        if owner.kind == "class":
            return lambda fr, v: _store_member(fr, name, v)
        if depth == 0 and name in scope.once:
            return lambda fr, v: fr.m.write(fr.vars, name, labelled(fr.m, v, name) if type(v) in _CASES else v)
        if depth == 0:
            return lambda fr, v: fr.m.write(fr.vars, name, v)

        def store(fr: Frame, v: Value) -> None:
            at: Any = fr
            for _ in range(depth):
                at = at.up
            fr.m.write(at.vars, name, v)

        return store

    def target(self, node: ast.expr, scope: Scope) -> Callable[[Frame, Value], None]:
        """Stores into an assignment target of any form."""
        if isinstance(node, ast.Name):
            return self.store_name(node.id, scope)
        if isinstance(node, ast.Attribute):
            value, name, site = self.expr(node.value, scope), node.attr, self.site(node)
            return lambda fr, v: fr.m.program.attributes.set(fr.m, value(fr), name, v, site)
        if isinstance(node, ast.Subscript):
            value, index, site, where = (
                self.expr(node.value, scope),
                self.expr(node.slice, scope),
                self.site(node),
                self.site(node.slice),
            )
            return lambda fr, v: fr.m.program.items.set(fr.m, value(fr), index(fr), v, site, where)
        if isinstance(node, (ast.Tuple, ast.List)):
            return self._unpack(node.elts, scope)
        return lambda fr, v: None

    def _unpack(self, elts: list[ast.expr], scope: Scope) -> Callable[[Frame, Value], None]:
        star = next((i for i, e in enumerate(elts) if isinstance(e, ast.Starred)), None)
        targets = [self.target(e.value if isinstance(e, ast.Starred) else e, scope) for e in elts]
        count = len(elts)

        def unpack(fr: Frame, v: Value) -> None:
            for t, x in zip(targets, fr.m.program.items.unpack(fr.m, v, count, star), strict=True):
                t(fr, x)

        return unpack


#: Types of values that may be unknown.
_CASES = (Unknown, Choice)


def _depth(name: str, scope: Scope) -> int | None:
    """How many frames up a name is bound; None: in the module. Functions in a class body do not see its names."""
    if name in scope.globals:
        return None
    depth = 0
    at: Scope | None = scope
    first = True
    while at is not None and at.kind != "module":
        if at.kind != "class" or first:
            if name in at.locals:
                return depth
            depth += 1
        at = at.up
        first = False
    return None


def _store_member(fr: Frame, name: str, v: Value) -> None:
    """A name in a class body. Under a condition, what another member put there stays in the other case."""
    if fr.members and fr.m.trail is not fr.m.base:
        fr.module.note(fr.m, f"{fr.members}.{name}")
    fr.m.write(fr.vars, name, v)


def _load_local(name: str) -> Eval:
    def load(fr: Frame) -> Value:
        v = fr.vars.get(name, MISSING)
        if v.__class__ is Choice:
            return fr.m.select(v)
        if v is MISSING:
            return fr.module.read(fr.m, name) if fr.code is None else Unknown(f"{name} is not bound here")
        return v

    return load


def _load_up(name: str, depth: int) -> Eval:
    def load(fr: Frame) -> Value:
        at: Any = fr
        for _ in range(depth):
            at = at.up
        v = at.vars.get(name, MISSING)
        if v.__class__ is Choice:
            return fr.m.select(v)
        return Unknown(f"{name} is not bound yet") if v is MISSING else v

    return load


def _proven(v: Value, value: bool) -> Value:
    """An undecided truth value that the branch has decided."""
    return value if isinstance(v, Bool) else v


def _single(items: Value) -> Value:
    if isinstance(items, Alike):
        return replace(items, element=items.element[0])
    return tuple(x[0] for x in items) if type(items) is tuple else items


def _dict_of(fr: Frame, pairs: Value) -> Value:
    if isinstance(pairs, Alike) and type(pairs.element) is tuple:
        key, value = pairs.element
        found = partial_dicts.put({}, key, value) if isinstance(key, PartlyKnown) else None
        return pairs if found is None else found
    if type(pairs) is not tuple:
        return pairs
    cell = DictCell({"items": {}})
    for key, value in pairs:
        fr.m.program.items.put(fr.m, cell, key, value)
    return cell.slots["items"]


def _run_comprehension(
    m: Machine, fr: Frame, up: Frame | None, first: Value, levels: list[Any], values: list[Eval]
) -> Value:
    inner = Frame(m, fr.module, up, {}, fr.code)
    inner.made = fr.made
    out: dict[str, Value] = {"items": ()}

    def level(i: int) -> None:
        if i == len(levels):
            element = tuple([e(inner) for e in values])
            grown = m.lift(lambda items: (*items, element) if type(items) is tuple else items, out["items"])
            m.write(out, "items", grown)
            return
        over(i, first if i == 0 else levels[i][0](inner))

    def over(i: int, source: Value) -> None:
        _, store, tests = levels[i]
        items = m.program.items.iterate(m, source)
        if items is None and isinstance(choice := m.program.items.spread(m, source), Choice):
            return m.branch(choice.cond, lambda: over(i, choice.yes), lambda: over(i, choice.no))
        if items is None:
            return m.write(out, "items", alike.collected(m, out["items"], lambda: any_round(i, source)))
        for x in items:
            m.step()
            store(inner, x)
            filtered(i, tests)
        return None

    def any_round(i: int, source: Value) -> Value:
        x = alike.element(m, source)
        if x is None:
            return m.unknown("a comprehension over an unknown sequence", source)
        m.write(out, "items", ())
        levels[i][1](inner, x)
        filtered(i, levels[i][2])
        return out["items"]

    def filtered(i: int, tests: list[Eval]) -> None:
        if not tests:
            return level(i + 1)
        c = ops.truth(m, tests[0](inner))
        return m.branch(c, lambda: filtered(i, tests[1:]), lambda: None)

    level(0)
    return out["items"]
