"""Facts never contradict a binding that satisfies them, and decide what kernels ask."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from trees import (
    NAMES,
    Binding,
    NoValue,
    Question,
    Tree,
    bindings,
    examples,
    leaves,
    questions,
    questions_over,
    small_trees,
    to_bool,
    to_cond,
    to_dim,
    to_int,
)

from pallas_ls.domain import cond as conds
from pallas_ls.domain import dim as dims
from pallas_ls.domain.cond import Cond, Not, Same, Truth
from pallas_ls.domain.dim import Dim
from pallas_ls.domain.facts import Facts

SOUNDNESS = settings(
    max_examples=examples(500), deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def held(question: Question, binding: Binding) -> Question | None:
    """The question or its negation, whichever is true; None where it has no value."""
    try:
        return question if to_bool(question, binding) else ("not", question)
    except NoValue:
        return None


def learnt(known: list[Question], symbols: Mapping[str, Dim], binding: Binding) -> Facts:
    """Facts from each question as the binding answers it."""
    facts = Facts()
    for question in known:
        true = held(question, binding)
        if true is None:
            continue
        try:
            c = to_cond(true, symbols)
        except NoValue:
            continue
        facts = facts.learn(c)
        assert not facts.contradictory, conds.text(c)
    return facts


@st.composite
def symbols_for(draw: st.DrawFn, binding: Binding) -> dict[str, Dim]:
    """Symbols, some with bounds by construction that the binding keeps."""
    out: dict[str, Dim] = {}
    for name in NAMES:
        slack = draw(st.sampled_from((None, None, 0, 1, 20)))
        low = None if slack is None else binding[name] - slack
        out[name] = dims.symbol(name, low=0 if binding[name] >= 0 and slack == 1 else low)
    return out


@st.composite
def situations(draw: st.DrawFn, known: st.SearchStrategy[Question]) -> tuple[Binding, dict[str, Dim], Facts]:
    binding = draw(bindings)
    symbols = draw(symbols_for(binding))
    return binding, symbols, learnt(draw(st.lists(known, max_size=7)), symbols, binding)


#: Equalities, divisibility and orders of symbols, sums and quotients, as kernels assert them; they chain and circle.
simple = st.one_of(leaves, st.tuples(st.sampled_from(("+", "-", "*", "//", "%", "min", "max")), leaves, leaves))
simple_questions = questions_over(simple)
EITHER = st.one_of(situations(questions), situations(simple_questions))


@given(EITHER, st.lists(st.one_of(questions, simple_questions), min_size=1, max_size=6))
@SOUNDNESS
def test_no_answer_contradicts_a_binding_that_satisfies_the_facts(
    situation: tuple[Binding, dict[str, Dim], Facts], asked: list[Question]
):
    binding, symbols, facts = situation
    for question in asked:
        try:
            c, expected = to_cond(question, symbols), to_bool(question, binding)
        except NoValue:
            continue
        assert facts.decide(c) in (None, expected), conds.text(c)
        after = facts.learn(c if expected else conds.negate(c))
        assert not after.contradictory
        assert after.decide(c) in (None, expected)


@given(EITHER, st.lists(st.one_of(small_trees, simple), min_size=1, max_size=6))
@SOUNDNESS
def test_spans_divisors_and_simpler_forms_fit_each_binding_that_satisfies_the_facts(
    situation: tuple[Binding, dict[str, Dim], Facts], asked: list[Tree]
):
    binding, symbols, facts = situation
    for tree in asked:
        try:
            d, value = to_dim(tree, symbols), to_int(tree, binding)
        except NoValue:
            continue
        low, high = facts.span(d)
        assert (low is None or low <= value) and (high is None or value <= high), dims.text(d)
        divisor = facts.divisor(d)
        assert value == 0 if divisor == 0 else value % divisor == 0, dims.text(d)
        simpler = facts.simplify(d)
        leaf = {s: binding[s.name] for s in dims.symbols(simpler)}
        assert dims.rebuild(simpler, leaf) == value, dims.text(d)


@given(EITHER, st.one_of(questions, simple_questions))
@settings(SOUNDNESS, max_examples=examples(200), deadline=None)
def test_what_was_learnt_is_always(situation: tuple[Binding, dict[str, Dim], Facts], question: Question):
    _, symbols, facts = situation
    try:
        c = to_cond(question, symbols)
    except NoValue:
        assume(False)
        raise
    after = facts.learn(c)
    assert after.contradictory or after.decide(c) is True
    assert after.contradictory or after.decide(conds.negate(c)) is False


@given(st.lists(st.one_of(questions, simple_questions), max_size=8), st.lists(questions, max_size=3))
@settings(SOUNDNESS, max_examples=examples(300), deadline=None)
def test_contradictory_facts_raise_nothing(known: list[Question], asked: list[Question]):
    facts = Facts()
    for question in known:
        try:
            facts = facts.learn(to_cond(question))
        except NoValue:
            continue
    for question in asked:
        try:
            c = to_cond(question)
        except NoValue:
            continue
        facts.decide(c)


# -- what kernels ask ---------------------------------------------------------------------------------------------

a, b, c, i, k, m, n, t, u, x, y = (dims.symbol(s) for s in "abcikmntuxy")
size = dims.symbol("q.shape[0]", low=0)
tile = dims.symbol("tile")
add, sub, mul, floordiv, mod, neg = dims.add, dims.sub, dims.mul, dims.floordiv, dims.mod, dims.neg
equal, at_most, less, divides = conds.equal, conds.at_most, conds.less, conds.divides


def cdiv(p: Dim, q: Dim) -> Dim:
    """(p + q - 1) // q, rounded up for q > 0."""
    return floordiv(sub(add(p, q), 1), q)


#: name: (facts, question)
ALWAYS: dict[str, tuple[list[Cond], Cond]] = {
    "m//t*t is m": ([divides(t, m)], equal(mul(floordiv(m, t), t), m)),
    "m//t*t*k is m*k": ([divides(t, m)], equal(mul(mul(floordiv(m, t), t), k), mul(m, k))),
    "m//128*128 is m": ([divides(128, m)], equal(mul(floordiv(m, 128), 128), m)),
    "m//128*64 is m//2": ([divides(128, m)], equal(mul(floordiv(m, 128), 64), floordiv(m, 2))),
    "a quotient and its remainder": ([], equal(add(mul(floordiv(m, t), t), mod(m, t)), m)),
    "twice a multiple": ([divides(128, m)], divides(256, mul(m, 2))),
    "half a multiple": ([divides(128, m)], divides(64, floordiv(m, 2))),
    "2*k of a multiple": ([divides(64, k)], divides(128, mul(2, k))),
    "k of twice": ([divides(128, mul(2, k))], divides(64, k)),
    "common multiple": ([divides(96, m), divides(64, m)], divides(192, m)),
    "shifted multiple": ([divides(128, add(m, 64))], divides(64, m)),
    "multiple of a tile that is 128, known after": ([divides(tile, m), equal(tile, 128)], divides(64, m)),
    "multiple of a tile that is 128, known before": ([equal(tile, 128), divides(tile, m)], divides(64, m)),
    "multiple of a multiple": ([divides(u, t), divides(t, m)], divides(u, m)),
    "multiple of a tile that is a multiple": ([divides(t, m), divides(64, t)], divides(64, m)),
    "product of multiples": ([divides(t, m)], divides(mul(t, k), mul(m, k))),
    "sum of multiples": ([divides(t, m), divides(t, n)], divides(t, add(mul(3, m), n))),
    "multiple by equality": ([equal(m, mul(t, k))], divides(t, m)),
    "minimum that is decided": ([at_most(128, m)], equal(dims.minimum(128, m), 128)),
    "minimum is below": ([], at_most(dims.minimum(a, b), a)),
    "maximum is above": ([], at_most(a, dims.maximum(a, b))),
    "remainder is not negative": ([equal(a, mod(m, 4)), at_most(0, m)], at_most(0, a)),
    "remainder is small": ([equal(a, mod(m, 4)), at_most(0, m)], at_most(a, 3)),
    "equality of an operation": ([equal(floordiv(m, t), k)], equal(mul(3, floordiv(m, t)), mul(3, k))),
    "equal in size by a chain": ([equal(a, b), equal(b, c)], equal(mul(a, k), mul(k, c))),
    "multiple of 64": ([equal(n, mul(64, k))], divides(64, n)),
    "cdiv of a multiple": ([divides(t, m), less(0, t)], equal(cdiv(m, t), floordiv(m, t))),
    "negated cdiv of a multiple": ([divides(t, m)], equal(neg(floordiv(neg(m), t)), floordiv(m, t))),
    "both cdivs": ([less(0, t)], equal(neg(floordiv(neg(m), t)), cdiv(m, t))),
    "cdiv of a multiple of 128": ([divides(128, m)], equal(cdiv(m, 128), floordiv(m, 128))),
    "cdiv covers": ([less(0, t)], at_most(m, mul(cdiv(m, t), t))),
    "cdiv by 128 covers": ([], at_most(m, mul(cdiv(m, 128), 128))),
    "quotient is below": ([at_most(0, x), at_most(1, k)], at_most(floordiv(x, k), x)),
    "quotient of a dimension is below": ([], at_most(floordiv(size, 8), size)),
    "slice within": ([at_most(0, i), at_most(i, sub(n, 1))], at_most(add(mul(i, 64), 64), mul(64, n))),
    "slice of t within": ([less(i, n), less(0, t)], at_most(add(mul(i, t), t), mul(n, t))),
    "block within": ([less(i, floordiv(n, 64))], at_most(add(mul(i, 64), 64), n)),
    "block within a multiple": ([less(i, floordiv(m, t)), less(0, t)], at_most(mul(add(i, 1), t), m)),
    "order by a chain": ([less(a, b), less(b, c), less(c, k)], less(a, k)),
    "bound on a sum": ([at_most(add(x, y), 10), at_most(0, size)], at_most(add(mul(2, x), mul(2, y)), 20)),
    "multiple is not less": ([divides(t, m), less(0, m)], at_most(t, m)),
    "least multiple": ([divides(64, m), less(0, m)], at_most(64, m)),
    "bounds that meet": ([at_most(a, 4), at_most(4, a)], equal(a, 4)),
    "not zero, not negative": ([at_most(0, a), conds.negate(equal(a, 0))], at_most(1, a)),
    "one of two": ([conds.any_of([equal(a, 1), equal(b, 2)]), conds.negate(equal(a, 1))], equal(b, 2)),
    "odd": ([conds.negate(divides(2, a))], divides(2, add(a, 1))),
    "remainder known": ([equal(mod(a, 8), 3)], equal(mod(a, 4), 3)),
    "divisor of 128": ([divides(t, 128), less(0, t)], at_most(t, 128)),
    "divisor of 128 divides 256": ([divides(t, 128)], divides(t, 256)),
    "minimum's arguments": ([at_most(8, dims.minimum(a, b))], at_most(8, a)),
    "quotient's dividend": ([equal(floordiv(a, 4), 3)], at_most(a, 15)),
    "nested quotients": ([], equal(floordiv(floordiv(x, 4), 2), floordiv(x, 8))),
    "no None is true": ([Truth("mode")], Not(Same("mode", None))),
    "another constant": ([Same("mode", "x")], Not(Same("mode", "y"))),
}


@pytest.mark.parametrize("name", ALWAYS)
def test_always(name: str):
    known, asked = ALWAYS[name]
    facts = Facts()
    for fact in known:
        facts = facts.learn(fact)
    assert not facts.contradictory
    assert facts.decide(asked) is True
    assert facts.decide(conds.negate(asked)) is False


NEVER: dict[str, tuple[list[Cond], Cond]] = {
    "32 more than a multiple of 64": ([equal(n, mul(64, k))], divides(64, add(n, 32))),
    "dimension below zero": ([], less(size, 0)),
    "between multiples": ([divides(64, m)], equal(m, 100)),
    "product of positives": ([less(0, a), less(0, b)], equal(mul(a, b), 0)),
    "next one": ([], equal(add(a, 1), a)),
    "remainder too large": ([], equal(mod(m, 4), 4)),
}


@pytest.mark.parametrize("name", NEVER)
def test_never(name: str):
    known, asked = NEVER[name]
    facts = Facts()
    for fact in known:
        facts = facts.learn(fact)
    assert facts.decide(asked) is False


#: No binding, or not each of them, decides these.
OPEN: dict[str, tuple[list[Cond], Cond]] = {
    "not a multiple of more": ([divides(64, m)], divides(128, m)),
    "cdiv by what may be negative": ([divides(t, m)], equal(cdiv(m, t), floordiv(m, t))),
    "half a multiple of t": ([divides(t, m)], divides(t, floordiv(m, 2))),
    "quotient of what may be negative": ([at_most(1, k)], at_most(floordiv(x, k), x)),
    "product with what may be negative": ([less(i, n)], at_most(add(mul(i, t), t), mul(n, t))),
}


@pytest.mark.parametrize("name", OPEN)
def test_cannot_tell(name: str):
    known, asked = OPEN[name]
    facts = Facts()
    for fact in known:
        facts = facts.learn(fact)
    assert facts.decide(asked) is None


CONTRADICTORY: dict[str, list[Cond]] = {
    "two values": [equal(a, 1), equal(a, 2)],
    "two constants": [Same("mode", "x"), Same("mode", "y")],
    "both": [Truth("flag"), Not(Truth("flag"))],
    "empty span": [at_most(a, 3), at_most(5, a)],
    "empty span of a sum": [at_most(add(a, b), 3), at_most(5, add(a, b))],
    "remainders": [divides(4, a), equal(mod(a, 2), 1)],
    "order in a circle": [less(a, b), less(b, c), less(c, a)],
    "equality in a circle": [equal(a, add(b, 1)), equal(b, c), equal(c, a)],
    "below a dimension": [less(size, 0)],
}


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_contradictory(name: str):
    facts = Facts()
    for fact in CONTRADICTORY[name]:
        facts = facts.learn(fact)
    assert facts.contradictory


SIMPLER: dict[str, tuple[list[Cond], Dim, Dim]] = {
    "decided minimum": ([at_most(128, m)], dims.minimum(128, m), 128),
    "cdiv of a multiple": ([divides(t, m), less(0, t)], cdiv(m, t), floordiv(m, t)),
    "negated cdiv of a multiple": ([divides(t, m)], neg(floordiv(neg(m), t)), floordiv(m, t)),
    "quotient times divisor": ([divides(t, m)], mul(mul(floordiv(m, t), t), k), mul(m, k)),
    "small remainder": ([at_most(0, a), less(a, 8)], mod(a, 8), a),
    "small quotient": ([at_most(0, a), less(a, t)], floordiv(a, t), 0),
    "remainder of a multiple": ([divides(t, m)], mod(add(m, 1), t), mod(1, t)),
    "equality inside": ([equal(a, mul(2, b))], floordiv(a, 2), b),
    "value of an operation": ([equal(floordiv(m, t), 5)], mul(3, floordiv(m, t)), 15),
}


@pytest.mark.parametrize("name", SIMPLER)
def test_simplify(name: str):
    known, d, expected = SIMPLER[name]
    facts = Facts()
    for fact in known:
        facts = facts.learn(fact)
    assert facts.simplify(d) == expected


def test_span_and_divisor():
    facts = Facts().learn(divides(64, m)).learn(at_most(1, m)).learn(less(m, 300))
    assert facts.span(m) == (64, 256)
    assert facts.divisor(add(m, 32)) == 32
    assert facts.divisor(mul(m, n)) == 64
    assert facts.divisor(0) == 0
