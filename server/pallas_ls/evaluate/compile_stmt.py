"""Statements compiled to closures that return how they ended."""

from __future__ import annotations

import ast
import re
from typing import Any

from ..domain.python import Unknown, Value
from . import control, exceptions, managers, patterns
from . import operators as ops
from .compile_expr import _BINARY, ExprCompiler
from .frame import BREAK, CONTINUE, NORMAL, RETURN, Exec, Frame
from .scope import Scope, body_scope, function_scope


class Compiler(ExprCompiler):
    """Compiles the statements of one chunk."""

    def block(self, body: list[ast.stmt], scope: Scope) -> Exec:
        """Compiles statements run one after the other."""
        runs = [self.stmt(s, scope) for s in body]
        if len(runs) == 1:
            return runs[0]

        def run(fr: Frame) -> int:
            for r in runs:
                signal = r(fr)
                if signal:
                    return signal
            return NORMAL

        return run

    def stmt(self, node: ast.stmt, scope: Scope) -> Exec:
        """Compiles any statement."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            return lambda fr: NORMAL
        run = method(node, scope)
        key = (self.path, self.chunk.key)

        def counted(fr: Frame) -> int:
            fr.m.count(key)
            return run(fr)

        return counted

    # -- simple statements -------------------------------------------------------------------------

    def _Pass(self, node: ast.Pass, scope: Scope) -> Exec:
        """What stands here may be a statement that does not parse: the names that it was about to bind are unknown."""
        start, end = self.chunk.range(node)
        broken = [f for f in self.chunk.faults if f.start <= end and start <= f.end]
        if not broken or scope.kind == "comprehension":
            return lambda fr: NORMAL
        text = "\n".join(self.chunk.text[f.start : f.end] for f in broken)
        stores = [self.store_name(n, scope) for n in _names_about_to_be_bound(text)]

        def run(fr: Frame) -> int:
            for store in stores:
                store(fr, Unknown("bound by a statement that does not parse"))
            return NORMAL

        return run

    def _Expr(self, node: ast.Expr, scope: Scope) -> Exec:
        value = self.expr(node.value, scope)

        def run(fr: Frame) -> int:
            value(fr)
            return NORMAL

        return run

    def _Assign(self, node: ast.Assign, scope: Scope) -> Exec:
        value, targets = self.expr(node.value, scope), [self.target(t, scope) for t in node.targets]
        if len(targets) == 1:
            target = targets[0]

            def run_one(fr: Frame) -> int:
                target(fr, value(fr))
                return NORMAL

            return run_one

        def run(fr: Frame) -> int:
            v = value(fr)
            for t in targets:
                t(fr, v)
            return NORMAL

        return run

    def _AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> Exec:
        if scope.kind == "class" and isinstance(node.target, ast.Name):
            return self._field(node, scope)
        if node.value is None:
            return lambda fr: NORMAL
        value, target = self.expr(node.value, scope), self.target(node.target, scope)

        def run(fr: Frame) -> int:
            target(fr, value(fr))
            return NORMAL

        return run

    def _field(self, node: ast.AnnAssign, scope: Scope) -> Exec:
        """An annotated name in a class body: a field of a dataclass or NamedTuple."""
        assert isinstance(node.target, ast.Name)
        name, text = node.target.id, ast.unparse(node.annotation)
        annotation = self.expr(node.annotation, scope)
        value = self.expr(node.value, scope) if node.value else None

        def run(fr: Frame) -> int:
            cls = fr.owner
            if cls is not None:
                fr.m.write(cls.annotations, name, text)
                fr.m.write(cls.options, f"annotation {name}", annotation(fr))
            if value is not None:
                fr.m.write(fr.vars, name, value(fr))
            return NORMAL

        return run

    def _AugAssign(self, node: ast.AugAssign, scope: Scope) -> Exec:
        op, value, site = _BINARY[type(node.op)], self.expr(node.value, scope), self.site(node)
        read = self.expr(_as_load(node.target), scope)
        store = self.target(node.target, scope)

        def run(fr: Frame) -> int:
            store(fr, fr.m.program.items.augmented(fr.m, op, read(fr), value(fr), site))
            return NORMAL

        return run

    def _Return(self, node: ast.Return, scope: Scope) -> Exec:
        value = self.expr(node.value, scope) if node.value else (lambda fr: None)

        def run(fr: Frame) -> int:
            fr.ret = value(fr)
            return RETURN

        return run

    def _Delete(self, node: ast.Delete, scope: Scope) -> Exec:
        names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        items = [
            (self.expr(t.value, scope), self.expr(t.slice, scope), self.site(t))
            for t in node.targets
            if isinstance(t, ast.Subscript)
        ]

        def run(fr: Frame) -> int:
            for name in names:
                if scope.kind != "module":
                    fr.m.write(fr.vars, name, Unknown(f"{name} was deleted"))
            for value, index, site in items:
                fr.m.program.items.delete(fr.m, value(fr), index(fr), site)
            return NORMAL

        return run

    def _Assert(self, node: ast.Assert, scope: Scope) -> Exec:
        test, site = self.expr(node.test, scope), self.site(node)
        said = self.expr(node.msg, scope) if node.msg else None
        return lambda fr: control.check(fr, ops.truth(fr.m, test(fr)), said, site)

    def _Raise(self, node: ast.Raise, scope: Scope) -> Exec:
        value = self.expr(node.exc, scope) if node.exc else None
        name, site = _exception_name(node.exc), self.site(node)
        if value is None:
            return lambda fr: exceptions.raise_again(fr, site)
        return lambda fr: exceptions.raise_(fr, value(fr), name, site)

    def _Break(self, node: ast.Break, scope: Scope) -> Exec:
        return lambda fr: BREAK

    def _Continue(self, node: ast.Continue, scope: Scope) -> Exec:
        return lambda fr: CONTINUE

    def _Import(self, node: ast.Import, scope: Scope) -> Exec:
        rows = [(a.name, a.asname, self.store_name(a.asname or a.name.split(".")[0], scope)) for a in node.names]

        def run(fr: Frame) -> int:
            for name, alias, store in rows:
                store(fr, fr.m.program.imports.module(fr, name if alias else name.split(".")[0], name))
            return NORMAL

        return run

    def _ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> Exec:
        base, level = node.module or "", node.level
        rows = [(a.name, self.store_name(a.asname or a.name, scope)) for a in node.names if a.name != "*"]
        star = any(a.name == "*" for a in node.names)

        def run(fr: Frame) -> int:
            for name, store in rows:
                store(fr, fr.m.program.imports.member(fr, base, level, name))
            if star:
                for name, value in fr.m.program.imports.star(fr, base, level):
                    fr.module.write(fr.m, name, value)
            return NORMAL

        return run

    # -- compound statements -----------------------------------------------------------------------

    def _If(self, node: ast.If, scope: Scope) -> Exec:
        test, yes = self.expr(node.test, scope), self.block(node.body, scope)
        no: Exec = self.block(node.orelse, scope) if node.orelse else (lambda fr: NORMAL)
        return lambda fr: control.if_(fr, ops.truth(fr.m, test(fr)), yes, no)

    def _For(self, node: ast.For, scope: Scope) -> Exec:
        source, store = self.expr(node.iter, scope), self.target(node.target, scope)
        body = self.block(node.body, scope)
        orelse = self.block(node.orelse, scope) if node.orelse else None
        site = self.site(node)
        label = node.target.id if isinstance(node.target, ast.Name) else "item"
        return lambda fr: control.for_(fr, source(fr), store, body, orelse, label, site)

    _AsyncFor = _For

    def _While(self, node: ast.While, scope: Scope) -> Exec:
        test, body = self.expr(node.test, scope), self.block(node.body, scope)
        orelse = self.block(node.orelse, scope) if node.orelse else None
        return lambda fr: control.while_(fr, test, body, orelse)

    def _With(self, node: ast.With, scope: Scope) -> Exec:
        items = [
            (self.expr(i.context_expr, scope), self.target(i.optional_vars, scope) if i.optional_vars else None)
            for i in node.items
        ]
        body = self.block(node.body, scope)
        if any(_expects_exception(i.context_expr) for i in node.items):
            return lambda fr: control.expecting(fr, body)
        leaves = _leaves(node.body)
        site = self.site(node)
        for value, store in reversed(items):
            body = managers.entered(value, store, body, leaves, site)
        return body

    _AsyncWith = _With

    def _Try(self, node: ast.Try, scope: Scope) -> Exec:
        body, final = self.block(node.body, scope), self.block(node.finalbody, scope) if node.finalbody else None
        orelse = self.block(node.orelse, scope) if node.orelse else None
        handlers: list[Any] = []
        for h in node.handlers:
            kinds = _handler_names(h.type)
            store = self.store_name(h.name, scope) if h.name else None
            handlers.append((kinds, store, self.block(h.body, scope)))
        return lambda fr: control.try_(fr, body, handlers, orelse, final)

    _TryStar = _Try

    def _Match(self, node: ast.Match, scope: Scope) -> Exec:
        subject = self.expr(node.subject, scope)
        cases = [
            patterns.Case(
                self._pattern(c.pattern, scope),
                self.expr(c.guard, scope) if c.guard else None,
                self.block(c.body, scope),
            )
            for c in node.cases
        ]
        return lambda fr: patterns.match_(fr, subject(fr), cases)

    def _pattern(self, p: ast.pattern, scope: Scope) -> patterns.Pattern:
        """Compiles a pattern."""
        match p:
            case ast.MatchValue():
                return patterns.value(self.expr(p.value, scope), "==", self.site(p))
            case ast.MatchSingleton():
                constant = p.value
                return patterns.value(lambda fr: constant, "is", self.site(p))
            case ast.MatchAs(pattern=inner, name=name):
                test = self._pattern(inner, scope) if inner else None
                return patterns.capture(test, self.store_name(name, scope) if name else None)
            case ast.MatchOr(patterns=parts):
                return patterns.either([self._pattern(x, scope) for x in parts])
            case ast.MatchSequence(patterns=parts):
                return self._sequence_pattern(parts, scope)
            case ast.MatchMapping(keys=keys, patterns=parts, rest=rest):
                values = [self._pattern(x, scope) for x in parts]
                store = self.store_name(rest, scope) if rest else None
                return patterns.mapping([self.expr(k, scope) for k in keys], values, store)
            case ast.MatchClass():
                positional = [self._pattern(x, scope) for x in p.patterns]
                named = [self._pattern(x, scope) for x in p.kwd_patterns]
                return patterns.class_(self.expr(p.cls, scope), positional, p.kwd_attrs, named, self.site(p))
            case _:  # a star stands only in a sequence
                return patterns.capture(None, None)

    def _sequence_pattern(self, parts: list[ast.pattern], scope: Scope) -> patterns.Pattern:
        at = next((i for i, x in enumerate(parts) if isinstance(x, ast.MatchStar)), None)
        if at is None:
            return patterns.sequence([self._pattern(x, scope) for x in parts], None, [], False)
        star = parts[at]
        store = self.store_name(star.name, scope) if isinstance(star, ast.MatchStar) and star.name else None
        before, after = ([self._pattern(x, scope) for x in side] for side in (parts[:at], parts[at + 1 :]))
        return patterns.sequence(before, store, after, True)

    # -- definitions -------------------------------------------------------------------------------

    def _FunctionDef(self, node: ast.FunctionDef, scope: Scope) -> Exec:
        inner = function_scope(node, scope)
        yields = _yields(node.body) if "yield" in self.chunk.text else 0
        make = self.function(node, node.name, self.block(node.body, inner), inner, scope, yields)
        decorators = [(self.expr(d, scope), self.site(d)) for d in reversed(node.decorator_list)]
        store = self.store_name(node.name, scope)

        def run(fr: Frame) -> int:
            value = make(fr)
            if fr.owner is not None:
                value.owner = fr.owner
            for decorator, site in decorators:
                value = fr.m.program.calls.call(fr.m, decorator(fr), (value,), site, {}, (site,), {}, fr)
            store(fr, value)
            return NORMAL

        return run

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef, scope: Scope) -> Exec:
        """A class inside a function, or a class chunk's header (its members are chunks of their own)."""
        inner = body_scope("class", node.body, scope)
        bases = [self.expr(b, scope) for b in node.bases]
        keywords = {k.arg: self.expr(k.value, scope) for k in node.keywords if k.arg}
        decorators = [(self.expr(d, scope), self.site(d)) for d in reversed(node.decorator_list)]
        body, store, site = self.block(node.body, inner), self.store_name(node.name, scope), self.site(node)
        key = self.chunk.key

        def run(fr: Frame) -> int:
            named = {k: v(fr) for k, v in keywords.items()}
            cls = fr.m.program.classes.begin(fr, node.name, [b(fr) for b in bases], named, site)
            inside = Frame(fr.m, fr.module, fr if scope.kind != "module" else None, cls.slots)
            inside.owner = cls
            inside.made = fr.made
            body(inside)
            if scope.kind == "module":
                fr.module.write(fr.m, key, cls)  # its members, chunks of their own, find it under this key
            fr.m.program.classes.subclassed(fr.m, cls, named, site)
            value: Value = cls
            for decorator, where in decorators:
                value = fr.m.program.calls.call(fr.m, decorator(fr), (value,), where, {}, (where,), {}, fr)
            store(fr, value)
            return NORMAL

        return run


def _names_about_to_be_bound(text: str) -> list[str]:
    """Names at the head of broken assignments, loops and definitions."""
    found = re.findall(r"^\s*((?:\w+\s*,\s*)*\w+)\s*(?::[^=\n]*)?[-+*/%&|^<>]{0,2}=(?!=)", text, re.MULTILINE)
    found += re.findall(r"^\s*(?:def|class|for|import)\s+(\w+)", text, re.MULTILINE)
    return [n.strip() for group in found for n in group.split(",") if n.strip().isidentifier()]


def _as_load(node: ast.expr) -> ast.expr:
    """The target of an augmented assignment, as an expression that reads it."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(node.value, node.attr, ast.Load()), node)
    if isinstance(node, ast.Subscript):
        return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)
    return node


def _exception_name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    if node is None:
        return "Exception"
    return ast.unparse(node).rsplit(".", 1)[-1]


def _expects_exception(node: ast.expr) -> bool:
    """`pytest.raises(...)`, `self.assertRaises(...)`, `self.assertRaisesRegex(...)`."""
    name = ast.unparse(node.func).rsplit(".", 1)[-1] if isinstance(node, ast.Call) else ""
    return name in ("raises", "assertRaises", "assertRaisesRegex", "suppress")


def _handler_names(node: ast.expr | None) -> tuple[str, ...]:
    if node is None:
        return ("BaseException",)
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return tuple(ast.unparse(p).rsplit(".", 1)[-1] for p in parts)


def _leaves(body: list[ast.stmt], in_loop: bool = False) -> bool:
    """Whether a return stands in the statements, or a break or continue of a loop around them."""
    return any(_leaves_by(s, in_loop) for s in body)


def _leaves_by(node: ast.AST, in_loop: bool) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
        return False
    if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
        return isinstance(node, ast.Return) or not in_loop
    inside = in_loop or isinstance(node, (ast.For, ast.AsyncFor, ast.While))
    return any(_leaves_by(child, inside) for child in ast.iter_child_nodes(node))


def _yields(body: list[ast.stmt]) -> int:
    """0: no generator; 1: one that yields once, in no branch or loop; 2: any other."""
    count = sum(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in _own_nodes(body))
    return 0 if not count else 1 if count == 1 and _is_always_reached(body) else 2


def _is_always_reached(body: list[ast.stmt]) -> bool:
    """Whether the statement that yields stands in none but try and with statements."""
    for s in body:
        if isinstance(s, (ast.Expr, ast.Assign)) and isinstance(s.value, ast.Yield):
            return True
        if isinstance(s, (ast.Try, ast.With)) and _is_always_reached(s.body):
            return True
    return False


def _own_nodes(body: list[ast.stmt]) -> list[ast.AST]:
    """Nodes of a function's own body, nested functions left out."""
    out: list[ast.AST] = []
    stack: list[ast.AST] = list(body)
    while stack:
        n = stack.pop()
        out.append(n)
        if not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(n))
    return out
