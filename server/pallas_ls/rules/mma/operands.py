"""Operands of a call, as the models ask for them."""

from __future__ import annotations

from ...domain.array import Array
from ...domain.dtype import DType
from ...domain.python import Unknown, Value
from ...domain.ref import Ds, Indexed, Permuted, Position, Ref, RefType, Swizzle, Tiling
from ..buffers import transforms_are_sound
from ..rule import Unsure
from ..view import CallView
from .case import Operand, Shape


def operand(v: CallView, name: str) -> Operand | Unsure:
    """A matrix that the call is given, where all that decides is known exactly."""
    x = v.value(name)
    if isinstance(x, Array):
        return _in_registers(v, x)
    if not isinstance(x, Ref) or x.type.kind not in ("data", "acc"):
        return Unsure(f"the operand {name} is not known")
    shape = v.exact_shape(x.shape)
    if shape is None or not isinstance(x.dtype, DType):
        return Unsure(f"the shape or the element type of {name} is not known")
    if x.type.kind == "acc":
        return Operand(shape, x.dtype.name, "acc")
    if x.type.space == "tmem":
        return _in_tensor_memory(x, shape, x.dtype)
    if x.type.space != "smem":
        return Operand(shape, x.dtype.name, x.type.space, transposed=any(isinstance(w, Permuted) for w in x.views))
    return _in_shared_memory(v, x, shape, x.dtype)


def _in_registers(v: CallView, x: Array) -> Operand | Unsure:
    shape = v.exact_shape(x.shape)
    if shape is None or not isinstance(x.dtype, DType):
        return Unsure("the shape or the element type of an array is not known")
    return Operand(shape, x.dtype.name, "regs")


def _in_tensor_memory(x: Ref, shape: Shape, dtype: DType) -> Operand | Unsure:
    params = x.type.params
    packed, collective = params.get("packed"), params.get("collective")
    if params.get("layout") is not None:
        return Unsure("tensor memory with a layout of its own")
    if not (packed is None or isinstance(packed, bool)) or not (collective is None or isinstance(collective, bool)):
        return Unsure("how tensor memory is allocated is not known")
    if any(not _takes_columns(w) for w in x.views):
        return Unsure("these views of tensor memory have no model")
    return Operand(shape, dtype.name, "tmem", packed=packed, collective=bool(collective))


def _takes_columns(view: object) -> bool:
    if not isinstance(view, Indexed) or not isinstance(view.items, tuple) or len(view.items) != 2:
        return False
    return all(isinstance(i, Ds) for i in view.items)


def _in_shared_memory(v: CallView, x: Ref, shape: Shape, dtype: DType) -> Operand | Unsure:
    rank = len(x.type.shape) if isinstance(x.type.shape, tuple) else None
    if rank is None:
        return Unsure("the buffer's shape is not known")
    transforms = transforms_of(v, x.type, rank)
    transposed = _transposed(v, x, rank)
    for answer in (transforms, transposed):
        if isinstance(answer, Unsure):
            return answer
    assert not isinstance(transforms, Unsure) and not isinstance(transposed, Unsure)
    return Operand(shape, dtype.name, "smem", *transforms, transposed)


def transforms_of(v: CallView, t: RefType, rank: int) -> tuple[Shape | None, int | None] | Unsure:
    """Tiling and swizzle of a buffer's last two dimensions: both, one of them, or none."""
    if isinstance(t.transforms, Unknown):
        return Unsure(t.transforms.why)
    if not transforms_are_sound(v, t):
        return Unsure("the buffer's transforms are refused or not known")
    tiling: Shape | None = None
    swizzle: int | None = None
    for i, x in enumerate(t.transforms):
        if isinstance(x, Tiling) and i == 0 and isinstance(x.tiling, tuple):
            tiling = v.exact_shape(x.tiling)
            if tiling is None or len(tiling) > 2:
                return Unsure("the tiling is not known, or of more than two dimensions")
        elif isinstance(x, Swizzle) and swizzle is None and i == len(t.transforms) - 1:
            swizzle = v.exact(x.swizzle)
            if swizzle is None:
                return Unsure("the swizzle is not known")
        else:
            return Unsure("these transforms have no model")
    return tiling, swizzle


def _transposed(v: CallView, x: Ref, rank: int) -> bool | Unsure:
    """Whether the views end in a transposition of the two last dimensions; before it leading dimensions may be
    dropped, and whole tiles taken."""
    left = rank
    transposed = False
    for view in x.views:
        if isinstance(view, Indexed) and isinstance(view.items, tuple) and not transposed:
            dropped = sum(isinstance(i, Position) for i in view.items)
            if len(view.items) != left or not all(isinstance(i, Position) for i in view.items[:dropped]):
                return Unsure("these views have no model")
            if not all(_is_slice(v, i) for i in view.items[dropped:]):
                return Unsure("these views have no model")
            left -= dropped
        elif isinstance(view, Permuted) and view.permutation == (1, 0) and left == 2:
            transposed = not transposed
        else:
            return Unsure("these views have no model")
    return transposed if left == 2 else Unsure("an operand that has not two dimensions")


def _is_slice(v: CallView, item: Value) -> bool:
    return isinstance(item, Ds) and v.exact(item.stride) == 1


def names(v: CallView) -> tuple[str, ...] | None:
    """The kernel's cluster axes."""
    launch = v.fact.launch
    if launch is None or not isinstance(launch.cluster_names, tuple):
        return None
    out = [n for n in launch.cluster_names if isinstance(n, str)]
    return tuple(out) if len(out) == len(launch.cluster_names) else None


def cluster(v: CallView) -> Shape | None:
    """The kernel's cluster."""
    launch = v.fact.launch
    return v.exact_shape(launch.cluster) if launch is not None and isinstance(launch.cluster, tuple) else None
