"""Control flow of jax.lax: bodies are called once, as JAX traces them.

A loop's carry keeps its shapes and types. Its integers are not followed (the body runs for many values), and a weakly
typed start takes the
type that the body returns: then the body is traced a second time, as JAX does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, Extent, Splat
from ..domain.python import Call, Int, Unknown, Value
from ..source.span import Site
from .carries import note_carry
from .convert import INT32, as_array, as_extent
from .jax_tree import NotATree, leaves, map_tree
from .promote import result_type
from .registry import Registry

_CARRIED = Unknown("layout of a loop's carry")


def register(r: Registry) -> None:
    """Registers them."""
    _branches(r)
    _loops(r)
    _scans(r)


# -- branches --------------------------------------------------------------------------------------


def _branches(r: Registry) -> None:
    @r.raw("jax.lax.cond")
    def cond(m: Any, call: Call) -> Value:
        named = dict(call.kwargs)
        operands = call.args[3:] if "operand" not in named else (named["operand"],)
        picked = [*call.args[:3], *(named[k] for k in ("pred", "true_fun", "false_fun") if k in named)]
        if call.open or len(picked) != 3:
            return m.unknown("a cond with unknown arguments", *call.args, site=call.site)
        return _either(m, list(picked[1:]), operands, call.site)

    @r.raw("jax.lax.switch")
    def switch(m: Any, call: Call) -> Value:
        branches = m.program.items.iterate(m, call.args[1]) if len(call.args) > 1 else None
        if call.open or not branches:
            return m.unknown("a switch over unknown branches", *call.args, site=call.site)
        return _either(m, branches, call.args[2:], call.site)


def _either(m: Any, branches: list[Value], operands: tuple[Value, ...], site: Site) -> Value:
    """Every branch is traced; which one runs is not known. Their results agree in shape and type, but for weakness."""
    traced = tuple(_traced(m, x) for x in operands)

    def run(i: int) -> Value:
        return _traced(m, m.program.calls.call(m, branches[i], traced, site))

    def from_branch(i: int) -> Value:
        if i == len(branches) - 1:
            return run(i)
        return m.branch(m.fresh_condition("traced "), lambda: run(i), lambda: from_branch(i + 1))

    return from_branch(0)


# -- carries ---------------------------------------------------------------------------------------


def _traced(m: Any, tree: Value, keep_index: bool = True) -> Value:
    """The leaves of a tree as arrays."""
    try:
        return map_tree(m, lambda x: _leaf(m, x, keep_index), tree)
    except NotATree:
        return tree


def _leaf(m: Any, x: Value, keep_index: bool) -> Value:
    a = as_array(m, x)
    return (
        a
        if keep_index
        else replace(a, index=None, layout=_CARRIED if isinstance(a.layout, Splat) and a.shape != () else a.layout)
    )


def carried(
    m: Any, init: Value, body: Callable[[Value], Value], site: Site, unroll: Value = None, *, counts: bool = True
) -> tuple[Value, Value]:
    """Traces a loop body over its carry: the carry after the loop, and what the body returned besides (see `body`).

    `body(carry)` returns (new carry, extra). `counts`: the loop counts its rounds.
    """
    carry = _traced(m, init, keep_index=False)
    out = body(carry)
    merged = _merged(m, carry, out[0])
    if merged is not None and not _same_types(m, carry, merged):
        carry = merged
        out = body(carry)
    note_carry(m, site, carry, out[0], unroll, counts=counts)
    return carry, out[1]


def _merged(m: Any, carry: Value, new: Value) -> Value | None:
    """The carry with weak leaves promoted by what the body returns; None where the structures differ."""

    def joined(a: Value, b: Value) -> Value:
        b = as_array(m, b)
        if not a.weak or (b.weak and a.dtype == b.dtype):
            return a
        dtype, weak = result_type(m, [a, b])
        return replace(a, dtype=dtype, weak=weak)

    try:
        return map_tree(m, joined, carry, new)
    except NotATree:
        return None


def _same_types(m: Any, a: Value, b: Value) -> bool:
    rows = zip(leaves(m, a), leaves(m, b), strict=True)
    return all(x.dtype == y.dtype and x.weak == y.weak for x, y in rows)


# -- loops -----------------------------------------------------------------------------------------


def _loops(r: Registry) -> None:
    @r.function("jax.lax.fori_loop", "lower, upper, body_fun, init_val, *, unroll=None")
    def fori_loop(
        m: Any, call: Call, lower: Value, upper: Value, body_fun: Value, init_val: Value, unroll: Value
    ) -> Value:
        i = loop_index(m, lower, upper)

        def body(carry: Value) -> tuple[Value, Value]:
            return m.program.calls.call(m, body_fun, (i, carry), call.site), None

        return carried(m, init_val, body, call.site, unroll)[0]

    @r.function("jax.lax.while_loop", "cond_fun, body_fun, init_val")
    def while_loop(m: Any, call: Call, cond_fun: Value, body_fun: Value, init_val: Value) -> Value:
        def body(carry: Value) -> tuple[Value, Value]:
            m.program.calls.call(m, cond_fun, (carry,), call.site)
            return m.program.calls.call(m, body_fun, (carry,), call.site), None

        return carried(m, init_val, body, call.site, counts=False)[0]


def loop_index(m: Any, lower: Value, upper: Value) -> Array:
    """The counter of a loop: an integer from `lower` to below `upper`, one for all rounds."""
    low, high = (m.as_int(v) for v in (lower, upper))
    types = [as_array(m, v) for v in (lower, upper)]
    dtype, weak = result_type(m, types)
    first = m.path.facts.span(low.dim)[0] if low is not None else None
    last = m.path.facts.span(high.dim)[1] if high is not None else None
    symbol = m.fresh_symbol("i", first, None if last is None else last - 1)
    m.note_bounds(dims.text(symbol), None if low is None else low.dim, None if high is None else dims.sub(high.dim, 1))
    if low is not None and not isinstance(low.dim, int):
        m.learn(conds.at_most(low.dim, symbol))
    if high is not None and not isinstance(high.dim, int):
        m.learn(conds.less(symbol, high.dim))
    return Array((), dtype, weak, index=Int(symbol) if dtype == INT32 else None)


# -- scans -----------------------------------------------------------------------------------------


def _scans(r: Registry) -> None:
    @r.function("jax.lax.scan", "f, init, xs=None, length=None, reverse=False, unroll=1, _split_transpose=False")
    def scan(m: Any, call: Call, f: Value, init: Value, xs: Value, length: Value, unroll: Value, **_: Value) -> Value:
        return _scan(m, f, init, xs, length, call.site, unroll)

    @r.function("jax.lax.map", "f, xs, *, batch_size=None")
    def map_(m: Any, call: Call, f: Value, xs: Value, batch_size: Value) -> Value:
        count = _count(m, xs, None)
        rows = _rows(m, xs)
        if isinstance(rows, Unknown):
            return rows
        return _stacked(m, m.program.calls.call(m, f, (rows,), call.site), count)

    @r.function("jax.lax.associative_scan", "fn, elems, reverse=False, axis=0")
    def associative_scan(m: Any, call: Call, fn: Value, elems: Value, **_: Value) -> Value:
        return _traced(m, elems, keep_index=False)


def _scan(m: Any, f: Value, init: Value, xs: Value, length: Value, site: Site, unroll: Value) -> Value:
    rows = _rows(m, xs)
    if isinstance(rows, Unknown):
        return rows
    count = _count(m, xs, length)

    def body(carry: Value) -> tuple[Value, Value]:
        out = m.program.items.iterate(m, m.program.calls.call(m, f, (carry, rows), site))
        if out is None or len(out) != 2:
            unknown = m.unknown("what a scan's body returns", site=site)
            return unknown, unknown
        return out[0], out[1]

    carry, per_round = carried(m, init, body, site, unroll)
    return (carry, _stacked(m, per_round, count))


def _rows(m: Any, xs: Value) -> Value:
    """One row of each array of a tree."""

    def row(x: Value) -> Value:
        a = as_array(m, x)
        shape = a.shape[1:] if isinstance(a.shape, tuple) and a.shape else m.unknown("a row of an array", a.shape)
        return Array(shape, a.dtype, a.weak)

    try:
        return map_tree(m, row, xs)
    except NotATree:
        return m.unknown("rows of a tree of unknown structure", xs)


def _count(m: Any, xs: Value, length: Value) -> Extent:
    """Rounds of a scan: its length, or the extent of the first axis of what it scans."""
    if length is not None:
        return as_extent(m, length)
    try:
        first = [as_array(m, x) for x in leaves(m, xs)][:1]
    except NotATree:
        first = []
    if first and isinstance(first[0].shape, tuple) and first[0].shape:
        return first[0].shape[0]
    return m.unknown("the length of a scan", xs)


def _stacked(m: Any, tree: Value, count: Extent) -> Value:
    """What each round returns, along a new first axis."""

    def stack(x: Value) -> Value:
        a = as_array(m, x)
        shape = (count, *a.shape) if isinstance(a.shape, tuple) else m.unknown("stacked arrays", a.shape)
        return Array(shape, a.dtype, a.weak)

    try:
        return m.lift(lambda t: map_tree(m, stack, t), tree)
    except NotATree:
        return m.unknown("stacked results of unknown structure", tree)
