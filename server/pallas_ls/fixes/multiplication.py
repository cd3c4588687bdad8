"""Fixes of matrix multiplications: transforms, types, barriers, tensor memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..domain.ref import Ref, RefType
from ..rules.mma.case import Operand
from ..rules.mma.operands import operand
from ..rules.mma.shared import SWIZZLES, divides, tile_of
from ..rules.mma.tcgen05 import ACCUMULATORS as TCGEN05
from ..rules.mma.wgmma import ACCUMULATORS as WGMMA
from .candidate import Candidate, Edits, Repair, some, together
from .transforms import described, drop_transforms, set_transforms

Make = Callable[[Repair], Iterator[Candidate]]


def _operand(repair: Repair, name: str) -> tuple[Operand, RefType] | None:
    x, ref = operand(repair.view, name), repair.view.value(name)
    if not isinstance(x, Operand) or not isinstance(ref, Ref) or x.space != "smem":
        return None
    return x, ref.type


def transforms(repair: Repair) -> Iterator[Candidate]:
    """One swizzle, and the tiling that goes with it, for all operands in shared memory; the widest first."""
    found = [x for name in ("a", "b") if (x := _operand(repair, name)) is not None]
    for swizzle in SWIZZLES:
        groups: list[Edits] = []
        for x, t in found:
            tile = tile_of(swizzle, x.bits)
            if not divides(tile, x.allocated):
                break
            if (x.tiling, x.swizzle) != (tile, swizzle):
                groups.append(set_transforms(repair, t, tile, swizzle))
        else:
            edits = together(*groups)
            if edits:
                yield Candidate(f"Use {described(tile_of(swizzle, found[0][0].bits), swizzle)}", True, edits, "fit")


def inferred(repair: Repair) -> Iterator[Candidate]:
    """No transforms: under Warpgroup semantics JAX picks them."""
    given = [t for name in ("a", "b") if (x := _operand(repair, name)) is not None and not x[0].plain for t in (x[1],)]
    types = list({id(t): t for t in given}.values())
    edits = together(*(drop_transforms(repair, t) for t in types))
    if edits:
        yield Candidate("Let JAX pick the transforms", True, edits)


def transposed(repair: Repair) -> Iterator[Candidate]:
    """An operand that is stored the other way round."""
    for name in ("b", "a"):
        edits = repair.method(repair.view.site(name), ".T")
        if edits:
            yield Candidate(f"Pass {repair.source(repair.view.site(name))} transposed (.T)", False, edits)


def accumulator(table: dict[str, tuple[str, ...]]) -> Make:
    """An accumulator of a type that the products are added up in."""

    def make(repair: Repair) -> Iterator[Candidate]:
        b, acc = repair.view.value("b"), repair.view.value("acc")
        if not isinstance(b, Ref) or not isinstance(acc, Ref):
            return
        for name in table.get(str(b.dtype), ()):
            edits = set_dtype(repair, acc.type, name)
            if edits:
                yield Candidate(f"Accumulate in {name}", False, edits, "fit")

    return make


def set_dtype(repair: Repair, t: RefType, name: str) -> Edits:
    """Edits that let a buffer hold another element type; the type's module is spelled as before."""
    made = t.made
    where = made.args.get("dtype") if made is not None else None
    source = repair.source(where)
    if source is None:
        return None
    prefix = source[: source.rindex(".") + 1] if "." in source else ""
    return some(repair.replace(where, prefix + name)) if prefix else None


def orders(repair: Repair) -> Iterator[Candidate]:
    """A barrier that orders the tensor core."""
    barrier = repair.view.value("barrier")
    made = barrier.type.made if isinstance(barrier, Ref) and barrier.type.kind == "barrier" else None
    if made is None:
        return
    given = made.args.get("orders_tensor_core")
    if given is not None:
        edits = repair.replace(given, "True")
    else:
        edits = repair.add_argument(made.site, "orders_tensor_core=True")
    yield Candidate("Let the barrier order the tensor core", True, edits, local=True)


def one_barrier(repair: Repair) -> Iterator[Candidate]:
    """The first of several barriers."""
    yield Candidate(
        "Signal the first of the barriers (.at[0])", False, repair.method(repair.view.site("barrier"), ".at[0]")
    )


def flag(name: str, *operands: str) -> Make:
    """A keyword of tensor memory's allocation, turned round."""

    def make(repair: Repair) -> Iterator[Candidate]:
        for parameter in operands:
            ref = repair.view.value(parameter)
            made = ref.type.made if isinstance(ref, Ref) and ref.type.space == "tmem" else None
            if made is None:
                continue
            value = not ref.type.params.get(name)
            given = made.args.get(name)
            if given is not None:
                edits = repair.replace(given, str(value))
            else:
                edits = repair.add_argument(made.site, f"{name}={value}")
            yield Candidate(f"Allocate {ref.name or 'it'} with {name}={value}", True, edits, local=True)

    return make


def last_axis(repair: Repair) -> Iterator[Candidate]:
    """The last axis of the cluster."""
    launch = repair.view.fact.launch
    names = launch.cluster_names if launch is not None else ()
    if isinstance(names, tuple) and names and isinstance(names[-1], str):
        edits = repair.replace(repair.view.site("collective_axis"), f'"{names[-1]}"')
        yield Candidate(f'Multiply together along "{names[-1]}"', True, edits)


FIXES: dict[str, tuple[Make, ...]] = {
    "wgmma-shape": (transposed,),
    "wgmma-transforms": (transforms,),
    "wgmma-tiling": (transforms, inferred),
    "wgmma-swizzle": (transforms, inferred),
    "wgmma-depth": (transforms,),
    "wgmma-accumulator": (accumulator(WGMMA),),
    "tcgen05-shape": (transposed,),
    "tcgen05-transforms": (transforms,),
    "tcgen05-tiling": (transforms, inferred),
    "tcgen05-swizzle": (transforms,),
    "tcgen05-half": (transforms, inferred),
    "tcgen05-depth": (transforms,),
    "tcgen05-accumulator": (accumulator(TCGEN05),),
    "tcgen05-barrier": (orders,),
    "tcgen05-barrier-count": (one_barrier,),
    "tcgen05-packing": (flag("packed", "acc", "a"),),
    "tcgen05-collective-memory": (flag("collective", "acc", "a"),),
    "tcgen05-collective-axis": (last_axis,),
    "tmem-copy-packing": (flag("packed", "tmem_ref"),),
}
