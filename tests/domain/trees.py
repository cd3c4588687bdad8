"""Random integer expressions and conditions, each readable as a Dim or a Cond and as Python's own value."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from pallas_ls.domain import cond as conds
from pallas_ls.domain import dim as dims
from pallas_ls.domain.cond import Cond
from pallas_ls.domain.dim import Atom, Dim

#: An integer expression: an int, a symbol's name, or (operation, left, right).
Tree = Any
#: A condition: (relation, left, right) on integer expressions, ("not" | "and" | "or", parts...), or of a name.
Question = Any
Binding = dict[str, Any]

NAMES = ("a", "b", "m", "t")
FLAGS = ("flag", "mode")


def examples(usual: int) -> int:
    """How many examples a property is tried on; PALLAS_LS_EXAMPLES multiplies it for a thorough run."""
    return usual * int(os.environ.get("PALLAS_LS_EXAMPLES", "1"))


class NoValue(Exception):
    """Python raises for this binding, or the value is too large to be worth computing."""


def _power(a: int, n: int) -> int:
    if n < 0:
        raise NoValue
    return a**n


def _shift(shift: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def shifted(a: int, n: int) -> int:
        if not 0 <= n <= 64:
            raise NoValue
        return shift(a, n)

    return shifted


PYTHON: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "min": min,
    "max": max,
    "**": _power,
    "<<": _shift(operator.lshift),
    ">>": _shift(operator.rshift),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
SYMBOLIC: dict[str, Callable[[Dim, Dim], Dim]] = {
    "+": dims.add,
    "-": dims.sub,
    "*": dims.mul,
    "//": dims.floordiv,
    "%": dims.mod,
    "min": dims.minimum,
    "max": dims.maximum,
    "**": dims.power,
    **{name: (lambda a, b, name=name: dims.bitwise(name, a, b)) for name in ("<<", ">>", "&", "|", "^")},
}

integers = st.one_of(st.integers(-6, 6), st.sampled_from((8, 16, 63, 64, 96, 128, 192, 255, -64, -128)))
leaves = st.one_of(st.sampled_from(NAMES), st.sampled_from(NAMES), integers)
SMALL_EXPONENTS = st.one_of(st.integers(0, 3), st.sampled_from(NAMES))


def _operations(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    common = st.tuples(st.sampled_from(("+", "-", "*", "//", "%", "min", "max", "+", "-", "//", "%")), inner, inner)
    rare = st.tuples(st.sampled_from(("<<", ">>", "**")), inner, SMALL_EXPONENTS)
    bits = st.tuples(st.sampled_from(("&", "|", "^")), inner, inner)
    return st.one_of(common, common, common, common, rare, bits)


_pairs = st.one_of(leaves, _operations(leaves))
small_trees: st.SearchStrategy[Tree] = st.one_of(_pairs, _operations(_pairs))
trees: st.SearchStrategy[Tree] = st.one_of(small_trees, _operations(small_trees))

values = st.one_of(st.integers(-12, 12), st.integers(-300, 300), st.sampled_from((0, 1, 2, 64, 128, 256, 384, 4096)))
bindings: st.SearchStrategy[Binding] = st.fixed_dictionaries(
    {**dict.fromkeys(NAMES, values), "flag": st.booleans(), "mode": st.sampled_from(("x", "y", None))}
)


def to_dim(tree: Tree, symbols: Mapping[str, Dim] | None = None) -> Dim:
    """The tree built with the module's operations; NoValue where they raise for literals."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return symbols[tree] if symbols else dims.symbol(tree)
    name, *args = tree
    try:
        return SYMBOLIC[name](*(to_dim(a, symbols) for a in args))
    except (ZeroDivisionError, ValueError) as error:
        raise NoValue from error


def to_int(tree: Tree, binding: Binding) -> int:
    """Python's own value of the tree; NoValue where it has none."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return binding[tree]
    name, *args = tree
    operands = [to_int(a, binding) for a in args]
    if name == "**" and abs(operands[1]) > 64:
        raise NoValue
    try:
        out = PYTHON[name](*operands)
    except ZeroDivisionError as error:
        raise NoValue from error
    if out.bit_length() > 4000:
        raise NoValue
    return out


def evaluate(d: Dim, binding: Binding) -> int:
    """The Dim's value where its symbols have these values."""
    leaf: dict[Atom, Dim] = {s: binding[s.name] for s in dims.symbols(d)}
    out = dims.rebuild(d, leaf)
    assert isinstance(out, int)
    return out


# -- conditions ---------------------------------------------------------------------------------------------------

RELATIONS: dict[str, tuple[Callable[[Dim, Dim], Cond], Callable[[int, int], bool]]] = {
    "==": (conds.equal, operator.eq),
    "!=": (lambda a, b: conds.negate(conds.equal(a, b)), operator.ne),
    "<=": (conds.at_most, operator.le),
    "<": (conds.less, operator.lt),
    ">": (lambda a, b: conds.less(b, a), operator.gt),
    "divides": (conds.divides, lambda a, b: b % a == 0),
}


def questions_over(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Question]:
    relation = st.tuples(st.sampled_from(tuple(RELATIONS)), inner, inner)
    flag = st.just(("truth", "flag"))
    same = st.tuples(st.just("same"), st.just("mode"), st.sampled_from(("x", "y", None)))
    basic = st.one_of(relation, relation, relation, relation, flag, same)
    joined = st.one_of(
        st.tuples(st.just("not"), basic),
        st.tuples(st.sampled_from(("and", "or")), basic, basic),
        st.tuples(st.sampled_from(("and", "or")), basic, basic, basic),
    )
    nested = st.tuples(st.sampled_from(("and", "or")), basic, joined)
    return st.one_of(basic, basic, basic, joined, nested)


questions: st.SearchStrategy[Question] = questions_over(small_trees)


def to_cond(question: Question, symbols: Mapping[str, Dim] | None = None) -> Cond:
    """The question built with the module's functions."""
    kind, *rest = question
    match kind:
        case "truth":
            return conds.Truth(rest[0])
        case "same":
            return conds.Same(rest[0], rest[1])
        case "not":
            return conds.negate(to_cond(rest[0], symbols))
        case "and":
            return conds.all_of(to_cond(q, symbols) for q in rest)
        case "or":
            return conds.any_of(to_cond(q, symbols) for q in rest)
        case _:
            return RELATIONS[kind][0](to_dim(rest[0], symbols), to_dim(rest[1], symbols))


def to_bool(question: Question, binding: Binding) -> bool:
    """Python's own answer, all parts evaluated; NoValue where one has no value."""
    kind, *rest = question
    match kind:
        case "truth":
            return binding[rest[0]]
        case "same":
            return binding[rest[0]] == rest[1]
        case "not":
            return not to_bool(rest[0], binding)
        case "and":
            return False not in [to_bool(q, binding) for q in rest]
        case "or":
            return True in [to_bool(q, binding) for q in rest]
        case _:
            left, right = to_int(rest[0], binding), to_int(rest[1], binding)
            if kind == "divides" and left == 0:
                raise NoValue
            return RELATIONS[kind][1](left, right)
