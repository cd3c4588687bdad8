"""Rewrites of a file that keep what it does: what lowered still lowers, so there must still be no error."""

# ruff: noqa: E501 - lines of generated code stay whole

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable

from .choices import Choices

Rewrite = Callable[[Choices, ast.Module], None]


def rewritten(c: Choices, text: str, count: int = 3) -> str:
    """The file after some rewrites. Comments are lost, but for those before all code (they may set the target)."""
    tree = ast.parse(text)
    for _ in range(count):
        c.pick(REWRITES)(c, tree)
        ast.fix_missing_locations(tree)
    head = "".join(line + "\n" for line in text.splitlines() if line.startswith("# pallas:"))
    return head + ast.unparse(tree) + "\n"


def _fresh(tree: ast.Module) -> str:
    taken = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {
        n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)
    }
    taken |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    return next(name for i in range(10_000) if (name := f"made_{i}") not in taken and not hasattr(builtins, name))


def _first_statement(tree: ast.Module) -> int:
    """Where definitions may be put: behind the docstring and the imports at the top."""
    for i, statement in enumerate(tree.body):
        docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not docstring and not isinstance(statement, (ast.Import, ast.ImportFrom)):
            return i
    return len(tree.body)


class _Replace(ast.NodeTransformer):
    """Puts one node in another's place, by identity."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _integers(tree: ast.Module) -> list[ast.Constant]:
    """Integer literals that may become any expression of the module (none in patterns, defaults of classes, f-strings)."""
    out: list[ast.Constant] = []
    skip = {id(x) for n in ast.walk(tree) if isinstance(n, (ast.JoinedStr, ast.match_case)) for x in ast.walk(n)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and id(node) not in skip:
            out.append(node)
    return out


def _put(tree: ast.Module, old: ast.AST, expression: str, definitions: str = "") -> None:
    _Replace(old, ast.parse(expression, mode="eval").body).visit(tree)
    at = _first_statement(tree)
    tree.body[at:at] = ast.parse(definitions).body


def _extract_constant(c: Choices, tree: ast.Module) -> None:
    found = _integers(tree)
    if found:
        node, name = c.pick(found), _fresh(tree)
        _put(tree, node, name, f"{name} = {node.value}")


def _through_function(c: Choices, tree: ast.Module) -> None:
    found = _integers(tree)
    if found:
        node, name = c.pick(found), _fresh(tree)
        body = c.pick(
            (
                "return n",
                "assert n == n\n    return n",
                "if n < 0:\n        raise ValueError(n)\n    return n",
                "return (n * 6 // 2) // 3",
            )
        )
        _put(tree, node, f"{name}({node.value})", f"def {name}(n):\n    {body}")


def _as_arithmetic(c: Choices, tree: ast.Module) -> None:
    found = _integers(tree)
    if found:
        node = c.pick(found)
        n = node.value
        _put(
            tree,
            node,
            c.pick(
                (
                    f"({n} + 1 - 1)",
                    f"({n} * 4 // 4)",
                    f"max({n}, {n})",
                    f"({n} if True else 7)",
                    f"[{n}, 7][0]",
                    f"dict(a={n})['a']",
                )
            ),
        )


def _through_config(c: Choices, tree: ast.Module) -> None:
    found = _integers(tree)
    if found:
        node, name = c.pick(found), _fresh(tree)
        _put(
            tree, node, f"{name}().size",
            f"import dataclasses as dataclasses_{name}\n@dataclasses_{name}.dataclass(frozen=True)\nclass {name}:\n    size: int = {node.value}",
        )  # fmt: skip


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]


def _blocks(tree: ast.Module) -> list[list[ast.stmt]]:
    """Lists of statements inside functions."""
    return [f.body for f in _functions(tree) if not any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(f))]


def _insert(c: Choices, tree: ast.Module, text: str) -> None:
    blocks = [*_blocks(tree), None]
    block = c.pick(blocks)
    new = ast.parse(text).body
    if block is None:
        at = _first_statement(tree)
        tree.body[at:at] = new
        return
    start = 1 if isinstance(block[0], ast.Expr) and isinstance(block[0].value, ast.Constant) else 0
    if isinstance(block[start:] and block[start], (ast.Nonlocal, ast.Global)):
        return
    at = c.below(len(block) - start) + start if len(block) > start else start
    if any(isinstance(s, (ast.Nonlocal, ast.Global)) for s in block[at:]):
        return
    block[at:at] = new


_BAD = "plgpu.async_store_smem(1, 2, 3, cluster_idx=0.5, cluster_dim='nowhere'), plgpu.SwizzleTransform(17), plgpu.Barrier(num_arrivals=0)"


def _dead_branch(c: Choices, tree: ast.Module) -> None:
    if not any(isinstance(n, ast.Name) and n.id == "plgpu" for n in ast.walk(tree)):
        return
    _insert(
        c, tree,
        c.pick((
            f"if False:\n    {_BAD}", f"while 1 > 2:\n    {_BAD}", f"for _ in ():\n    {_BAD}", f"if not 1:\n    {_BAD}\nelse:\n    pass",
            f"True or ({_BAD})", f"try:\n    pass\nexcept ValueError:\n    {_BAD}", f"[({_BAD}) for _ in ()]",
        )),
    )  # fmt: skip


def _expected(c: Choices, tree: ast.Module) -> None:
    if any(isinstance(n, ast.Name) and n.id == "plgpu" for n in ast.walk(tree)):
        handler = c.pick(("ValueError", "Exception", "(KeyError, ValueError)", "ValueError as error"))
        _insert(c, tree, f"try:\n    plgpu.SwizzleTransform(17)\nexcept {handler}:\n    pass")


def _guard(c: Choices, tree: ast.Module) -> None:
    _insert(c, tree, c.pick(("assert True", "if 1 < 0:\n    raise ValueError('never')", "assert 2 > 1, 'never'")))


def _calls(tree: ast.Module) -> list[ast.Call]:
    """Calls of library functions with only plain arguments."""
    decorators = {
        id(d) for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.ClassDef)) for d in f.decorator_list
    }
    return [
        n for n in ast.walk(tree)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and isinstance(n.func.value, ast.Name) and n.func.value.id in ("plgpu", "jnp", "pl")
        and not any(isinstance(a, ast.Starred) for a in n.args) and all(k.arg for k in n.keywords) and id(n) not in decorators
    ]  # fmt: skip


def _partial(c: Choices, tree: ast.Module) -> None:
    found = [n for n in _calls(tree) if n.keywords]
    if found:
        call = c.pick(found)
        new = copy.deepcopy(call)
        keyword = new.keywords.pop()
        inner = ast.unparse(ast.Call(ast.parse("functools_made.partial", mode="eval").body, [new.func], [keyword]))
        rest = ast.Call(ast.parse(inner, mode="eval").body, new.args, new.keywords)
        _put(tree, call, ast.unparse(ast.fix_missing_locations(rest)), "import functools as functools_made")


def _starred(c: Choices, tree: ast.Module) -> None:
    found = [n for n in _calls(tree) if n.args or n.keywords]
    if found:
        call = c.pick(found)
        args = ", ".join(map(ast.unparse, call.args)) + ("," if len(call.args) == 1 else "")
        keywords = ", ".join(f"{k.arg!r}: {ast.unparse(k.value)}" for k in call.keywords)
        parts = ([f"*({args})"] if call.args else []) + ([f"**{{{keywords}}}"] if call.keywords else [])
        _put(tree, call, f"{ast.unparse(call.func)}({', '.join(parts)})")


def _renamed(c: Choices, tree: ast.Module) -> None:
    """Another name for a library function."""
    found = _calls(tree)
    if found:
        call, name = c.pick(found), _fresh(tree)
        function = ast.unparse(call.func)
        _put(tree, call.func, name, f"{name} = {function}")


def _wrapped_call(c: Choices, tree: ast.Module) -> None:
    """A library call through a function of one's own."""
    found = _calls(tree)
    if found:
        call, name = c.pick(found), _fresh(tree)
        function = ast.unparse(call.func)
        _put(tree, call.func, name, f"def {name}(*args, **kwargs):\n    return {function}(*args, **kwargs)")


def _under_true(c: Choices, tree: ast.Module) -> None:
    """A statement of a function under a condition that holds, or in a loop of one round."""
    blocks = [b for b in _blocks(tree) if any(_may_move(s) for s in b)]
    if not blocks:
        return
    block = c.pick(blocks)
    at = c.pick([i for i, s in enumerate(block) if _may_move(s)])
    holder = ast.parse(
        c.pick(
            (
                "if True:\n    pass",
                "for _once in range(1):\n    pass",
                "try:\n    pass\nfinally:\n    pass",
                "if 2 > 1:\n    pass\nelse:\n    raise ValueError",
            )
        )
    ).body[0]
    holder.body = [block[at]]  # pyright: ignore[reportAttributeAccessIssue]
    block[at] = holder


def _may_move(s: ast.stmt) -> bool:
    return isinstance(s, (ast.Assign, ast.Expr, ast.FunctionDef, ast.AugAssign)) and not (
        isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)
    )


def _bound_first(c: Choices, tree: ast.Module) -> None:
    """An argument under a name of its own, bound right before."""
    places = [
        (block, i, arg)
        for block in _blocks(tree)
        for i, s in enumerate(block)
        if isinstance(s, ast.Expr)
        and isinstance(s.value, ast.Call)
        and not any(isinstance(a, ast.Starred) for a in s.value.args)
        for arg in s.value.args[:1]
        if not isinstance(arg, (ast.Constant, ast.Lambda))
    ]
    if places:
        block, at, arg = c.pick(places)
        name = _fresh(tree)
        statement = ast.parse(f"{name} = {ast.unparse(arg)}").body
        _Replace(arg, ast.Name(name, ast.Load())).visit(block[at])
        block[at:at] = statement


REWRITES: tuple[Rewrite, ...] = (
    _guard, _extract_constant, _through_function, _as_arithmetic, _through_config, _dead_branch, _expected, _partial, _starred, _renamed,
    _wrapped_call, _under_true, _bound_first,
)  # fmt: skip
