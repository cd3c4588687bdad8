"""Numbers put in afterwards give what an evaluation with the numbers would have given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from trees import Binding, NoValue, Question, Tree, bindings, examples, questions, small_trees, to_bool, to_cond
from trees import to_dim as dim_of
from trees import to_int as int_of

from pallas_ls.domain import cond as conds
from pallas_ls.domain import dim as dims
from pallas_ls.domain.array import Array, Operation
from pallas_ls.domain.dependence import Dependence
from pallas_ls.domain.dtype import DTYPES
from pallas_ls.domain.facts import Facts
from pallas_ls.domain.python import Bool, Choice, Int, ListCell, Opaque, Origin, SetCell, Unknown, Value
from pallas_ls.domain.substitute import Binding as Numbers
from pallas_ls.domain.substitute import Structure, Substitution
from pallas_ls.source.span import Site

SITE = Site("a.py", "def f", 0, 1)
t, i = dims.symbol("t"), dims.symbol("?i1000007", low=0)


def put(numbers: Binding, **more: Any) -> Substitution:
    """The integers of a binding, and what else is given."""
    integers = {k: v for k, v in numbers.items() if isinstance(v, int) and not isinstance(v, bool)}
    return Substitution(Numbers(integers, **more))


def value_of(tree: Tree, binding: Binding) -> int:
    """Python's value; the example is skipped where there is none."""
    try:
        return int_of(tree, binding)
    except NoValue:
        assume(False)
        raise


@given(small_trees, bindings)
@settings(max_examples=examples(300), deadline=None)
def test_integers(tree: Tree, binding: Binding) -> None:
    expected = value_of(tree, binding)
    assert put(binding).dim(dim_of(tree)) == expected


@given(questions, bindings)
@settings(max_examples=examples(300), deadline=None)
def test_conditions_and_what_they_choose(question: Question, binding: Binding) -> None:
    try:
        c, expected = to_cond(question), to_bool(question, binding)
    except NoValue:
        assume(False)
        raise
    known = Facts()
    for fact in (conds.Truth("flag"), conds.Same("mode", binding["mode"])):
        known = known.learn(fact if fact != conds.Truth("flag") or binding["flag"] else conds.negate(fact))
    sub = put(binding, given=known)
    try:
        assert sub.decide(c) is expected
        assert sub.value(Choice(c, "yes", "no")) == ("yes" if expected else "no")
        assert sub.value(Bool(c)) is expected
        assert sub.guards((c,)) == (() if expected else None)
    except Structure:  # an operation without a value in a part that Python never came to
        pass


@given(small_trees, small_trees, bindings, bindings)
@settings(max_examples=examples(200), deadline=None)
def test_what_is_shared_between_bindings_is_the_same(p: Tree, q: Tree, one: Binding, other: Binding) -> None:
    """Values looked up for another binding are those that it would have made."""
    c = conds.at_most(dim_of_or_skip(p), dim_of_or_skip(q))
    v: Value = (Int(dim_of_or_skip(p)), Choice(c, Int(dim_of_or_skip(q)), Array((Int(t),), DTYPES["int32"])))
    needs = Dependence("abmt", frozenset(), {}, frozenset(), frozenset(), ())
    shared: dict[tuple[int, tuple[object, ...]], Value] = {}
    for binding in (one, other, one):
        try:
            alone = put(binding).value(v)
        except Structure:
            assume(False)
            raise
        assert put(binding, needs=needs, shared=shared).value(v) == alone


def dim_of_or_skip(tree: Tree) -> dims.Dim:
    """The tree's Dim; the example is skipped where it has no value."""
    try:
        return dim_of(tree)
    except NoValue:
        assume(False)
        raise


def test_facts_and_guards_that_stay_open() -> None:
    """Those that the numbers decide are gone, a path that they exclude is never reached."""
    c, d = conds.at_most(t, i), conds.equal(dims.mod(t, 8), 0)
    facts = Facts().learn(c).learn(d)
    sub = put({"t": 64})
    assert sub.guards((c, d)) == (conds.at_most(64, i),)
    assert sub.facts(facts).decide(conds.at_most(60, i)) is True
    assert put({"t": 60}).guards((c, d)) is None
    assert put({"t": 60}).facts(facts).contradictory


def test_names_made_on_the_way() -> None:
    """Each use has its own, with bounds that are known by then."""
    sub = put({"t": 64}, rename=lambda n: n - 1_000_000, bounds={"?i1000007": (0, dims.sub(t, 1))})
    assert sub.dim(i) == dims.symbol("?i7", low=0, high=63)
    assert sub.cond(conds.Truth("?loop1000003")) == conds.Truth("?loop3")


def test_origins_are_those_of_the_number() -> None:
    mine, literal = Origin(SITE, "parameter"), Origin(Site("b.py", "N =", 4, 7), "literal")
    v = Int(dims.mul(t, 2), Origin(SITE, "*", (mine,)))
    new = put({"t": 64}, origins={id(mine): literal}).value(v)
    assert new == Int(128) and new.origin is not None and new.origin.inputs == (literal,)


def test_identity_is_kept() -> None:
    """One object before is one object after, one that can change is another one for each use."""
    cell = ListCell({"items": (Int(t),)})
    operation = Operation("add", {"x": Int(t)}, SITE)
    a = Array((Int(t),), DTYPES["int32"], by=operation)
    sub = put({"t": 8})
    one, two, (first, second) = sub.value(cell), sub.value((cell, cell)), sub.value((a, a))
    assert two == (one, one) and one is not cell and one is not put({"t": 8}).value(cell)
    assert first is second and first.by is not operation and first.by is sub.value(operation)


@pytest.mark.parametrize(
    ("v", "needs"),
    [
        (Unknown("no", frozenset({"t"})), {"t"}),
        (Choice(conds.less(i, t), 1, 2), {"t"}),
        (Int(dims.symbol("find_swizzle(16*t)")), {"t"}),
        (Opaque("x[t]"), {"t"}),
        (Int(dims.floordiv(dims.symbol("?n2"), dims.sub(t, 64))), {"t"}),
        (SetCell({"items": (Int(t), Int(64))}), set()),
        (object(), set()),
    ],
)
def test_what_numbers_do_not_tell_is_refused(v: Value, needs: set[str]) -> None:
    with pytest.raises(Structure) as refused:
        put({"t": 64}).value(v)
    assert refused.value.needs == needs
