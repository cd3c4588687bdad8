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


def function_scope(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, up: Scope) -> Scope:
    """The scope of a function's body."""
    bound, declared, outer = _Names.of(node.body if isinstance(node.body, list) else [node.body])
    a = node.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *([a.vararg] if a.vararg else []), *([a.kwarg] if a.kwarg else [])]
    bound |= {p.arg for p in every}
    return Scope("function", frozenset(bound - declared - outer), up, frozenset(declared))


def body_scope(kind: str, body: list[ast.stmt], up: Scope | None) -> Scope:
    """The scope of a class body."""
    bound, declared, outer = _Names.of(body)
    return Scope(kind, frozenset(bound - declared - outer), up, frozenset(declared))


def comprehension_scope(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, up: Scope) -> Scope:
    """The scope of a comprehension: its targets only."""
    names: set[str] = set()
    for g in node.generators:
        names |= {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    return Scope("comprehension", frozenset(names), up)


class _Names(ast.NodeVisitor):
    """Collects names that statements bind, without going into nested scopes."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.declared: set[str] = set()
        self.outer: set[str] = set()

    @staticmethod
    def of(nodes: list[ast.stmt] | list[ast.expr]) -> tuple[set[str], set[str], set[str]]:
        names = _Names()
        for n in nodes:
            names.visit(n)
        return names.bound, names.declared, names.outer

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _SCOPES):
            self._nested(node)
        elif isinstance(node, _COMPREHENSIONS):
            self._walrus_only(node)
        else:
            super().generic_visit(node)

    def _nested(self, node: ast.AST) -> None:
        if not isinstance(node, ast.Lambda):
            self.bound.add(node.name)  # pyright: ignore[reportAttributeAccessIssue]
            for d in node.decorator_list:  # pyright: ignore[reportAttributeAccessIssue]
                self.visit(d)

    def _walrus_only(self, node: ast.AST) -> None:
        for n in ast.walk(node):
            if isinstance(n, ast.NamedExpr):
                self.bound.add(n.target.id)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bound.add(node.id)

    def visit_Global(self, node: ast.Global) -> None:
        self.declared.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.outer.update(node.names)

    def visit_Import(self, node: ast.Import) -> None:
        for a in node.names:
            self.bound.add(a.asname or a.name.split(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for a in node.names:
            self.bound.add(a.asname or a.name)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.bound.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bound.add(node.rest)
        self.generic_visit(node)
