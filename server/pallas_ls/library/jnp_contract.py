"""Products of matrices: matmul, dot, einsum, tensordot, and lax's dot_general."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..domain.array import Array, ElementType, Extent, Shape
from ..domain.python import Call, Value
from . import registers, shapes
from .convert import as_array, as_constant, as_jax_dtype
from .promote import result_type
from .registry import Registry

_OPTIONS = "precision=None, preferred_element_type=None, out_sharding=None"


def register(r: Registry) -> None:
    """Registers them."""
    _products(r)
    _named(r)


def _products(r: Registry) -> None:
    @r.function("jax.numpy.matmul", f"a, b, *, {_OPTIONS}")
    def matmul(m: Any, call: Call, a: Value, b: Value, preferred_element_type: Value, **_: Value) -> Value:
        x, y = as_array(m, a), as_array(m, b)
        return contracted(m, [x, y], _matmul_shape(m, x.shape, y.shape), preferred_element_type)

    @r.function("jax.numpy.dot", f"a, b, *, {_OPTIONS}")
    def dot(m: Any, call: Call, a: Value, b: Value, preferred_element_type: Value, **_: Value) -> Value:
        x, y = as_array(m, a), as_array(m, b)
        return contracted(m, [x, y], _dot_shape(m, x.shape, y.shape), preferred_element_type)

    @r.function("jax.numpy.tensordot", f"a, b, axes=2, *, {_OPTIONS}")
    def tensordot(
        m: Any, call: Call, a: Value, b: Value, axes: Value, preferred_element_type: Value, **_: Value
    ) -> Value:
        x, y = as_array(m, a), as_array(m, b)
        return contracted(m, [x, y], _tensordot_shape(m, x.shape, y.shape, axes), preferred_element_type)

    @r.function("jax.numpy.outer", "a, b, out=None")
    def outer(m: Any, call: Call, a: Value, b: Value, out: Value) -> Value:
        x, y = as_array(m, a), as_array(m, b)
        return contracted(m, [x, y], (shapes.size(m, x.shape), shapes.size(m, y.shape)), None, keep_weak=True)


def contracted(m: Any, operands: Sequence[Array], shape: Shape, preferred: Value, keep_weak: bool = True) -> Array:
    """A product of arrays with this shape."""
    dtype, weak = result_type(m, operands)
    d: ElementType = as_jax_dtype(m, preferred, dtype)
    return Array(shape, d, weak and keep_weak and preferred is None, registers.moved(m, *operands))


def _matmul_shape(m: Any, a: Shape, b: Shape) -> Shape:
    if not (isinstance(a, tuple) and isinstance(b, tuple)):
        return m.unknown("the shape of a product", a, b)
    if not a or not b:
        return m.unknown("a product with a scalar, which matmul refuses")
    batch = shapes.broadcast(m, [a[:-2], b[:-2]])
    assert isinstance(batch, tuple)
    rows = a[-2:-1] if len(a) > 1 else ()
    columns = b[-1:] if len(b) > 1 else ()
    return (*batch, *rows, *columns)


def _dot_shape(m: Any, a: Shape, b: Shape) -> Shape:
    if a == () or b == ():
        return b if a == () else a
    if not (isinstance(a, tuple) and isinstance(b, tuple)):
        return m.unknown("the shape of a product", a, b)
    return (*a[:-1], *b[:-2], *(b[-1:] if len(b) > 1 else ()))


def _tensordot_shape(m: Any, a: Shape, b: Shape, axes: Value) -> Shape:
    if not (isinstance(a, tuple) and isinstance(b, tuple)):
        return m.unknown("the shape of a product", a, b)
    pair = m.program.items.iterate(m, axes)
    if pair is None:
        n = as_constant(m, axes)
        return m.unknown("a product over unknown axes", axes) if n is None else (*a[: len(a) - n], *b[n:])
    left, right = (
        (shapes.axes(m, v, len(s)) for v, s in zip(pair, (a, b), strict=False)) if len(pair) == 2 else (None, None)
    )
    if left is None or right is None:
        return m.unknown("a product over unknown axes", axes)
    return (*shapes.without(a, left), *shapes.without(b, right))


def dot_general_shape(m: Any, a: Shape, b: Shape, numbers: Value) -> Shape:
    """lax.dot_general: batch axes, then the free axes of both."""
    parts = [m.program.items.iterate(m, x) for x in m.program.items.iterate(m, numbers) or ()]
    if (
        not (isinstance(a, tuple) and isinstance(b, tuple))
        or len(parts) != 2
        or any(p is None or len(p) != 2 for p in parts)
    ):
        return m.unknown("the shape of a product", a, b, numbers)
    (ca, cb), (ba, bb) = ((p[0], p[1]) for p in parts if p is not None)
    left = [shapes.axes(m, v, len(a)) for v in (ca, ba)]
    right = [shapes.axes(m, v, len(b)) for v in (cb, bb)]
    if None in left or None in right:
        return m.unknown("a product over unknown axes", numbers)
    (la, ba_), (lb, bb_) = ([x for x in side if x is not None] for side in (left, right))
    batch = tuple(shapes.merge_equal(m, a[i], b[j]) for i, j in zip(ba_, bb_, strict=False))
    return (*batch, *shapes.without(a, (*la, *ba_)), *shapes.without(b, (*lb, *bb_)))


# -- einsum ----------------------------------------------------------------------------------------


def _named(r: Registry) -> None:
    @r.raw("jax.numpy.einsum")
    def einsum(m: Any, call: Call) -> Value:
        preferred = call.kwargs.get("preferred_element_type")
        return m.lift(lambda *args: _einsum(m, args, preferred, call), *call.args)


def _einsum(m: Any, args: tuple[Value, ...], preferred: Value, call: Call) -> Value:
    if call.open or not args or not isinstance(args[0], str):
        return m.unknown("an einsum that is not known", *args, site=call.site)
    arrays = [as_array(m, a) for a in args[1:]]
    inputs, _, output = args[0].replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(arrays):
        return m.unknown("an einsum whose operands do not fit", *args, site=call.site)
    if "->" not in args[0]:
        output = _implicit_output(inputs)
    return contracted(m, arrays, _einsum_shape(m, terms, output, arrays), preferred)


def _implicit_output(inputs: str) -> str:
    """Without an arrow: the letters that occur once, in order, after the ellipsis."""
    letters = inputs.replace(",", "").replace("...", "")
    return ("..." if "..." in inputs else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))


def _einsum_shape(m: Any, terms: list[str], output: str, arrays: list[Array]) -> Shape:
    extents: dict[str, Extent] = {}
    rest: list[Shape] = []
    for term, a in zip(terms, arrays, strict=True):
        spread = _axes_of_term(term, a.shape)
        if spread is None or not isinstance(a.shape, tuple):
            return m.unknown("the shape of an einsum", a.shape)
        letters, hidden = spread
        rest.append(hidden)
        for letter, extent in letters:
            extents[letter] = _letter_extent(m, extents[letter], extent) if letter in extents else extent
    hidden_shape = shapes.broadcast(m, rest)
    if not isinstance(hidden_shape, tuple) or any(c not in extents for c in output.replace("...", "")):
        return m.unknown("the shape of an einsum", output)
    head, dots, tail = output.partition("...")
    return (*(extents[c] for c in head), *(hidden_shape if dots else ()), *(extents[c] for c in tail))


def _letter_extent(m: Any, a: Extent, b: Extent) -> Extent:
    """einsum lets extent 1 broadcast."""
    out = shapes.broadcast(m, [(a,), (b,)])
    return out[0] if isinstance(out, tuple) else m.unknown("an extent of an einsum", a, b)


def _axes_of_term(term: str, shape: Shape) -> tuple[list[tuple[str, Extent]], Shape] | None:
    """The letters of a term with their extents, and the axes under its ellipsis."""
    if not isinstance(shape, tuple):
        return None
    head, dots, tail = term.partition("...")
    named = len(head) + len(tail)
    if named > len(shape) or (not dots and named != len(shape)):
        return None
    hidden = shape[len(head) : len(shape) - len(tail)]
    return [*zip(head, shape, strict=False), *zip(tail, shape[len(shape) - len(tail) :], strict=False)], hidden
