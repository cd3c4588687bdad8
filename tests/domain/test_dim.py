"""Symbolic integers have Python's values, one form for equal expressions, and a text that Python reads back."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from trees import NAMES, Binding, NoValue, Tree, bindings, evaluate, examples, to_dim, to_int, trees

from pallas_ls.domain import dim as dims
from pallas_ls.domain.dim import Dim, Sym

a, b, k, m, t, x, y = (dims.symbol(n) for n in "abkmtxy")


def both(tree: Tree, binding: Binding) -> tuple[Dim, int]:
    """The Dim and Python's value; the example is skipped where Python has none."""
    try:
        return to_dim(tree), to_int(tree, binding)
    except NoValue:
        assume(False)
        raise


@given(trees, bindings)
@settings(max_examples=examples(1000), deadline=None)
def test_has_pythons_value(tree: Tree, binding: Binding):
    d, expected = both(tree, binding)
    assert evaluate(d, binding) == expected


@given(trees, bindings)
@settings(max_examples=examples(500), deadline=None)
@example(("**", ("-", 0, "a"), 2), {"a": 3})
@example(("//", ("-", 0, "a"), ("*", 2, "b")), {"a": 3, "b": 2})
@example(("-", 0, ("//", "a", "b")), {"a": 3, "b": 2})
@example(("-", "a", ("&", "a", "b")), {"a": 3, "b": 2})
@example(("%", -7, "a"), {"a": 3})
def test_text_is_read_back_by_python(tree: Tree, binding: Binding):
    d, expected = both(tree, binding)
    assert eval(dims.text(d), {"min": min, "max": max}, binding) == expected


@given(trees)
@settings(max_examples=examples(500), deadline=None)
def test_rebuilding_with_nothing_or_the_same_changes_nothing(tree: Tree):
    try:
        d = to_dim(tree)
    except NoValue:
        assume(False)
        raise
    assert dims.rebuild(d, {}) == d
    assert dims.rebuild(d, {s: dims.of_atom(s) for s in dims.symbols(d)}) == d


@given(trees, trees, bindings, st.sampled_from(NAMES))
@settings(max_examples=examples(300), deadline=None)
def test_a_symbol_replaced_by_an_expression_has_that_expressions_value(
    tree: Tree, value: Tree, binding: Binding, name: str
):
    d, _ = both(tree, binding)
    replacement, v = both(value, binding)
    try:
        expected = to_int(tree, {**binding, name: v})
        replaced = dims.rebuild(d, {Sym(name): replacement})
    except (NoValue, ZeroDivisionError, ValueError):
        assume(False)
        raise
    assert evaluate(replaced, binding) == expected


@given(trees, trees)
@settings(max_examples=examples(300), deadline=None)
def test_sums_and_products_have_one_form(p: Tree, q: Tree):
    try:
        d, e = to_dim(p), to_dim(q)
    except NoValue:
        assume(False)
        raise
    assert dims.add(d, e) == dims.add(e, d)
    assert dims.mul(d, e) == dims.mul(e, d)
    assert dims.sub(dims.add(d, e), e) == d
    assert dims.minimum(d, e) == dims.minimum(e, d)
    assert dims.neg(dims.neg(d)) == d
    assert dims.sub(d, d) == 0


@given(trees, trees)
@settings(max_examples=examples(300), deadline=None)
def test_an_exact_quotient_times_the_divisor_is_the_dividend(p: Tree, q: Tree):
    try:
        d, e = to_dim(p), to_dim(q)
    except NoValue:
        assume(False)
        raise
    product = dims.mul(d, e)
    quotient = dims.exact_quotient(product, e)
    if isinstance(e, int) or len(e.terms) == 1:
        assert quotient == d or e == 0
    assert quotient is None or dims.mul(quotient, e) == product


def ceil_div(n: Dim, by: Dim) -> Dim:
    return dims.neg(dims.floordiv(dims.neg(n), by))


SAME = {
    "common weights of a quotient": (dims.floordiv(dims.mul(6, x), 4), dims.floordiv(dims.mul(3, x), 2)),
    "common weights of a remainder": (dims.mod(dims.mul(2, k), 128), dims.mul(2, dims.mod(k, 64))),
    "rounding under a common weight": (dims.floordiv(dims.add(dims.mul(2, x), 1), 4), dims.floordiv(x, 2)),
    "whole multiples outside": (
        dims.floordiv(dims.add(m, 255), 128),
        dims.add(dims.floordiv(dims.add(m, 127), 128), 1),
    ),
    "quotient of a quotient": (dims.floordiv(dims.floordiv(x, 4), 8), dims.floordiv(x, 32)),
    "quotient of a quotient by a symbol": (dims.floordiv(dims.floordiv(x, t), 8), dims.floordiv(x, dims.mul(8, t))),
    "rounding up, both ways": (ceil_div(m, 128), dims.floordiv(dims.add(m, 127), 128)),
    "negative divisor": (dims.floordiv(x, -4), dims.floordiv(dims.neg(x), 4)),
    "symbol by itself": (dims.floordiv(dims.mul(x, y), x), y),
    "common symbol": (dims.floordiv(dims.mul(x, y), dims.mul(x, t)), dims.floordiv(y, t)),
    "remainder of a remainder": (dims.mod(dims.add(y, dims.mod(x, 128)), 64), dims.mod(dims.add(x, y), 64)),
    "sum as a divisor": (
        dims.floordiv(dims.sub(dims.add(m, dims.add(x, y)), 1), dims.add(x, y)),
        dims.add(dims.floordiv(dims.sub(m, 1), dims.add(x, y)), 1),
    ),
    "mask as remainder": (dims.bitwise("&", x, 127), dims.mod(x, 128)),
    "mask as rounding down": (dims.bitwise("&", x, -128), dims.mul(dims.floordiv(x, 128), 128)),
    "shift as product": (dims.bitwise("<<", x, 3), dims.mul(8, x)),
    "shift as quotient": (dims.bitwise(">>", x, 3), dims.floordiv(x, 8)),
    "nested minimums": (dims.minimum(dims.minimum(x, 7), dims.minimum(y, 5)), dims.minimum(dims.minimum(5, y), x)),
    "minimum of neighbours": (dims.minimum(dims.minimum(x, y), dims.add(x, 1)), dims.minimum(x, y)),
}


@pytest.mark.parametrize("name", SAME)
def test_equal_expressions_are_one_value(name: str):
    left, right = SAME[name]
    assert left == right


def test_symbols_of_one_name_and_other_bounds_have_one_order():
    p, q = dims.symbol("n"), dims.symbol("n", low=0)
    assert dims.add(p, q) == dims.add(q, p)
    assert dims.mul(p, q) == dims.mul(q, p)


TEXTS = {
    "m//128": dims.floordiv(m, 128),
    "m%128 + 1": dims.add(dims.mod(m, 128), 1),
    "2*(m//128)": dims.mul(2, dims.floordiv(m, 128)),
    "-(m//t)": dims.neg(dims.floordiv(m, t)),
    "(a + b)//t": dims.floordiv(dims.add(a, b), t),
    "min(m, t, 128)": dims.minimum(dims.minimum(t, 128), m),
    "(a & b) + 1": dims.add(dims.bitwise("&", a, b), 1),
    "a**2*b": dims.mul(dims.mul(a, a), b),
    "2*(i + 1)": dims.mul(2, dims.symbol("i + 1")),
    "q.shape[0]//2": dims.floordiv(dims.symbol("q.shape[0]"), 2),
}


@pytest.mark.parametrize("shown", TEXTS)
def test_text(shown: str):
    assert dims.text(TEXTS[shown]) == shown


def test_size_grows_with_each_use_of_a_value():
    d = m
    for _ in range(10):
        d = dims.bitwise("^", d, dims.floordiv(d, 8))
    assert dims.size(m) == 1
    assert dims.size(d) > 1 << 10


def test_text_of_an_integer_too_long_for_decimals():
    assert eval(dims.text(1 << 20000)) == 1 << 20000


@pytest.mark.parametrize("divide", [dims.floordiv, dims.mod])
def test_a_literal_zero_divisor_raises(divide: object):
    assert callable(divide)
    with pytest.raises(ZeroDivisionError):
        divide(m, 0)


@pytest.mark.parametrize("shift", [-1, 1 << 20])
def test_an_absurd_shift_raises(shift: int):
    with pytest.raises(ValueError, match="shift count"):
        dims.bitwise("<<", m, shift)
    with pytest.raises(ValueError, match="exponent"):
        dims.power(2, shift)
