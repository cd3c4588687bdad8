"""Bindings kept to show what does not follow satisfy the facts, and change no answer."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from test_facts import SOUNDNESS, learnt, simple_questions, symbols_for
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
    to_cond,
    to_dim,
)

from pallas_ls.domain import cond as conds
from pallas_ls.domain import dim as dims
from pallas_ls.domain import witness
from pallas_ls.domain.cond import NonPos, Zero
from pallas_ls.domain.dim import Dim
from pallas_ls.domain.facts import Facts
from pallas_ls.domain.witness import Witness, first_witnesses, towards

m, tile = dims.symbol("m", low=0), dims.symbol("tile")


@given(small_trees, st.integers(0, len(first_witnesses()) - 1))
@settings(max_examples=examples(200), deadline=None)
def test_a_binding_gives_each_expression_the_value_that_python_gives_it(tree: Tree, style: int):
    w = Witness(style, {})
    try:
        d = to_dim(tree)
        value = w.value(d)
    except (NoValue, witness.NoValue):
        return
    assert value == evaluate(d, {s.name: w.atom(s) for s in dims.symbols(d)})


@st.composite
def known_and_asked(draw: st.DrawFn) -> tuple[Binding, dict[str, Dim], list[Question], list[Question]]:
    binding = draw(bindings)
    either = st.one_of(questions, simple_questions)
    return binding, draw(symbols_for(binding)), draw(st.lists(either, max_size=6)), draw(st.lists(either, max_size=4))


@given(known_and_asked())
@settings(SOUNDNESS, max_examples=examples(150), deadline=None)
def test_bindings_satisfy_the_facts_and_no_answer_needs_them(
    situation: tuple[Binding, dict[str, Dim], list[Question], list[Question]],
):
    binding, symbols, known, asked = situation
    facts = learnt(known, symbols, binding)
    with patch("pallas_ls.domain.notes.first_witnesses", lambda: ()):
        alone = learnt(known, symbols, binding)
        assert not alone.witnesses()
        for question in asked:
            try:
                c = to_cond(question, symbols)
            except NoValue:
                continue
            assert facts.decide(c) == alone.decide(c), conds.text(c)
    for w in facts.witnesses():
        assert all(w.holds(c) for c in facts.integers)


def test_a_binding_is_changed_so_that_a_condition_holds_and_what_was_required_still_does():
    ragged = conds.negate(conds.divides(64, m))
    small = conds.at_most(m, 100)
    start = Witness(0, {})
    assert start.holds(small) is False  # pyright: ignore[reportArgumentType]
    near = towards(start, small, [])  # pyright: ignore[reportArgumentType]
    assert near is not None and near.holds(small)  # pyright: ignore[reportArgumentType]
    both = towards(near, ragged, [small])  # pyright: ignore[reportArgumentType]
    assert both is not None and both.holds(ragged) and both.holds(small)  # pyright: ignore[reportArgumentType]


def test_what_has_no_value_neither_holds_nor_fails():
    c = conds.equal(dims.floordiv(m, tile), 1)
    assert isinstance(c, (Zero, NonPos))
    [zero] = [dims.as_symbol(tile)]
    assert zero is not None
    assert Witness(0, {zero: 0}).holds(c) is None


def test_learning_the_same_condition_again_gives_the_same_facts():
    facts = Facts().learn(conds.less(0, tile))
    assert facts.learn(conds.divides(tile, m)) is facts.learn(conds.divides(tile, m))


def test_a_disjunction_is_narrowed_by_each_of_its_parts():
    a, b, c = (conds.Truth(name) for name in "abc")
    facts = Facts().learn(conds.any_of([a, b, c]))
    narrowed = facts.learn(conds.negate(a)).learn(conds.negate(b))
    assert narrowed.decide(c) is True
    bounded = Facts().learn(conds.any_of([conds.less(m, 3), conds.all_of([a, b])])).learn(conds.less(5, m))
    assert bounded.decide(b) is True
