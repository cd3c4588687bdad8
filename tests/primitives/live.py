"""Which functions of jax.numpy, jax.lax and jax.nn a kernel cannot be lowered with, asked of the installed JAX."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from functools import cache

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
from jax._src.pallas.mosaic_gpu import lowering
from jax.experimental.pallas import mosaic_gpu as plgpu

from pallas_ls.domain.target import JaxVersion, Semantics
from pallas_ls.library.catalogue import registry

VERSION = JaxVersion.parse(jax.__version__)
_NAMES = {Semantics.LANE: "Lane", Semantics.WARPGROUP: "Warpgroup"}
SHAPES: dict[int, tuple[int, ...]] = {1: (128,), 2: (64, 64)}
TYPES = {"float": "float32", "int": "int32"}
#: What the parameters after the arrays may be; each that JAX traces counts.
OTHERS: tuple[tuple[object, ...], ...] = ((0,), (1,), (2,), ((0, 1),), ((1, 0),))
KEYWORDS: tuple[dict[str, object], ...] = ({"axis": 0}, {"axis": -1}, {"copy": False}, {"dtype": "float32"})
_UNIMPLEMENTED = "Unimplemented primitive in Pallas Mosaic GPU lowering: "
#: Calls of the library's operations: name, number of leading arrays, their rank, their family; whether it holds
#: whatever else is given ("any"), or where nothing else is ("plain").
Cell = tuple[str, int, int, str, str]


def functions() -> list[str]:
    """The operations that the library knows, by their full names."""
    namespaces = ("jax.numpy.", "jax.lax.", "jax.nn.")
    names = (n for n in registry().names if n.startswith(namespaces) and n.count(".") == 2)
    return sorted(names, key=lambda n: (namespaces.index(n[: n.rindex(".") + 1]), n))


def unlowered(name: str) -> dict[tuple[Cell, Semantics], str]:
    """The cells of which every call that JAX traces is refused, with the primitive at which it stops ("…" where it
    depends)."""
    found: dict[tuple[Cell, Semantics], str] = {}
    function = _named(name)
    for count in (1, 2) if function is not None else ():
        for rank, shape in SHAPES.items():
            for family, dtype in TYPES.items():
                plain, others = _traces(function, count, shape, getattr(jnp, dtype))
                for semantics in Semantics:
                    said = {_first(t, semantics) for t in (*plain, *others)}
                    alone = {_first(t, semantics) for t in plain}
                    for how, answers in (("any", said), ("plain", alone)):
                        if answers and None not in answers:
                            cell = (name, count, rank, family, how)
                            one = answers.pop() if len(answers) == 1 else None
                            if confirmed(cell, semantics, one or "…"):
                                found[cell, semantics] = one or "…"
                            break
    return found


def confirmed(cell: Cell, semantics: Semantics, primitive: str) -> bool:
    """Whether a kernel with the first call of a cell that JAX traces stops there, and nowhere before."""
    name, count, rank, family, _ = cell
    function, shape, dtype = _named(name), SHAPES[rank], getattr(jnp, TYPES[family])
    arrays = tuple(jax.ShapeDtypeStruct(shape, dtype) for _ in range(count))
    for call in _calls(function):
        if _traced(call, arrays):
            said = stops(call, shape, dtype, count, semantics)
            return said is not None and primitive in ("…", said)
    return False


def _first(primitives: tuple[str, ...], semantics: Semantics) -> str | None:
    return next((p for p in primitives if p not in _lowered(semantics)), None)


def _named(name: str):
    value = jax
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def _traces(function, count: int, shape, dtype) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The primitives of the call with arrays alone, and of those with other arguments; of those that JAX takes."""
    arrays = tuple(jax.ShapeDtypeStruct(shape, dtype) for _ in range(count))
    plain = _traced(function, arrays)
    if plain and all(_first(plain[0], s) is None for s in Semantics):
        return plain, []
    return plain, [t for call in _calls(function)[1:] for t in _traced(call, arrays)]


def _calls(function) -> list[Callable[..., object]]:
    """Calls of a function with arrays alone, and with other arguments after them."""
    calls: list[Callable[..., object]] = [function]
    calls += [lambda *xs, o=o: function(*xs, *o) for o in OTHERS]
    calls += [lambda *xs, k=k: function(*xs, **k) for k in KEYWORDS]
    return calls


def _traced(call: Callable[..., object], arrays) -> list[tuple[str, ...]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [tuple(_primitives(jax.make_jaxpr(call)(*arrays).jaxpr))]
    except Exception:  # not a call that JAX takes
        return []


#: Primitives that are lowered by lowering what they hold, and nothing else.
_INLINE = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "scan", "while", "cond")


def _primitives(jaxpr) -> Iterator[str]:
    """Primitives in the order in which they are lowered."""
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        if eqn.primitive.name in _INLINE:
            for value in eqn.params.values():
                for inner in value if isinstance(value, (tuple, list)) else (value,):
                    inner = getattr(inner, "jaxpr", inner)
                    if hasattr(inner, "eqns"):
                        yield from _primitives(inner)


@cache
def _lowered(semantics: Semantics) -> frozenset[str]:
    mine = getattr(plgpu.LoweringSemantics, _NAMES[semantics])
    derived = {"custom_jvp_call", "custom_vjp_call"}  # older releases inline them before they lower
    return frozenset(derived) | frozenset(
        primitive.name
        for (theirs, threads), rules in lowering.mosaic_lowering_rules.items()
        if theirs == mine and threads.name == "Warpgroup"
        for primitive in rules
    )


def stops(call: Callable[..., object], shape, dtype, count: int, semantics: Semantics) -> str | None:
    """Lowers a kernel that calls it: the primitive at which JAX stops, or None."""

    def body(out, *refs):
        call(*(r[...] if shape else r[0] for r in refs))

    buffer = plgpu.SMEM(shape or (1,), dtype)
    semantics_of_jax = getattr(plgpu.LoweringSemantics, _NAMES[semantics])
    kernel = plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
        scratch_types=[buffer] * count,
        compiler_params=plgpu.CompilerParams(lowering_semantics=semantics_of_jax),
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            jax.jit(kernel).trace().lower(lowering_platforms=("cuda",))
    except NotImplementedError as error:
        text = str(error)
        if text.startswith(_UNIMPLEMENTED):
            return text.removeprefix(_UNIMPLEMENTED).partition(" for lowering")[0]
    except Exception:  # another reason
        return None
    return None
