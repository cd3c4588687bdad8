"""Which names a function binds, from its text alone."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class Scope:
    """A scope under compilation: "module", "class", "function" or "comprehension"."""

    kind: str
    locals: frozenset[str]
    up: Scope | None = None
    globals: frozenset[str] = field(default=frozenset())
    #: Of a function: names that hold one value as long as an activation lives: bound once on each path, in no loop.
    once: frozenset[str] = field(default=frozenset())


def function_scope(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, up: Scope) -> Scope:
    """The scope of a function's body."""
    names = _Names.of(node.body if isinstance(node.body, list) else [node.body])
    a = node.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *([a.vararg] if a.vararg else []), *([a.kwarg] if a.kwarg else [])]
    parameters = {p.arg for p in every}
    again = names.again | (names.bound & parameters) | names.declared | names.outer
    bound = names.bound | parameters
    mine = frozenset(bound - names.declared - names.outer)
    return Scope("function", mine, up, frozenset(names.declared), frozenset(bound - again))


def body_scope(kind: str, body: list[ast.stmt], up: Scope | None) -> Scope:
    """The scope of a class body."""
    names = _Names.of(body)
    return Scope(kind, frozenset(names.bound - names.declared - names.outer), up, frozenset(names.declared))


def comprehension_scope(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, up: Scope) -> Scope:
    """The scope of a comprehension: its targets only."""
    names: set[str] = set()
    for g in node.generators:
        names |= {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    return Scope("comprehension", frozenset(names), up)


class _Names(ast.NodeVisitor):
    """Collects names that statements bind, without going into nested scopes.

    Attributes:
      bound: names bound; again: those of them that are bound in several places, in a loop, or by a nested function.
      declared, outer: names declared global, and nonlocal.
    """

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.again: set[str] = set()
        self.declared: set[str] = set()
        self.outer: set[str] = set()
        self.loops = 0

    @staticmethod
    def of(nodes: list[ast.stmt] | list[ast.expr]) -> _Names:
        names = _Names()
        for n in nodes:
            names.visit(n)
        return names

    def _bind(self, name: str) -> None:
        if self.loops or name in self.bound:
            self.again.add(name)
        self.bound.add(name)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _SCOPES):
            self._nested(node)
        elif isinstance(node, _COMPREHENSIONS):
            self._walrus_only(node)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            self.loops += 1
            super().generic_visit(node)
            self.loops -= 1
        else:
            super().generic_visit(node)

    def _nested(self, node: ast.AST) -> None:
        if not isinstance(node, ast.Lambda):
            self._bind(node.name)  # pyright: ignore[reportAttributeAccessIssue]
            for d in node.decorator_list:  # pyright: ignore[reportAttributeAccessIssue]
                self.visit(d)
        self.again.update(x for n in ast.walk(node) if isinstance(n, ast.Nonlocal) for x in n.names)

    def _walrus_only(self, node: ast.AST) -> None:
        for n in ast.walk(node):
            if isinstance(n, ast.NamedExpr):
                self.bound.add(n.target.id)
                self.again.add(n.target.id)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)

    def visit_If(self, node: ast.If) -> None:
        """Of two branches one runs."""
        self.visit(node.test)
        before = set(self.bound)
        for n in node.body:
            self.visit(n)
        first, self.bound = self.bound, before
        for n in node.orelse:
            self.visit(n)
        self.bound |= first

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1

    def visit_Global(self, node: ast.Global) -> None:
        self.declared.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.outer.update(node.names)

    def visit_Import(self, node: ast.Import) -> None:
        for a in node.names:
            self._bind(a.asname or a.name.split(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for a in node.names:
            self._bind(a.asname or a.name)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self._bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self._bind(node.rest)
        self.generic_visit(node)
