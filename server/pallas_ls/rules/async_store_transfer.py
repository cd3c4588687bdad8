"""Checks of the transfer itself, decided by the model in `transfer`: transforms, bytes, layout, registers."""

from __future__ import annotations

from collections.abc import Callable

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Array, Splat
from ..domain.finding import JaxError
from ..domain.ref import Elsewhere, Ref, Swizzle, Tiling
from ..domain.target import Semantics
from .advice import lowering_variant, show_variant
from .async_store_operands import buffer_note, operands
from .async_store_views import has_swizzle
from .rule import Answer, Note, Problem, Unsure
from .store_case import outcome, sent_bytes, store_case
from .transfer.behaviour import behaviour
from .transfer.case import Accepted, Undecided
from .transfer.nearest import COMMON
from .view import CallView, show_array

#: What an outcome is about, by its beginning.
_KINDS: tuple[tuple[str, str], ...] = (
    ("Scalars are not", "scalar"),
    ("async_store_smem requires a tiled", "transforms"),
    ("not enough values to unpack", "transforms"),
    ("Only swizzled transfers", "transforms"),
    ("Unsupported transforms", "transforms"),
    ("Can only transfer integer", "bits"),
    ("Transfer is not", "bytes"),
    ("Transfer of", "bytes"),
    ("arrive_expect_tx", "architecture"),
    ("Unsupported register bitwidth", "width"),
    ("Unsupported element type for atomic", "atomic"),
    ("Cannot cast to layout", "layout-shape"),
    ("Tiling ", "layout-shape"),
)


_TILES = (
    "a store must fill whole register tiles (WGMMA: 64x8 elements of 16 or 32 bits, WGMMA_8BIT: 64x16 of 8 bits), at "
    "least 512 B."
)


def refused(*kinds: str) -> Callable[[CallView], Answer]:
    """A check that reports the outcomes of some kinds."""

    def check(v: CallView) -> Answer:
        found = outcome(v)
        if isinstance(found, (Unsure, Undecided)):
            return Unsure(found.why if isinstance(found, Unsure) else found.reason)
        if isinstance(found, Accepted) or kind_of(v, found) not in kinds:
            return None
        return _problem(v, found)

    return check


def kind_of(v: CallView, error: JaxError) -> str:
    """What an outcome is about."""
    if "remap_to_cluster" in error.message or (
        error.type == "AssertionError" and not error.message and _wrong_barrier(v)
    ):
        return "barrier"
    if "AtomicOpType" in error.message or "async atomics" in error.message:
        return "atomic"
    for start, kind in _KINDS:
        if error.message.startswith(start):
            return kind
    total = sent_bytes(v)
    return "bytes" if isinstance(total, int) and total % 128 else "layout"


def _wrong_barrier(v: CallView) -> bool:
    barrier = v.value("barrier")
    return isinstance(barrier, Ref) and barrier.type.kind != "barrier"


def _problem(v: CallView, error: JaxError) -> Problem:
    ref, barrier = v.value("ref"), v.value("barrier")
    kind = kind_of(v, error)
    notes = buffer_note(ref)
    if kind == "barrier":
        made = barrier.type.made
        what = "a ClusterBarrier" if barrier.type.kind == "cluster_barrier" else "a data buffer"
        text = (
            "The store signals a plgpu.Barrier() in the receiving block, which counts bytes; "
            f"{barrier.name or 'this'} is {what}."
        )
        return Problem(text, error, v.site("barrier"), (Note(made.site, "allocated here"),) if made else ())
    if kind == "atomic":
        return Problem(_atomic_text(v), error, v.site("atomic") or v.site("src"), notes)
    if kind == "scalar":
        return Problem(
            "A scalar cannot be stored asynchronously: all lanes of the warpgroup store a part of the value. "
            "Broadcast it to whole register tiles, 64x8 say.",
            error,
            v.site("src"),
            notes,
        )
    if kind == "architecture":
        return Problem(
            "Asynchronous stores to other blocks need clusters, that is sm_90 or newer; this is lowered for "
            f"sm_{v.capability[0]}{v.capability[1]}.",
            error,
            None,
            notes,
        )
    if kind == "transforms":
        return Problem(f"{_sends(v)}. {_transforms_text(v, ref)}{_lowers(v)}", error, v.site("ref"), notes)
    if kind in ("bytes", "bits"):
        return Problem(f"{_sends(v)}{_bytes_text(v)}", error, v.site("src"), notes)
    return Problem(f"{_sends(v)}. {_layout_text(v, error)}{_lowers(v)}", error, v.site("src"), notes)


def _sends(v: CallView) -> str:
    src, total = v.value("src"), sent_bytes(v)
    shown = show_array(src.shape, src.dtype) if isinstance(src, Array) else "a value"
    return f"Sends {_count(total)} ({shown})" if total is not None else f"Sends {shown}"


def _count(total: dims.Dim) -> str:
    return f"{total:,} B" if isinstance(total, int) else f"{dims.text(total)} B"


def _bytes_text(v: CallView) -> str:
    """What is wrong with the number of bytes; the next multiple of 128 alone is never the way out."""
    total, lowers = sent_bytes(v), _lowers(v)
    why = "a store must fill whole register tiles." if lowers else _TILES
    if not isinstance(total, int):
        return f", which is no whole number of bytes in multiples of 128: {why}{lowers}"
    return f", not a multiple of 128. Padding to {-(-total // 128) * 128} B does not lower either: {why}{lowers}"


def _lowers(v: CallView) -> str:
    """The nearest store that lowers, as far as a quick search finds one."""
    case = store_case(v)
    if isinstance(case, Unsure):
        return ""
    variant = lowering_variant(case)
    return f" {show_variant(case, variant)}" if variant is not None else ""


def _atomic_text(v: CallView) -> str:
    op, src = v.value("atomic"), v.value("src")
    allowed = "add, max, min, and, or, xor"
    if isinstance(op, str) and op not in allowed.split(", "):
        return f"There is no atomic {op!r}; there are {allowed}."
    return f"Asynchronous atomics work on 32-bit integers; the value is {src.dtype}."


def _transforms_text(v: CallView, ref: Ref) -> str:
    has = [type(x).__name__ for x in ref.type.transforms] if isinstance(ref.type.transforms, tuple) else []
    lacks = [n for n, k in (("TilingTransform", "Tiling"), ("SwizzleTransform", "Swizzle")) if k not in has]
    name = ref.name or "the buffer"
    if len(lacks) == 2:
        return f"{name} has no transforms; the store needs a tiled and swizzled buffer."
    return (
        f"{name} has no {lacks[0]}; the store needs a tiled and swizzled buffer."
        if lacks
        else f"{name}'s transforms do not serve a store."
    )


def _layout_text(v: CallView, error: JaxError) -> str:
    src = v.value("src")
    layout = src.layout
    name = layout.name if hasattr(layout, "name") else None
    if error.message.startswith("WGSplat") or (isinstance(layout, Splat) and v.semantics is Semantics.LANE):
        return (
            "The value is a splat (one number repeated): it has no register tiles to store. Give it a layout with "
            "plgpu.layout_cast."
        )
    if error.message.startswith("WGStrided"):
        return (
            "The value is laid out in strides; the store needs a tiled layout: plgpu.layout_cast(x, "
            "plgpu.Layout.WGMMA), say."
        )
    if error.message.startswith("Replicated"):
        return (
            f"In {name or 'this layout'} several lanes hold the same element: such a value cannot be stored "
            "asynchronously."
        )
    if error.message.startswith("Unsupported register"):
        return f"Each lane would store {error.message.rsplit(' ', 1)[-1]} bits at once; st.async takes 32 or 64."
    ref = v.value("ref")
    if isinstance(ref, Ref) and not ref.type.transforms:
        return (
            f"{ref.name or 'The buffer'} has no transforms, and JAX finds no tiling and swizzle to which the value "
            "could be stored as it is."
        )
    if isinstance(ref, Ref) and not has_swizzle(ref):
        return (
            f"{ref.name or 'The buffer'} is not swizzled: no transfer from {name or 'its layout'} to it avoids bank "
            "conflicts."
        )
    case = store_case(v)
    if not isinstance(case, Unsure) and case.constant and behaviour(v.version).splat_from_front and len(case.shape) > 2:
        return (
            "Up to JAX 0.10 no constant of more than two dimensions gets a register layout under Warpgroup semantics; "
            "a value that is loaded or computed does."
        )
    if not isinstance(case, Unsure) and len(case.shape) > 1 and not any(x.applies_to(case.shape) for x in COMMON):
        return (
            f"{' x '.join(map(str, case.shape[-2:]))} elements fill no whole register tiles (WGMMA: 64x8 elements of "
            "16 or 32 bits; WGMMA_8BIT: 64x16; WGMMA_UPCAST_4X: 64x32)."
        )
    if "bank conflicts" in error.message or "Failed to" in error.message or "plan" in error.message:
        return f"No conflict-free transfer exists from {name or 'its layout'} to this tiling and swizzle."
    return "The value's layout and the buffer's tiling do not fit each other."


def lane_bytes(v: CallView) -> Answer:
    """Lane's byte check on sizes that are not known exactly."""
    if not isinstance(store_case(v), Unsure) or v.semantics is not Semantics.LANE:
        return None
    found = operands(v)
    if isinstance(found, Unsure):
        return found
    _, ref, _ = found
    total = sent_bytes(v)
    if total is None or not isinstance(ref.type.transforms, tuple) or isinstance(total, int):
        return Unsure("the number of bytes is not known")
    both = [type(x) for x in ref.type.transforms] == [Tiling, Swizzle]
    fits = v.decide(conds.divides(128, total))
    if fits is False and both and not any(isinstance(x, Elsewhere) for x in ref.views):
        jax = JaxError("NotImplementedError", "Transfer is not a multiple of 128 bytes")
        return Problem(
            f"{_sends(v)}, never a multiple of 128. Padding to one does not lower either: {_TILES}",
            jax,
            v.site("src"),
            buffer_note(ref),
        )
    return None if fits else Unsure("whether the number of bytes is a multiple of 128 is not known")


def bytes_rule(v: CallView) -> Answer:
    """The transfer's size."""
    symbolic = lane_bytes(v)
    return symbolic if symbolic is not None else refused("bytes", "bits")(v)
