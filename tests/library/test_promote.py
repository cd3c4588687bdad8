"""The promotion table against JAX, for every pair of element types, weak and not."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import pytest

from pallas_ls.domain.dtype import DTYPES, DType, canonical
from pallas_ls.library.promote import promoted

TYPES = [d for d in DTYPES.values() if canonical(d) == d and hasattr(jnp, d.name)]
ROWS = [(d, weak) for d in TYPES for weak in (False, True) if not (weak and d.family == "bool")]


def by_jax(rows: tuple[tuple[DType, bool], ...]) -> tuple[str, bool] | None:
    """What JAX promotes the types to; None where it refuses."""
    structs = [jax.ShapeDtypeStruct((), jnp.dtype(d.name), weak_type=weak) for d, weak in rows]
    try:
        out = jax.eval_shape(jnp.add, *structs)
    except (TypeError, ValueError):
        return None
    return str(out.dtype), out.weak_type


@pytest.mark.parametrize("first", ROWS, ids=lambda row: f"{row[0]}{'*' if row[1] else ''}")
def test_pairs(first: tuple[DType, bool]) -> None:
    for pair in itertools.product([first], ROWS):
        found = promoted(pair)
        assert (found and (found[0].name, found[1])) == by_jax(pair), pair
