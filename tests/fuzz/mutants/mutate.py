"""Small changes of a file, each of one place, as a slip of the hand or another configuration would make them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.fuzz.choices import Choices

_NUMBERS = (0, 1, 2, 3, 4, 8, 16, 32, 64, 96, 128, 256, 512)
_DTYPES = ("float32", "bfloat16", "float16", "int32", "uint32", "int8", "float8_e4m3fn", "int16")
_LAYOUTS = ("WGMMA", "WG_SPLAT", "TCGEN05", "TCGEN05_TMEM_NATIVE", "WGMMA_TRANSPOSED", "WGMMA_UPCAST_2X")
_SPACES = ("SMEM", "TMEM", "GMEM", "ACC")
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
#: What lowers the kernel: a file without it shows nothing.
_LOWERS = ".lower("


@dataclass(frozen=True, slots=True)
class Change:
    """A node and what is put in its place."""

    node: ast.AST
    texts: tuple[str, ...]


Maker = Callable[[ast.Module, str], Iterator[Change]]


def mutant(c: Choices, text: str, most: int) -> str:
    """The text after one change or more; the text itself where nothing could be changed."""
    for _ in range(1 + c.below(most)):
        text = _changed(c, text)
    return text


def _changed(c: Choices, text: str) -> str:
    tree = ast.parse(text)
    changes = list(c.pick(_MAKERS)(tree, text))
    if not changes:
        return text
    chosen = c.pick(changes)
    start, end = _span(text, chosen.node)
    out = text[:start] + c.pick(chosen.texts) + text[end:]
    try:
        ast.parse(out)
    except SyntaxError:
        return text
    return out


def _span(text: str, node: ast.AST) -> tuple[int, int]:
    """Where a node stands, as offsets of an ASCII text."""
    assert isinstance(node, (ast.expr, ast.stmt))
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = text.splitlines(keepends=True)
    return (
        sum(map(len, lines[: node.lineno - 1])) + node.col_offset,
        sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset,
    )


def _numbers(tree: ast.Module, text: str) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            n = node.value
            near = {n * 2, n // 2, n + 1, n - 1, *_NUMBERS} - {n}
            yield Change(node, tuple(str(x) if x >= 0 else f"({x})" for x in sorted(near)))


def _attributes(tree: ast.Module, text: str) -> Iterator[Change]:
    """Element types, layouts and memory spaces."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        for names in (_DTYPES, _LAYOUTS, _SPACES):
            if node.attr in names:
                yield Change(node, tuple(f"{ast.unparse(node.value)}.{n}" for n in names if n != node.attr))


def _keywords_dropped(tree: ast.Module, text: str) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.keywords:
            yield Change(node, tuple(_without(node, at) for at in range(len(node.keywords))))


def _without(node: ast.Call, at: int) -> str:
    made = copy.deepcopy(node)
    del made.keywords[at]
    return ast.unparse(made)


def _arguments_swapped(tree: ast.Module, text: str) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) > 1:
            yield Change(node, tuple(_swapped(node, at) for at in range(len(node.args) - 1)))


def _swapped(node: ast.Call, at: int) -> str:
    made = copy.deepcopy(node)
    made.args[at], made.args[at + 1] = made.args[at + 1], made.args[at]
    return ast.unparse(made)


def _constants(tree: ast.Module, text: str) -> Iterator[Change]:
    """Flags, and names in quotes."""
    words = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    words = {w for w in words if w.isidentifier() and not w.startswith("__")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield Change(node, (str(not node.value),))
        elif isinstance(node, ast.Constant) and node.value in words and len(words) > 1:
            yield Change(node, tuple(repr(w) for w in sorted(words - {node.value})))


def _operators(tree: ast.Module, text: str) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
            yield Change(node, tuple(_with_operator(node, o()) for o in _ARITHMETIC if not isinstance(node.op, o)))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], _COMPARISONS) and not _runs(node):
            others = [o() for o in _COMPARISONS if not isinstance(node.ops[0], o)]
            yield Change(node, tuple(_with_comparison(node, o) for o in others))


def _runs(node: ast.Compare) -> bool:
    """Whether it is `__name__ == "__main__"`: another comparison would run nothing."""
    return isinstance(node.left, ast.Name) and node.left.id == "__name__"


def _with_operator(node: ast.BinOp, operator: ast.operator) -> str:
    made = copy.deepcopy(node)
    made.op = operator
    return f"({ast.unparse(made)})"


def _with_comparison(node: ast.Compare, operator: ast.cmpop) -> str:
    made = copy.deepcopy(node)
    made.ops[0] = operator
    return f"({ast.unparse(made)})"


def _names(tree: ast.Module, text: str) -> Iterator[Change]:
    """A name for another one of its function."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            loaded = [n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
            known = {n.id for n in loaded}
            for node in loaded:
                others = tuple(sorted(known - {node.id}))
                if others:
                    yield Change(node, others)


def _views(tree: ast.Module, text: str) -> Iterator[Change]:
    """A view of a reference, or none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "at":
            base = ast.unparse(node.value.value)
            yield Change(node, (base, f"{base}.at[0]", f"{base}.at[:]", f"{base}.at[pl.ds(0, 64)]"))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            for argument in node.args:
                if isinstance(argument, ast.Name):
                    yield Change(argument, tuple(f"{argument.id}{view}" for view in (".at[0]", ".T", ".at[...]")))


def _statements(tree: ast.Module, text: str) -> Iterator[Change]:
    """A statement left out, said twice, or said in the place of its neighbour."""
    for body in (n.body for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Module))):
        for at, node in enumerate(body):
            source = ast.get_source_segment(text, node) or ""
            if not isinstance(node, (ast.Expr, ast.Assign)) or _LOWERS in source or "\n" in source:
                continue
            yield Change(node, ("pass", f"{source}; {source}"))
            following = ast.get_source_segment(text, body[at + 1]) if at + 1 < len(body) else None
            if following and "\n" not in following and isinstance(body[at + 1], (ast.Expr, ast.Assign)):
                yield Change(node, (f"{following}; {source}",))


_MAKERS: tuple[Maker, ...] = (
    *(_numbers,) * 9,
    *(_attributes,) * 2,
    _keywords_dropped,
    _arguments_swapped,
    *(_constants,) * 2,
    *(_operators,) * 4,
    _names,
    _views,
    *(_statements,) * 4,
)
