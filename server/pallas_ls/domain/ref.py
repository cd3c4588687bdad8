"""Memory: the types of buffers and barriers, and references to them with their views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Union

from ..source.span import Site
from .array import ElementType, Shape
from .python import Int, Made, Unknown, Value


@dataclass(frozen=True, slots=True)
class Tiling:
    """`plgpu.TilingTransform`: the last dimensions are cut into tiles of these extents (elements)."""

    tiling: tuple[Int | Unknown, ...] | Unknown
    made: Made | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Swizzle:
    """`plgpu.SwizzleTransform`: rows of `swizzle` bytes are permuted in 16-byte units."""

    swizzle: Int | Unknown
    made: Made | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class OtherTransform:
    """Another memory transform, known by its constructor's name only."""

    name: str
    args: tuple[Value, ...] = ()
    made: Made | None = field(default=None, compare=False)


Transform = Union[Tiling, Swizzle, OtherTransform]


@dataclass(frozen=True, slots=True)
class RefType:
    """The type of a buffer or barrier, as written in `scratch_types`, `run_scoped` or a spec.

    Attributes:
      kind: "data", "barrier", "cluster_barrier", "semaphore", "acc" (wgmma accumulator) or "union".
      space: "gmem", "smem", "tmem", "regs" or "sem".
      transforms: outermost last, as the program lists them; None: the program gives none.
      params: what else the constructor was given ("num_arrivals", "orders_tensor_core", "collective_axes", "packed",
        ...).
      members: of a union, the types that share the memory.
    """

    kind: str
    space: str
    shape: Shape
    dtype: ElementType
    transforms: tuple[Transform, ...] | Unknown = ()
    params: Mapping[str, Value] = field(default_factory=dict[str, Value], hash=False)
    members: tuple[Value, ...] = ()
    made: Made | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Ds:
    """A slice of one axis: `pl.ds(start, size, stride)` or `a:b:c`. Start may be traced."""

    start: Value
    size: Int | Unknown
    stride: Int | Unknown


@dataclass(frozen=True, slots=True)
class Position:
    """One position of an axis, which is dropped."""

    index: Value


@dataclass(frozen=True, slots=True)
class Gather:
    """An axis indexed by an array of positions."""

    indices: Value


Indexer = Union[Ds, Position, Gather]


@dataclass(frozen=True, slots=True)
class Indexed:
    """`ref.at[...]`: an item for each axis of what it is applied to."""

    items: tuple[Indexer, ...] | Unknown
    made: Made | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Permuted:
    """`ref.T`, `ref.transpose(permutation)`."""

    permutation: tuple[int, ...] | Unknown
    made: Made | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Reshaped:
    """`ref.reshape(shape)`."""

    shape: Shape
    made: Made | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Recast:
    """`ref.bitcast(dtype)`."""

    dtype: ElementType
    made: Made | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The same buffer of another block or device: "cluster_ref", "remote_ref" or "multicast_ref"."""

    how: str
    where: Value
    made: Made | None = field(default=None, compare=False)


View = Union[Indexed, Permuted, Reshaped, Recast, Elsewhere]


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference inside a kernel: a buffer and the views taken of it, first view first.

    Attributes:
      shape, dtype: of the view.
      name: the parameter that it was bound to.
    """

    type: RefType
    shape: Shape
    dtype: ElementType
    views: tuple[View, ...] = ()
    name: str = field(default="", hash=False)


@dataclass(frozen=True, slots=True)
class At:
    """`ref.at`, before its subscript."""

    ref: Ref


@dataclass(frozen=True, slots=True)
class Loaded:
    """The layout of a value as JAX's load picks it, for a load without `layout=`; it depends on semantics and
    transforms."""

    ref: Ref


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """`plgpu.BlockSpec` / `pl.BlockSpec`: the block that a pipeline step sees of an operand."""

    shape: Shape
    index_map: Value
    transforms: tuple[Transform, ...] | Unknown = ()
    params: Mapping[str, Value] = field(default_factory=dict[str, Value], hash=False)
    made: Made | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """What surrounds a kernel body: the mesh and the lowering semantics.

    Attributes:
      grid, cluster: extents; names: axis name by axis.
      threads: number of warpgroups and the axis name, or (None, None).
      semantics: "lane" or "warpgroup" where `CompilerParams` decides it; None: JAX's default for the version.
      warp: inside `pl.core_map(plgpu.WarpMesh(...))`.
    """

    grid: tuple[Value, ...] | Unknown = ()
    grid_names: tuple[Value, ...] | Unknown = ()
    cluster: tuple[Value, ...] | Unknown = ()
    cluster_names: tuple[Value, ...] | Unknown = ()
    num_threads: Value = None
    thread_name: Value = None
    semantics: str | Unknown | None = None
    warp: bool = False
    made: Made | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """What `plgpu.kernel(body, ...)` returns. `chain`: the host calls in which it was made (the context of its
    configuration). `params`: its `CompilerParams`, or None."""

    body: Value
    out_type: Value
    scratch: Value
    launch: Launch
    made: Made
    chain: tuple[Site, ...] = ()
    params: Value = None


@dataclass(frozen=True, slots=True, eq=False)
class CompilerParams:
    """`plgpu.CompilerParams`: its keywords as given."""

    params: Mapping[str, Value]
    made: Made
