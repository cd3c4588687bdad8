"""Checks of the bytes that a copy counts, and of the barrier at which it counts them."""

from __future__ import annotations

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.dtype import DType
from ..domain.finding import JaxError
from ..domain.python import Int, Unknown
from ..domain.ref import Ref
from ..domain.target import Semantics
from .async_store_operands import buffer_note
from .copying.case import V12, Kind
from .copying.read import kind_of, sides
from .copying.tables import WARPGROUP, element_bits
from .rule import Answer, Note, Problem, Unsure
from .transfer.behaviour import behaviour
from .view import CallView, show_array


def whole_bytes(v: CallView) -> Answer:
    """Elements of less than a byte that do not fill bytes."""
    found = sides(v)
    if isinstance(found, Unsure) or found[1] is None or kind_of(v) is not Kind.LOAD:
        return found if isinstance(found, Unsure) else None
    smem = found[1]
    n = _copied_bits(v, smem)
    if n is None:
        return Unsure("how much is copied is not known")
    if n % 8 == 0:
        return None
    jax = JaxError("ValueError", "Can only transfer integer bytes (shape=")
    return Problem(f"{show_array(smem.shape, smem.dtype)} is {n} bits, no whole number of bytes.", jax, v.site("dst"))


def _copied_bits(v: CallView, smem: Ref) -> int | None:
    exact = v.exact_shape(smem.shape)
    if exact is None or not isinstance(smem.dtype, DType):
        return None
    n = element_bits(smem.dtype)
    for e in exact:
        n *= e
    return n


def counted_bytes(v: CallView) -> Answer:
    """Bytes that the 128 threads of a warpgroup cannot count together (Lane)."""
    found, barrier = sides(v), v.value("barrier")
    if isinstance(found, Unsure) or found[1] is None or not isinstance(barrier, Ref):
        return found if isinstance(found, Unsure) else Unsure("the barrier is not known")
    orders = barrier.type.params.get("orders_tensor_core", False)
    if v.capability < (9, 0) or (orders is not False and v.version >= V12):
        return None if isinstance(orders, bool) else Unsure("the barrier is not known")
    smem, bits = found[1], _copied_bits(v, found[1])
    if bits is None:
        return Unsure("how many bytes are copied is not known")
    n = bits // 8 * (2 if v.value("leader_tracked") is not None else 1)
    if n % WARPGROUP == 0:
        return None
    jax = JaxError(
        "NotImplementedError",
        "Only copies transferring a number of bytes divisible by the warpgroup size are supported. Got "
        f"bytes={n} but warpgroup size is {WARPGROUP}",
    )
    text = (
        f"{show_array(smem.shape, smem.dtype)} is {n} B, not a multiple of {WARPGROUP}: under Lane semantics each of "
        "the "
        f"{WARPGROUP} threads of a warpgroup counts its part. {-(-n // WARPGROUP) * WARPGROUP} B are; Warpgroup "
        "semantics "
        "take any number of bytes."
    )
    alone = smem.shape[0] if isinstance(smem.shape, tuple) and len(smem.shape) == 1 else None
    return Problem(text, jax, v.site("dst"), buffer_note(smem), alone)


_KINDS = {"cluster_barrier": "a ClusterBarrier, which counts arrivals of blocks, not bytes", "data": "a data buffer"}


def barrier_kind(v: CallView) -> Answer:
    """A copy that signals something else than a plgpu.Barrier."""
    barrier = v.value("barrier")
    if barrier is None:
        return None
    if not isinstance(barrier, Ref):
        return Unsure("the barrier is not known")
    if barrier.type.kind == "barrier":
        return None
    if barrier.type.kind not in _KINDS or v.semantics is None:
        return Unsure("the barrier is not known")
    attribute = "arrive_expect_tx" if v.semantics is Semantics.LANE else "as_barrier_memref"
    if barrier.type.kind == "data":
        if barrier.views:
            return Unsure("a view of a buffer as the barrier")
        name = behaviour(v.version).op_result
    else:
        name = "CollectiveBarrierRef"
    jax = JaxError("AttributeError", f"'{name}' object has no attribute '{attribute}'")
    text = f"A copy counts its bytes at a plgpu.Barrier; {barrier.name or 'this'} is {_KINDS[barrier.type.kind]}."
    made = barrier.type.made
    notes = (Note(made.site, "allocated here"),) if made else ()
    return Problem(text, jax, v.site("barrier"), notes)


def one_barrier(v: CallView) -> Answer:
    """Several barriers where one is waited for, arrived at or signalled."""
    barrier = v.value("barrier")
    if not isinstance(barrier, Ref) or barrier.type.kind not in ("barrier", "cluster_barrier"):
        return None if barrier is None or isinstance(barrier, Ref) else Unsure("the barrier is not known")
    if not isinstance(barrier.shape, tuple) or any(isinstance(e, Unknown) for e in barrier.shape):
        return Unsure("how many barriers these are is not known")
    if barrier.views:
        return None  # a part of them counts as its first one
    total = dims.product(tuple(e.dim for e in barrier.shape if isinstance(e, Int)))
    one = v.decide(conds.equal(total, 1))
    if one is not False:
        return None if one else Unsure("how many barriers these are is not known")
    shown = dims.text(v.simplify(total))
    name = barrier.name or "barrier"
    jax = JaxError(
        "ValueError",
        f"Operation is only valid for a single barrier, but barrier ref contains {shown}. Individual barriers can be "
        "accessed by indexing into the ref.",
    )
    made = barrier.type.made
    notes = (Note(made.args.get("num_barriers", made.site), "declared here"),) if made else ()
    return Problem(f"{name} holds {shown} barriers; name one of them: {name}.at[i].", jax, v.site("barrier"), notes)
