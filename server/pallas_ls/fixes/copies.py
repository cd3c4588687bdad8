"""Fixes of copies between GMEM and SMEM, of prefetches, and of what waits for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import gcd

from ..domain.array import Array
from ..domain.dtype import DType
from ..domain.python import Int
from ..domain.ref import Ds, Indexed, Position, Ref
from ..rules.advice import fitting_transforms
from ..rules.copying.case import Kind
from ..rules.copying.read import SIDES, is_of, kind_of, parts, sides
from ..rules.copying.tables import UNIT
from ..rules.rule import Unsure
from ..rules.store_case import exact_transforms
from ..source.span import Site
from .arguments import kernel_of, scratch_of
from .candidate import Candidate, Edits, Repair, some, together
from .literals import set_number, set_shape
from .text import subscript
from .transforms import bits_of, described, drop_transforms, set_transforms

LOAD, STORE = "copy_gmem_to_smem", "copy_smem_to_gmem"


def _pair(repair: Repair) -> tuple[Ref, Ref] | None:
    """(reference in GMEM, reference in shared memory)."""
    found = sides(repair.view)
    if isinstance(found, Unsure) or found[1] is None:
        return None
    return found[0], found[1]


# -- operands --------------------------------------------------------------------------------------


def references(repair: Repair) -> Iterator[Candidate]:
    """The reference behind a load (`ref[...]`)."""
    for name in ("src", "dst", "ref", "barrier"):
        x, site = repair.view.value(name), repair.view.site(name)
        source = (repair.source(site) or "").rstrip()
        for suffix in ("[...]", "[:]"):
            if isinstance(x, Array) and source.endswith(suffix):
                base = source[: -len(suffix)]
                yield Candidate(
                    f"Pass the reference, not the value it holds ({base})", True, repair.replace(site, base)
                )


def exchanged(repair: Repair) -> Iterator[Candidate]:
    """Source and destination in each other's place; the copy that goes the other way."""
    a, b = repair.view.value("src"), repair.view.value("dst")
    if not isinstance(a, Ref) or not isinstance(b, Ref) or {a.type.space, b.type.space} != {"gmem", "smem"}:
        return
    src, dst = repair.view.site("src"), repair.view.site("dst")
    x, y = repair.source(src), repair.source(dst)
    if x is None or y is None:
        return
    edits = together(some(repair.replace(src, y)), some(repair.replace(dst, x)))
    if edits:
        yield Candidate("Exchange source and destination", True, edits)
    if repair.view.fact.api == LOAD:
        yield from _the_other_way(repair)


def _the_other_way(repair: Repair) -> Iterator[Candidate]:
    fact = repair.view.fact
    barrier, source = repair.view.site("barrier"), repair.source(fact.site)
    if source is None or barrier is None or set(fact.arg_sites) != {"src", "dst", "barrier"}:
        return
    x, y = repair.source(repair.view.site("src")), repair.source(repair.view.site("dst"))
    text = f"{repair.spelled(STORE, fact.site)}({x}, {y})"
    yield Candidate(f"Copy from shared memory: {STORE}", False, repair.replace(fact.site, text))


def dtype(repair: Repair) -> Iterator[Candidate]:
    """The buffer with the operand's element type."""
    pair = _pair(repair)
    made = pair[1].type.made if pair is not None else None
    if pair is None or made is None or not isinstance(pair[0].dtype, DType):
        return
    where = made.args.get("dtype")
    source = repair.source(where) or ""
    prefix = source.rpartition(".")[0]
    if prefix and all(part.isidentifier() for part in prefix.split(".")):
        edits = repair.replace(where, f"{prefix}.{'bool_' if pair[0].dtype.name == 'bool' else pair[0].dtype.name}")
        if edits:
            yield Candidate(f"Allocate {pair[1].name or 'the buffer'} as {pair[0].dtype}", False, edits)


def shape(repair: Repair) -> Iterator[Candidate]:
    """One slot of the buffer; the buffer with the shape of what is copied."""
    pair = _pair(repair)
    if pair is None:
        return
    gmem, smem = pair
    large, small = repair.view.exact_shape(smem.shape), repair.view.exact_shape(gmem.shape)
    if large is None or small is None:
        return
    extra = len(small) - len(large)
    if extra > 0 and small[extra:] == large and set(small[:extra]) == {1}:
        index = ", ".join(["0"] * extra)
        edits = repair.method(repair.view.site(SIDES[kind_of(repair.view)][0]), f".at[{index}]")
        yield Candidate(f"Drop the leading axis of one element (.at[{index}])", True, edits)
    site = repair.view.site(SIDES[kind_of(repair.view)][1])
    if large[1:] == small:
        slot = _slot(repair, repair.view.value("barrier"), repair.view.site("barrier")) or "0"
        edits = repair.method(site, f".at[{slot}]")
        yield Candidate(f"Copy one slot of the buffer (.at[{slot}])", slot != "0", edits)
    if not smem.views and len(large) == len(small):
        edits = set_shape(repair, smem.type.shape, small)
        if edits:
            yield Candidate(f"Give {smem.name or 'the buffer'} the shape {small}", False, edits)


def one_barrier(repair: Repair) -> Iterator[Candidate]:
    """One of several barriers: that of the buffer's slot, else the first."""
    site = repair.view.site("barrier")
    slots = [_slot(repair, repair.view.value(n), repair.view.site(n)) for n in ("dst", "src")]
    slot = next((s for s in slots if s is not None), "0")
    yield Candidate(f"Use one barrier (.at[{slot}])", False, repair.method(site, f".at[{slot}]"))


def _slot(repair: Repair, x: object, site: Site | None) -> str | None:
    """The index that a reference was given, as it is written: "slot" of `buffer.at[slot]`."""
    last = x.views[-1] if isinstance(x, Ref) and x.views else None
    items = last.items if isinstance(last, Indexed) and isinstance(last.items, tuple) else ()
    if not isinstance(x, Ref) or x.type.space != "smem" or len(x.views) != 1 or not items:
        return None
    if not isinstance(items[0], Position) or not all(isinstance(i, Ds) for i in items[1:]):
        return None
    try:
        node = ast.parse(f"({repair.source(site)}\n)", mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(node, ast.Subscript):
        return None
    first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
    return ast.unparse(first)


# -- the window ------------------------------------------------------------------------------------


def transforms(repair: Repair) -> Iterator[Candidate]:
    """The usual transforms for a buffer that nothing but copies uses."""
    pair = _pair(repair)
    if pair is None or pair[1].type.transforms or not _only_copied(repair, pair[1]):
        return
    t = pair[1].type
    shape, bits = repair.view.exact_shape(t.shape), bits_of(t)
    fitting = fitting_transforms(shape, bits) if shape and bits else None
    edits = set_transforms(repair, t, *fitting) if fitting is not None else None
    if edits and fitting is not None:
        yield Candidate(f"Give {pair[1].name or 'the buffer'} {described(*fitting)}", False, edits)


def without_transforms(repair: Repair) -> Iterator[Candidate]:
    """No transforms for a buffer that nothing but copies uses."""
    pair = _pair(repair)
    edits = drop_transforms(repair, pair[1].type) if pair is not None and _only_copied(repair, pair[1]) else None
    if edits and pair is not None:
        yield Candidate(f"Leave the transforms of {pair[1].name or 'the buffer'} away", True, edits)


def finer_tiles(repair: Repair) -> Iterator[Candidate]:
    """Tiles of fewer rows, which make up the operand, too."""
    pair = _pair(repair)
    if pair is None:
        return
    transforms = exact_transforms(repair.view, pair[1].type)
    whole = repair.view.exact_shape(pair[0].type.shape)
    if isinstance(transforms, Unsure) or whole is None:
        return
    tiling, swizzle = transforms
    if tiling is None or swizzle is None or len(tiling) != len(whole):
        return
    new = (*(gcd(t, n) for t, n in zip(tiling[:-1], whole[:-1], strict=True)), tiling[-1])
    edits = set_transforms(repair, pair[1].type, new, swizzle) if new != tiling else None
    if edits:
        yield Candidate(f"Use {described(new, swizzle)}", True, edits)


def own_buffer(repair: Repair) -> Iterator[Candidate]:
    """A buffer as large as what is copied, in place of columns of a larger one."""
    pair = _pair(repair)
    site = repair.view.site(SIDES[kind_of(repair.view)][1])
    found = subscript(repair.source(site) or "")
    if pair is None or found is None or not found[0].endswith(".at"):
        return
    smem = pair[1]
    part = repair.view.exact_shape(smem.shape)
    edits = together(
        set_shape(repair, smem.type.shape, part) if part else None,
        some(repair.replace(site, found[0].removesuffix(".at"))),
    )
    if edits:
        yield Candidate(f"Give {smem.name or 'the buffer'} the shape {part}, and copy all of it", False, edits)


def _only_copied(repair: Repair, ref: Ref) -> bool:
    plain = (LOAD, STORE, "ref.at", "launch", "pl.run_scoped", "kernel.memory", "kernel.body")
    return all(
        f.api in plain or not any(is_of(x, ref) for x in f.operands.values())
        for f in repair.facts
        if f.launch is not None
    )


def in_bounds(repair: Repair) -> Iterator[Candidate]:
    """A promise that nothing is out of bounds, with which a contiguous copy needs no box."""
    if kind_of(repair.view) is not Kind.LOAD or repair.view.site("oob_mode") is not None or not _is_inside(repair):
        return
    text = f"oob_mode={repair.spelled('OOBFillMode', repair.view.fact.site)}.PROMISE_IN_BOUNDS"
    edits = repair.add_argument(repair.view.fact.site, text)
    if edits:
        before_hopper = repair.violation.rule.id == "copy-architecture"  # nothing else is decided there
        yield Candidate("Promise that the copy stays in bounds", False, edits, local=before_hopper)


def _is_inside(repair: Repair) -> bool:
    """Whether the copied part is certainly within the operand."""
    pair = _pair(repair)
    taken = parts(repair.view, pair[0]) if pair is not None else None
    if pair is None or not isinstance(taken, tuple) or not isinstance(pair[0].type.shape, tuple):
        return False
    for part, end in zip(taken, pair[0].type.shape, strict=True):
        extent = repair.view.exact(end)
        if part.start is None or part.size is None or extent is None or part.start + part.size > extent:
            return False
    return True


def whole_rows(repair: Repair) -> Iterator[Candidate]:
    """Rows of a multiple of 16 bytes, on both sides."""
    pair = _pair(repair)
    if pair is None or not isinstance(pair[1].shape, tuple) or not pair[1].shape:
        return
    gmem, smem = pair
    last, bits = repair.view.exact(pair[1].shape[-1]), bits_of(smem.type)
    if last is None or not bits or UNIT % bits or smem.views:
        return
    new = -(-last // (UNIT // bits)) * (UNIT // bits)
    shape = repair.view.exact_shape(smem.type.shape)
    edits = together(
        set_shape(repair, smem.type.shape, (*shape[:-1], new)) if shape else None, _slice_of(repair, gmem, new)
    )
    if edits:
        yield Candidate(f"Copy rows of {new} elements, {new * bits // 8} B", False, edits, "grow")


def _slice_of(repair: Repair, gmem: Ref, size: int) -> Edits:
    """Edits that make the last slice of the operand so long."""
    last = gmem.views[-1] if gmem.views else None
    item = last.items[-1] if isinstance(last, Indexed) and isinstance(last.items, tuple) and last.items else None
    return set_number(repair, item.size, size) if isinstance(item, Ds) and isinstance(item.size, Int) else None


_SIGNED = {("min", "int"): "smin", ("max", "int"): "smax", ("min", "uint"): "umin", ("max", "uint"): "umax"}


def reduction(repair: Repair) -> Iterator[Candidate]:
    """The minimum or maximum of the operand's integers."""
    pair, op = _pair(repair), repair.view.value("reduction_op")
    family = pair[0].dtype.family if pair is not None and isinstance(pair[0].dtype, DType) else ""
    base = op[-3:] if isinstance(op, str) else ""
    new = _SIGNED.get((base, family)) or (base if family == "float" and op != base else None)
    if new is not None and new != op:
        yield Candidate(f'Use "{new}"', True, repair.replace(repair.view.site("reduction_op"), f'"{new}"'))


# -- barriers and waits ----------------------------------------------------------------------------


def leader_axes(repair: Repair) -> Iterator[Candidate]:
    """The kernel's only cluster axis."""
    launch = repair.view.fact.launch
    names = launch.cluster_names if launch is not None and isinstance(launch.cluster_names, tuple) else ()
    if len(names) == 1 and isinstance(names[0], str):
        edits = repair.add_argument(repair.view.fact.site, f'collective_axes="{names[0]}"')
        if edits:
            yield Candidate(f'Add collective_axes="{names[0]}"', False, edits)


def missing_barrier(repair: Repair) -> Iterator[Candidate]:
    """The kernel's only barrier."""
    kernel = kernel_of(repair)
    barriers = [n for n, t in scratch_of(kernel) if getattr(t, "kind", "") == "barrier"] if kernel is not None else []
    if len(barriers) != 1:
        return
    by_position = {"src", "dst"} == set(repair.view.fact.arg_sites)
    edits = repair.add_argument(repair.view.fact.site, barriers[0] if by_position else f"barrier={barriers[0]}")
    if edits:
        yield Candidate(f"Signal {barriers[0]}", False, edits)


def wait_for_all(repair: Repair) -> Iterator[Candidate]:
    """A wait for all groups."""
    edits = repair.replace(repair.view.site("n"), "0")
    if edits:
        yield Candidate("Wait for all of them (0)", True, edits)


def wait_at_barrier(repair: Repair) -> Iterator[Candidate]:
    """A wait at the barrier that the kernel's copies signal."""
    launch = repair.view.fact.launch
    copies = [f for f in repair.facts if f.api == LOAD and f.launch is not None and f.launch is launch]
    texts = {repair.source(f.arg_sites.get("barrier")) for f in copies}
    barrier = next(iter(texts)) if len(texts) == 1 else None
    if barrier:
        text = f"{repair.spelled('barrier_wait', repair.view.fact.site)}({barrier})"
        yield Candidate(f"Wait for {barrier}", False, repair.replace(repair.view.fact.site, text))
