"""Models of JAX's operations against JAX: same shape, same element type, same weakness; concrete and symbolic."""

from __future__ import annotations

from typing import Any

import jax
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pallas_ls.domain import dim as dims
from pallas_ls.domain.array import Array
from pallas_ls.domain.dtype import DType
from pallas_ls.domain.python import Builtin, Call, Int, ListCell, Opaque, Unknown
from pallas_ls.evaluate.machine import Machine
from pallas_ls.evaluate.program import Program

from .operands import Case, by_jax
from .operations import GENERATORS
from .snippets import LIBRARY, OneFile

PREFIXES = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.random.")
#: Modelled, and tested elsewhere in this folder: they take functions, types, names of axes, or make no array.
ELSEWHERE = """
jax.lax.cond jax.lax.switch jax.lax.fori_loop jax.lax.while_loop jax.lax.scan jax.lax.map
jax.lax.associative_scan jax.lax.reduce jax.lax.axis_index jax.lax.axis_size jax.lax.psum jax.lax.pmax
jax.lax.pmin jax.lax.pmean jax.lax.ppermute jax.lax.pshuffle jax.numpy.dtype jax.numpy.finfo jax.numpy.iinfo
jax.numpy.issubdtype jax.numpy.isdtype jax.numpy.promote_types jax.numpy.result_type
jax.numpy.broadcast_shapes
"""
MANY = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def machine() -> Machine:
    """A machine on the host."""
    return Machine(100_000, Program(OneFile(""), LIBRARY))


def modelled() -> list[str]:
    """All operations with a model."""
    return [n for n, v in LIBRARY.registry.names.items() if n.startswith(PREFIXES) and isinstance(v, Builtin)]


def ours(name: str, case: Case, m: Machine) -> Any:
    """What the model says of the call."""
    return LIBRARY.registry.names[name].run(m, Call(m.program.nowhere, case.args, dict(case.kwargs)))


def flat(v: Any) -> list[Any]:
    """The arrays of a result."""
    if isinstance(v, ListCell):
        return flat(v.slots["items"])
    return [x for part in v for x in flat(part)] if isinstance(v, tuple) else [v]


def test_every_modelled_operation_has_a_generator() -> None:
    assert sorted(set(modelled()) - GENERATORS.keys() - set(ELSEWHERE.split())) == []
    assert sorted(GENERATORS.keys() - set(modelled())) == []


def jax_result(name: str, case: Case) -> list[Any]:
    """What JAX says of the call; the example is dropped where JAX refuses it."""
    try:
        return jax.tree.leaves(by_jax(name, case))
    except (TypeError, ValueError, NotImplementedError, AssertionError, OverflowError, IndexError):
        assume(False)
        raise


@pytest.mark.parametrize("name", sorted(GENERATORS))
@MANY
@given(data=st.data())
def test_model_agrees_with_jax(name: str, data: st.DataObject) -> None:
    case = GENERATORS[name](data.draw)
    wanted = jax_result(name, case)
    found = flat(ours(name, case, machine()))
    assert [described(x) for x in found] == [of_struct(x) for x in wanted]


def described(v: Any) -> tuple[Any, ...]:
    """A result as (shape, type, weak)."""
    if isinstance(v, (bool, float, Int)):
        return (), "scalar", False
    assert isinstance(v, Array), f"no array: {v}"
    assert isinstance(v.shape, tuple), f"no shape: {v.shape}"
    assert isinstance(v.dtype, DType), f"no element type: {v.dtype}"
    return tuple(e.dim if isinstance(e, Int) else e for e in v.shape), v.dtype.name, v.weak and v.dtype.family != "bool"


def of_struct(s: Any) -> tuple[Any, ...]:
    """What JAX says as (shape, type, weak)."""
    return tuple(s.shape), str(s.dtype), bool(s.weak_type) and s.dtype != bool


# -- symbolic -----------------------------------------------------------------------------------------


def symbolic(v: Any) -> Any:
    """Each extent above 1 as a symbol of its own, equal extents as the same."""
    if isinstance(v, Array) and isinstance(v.shape, tuple):
        return Array(tuple(_symbol(e) for e in v.shape), v.dtype, v.weak)
    if isinstance(v, tuple):
        return tuple(symbolic(x) for x in v)
    return ListCell({"items": symbolic(v.slots["items"])}) if isinstance(v, ListCell) else v


def _symbol(e: Any) -> Any:
    assert isinstance(e, Int) and isinstance(e.dim, int)
    return Int(dims.symbol(f"n{e.dim}", low=0)) if e.dim > 1 else e


def concrete(d: dims.Dim) -> dims.Dim:
    """The symbols replaced by what they stand for."""
    return dims.rebuild(d, {s: int(s.name[1:]) for s in dims.symbols(d)})


@pytest.mark.parametrize("name", sorted(GENERATORS))
@MANY
@given(data=st.data())
def test_what_is_claimed_of_symbolic_shapes_holds_for_each_binding(name: str, data: st.DataObject) -> None:
    case = GENERATORS[name](data.draw)
    wanted = jax_result(name, case)
    kwargs = {k: symbolic(v) for k, v in case.kwargs.items()}
    result = ours(name, Case(tuple(symbolic(a) for a in case.args), kwargs), machine())
    if isinstance(result, Unknown):
        return
    found = flat(result)
    assert len(found) == len(wanted)
    for claim, struct in zip(found, wanted, strict=True):
        if isinstance(claim, Array):
            _holds(claim, of_struct(struct))


def _holds(claim: Array, truth: tuple[Any, ...]) -> None:
    """What is known of the claim is the truth."""
    shape, dtype, _ = truth
    if isinstance(claim.shape, tuple):
        assert len(claim.shape) == len(shape)
        for e, n in zip(claim.shape, shape, strict=True):
            assert isinstance(e, Unknown) or concrete(e.dim) == n, f"{claim.shape} is not {shape}"
    else:
        assert isinstance(claim.shape, (Unknown, Opaque))
    assert not isinstance(claim.dtype, DType) or claim.dtype.name == dtype
