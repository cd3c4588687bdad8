"""`jax.numpy`, arrays and their methods, and the functions of `jax` itself."""

from __future__ import annotations

from . import (
    jax_api,
    jax_random,
    jax_tree,
    jnp_array,
    jnp_contract,
    jnp_create,
    jnp_dtype,
    jnp_elementwise,
    jnp_items,
    jnp_opaque,
    jnp_reduce,
    jnp_select,
    jnp_shape,
)
from .registry import Registry


def register(r: Registry) -> None:
    """Registers all of it."""
    parts = (
        jnp_dtype,
        jnp_create,
        jnp_elementwise,
        jnp_reduce,
        jnp_shape,
        jnp_select,
        jnp_contract,
        jnp_array,
        jnp_items,
        jnp_opaque,
        jax_api,
        jax_random,
        jax_tree,
    )
    for part in parts:
        part.register(r)
