"""Which register layout an operation's result has under Lane semantics, where JAX decides it on the spot.

Under Warpgroup semantics the solver decides for the whole kernel instead; only `layout_cast` fixes a layout there.
Each function returns the layout, or JAX's error, or that the data does not decide.
"""

from __future__ import annotations

from ...domain.finding import JaxError
from ...domain.layout import RegisterLayout, Splat, Strided, Tiled
from ...domain.layout_table import (
    CONSTANT,
    TCGEN05,
    TCGEN05_TRANSPOSED,
    WGMMA,
    WGMMA_TRANSPOSED,
    WGMMA_UPCAST_2X,
    WGMMA_UPCAST_4X,
    jax_repr,
    m64_collective,
    tmem_native,
)
from ...domain.target import JaxVersion
from ...domain.tiling import Shape
from .case import Undecided

LayoutResult = RegisterLayout | JaxError | Undecided


def constant_layout(shape: Shape) -> Splat:
    """`jnp.zeros`, `jnp.full`, a broadcast scalar."""
    return Splat(shape)


def iota_layout(shape: Shape, hint: RegisterLayout | None) -> LayoutResult:
    """`lax.iota` and friends: the layout of the `layout_cast` that immediately follows (`_iota_lowering`)."""
    if hint is None:
        return JaxError(
            "RuntimeError",
            "Failed to infer the output layout of the iota. Please apply plgpu.layout_cast to its output right after "
            "its creation.",
        )
    if isinstance(hint, Tiled) and not hint.applies_to(shape):
        return JaxError("ValueError", f"Tiling {hint.tiles} does not apply to shape {shape}")
    return hint


def pointwise_error(bits: int) -> JaxError | None:
    """Elementwise operations (but for bitwise ones) on registers of narrow elements, except bools (1 bit)."""
    if bits > 8 or bits == 1:
        return None
    text = (
        f"Pointwise operations on {bits}-bit types are unsupported (except bitwise operations). Upcast to a 16- or "
        "32-bit type before performing the operation."
    )
    return JaxError("NotImplementedError", text)


def combine(a: RegisterLayout, b: RegisterLayout) -> LayoutResult:
    """The layout of an elementwise operation of two arrays of one shape (`FragmentedArray._pointwise`)."""
    if isinstance(a, Splat):
        return b
    if isinstance(b, Splat) or a == b:
        return a
    return JaxError("ValueError", "Incompatible FragmentedArray layouts")


def reduce(layout: RegisterLayout, shape: Shape, axes: tuple[int, ...], version: JaxVersion) -> LayoutResult:
    """`jnp.sum`, `jnp.max`, ... over `axes` (`_reduce_lowering_rule`)."""
    if isinstance(layout, Strided):
        if set(axes) != set(range(len(shape))):
            return JaxError("NotImplementedError", "No support for axes yet")
        return Splat(())
    if isinstance(layout, Splat):
        return JaxError("NotImplementedError", f"Unsupported layout {jax_repr(layout, version)}")
    if len(axes) != 1:
        return JaxError("NotImplementedError", "Multi-axis reductions not supported")
    if len(shape) != len(layout.base_tile):
        return Undecided("a reduction of an array of higher rank than its layout's tile")
    return Splat(()) if len(shape) == 1 else layout.reduce(axes)


def broadcast_in_dim(
    layout: RegisterLayout,
    shape: Shape,
    dims: tuple[int, ...],
    version: JaxVersion,
    hint: RegisterLayout | None = None,
) -> LayoutResult:
    """`jax.lax.broadcast_in_dim(x, shape, dims)` (`_broadcast_in_dim_lowering_rule`); `hint` as for a load."""
    trailing = dims == tuple(range(len(shape) - len(dims), len(shape)))
    if isinstance(layout, Splat) and trailing:
        return Splat(shape)
    if isinstance(layout, Strided) and trailing:
        return _broadcast_strided(layout, shape)
    if not isinstance(layout, Tiled):
        return JaxError("NotImplementedError", f"Unsupported layout: {jax_repr(layout, version)}")
    new = tuple(d for d in range(len(shape)) if d not in dims)
    if hint is None:
        return _broadcast_candidates(layout, shape, new, version)
    if not isinstance(hint, Tiled) or len(hint.base_tile) != len(shape):
        return Undecided("a broadcast to a layout of another rank")
    if hint.reduce(new) != layout:
        return JaxError("ValueError", "Source and destination layouts aren't compatible for a broadcast")
    if not hint.applies_to(shape):
        return JaxError("ValueError", f"Tiling {hint.tiles} does not apply to shape {shape}")
    return hint


def _broadcast_strided(layout: Strided, shape: Shape) -> LayoutResult:
    if layout.shape != shape[len(shape) - len(layout.shape) :]:
        return Undecided("a broadcast of dimensions of size 1")
    return Strided(shape, layout.vec)


def _broadcast_candidates(layout: Tiled, shape: Shape, new: tuple[int, ...], version: JaxVersion) -> LayoutResult:
    candidates: list[Tiled | JaxError] = [WGMMA, WGMMA_TRANSPOSED, TCGEN05, TCGEN05_TRANSPOSED, tmem_native()]
    if shape[-1] % 16 == 0:
        candidates.append(m64_collective(shape[-1], version))
    fitting = [
        c
        for c in candidates
        if isinstance(c, Tiled)
        and len(c.base_tile) == len(shape)
        # JAX 0.10 looks at layouts that do not divide the shape too.
        and (version < JaxVersion(0, 11) or c.applies_to(shape))
        and c.reduce(new) == layout
    ]
    if not fitting:
        return JaxError(
            "NotImplementedError",
            "No compatible layout found for the broadcast result. Use plgpu.layout_cast on the output to suggest the "
            "desired output layout.",
        )
    first = fitting[0]
    others = [c for c in fitting[1:] if not (first == WGMMA and c == TCGEN05)]
    if not others and not first.applies_to(shape):
        return JaxError("ValueError", f"Tiling {first.tiles} does not apply to shape {shape}")
    if not others:
        return first
    return JaxError(
        "NotImplementedError",
        "Multiple options for the layout of the broadcast result (found at least "
        f"{jax_repr(first, version)} and {jax_repr(others[0], version)}). Use plgpu.layout_cast on the output to "
        "suggest the desired output layout.",
    )


_ACC_32BIT = CONSTANT["_WGMMA_ACC_32BIT"]
#: Pairs between which registers can be rearranged, with the element widths for which they can; None: any.
RELAYOUTS: dict[tuple[Tiled, Tiled], frozenset[int] | None] = {
    (WGMMA, WGMMA_TRANSPOSED): frozenset({16, 32}),
    (WGMMA_TRANSPOSED, WGMMA): frozenset({16, 32}),
    (TCGEN05, TCGEN05_TRANSPOSED): frozenset({16, 32}),
    (TCGEN05_TRANSPOSED, TCGEN05): frozenset({16, 32}),
    (_ACC_32BIT, WGMMA): None,
    (WGMMA, _ACC_32BIT): None,
    (WGMMA_UPCAST_2X, WGMMA): frozenset({4, 8, 16}),
    (WGMMA_UPCAST_4X, WGMMA_UPCAST_2X): frozenset({4}),
}


def cast_layout(
    layout: RegisterLayout, new: RegisterLayout, shape: Shape, bits: int, version: JaxVersion
) -> LayoutResult:
    """`plgpu.layout_cast` of a value that has a layout already (`FragmentedArray.to_layout`)."""
    if layout == new:
        return new
    if isinstance(layout, Splat):
        if isinstance(new, Tiled) and not new.applies_to(shape):
            return JaxError("ValueError", f"Tiling {new.tiles} does not apply to shape {shape}")
        if isinstance(new, Strided) and new.shape != shape:
            return JaxError("ValueError", f"Shape {shape} is not compatible with {jax_repr(new, version)}")
        return new
    if (layout, new) == (WGMMA_UPCAST_2X, WGMMA) and len(shape) != 2 and version < JaxVersion(0, 12):
        return Undecided("a relayout of an array that is not two-dimensional")
    if (layout, new) == (WGMMA_UPCAST_4X, WGMMA):
        between = cast_layout(layout, WGMMA_UPCAST_2X, shape, bits, version)
        return (
            between
            if isinstance(between, JaxError | Undecided)
            else cast_layout(WGMMA_UPCAST_2X, new, shape, bits, version)
        )
    if isinstance(layout, Tiled) and isinstance(new, Tiled) and _relayout(layout, new, bits, version):
        return _packing_error(layout, new, shape, bits, version) or new
    return JaxError(
        "NotImplementedError", f"Cannot convert from {jax_repr(layout, version)} to {jax_repr(new, version)}"
    )


def _relayout(layout: Tiled, new: Tiled, bits: int, version: JaxVersion) -> bool:
    if (layout, new) in RELAYOUTS:
        widths = RELAYOUTS[layout, new]
        return widths is None or bits in widths
    if (layout, new) == (WGMMA, WGMMA_UPCAST_2X):
        return version >= JaxVersion(0, 12) and bits in (4, 8, 16)
    return layout == tmem_native(layout.vector_length) and new == tmem_native(new.vector_length)


def _packing_error(layout: Tiled, new: Tiled, shape: Shape, bits: int, version: JaxVersion) -> JaxError | None:
    """Some relayouts pack registers of neighbouring column tiles into 32 or 64 bits, which needs enough of them."""
    if not new.applies_to(shape):
        asserts = (layout, new) == (WGMMA, WGMMA_UPCAST_2X)
        text = f"Tiling {new.tiles} does not apply to shape {shape}"
        return JaxError("AssertionError", "") if asserts else JaxError("ValueError", text)
    if {layout, new} != {WGMMA, WGMMA_UPCAST_2X}:
        return None
    factor = max(32, 4 * bits) // layout.register_bits(bits)
    if shape[-1] // layout.base_tile[1] % factor == 0:
        return None
    needs = f"the number of column tiles to be divisible by {factor} (to pack them for efficiency)"
    if version < JaxVersion(0, 12):
        needs = "an even number of column tiles (to pack pairs of them for efficiency)"
    return JaxError("NotImplementedError", f"This relayout implementation requires {needs}")
