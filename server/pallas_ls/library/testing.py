"""Parametrised tests: each row of arguments is a calling context (pytest's parametrize, absl's parameterized)."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..domain.context import Parametrised, Row
from ..domain.python import Builtin, Call, DictCell, Value
from ..source.span import Site
from .operate import contents
from .registry import Registry

#: Rows of one test that are evaluated; more say nothing new.
MAX_ROWS = 32


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """`pytest.param(*values, marks=...)`; `runs`: no mark says that it fails or is skipped."""

    values: tuple[Value, ...]
    runs: bool


def register(r: Registry) -> None:
    """Registers pytest's and absl's."""
    r.calls[Parametrised] = lambda m, f, call: m.program.calls.apply(m, f.function, call)
    _pytest(r)
    _absl(r)


# -- pytest --------------------------------------------------------------------------------------


def _pytest(r: Registry) -> None:
    @r.raw("pytest.skip pytest.xfail")
    def skip(m: Any, call: Call) -> Value:
        return m.raises_error("Skipped", call.site)

    @r.raw("pytest.param")
    def param(m: Any, call: Call) -> Value:
        return Parameters(call.args, not _says_skip(m, call.kwargs.get("marks")))

    @r.raw("pytest.mark.parametrize")
    def parametrize(m: Any, call: Call) -> Value:
        names, values, rest = _pytest_arguments(call)
        rows = None if rest else _pytest_rows(m, names, values, call)
        return _decorator("pytest.mark.parametrize(...)", rows)


def _pytest_arguments(call: Call) -> tuple[Value, Value, bool]:
    given = dict(zip(("argnames", "argvalues"), call.args, strict=False)) | call.kwargs
    unknown = call.open or "indirect" in given or not {"argnames", "argvalues"} <= given.keys()
    return given.get("argnames"), given.get("argvalues"), unknown


def _pytest_rows(m: Any, names: Value, values: Value, call: Call) -> tuple[Row, ...] | None:
    listed = names.split(",") if isinstance(names, str) else m.program.items.iterate(m, names)
    items = m.select(contents(m, values))
    if listed is None or type(items) is not tuple or not all(isinstance(n, str) for n in listed):
        return None
    keys = [n.strip() for n in listed if n.strip()]
    where = call.arg_sites[1] if len(call.arg_sites) > 1 else call.kwarg_sites.get("argvalues", call.site)
    sites = element_sites(m, where, len(items))
    rows = [_pytest_row(m, keys, x, site) for x, site in zip(items, sites, strict=True)]
    return tuple(row for row in rows if row is not None)


def _pytest_row(m: Any, names: list[str], x: Value, site: Site) -> Row | None:
    if isinstance(x, Parameters):
        if not x.runs:
            return None
        parts: list[Value] | None = list(x.values)
    else:
        parts = [x] if len(names) == 1 else m.program.items.iterate(m, x)
    if parts is None or len(parts) != len(names):
        return None
    return Row((), dict(zip(names, parts, strict=True)), site)


def _says_skip(m: Any, marks: Value) -> bool:
    """Whether a mark is one of those that say that a test fails or does not run; what is not known counts as one."""
    if marks is None:
        return False
    items = m.program.items.iterate(m, marks)
    named = [getattr(x, "name", getattr(x, "why", "skip")) for x in (items if items is not None else [marks])]
    return any(word in str(name) for name in named for word in ("skip", "xfail", "usefixtures"))


# -- absl ----------------------------------------------------------------------------------------


def _absl(r: Registry) -> None:
    base = "absl.testing.parameterized"

    @r.raw(f"{base}.parameters")
    def parameters(m: Any, call: Call) -> Value:
        rows = _given_rows(m, call)
        return _decorator(f"{base}.parameters(...)", rows and [_absl_row(m, x, s, False) for x, s in rows])

    @r.raw(f"{base}.named_parameters")
    def named_parameters(m: Any, call: Call) -> Value:
        rows = _given_rows(m, call)
        return _decorator(f"{base}.named_parameters(...)", rows and [_absl_row(m, x, s, True) for x, s in rows])

    @r.raw(f"{base}.product jax._src.test_util.sample_product")
    def product(m: Any, call: Call) -> Value:
        return _decorator(f"{base}.product(...)", _product(m, call))


def _given_rows(m: Any, call: Call) -> list[tuple[Value, Site]] | None:
    """The rows as arguments, or as the elements of the only one."""
    if call.open or call.kwargs:
        return None
    if len(call.args) == 1 and not isinstance(call.args[0], (tuple, DictCell, str)):
        items = m.program.items.iterate(m, call.args[0])
        if items is not None:
            sites = element_sites(m, call.arg_sites[0] if call.arg_sites else call.site, len(items))
            return list(zip(items, sites, strict=True))
    sites = call.arg_sites if len(call.arg_sites) == len(call.args) else (call.site,) * len(call.args)
    return list(zip(call.args, sites, strict=True))


def _absl_row(m: Any, x: Value, site: Site, named: bool) -> Row | None:
    if isinstance(x, DictCell):
        items = m.select(x.slots["items"])
        if not isinstance(items, dict) or not all(isinstance(k, str) for k in items):
            return None
        return Row((), {k: v for k, (_, v) in items.items() if k != "testcase_name"}, site)
    parts = None if isinstance(x, str) else m.program.items.iterate(m, x)
    if parts is None:
        return None if named else Row((x,), {}, site)
    return Row(tuple(parts[1:] if named else parts), {}, site)


def _product(m: Any, call: Call) -> list[Row | None] | None:
    """Each combination of the keywords' values; positional arguments are lists of dicts that belong together."""
    columns: list[list[dict[str, Value]]] = []
    for arg in call.args:
        items = m.program.items.iterate(m, arg)
        rows = [_absl_row(m, x, call.site, False) for x in items or ()]
        if not rows or any(row is None or row.args for row in rows):
            return None
        columns.append([dict(row.kwargs) for row in rows if row is not None])
    for name, values in call.kwargs.items():
        items = m.program.items.iterate(m, values)
        if items is None:
            return None
        columns.append([{name: x} for x in items])
    if call.open:
        return None
    rows = itertools.islice(itertools.product(*columns), MAX_ROWS)
    return [Row((), {k: v for part in parts for k, v in part.items()}, call.site) for parts in rows]


# -- both ----------------------------------------------------------------------------------------


def _decorator(name: str, rows: Iterable[Row | None] | None) -> Builtin:
    kept = tuple(r for r in rows or () if r is not None)
    return Builtin(name, _adding(kept) if kept else lambda m, call: call.args[0] if call.args else m.unknown(name))


def _adding(rows: tuple[Row, ...]) -> Callable[[Any, Call], Value]:
    """Adds rows to a test; with those of the decorators below, each combination."""

    def run(m: Any, call: Call) -> Value:
        f = call.args[0] if call.args else None
        known = f.rows if isinstance(f, Parametrised) else (Row((), {}, None),)
        every = (Row((*a.args, *b.args), {**a.kwargs, **b.kwargs}, b.site or a.site) for a in rows for b in known)
        function = f.function if isinstance(f, Parametrised) else f
        made = Parametrised(function, tuple(itertools.islice(every, MAX_ROWS)))
        m.parametrised[id(function)] = made
        return made

    return run


def element_sites(m: Any, site: Site, count: int) -> tuple[Site, ...]:
    """The places of the elements of a list that is written out; the list's own for each where it is not."""
    module = m.program.files.module(site.path)
    chunk = module.get(site.chunk) if module is not None else None
    same = (site,) * count
    if chunk is None:
        return same
    code = chunk.text[site.start : site.end]
    try:
        tree = ast.parse(f"({code})", mode="eval").body
    except SyntaxError:
        return same
    if not isinstance(tree, (ast.List, ast.Tuple)) or len(tree.elts) != count or not code.isascii():
        return same
    starts = [0, *itertools.accumulate(len(line) + 1 for line in code.split("\n"))]

    def place(line: int, col: int) -> int:
        return site.start + starts[line - 1] + col - (1 if line == 1 else 0)

    return tuple(
        Site(site.path, site.chunk, place(e.lineno, e.col_offset), place(e.end_lineno or 1, e.end_col_offset or 0))
        for e in tree.elts
    )
