"""Fixes of buffer and barrier types: swizzles, tilings, arrivals."""

from __future__ import annotations

from collections.abc import Iterator

from ..domain.python import Int
from ..domain.ref import Ref, RefType, Swizzle, Tiling
from ..rules.buffers import buffer_types, transforms_are_sound
from ..source.span import Site
from .candidate import Candidate, Repair, some
from .literals import set_number, set_shape
from .transforms import (
    SWIZZLES,
    bits_of,
    described,
    drop_transforms,
    set_tiling,
    set_transforms,
    swizzle_alone,
    usual_tiling,
)


def swizzle_value(repair: Repair) -> Iterator[Candidate]:
    """Another swizzle, with the tiling that goes with it where that differs."""
    t = _owner(repair, repair.view.fact.site)
    if t is None:
        yield from _any_swizzle(repair)
        return
    yield from _fitted(repair, t)
    edits = drop_transforms(repair, t)
    if edits:
        yield Candidate("Leave the transforms away", False, edits)


def _any_swizzle(repair: Repair) -> Iterator[Candidate]:
    """The nearest swizzle that there is, for a transform that no buffer has yet."""
    given = repair.view.value("swizzle")
    old = repair.view.exact(given)
    if isinstance(given, Int) and old is not None:
        new = min(SWIZZLES, key=lambda s: abs(s - old))
        edits = set_number(repair, given, new)
        if edits:
            yield Candidate(f"Use SwizzleTransform({new})", False, edits)


def _owner(repair: Repair, transform: Site) -> RefType | None:
    """The buffer that was given a transform."""
    types = [f.result for f in repair.facts if isinstance(f.result, RefType)]
    mine = [t for t in types if transform in _transform_sites(t)]
    known = [t for t in mine if repair.view.exact_shape(t.shape) and None not in _present(repair, t)]
    return next(iter((*known, *mine)), None)


def _transform_sites(t: RefType) -> list[Site]:
    return [x.made.site for x in t.transforms if x.made is not None] if isinstance(t.transforms, tuple) else []


def _fitted(repair: Repair, t: RefType) -> Iterator[Candidate]:
    """Swizzles with tilings that divide the shape; the present ones are kept where they can be."""
    bits, shape = bits_of(t), repair.view.exact_shape(t.shape)
    if bits is None or not shape:
        return
    for tiling, swizzle in sorted(_choices(repair, t, shape, bits), key=lambda c: _distance(repair, t, *c)):
        # A tiling that is computed from the swizzle changes with it.
        for edits in (swizzle_alone(repair, t, swizzle), set_transforms(repair, t, tiling, swizzle)):
            if edits:
                yield Candidate(f"Use {described(tiling, swizzle)}", True, edits, "fit")


def _choices(repair: Repair, t: RefType, shape: tuple[int, ...], bits: int) -> Iterator[tuple[tuple[int, ...], int]]:
    old, _ = _present(repair, t)
    rows = dict.fromkeys((*(old or ())[-2:-1], 8))
    for swizzle in SWIZZLES:
        for r in rows:
            tiling = usual_tiling(len(shape), swizzle, bits, r)
            inner = shape[-len(tiling) :]
            if all(n > 0 and size % n == 0 for size, n in zip(inner, tiling, strict=True)):
                yield tiling, swizzle


def _present(repair: Repair, t: RefType) -> tuple[tuple[int, ...] | None, int | None]:
    tiling: tuple[int, ...] | None = None
    swizzle: int | None = None
    for x in t.transforms if isinstance(t.transforms, tuple) else ():
        if isinstance(x, Tiling) and isinstance(x.tiling, tuple):
            tiling = repair.view.exact_shape(x.tiling)
        if isinstance(x, Swizzle):
            swizzle = repair.view.exact(x.swizzle)
    return tiling, swizzle


def _distance(repair: Repair, t: RefType, tiling: tuple[int, ...], swizzle: int) -> tuple[int, bool, int]:
    """How much changes; of equals eight rows and the widest swizzle first."""
    old = _present(repair, t)
    return (tiling != old[0]) + (swizzle != old[1]), tiling[:-1] not in ((), (8,)), -swizzle


def transforms(repair: Repair) -> Iterator[Candidate]:
    """Buffers whose tiling does not divide them or whose row is not as wide as the swizzle: fitted, or rounded up."""
    for t in buffer_types(repair.view):
        if transforms_are_sound(repair.view, t) or not isinstance(t.transforms, tuple):
            continue
        yield from _fitted(repair, t)
        yield from _tiling_alone(repair, t)
        yield from _rounded(repair, t)
        return


def _tiling_alone(repair: Repair, t: RefType) -> Iterator[Candidate]:
    """A buffer that is tiled but not swizzled: fewer rows a tile."""
    shape, (old, swizzle) = repair.view.exact_shape(t.shape), _present(repair, t)
    if not shape or not old or swizzle is not None or len(old) > len(shape) or not isinstance(t.transforms, tuple):
        return
    inner = shape[-len(old) :]
    fitted = tuple(_divisor(size, n) for size, n in zip(inner, old, strict=True))
    x = next(x for x in t.transforms if isinstance(x, Tiling))
    edits = set_tiling(repair, x, fitted)
    if edits:
        yield Candidate(f"Use TilingTransform({fitted})", False, edits)


def _divisor(size: int, most: int) -> int:
    return max(n for n in range(1, max(most, 1) + 1) if size % n == 0)


def _rounded(repair: Repair, t: RefType) -> Iterator[Candidate]:
    """The shape rounded up to whole tiles."""
    shape, (tiling, _) = repair.view.exact_shape(t.shape), _present(repair, t)
    if not shape or not tiling or len(tiling) > len(shape) or 0 in tiling:
        return
    steps = (1,) * (len(shape) - len(tiling)) + tiling
    new = tuple(-(-size // step) * step for size, step in zip(shape, steps, strict=True))
    edits = set_shape(repair, t.shape, new)
    if edits:
        yield Candidate(f"Round the buffer's shape up to {new}", False, edits, "grow")


def arrivals(repair: Repair) -> Iterator[Candidate]:
    """One arrival."""
    n = repair.view.value("num_arrivals")
    if not isinstance(n, Int):
        return
    edits = set_number(repair, n, 1) or some(repair.replace(repair.view.site("num_arrivals"), "1"))
    if edits:
        yield Candidate("Complete the phase after one arrival (num_arrivals=1)", False, edits)
    edits = some(repair.remove_argument(repair.view.fact.site, repair.view.site("num_arrivals")))
    if edits:
        yield Candidate("Leave num_arrivals at its default, 1", False, edits)


#: Calls that signal a barrier for one block, or wait at it: a Barrier does for them.
_HARMLESS = frozenset(("async_store_smem", "copy_gmem_to_smem", "barrier_wait", "ref.at", "ref.get"))


def _is_arrived_at(repair: Repair, made: Site) -> bool:
    """Whether something else than stores and waits uses a barrier: blocks that meet there, which a Barrier has not."""
    users = [f for f in repair.facts for v in f.operands.values() if isinstance(v, Ref) and _made_at(v, made)]
    return not all(f.api in _HARMLESS for f in users)


def _made_at(v: Ref, site: Site) -> bool:
    return v.type.made is not None and v.type.made.site == site


def plain_barrier(repair: Repair) -> Iterator[Candidate]:
    """A `Barrier` in place of a `ClusterBarrier`, where it is allocated."""
    barrier = repair.view.value("barrier")
    made = barrier.type.made if hasattr(barrier, "type") else None
    source = repair.source(made.site) if made is not None else None
    if made is None or source is None or barrier.type.kind != "cluster_barrier" or _is_arrived_at(repair, made.site):
        return
    kept = [
        f"{name}={repair.source(made.args[name])}"
        for name in ("num_arrivals", "num_barriers", "orders_tensor_core")
        if name in made.args
    ]
    edits = repair.replace(made.site, f"{repair.spelled('Barrier', made.site)}({', '.join(kept)})")
    yield Candidate("Allocate a Barrier in place of the ClusterBarrier", False, edits)
