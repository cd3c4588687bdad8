"""Control flow of jax.lax, jit, trees and types: what a snippet's `r` holds is what JAX makes of the same snippet."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from pallas_ls.domain.array import Array, ShapeDtype
from pallas_ls.domain.dtype import DType
from pallas_ls.domain.python import DictCell, Int, ListCell

from .snippets import evaluated

IMPORTS = """
import functools, jax, jax.numpy as jnp
from jax import lax
x = jnp.ones((4, 6), jnp.bfloat16)
i = jnp.zeros((3,), jnp.int8)
"""

EXPRESSIONS = """
lax.fori_loop(0, 4, lambda k, c: c + 1, 0)
lax.fori_loop(0, 4, lambda k, c: c + x[k], jnp.zeros((6,), jnp.float32))
lax.fori_loop(0, 4, lambda k, c: (c[0] * 2, c[1] + k), (x, 0))
lax.fori_loop(0, x.shape[0], lambda k, c: c + x[0, 0].astype(jnp.float32), 0.0)
lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))
lax.scan(lambda c, row: (c + row.sum(), row * 2), jnp.bfloat16(0), x)
lax.scan(lambda c, _: (c + 1, c), 0, None, length=5)
lax.scan(lambda c, rows: (c + 1, rows[0] + rows[1]), 0.0, (x, x))
lax.map(lambda row: row.max(), x)
lax.cond(x[0, 0] > 0, lambda a: a * 2, lambda a: a, x)
lax.switch(i[0], [lambda: x, lambda: x + 1])
lax.associative_scan(jnp.add, x)
lax.reduce(x, jnp.bfloat16(0), lax.add, (0,))
jax.jit(lambda a: a.T)(x)
jax.jit(lambda a, n: a.reshape(n, -1), static_argnums=1)(x, 3)
jax.tree.map(lambda a: a.astype(jnp.float32), {'b': x, 'a': (i, [x])})
jax.tree.leaves({'b': x, 'a': (i, None, [x])})
jax.eval_shape(lambda a: (a @ a.T, a.sum()), jax.ShapeDtypeStruct((4, 6), jnp.float32))
x[0], x[-1, 2:], x[:, None], x[..., 0], x[::2, ::-1], x[jnp.zeros((5,), jnp.int32)], x[:, i], x[1:-1], x[i, i]
x[i, :, None], x[0, None, i]
x.astype(jnp.int8), x.T, x.reshape(-1), x.reshape((2, -1)), x.reshape(3, 8), x.transpose(1, 0), x.sum(0)
x.max(axis=1, keepdims=True), x.mean()
x.at[0].set(1.0), x.at[:, 1].add(2), x.flatten(), x.ravel(), x.swapaxes(0, 1), x[0, 0].astype(jnp.float32)
x.mT, x.any(), x.argmax(1)
x + 1, x * 2.5, 1 - x, x / 2, x // 2, x % 3, x ** 2, -x, ~i, x > 0, x == x, i & 1, i << 2
3 @ i if False else i @ i, x @ x.T, abs(x), i / 2
x.ndim, x.size, x.nbytes, x.itemsize, x.dtype.itemsize, jnp.finfo(jnp.bfloat16).bits, jnp.iinfo(jnp.int8).max
jnp.iinfo(jnp.uint8).min
jnp.issubdtype(x.dtype, jnp.floating), jnp.issubdtype(i.dtype, jnp.floating)
jnp.issubdtype(jnp.int8, jnp.integer), jnp.dtype('float32').itemsize
jnp.float32(1), jnp.int8(x), jnp.bfloat16(2) * 3, jnp.result_type(x, i) == jnp.bfloat16
jnp.promote_types(jnp.int8, jnp.uint8) == jnp.int16
jnp.broadcast_shapes((2, 1), (3,)), len(x), [r for r in x][0], x.dtype == jnp.bfloat16, x.dtype == 'bfloat16'
x.dtype.name
jnp.full((2, 3), jnp.finfo(jnp.float32).min), jnp.full((2,), -jnp.inf), jnp.where(x > 0, x, -jnp.inf)
""".strip().splitlines()


def described(v: Any) -> Any:
    """A value of the analysis in a form to compare: arrays by shape and type."""
    if isinstance(v, (Array, ShapeDtype)):
        assert isinstance(v.shape, tuple), v
        assert isinstance(v.dtype, DType), v
        return tuple(e.dim if isinstance(e, Int) else e for e in v.shape), v.dtype.name
    if isinstance(v, Int):
        return v.dim
    if isinstance(v, DType):
        return v.name
    if isinstance(v, tuple):
        return tuple(described(x) for x in v)
    if isinstance(v, ListCell):
        return [described(x) for x in v.slots["items"]]
    return {k: described(x) for k, (_, x) in v.slots["items"].items()} if isinstance(v, DictCell) else v


def of_jax(v: Any) -> Any:
    """The same of JAX's values."""
    if isinstance(v, (jax.Array, jax.ShapeDtypeStruct)):
        return tuple(v.shape), str(v.dtype)
    if isinstance(v, (tuple, list)):
        return type(v)(of_jax(x) for x in v)
    if isinstance(v, dict):
        return {k: of_jax(x) for k, x in v.items()}
    return v


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression(text: str) -> None:
    names = {"jax": jax, "jnp": jnp, "lax": lax, "x": jnp.ones((4, 6), jnp.bfloat16), "i": jnp.zeros((3,), jnp.int8)}
    assert described(evaluated(f"{IMPORTS}r = ({text})")["r"]) == of_jax(eval(text, names))
