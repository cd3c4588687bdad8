"""Every function of `plgpu` and `pl` leaves a fact for each call, with its operands by parameter."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from pallas_ls.domain.fact import CallFact
from pallas_ls.domain.python import Call, Int
from pallas_ls.library.plgpu import MODULE
from pallas_ls.library.plgpu_signatures import OLDER, SIGNATURES
from pallas_ls.library.registry import Signature

from .test_operations import LIBRARY, machine

#: Enumerations and memory spaces, and what JAX itself only subclasses: not functions.
NOT_CALLED = frozenset(
    (
        *("CopyPartition", "GMEM", "Layout", "LoweringSemantics", "MemorySpace", "OOBFillMode", "PipelinePipeline"),
        *("REGS", "SMEM", "SemaphoreType", "TMEM", "TMEMLayout", "TraceScope", "Transform"),
    )
)
#: Functions of `pl` whose calls are facts.
COMMON = (
    *("BlockSpec", "GridSpec", "align_to", "broadcast_to", "cdiv", "debug_print", "ds", "dslice", "kernel", "loop"),
    *("multiple_of", "next_power_of_2", "num_programs", "pallas_call", "program_id", "run_scoped", "run_state"),
    *("select_ref", "semaphore_read", "semaphore_signal", "semaphore_wait", "when", "with_scoped"),
)
ONE_OPERAND: dict[str, Any] = {"debug_print": "x"}


def facts_of(name: str, *args: Any, **kwargs: Any) -> list[CallFact]:
    """The facts of one call."""
    m = machine()
    m.program.calls.call(m, LIBRARY.registry.names[name], args, m.program.nowhere, kwargs)
    return m.facts_out


def public(module: Any) -> list[str]:
    """Functions and classes of JAX's module."""
    return [n for n in dir(module) if not n.startswith("_") and callable(getattr(module, n)) and n not in NOT_CALLED]


def parameters(f: Any) -> list[str]:
    """Parameters of one of JAX's functions, those for JAX's own use left out."""
    return [p for p in inspect.signature(f).parameters if not p.startswith("_")]


def test_signatures_are_those_of_the_installed_jax() -> None:
    plgpu = pytest.importorskip("jax.experimental.pallas.mosaic_gpu")
    differing = {
        name: (sorted(missing), SIGNATURES.get(name, OLDER.get(name)))
        for name in public(plgpu)
        if (missing := set(parameters(getattr(plgpu, name))) - _known(name))
    }
    assert not differing


def test_no_parameter_is_invented() -> None:
    jax = pytest.importorskip("jax")
    if jax.__version_info__ < (0, 12):
        pytest.skip("the table is that of the newest JAX")
    plgpu = pytest.importorskip("jax.experimental.pallas.mosaic_gpu")
    names = [n for n in public(plgpu) if n in SIGNATURES]
    ours = {n: [p for p in _names(SIGNATURES[n]) if not p.startswith("_")] for n in names}
    assert ours == {n: parameters(getattr(plgpu, n)) for n in names}


def test_the_common_functions_take_what_jax_takes() -> None:
    pl = pytest.importorskip("jax.experimental.pallas")
    for name in COMMON:
        if hasattr(pl, name):
            operands = facts_of(f"jax.experimental.pallas.{name}", **{"of_no_function": None})[-1].operands
            assert set(parameters(getattr(pl, name))) <= set(operands), name


def _known(name: str) -> set[str]:
    texts = [t for t in (SIGNATURES.get(name), OLDER.get(name)) if t is not None]
    return {p for t in texts for p in _names(t)}


def _names(text: str) -> list[str]:
    s = Signature.parse(text)
    named = [*s.positional, *([s.star] if s.star else []), *s.keyword, *([s.star_star] if s.star_star else [])]
    return named


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_a_call_without_arguments_is_a_fact(name: str) -> None:
    facts = facts_of(f"{MODULE}.{name}")
    if name != "kernel":  # without a body it waits for one
        assert [(f.api, list(f.operands)) for f in facts[-1:]] == [(name, _ordered(name))]


@pytest.mark.parametrize("name", sorted(set(SIGNATURES) - {"warp_map"}))
def test_a_call_with_what_no_function_takes_is_a_fact(name: str) -> None:
    given = {"of_no_function": Int(1)} | ({"body": None} if name == "kernel" else {})
    m = machine()
    f = LIBRARY.registry.names[f"{MODULE}.{name}"]
    m.program.calls.call(m, f, tuple(Int(i) for i in range(9)), m.program.nowhere, given)
    fact = next(f for f in m.facts_out if f.api == name)
    assert fact.excess or name in ("RefUnion", "semaphore_signal_parallel", "kernel")
    assert list(fact.operands) == _ordered(name)


@pytest.mark.parametrize("name", sorted(set(SIGNATURES) - {"kernel"}))
def test_a_star_of_unknown_content_leaves_what_is_given(name: str) -> None:
    m = machine()
    f = LIBRARY.registry.names[f"{MODULE}.{name}"]
    call = Call(m.program.nowhere, (), {}, open=True)
    f.run(m, call)
    assert [(x.api, x.open) for x in m.facts_out[-1:]] == [(name, True)]


@pytest.mark.parametrize("space", ["SMEM", "GMEM", "TMEM", "REGS"])
def test_a_buffer_of_too_few_arguments_is_a_fact(space: str) -> None:
    fact = facts_of(f"{MODULE}.{space}", (Int(8),))[-1]
    assert (fact.api, fact.missing) == (space, ("dtype",))


def _ordered(name: str) -> list[str]:
    s = Signature.parse(SIGNATURES[name])
    return [*s.names, *([s.star] if s.star else []), *([s.star_star] if s.star_star else [])]
