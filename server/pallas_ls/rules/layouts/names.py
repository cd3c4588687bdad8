"""Which functions of the library compute their result in which way, as far as register layouts go.

The lists name what JAX lowers to elementwise operations of the Mosaic GPU dialect (mosaic_gpu/lowering.py); what is in
none of them is not followed.
"""

from __future__ import annotations


def _in(module: str, names: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for name in names.split())


LOADS = frozenset(("load", "ref.get"))
CASTS = frozenset(("layout_cast",))
POINTWISE = (
    _in(
        "jax.numpy",
        "add subtract multiply divide true_divide maximum minimum negative abs absolute exp exp2 log log2 sqrt tanh "
        "sin cos where equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not "
        "bitwise_and bitwise_or bitwise_xor square",
    )
    | _in("jax.lax", "add sub mul div max min neg abs exp exp2 log sqrt rsqrt tanh sin cos eq ne lt le gt ge logistic")
    | _in("jax.lax", "convert_element_type select")
    | _in("jax.Array", "astype")
)
REDUCTIONS = _in("jax.numpy", "sum max min amax amin prod mean")
CONCATENATIONS = frozenset(("jax.numpy.concatenate", "jax.lax.concatenate"))
BROADCASTS = frozenset(("jax.lax.broadcast_in_dim",))
#: Numbered elements; those of `plgpu` name their layout.
IOTAS = frozenset(("broadcasted_iota",))
TMEM_LOADS = frozenset(("async_load_tmem",))
STORES = frozenset(("ref.set", "store"))
#: The calls that decide on a layout under Lane semantics.
FOLLOWED = tuple(
    sorted({*LOADS, *CASTS, *POINTWISE, *REDUCTIONS, *CONCATENATIONS, *BROADCASTS, *IOTAS, *TMEM_LOADS, "getitem"})
)
