"""Conditions mean what Python means, are closed under negation, and the same question is one value."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from trees import (
    Binding,
    NoValue,
    Question,
    Tree,
    bindings,
    evaluate,
    examples,
    questions,
    small_trees,
    to_bool,
    to_cond,
    to_dim,
)

from pallas_ls.domain import cond as conds
from pallas_ls.domain import dim as dims
from pallas_ls.domain.cond import And, Cond, NonPos, Not, Or, Same, Truth, Zero

a, b, m, n, t = (dims.symbol(s) for s in "abmnt")


def both(question: Question, binding: Binding) -> tuple[Cond, bool]:
    """The condition and Python's answer; the example is skipped where Python raises."""
    try:
        return to_cond(question), to_bool(question, binding)
    except NoValue:
        assume(False)
        raise


def holds(c: Cond, binding: Binding) -> bool:
    """The condition's meaning under a binding, from its parts."""
    match c:
        case bool():
            return c
        case Zero():
            return evaluate(c.expr, binding) == 0
        case NonPos():
            return evaluate(c.expr, binding) <= 0
        case Truth():
            return bool(binding[c.name])
        case Same():
            return binding[c.name] == c.value
        case Not():
            return not holds(c.cond, binding)
        case And():
            return all(holds(x, binding) for x in c.conds)
        case Or():
            return any(holds(x, binding) for x in c.conds)


@given(questions, bindings)
@settings(max_examples=examples(500), deadline=None)
def test_means_what_python_means(question: Question, binding: Binding):
    c, expected = both(question, binding)
    assert holds(c, binding) == expected


@given(questions, bindings)
@settings(max_examples=examples(500), deadline=None)
def test_text_is_read_back_by_python(question: Question, binding: Binding):
    c, expected = both(question, binding)
    try:
        shown = bool(eval(conds.text(c), {"min": min, "max": max}, binding))
    except ZeroDivisionError:  # Python's `and` may skip a part that comes first in the text
        assume(False)
        raise
    assert shown == expected


@given(questions, bindings)
@settings(max_examples=examples(500), deadline=None)
def test_negation_means_not_and_undoes_itself(question: Question, binding: Binding):
    c, expected = both(question, binding)
    negated = conds.negate(c)
    assert holds(negated, binding) != expected
    assert conds.negate(negated) == c


@given(st.lists(questions, max_size=4), bindings)
@settings(max_examples=examples(300), deadline=None)
def test_all_of_and_any_of(parts: list[Question], binding: Binding):
    pairs = [both(q, binding) for q in parts]
    everything = conds.all_of(c for c, _ in pairs)
    anything = conds.any_of(c for c, _ in pairs)
    assert holds(everything, binding) == all(answer for _, answer in pairs)
    assert holds(anything, binding) == any(answer for _, answer in pairs)
    for joined in (everything, anything):
        if isinstance(joined, (And, Or)):
            assert len(joined.conds) >= 2
            assert not any(isinstance(c, (bool, type(joined))) for c in joined.conds)


@given(small_trees, small_trees)
@settings(max_examples=examples(300), deadline=None)
def test_a_comparison_is_one_value_however_written(p: Tree, q: Tree):
    try:
        d, e = to_dim(p), to_dim(q)
    except NoValue:
        assume(False)
        raise
    assert conds.equal(d, e) == conds.equal(e, d) == conds.equal(dims.mul(3, d), dims.mul(3, e))
    assert conds.equal(d, e) == conds.equal(dims.add(d, 5), dims.add(e, 5))
    assert conds.less(d, e) == conds.negate(conds.at_most(e, d)) == conds.at_most(dims.add(d, 1), e)
    assert conds.at_most(d, e) == conds.at_most(dims.mul(4, d), dims.add(dims.mul(4, e), 3))


SAME = {
    "a < b, not b <= a": (conds.less(a, b), conds.negate(conds.at_most(b, a))),
    "2*a <= 2*b + 1": (conds.at_most(dims.mul(2, a), dims.add(dims.mul(2, b), 1)), conds.at_most(a, b)),
    "2*a == 2*b + 1": (conds.equal(dims.mul(2, a), dims.add(dims.mul(2, b), 1)), False),
    "2*m % 128 == 0": (conds.divides(128, dims.mul(2, m)), conds.divides(64, m)),
    "-m % 128 == 0": (conds.divides(128, dims.neg(m)), conds.divides(128, m)),
    "(n - m) % t == 0": (conds.divides(t, dims.sub(n, m)), conds.divides(t, dims.sub(m, n))),
    "m % -t == 0": (conds.divides(dims.neg(t), m), conds.divides(t, m)),
    "(2*m + 1) % 4 == 0": (conds.divides(4, dims.add(dims.mul(2, m), 1)), False),
    "m % 0 == 0": (conds.divides(0, m), False),
    "m % 1 == 0": (conds.divides(1, m), True),
    "not (not x)": (conds.negate(Not(Truth("x"))), Truth("x")),
    "x and not x": (conds.all_of([Truth("x"), Not(Truth("x"))]), False),
    "x or not x": (conds.any_of([Truth("x"), Not(Truth("x"))]), True),
    "nothing and nothing": (conds.all_of([]), True),
    "nothing or nothing": (conds.any_of([]), False),
}


@pytest.mark.parametrize("name", SAME)
def test_equivalent_conditions_are_one_value(name: str):
    left, right = SAME[name]
    assert left == right


TEXTS = {
    "m%128 == 0": conds.divides(128, m),
    "m%t != 0": conds.negate(conds.divides(t, m)),
    "m >= 3": conds.at_most(3, m),
    "m + 1 <= n": conds.less(m, n),
    "a == b": conds.equal(a, b),
    "not (x or y)": Not(Truth("x or y")),
    "mode is not None": Not(Same("mode", None)),
    "mode == 'x'": Same("mode", "x"),
    "(x if y else z) == 'x'": Same("x if y else z", "x"),
    "(x or y) and z": conds.all_of([Truth("x or y"), Truth("z")]),
    "(m >= 3 and z) or w": conds.any_of([conds.all_of([conds.at_most(3, m), Truth("z")]), Truth("w")]),
}


@pytest.mark.parametrize("shown", TEXTS)
def test_text(shown: str):
    assert conds.text(TEXTS[shown]) == shown
