"""Values inside a kernel: register layouts, the integers that scalars stand for, named axes."""

from __future__ import annotations

from typing import Any

import pytest

from pallas_ls.domain import dim as dims
from pallas_ls.domain.array import Array, LayoutName, Splat
from pallas_ls.domain.dtype import DTYPES
from pallas_ls.domain.python import Call, Int, Slice, Unknown
from pallas_ls.domain.ref import Launch
from pallas_ls.evaluate.machine import Machine

from .test_operations import LIBRARY, machine

F32, I32 = DTYPES["float32"], DTYPES["int32"]
WGMMA = LayoutName("WGMMA")


def in_kernel(**launch: Any) -> Machine:
    """A machine while a kernel runs."""
    m = machine()
    m.launches.append(Launch(**launch))
    return m


def run(m: Machine, name: str, *args: Any, **kwargs: Any) -> Any:
    """A call of a modelled function."""
    return LIBRARY.registry.names[name].run(m, Call(m.program.nowhere, args, kwargs))


def tile(layout: Any = WGMMA, rows: int = 64, columns: int = 128) -> Array:
    """A tile in registers."""
    return Array((Int(rows), Int(columns)), F32, layout=layout)


def row(m: Machine) -> Array:
    """The maximum of each row of a tile."""
    return run(m, "jax.numpy.max", tile(), axis=Int(1))


def test_constants_are_splats_in_kernels_only() -> None:
    assert run(in_kernel(), "jax.numpy.zeros", (Int(64),), F32).layout == Splat()
    assert run(machine(), "jax.numpy.zeros", (Int(64),), F32).layout is None


@pytest.mark.parametrize(
    ("other", "layout"),
    [
        (2.0, WGMMA),
        (tile(), WGMMA),
        (tile(Splat()), WGMMA),
        (tile(LayoutName("WG_STRIDED")), "mixed"),
        (tile(None), "mixed"),
    ],
)
def test_elementwise_operations_keep_the_layout_that_operands_share(other: Any, layout: Any) -> None:
    found = run(in_kernel(), "jax.numpy.add", tile(), other).layout
    assert isinstance(found, Unknown) if layout == "mixed" else found == layout


def test_a_reduction_names_its_axis() -> None:
    assert row(in_kernel()).layout == LayoutName("WGMMA", reduced=(1,))


def test_a_cast_keeps_the_layout() -> None:
    m = in_kernel()
    cast = m.program.attributes.get(m, tile(), "astype", m.program.nowhere)
    assert m.program.calls.call(m, cast, (DTYPES["bfloat16"],), None).layout == WGMMA


def test_only_splats_are_broadcast_with_a_known_layout() -> None:
    m = in_kernel()
    shape = (Int(64), Int(128))
    assert run(m, "jax.lax.broadcast_in_dim", Array((), F32), shape, ()).layout == Splat()
    assert isinstance(run(m, "jax.lax.broadcast_in_dim", row(m), shape, (Int(0),)).layout, Unknown)


def test_rows_and_tiles_do_not_mix() -> None:
    m = in_kernel()
    column = LIBRARY.getitem(m, row(m), (Slice(None, None, None), None), m.program.nowhere, m.program.nowhere)
    assert isinstance(run(m, "jax.numpy.subtract", tile(), column).layout, Unknown)


# -- integers -----------------------------------------------------------------------------------------


def scalar(d: dims.Dim) -> Array:
    """A 32-bit scalar that stands for an integer."""
    return Array((), I32, index=Int(d))


N = dims.symbol("n", low=0)
Z = dims.symbol("z")


@pytest.mark.parametrize(
    ("name", "a", "b", "index"),
    [
        ("add", N, 3, dims.add(N, 3)),
        ("multiply", N, 128, dims.mul(N, 128)),
        ("subtract", N, 1, dims.sub(N, 1)),
        ("remainder", N, 4, dims.mod(N, 4)),
        ("floor_divide", Z, 4, dims.floordiv(Z, 4)),
        ("minimum", N, 7, dims.minimum(N, 7)),
        ("remainder", N, Z, None),
        ("divide", N, 4, None),
    ],
)
def test_arithmetic_keeps_the_integer(name: str, a: Any, b: Any, index: Any) -> None:
    found = run(in_kernel(), f"jax.numpy.{name}", scalar(a), Int(b)).index
    assert (found.dim if found else None) == index


@pytest.mark.parametrize(
    ("name", "a", "index"),
    [
        ("rem", N, dims.mod(N, 4)),
        ("div", N, dims.floordiv(N, 4)),
        ("rem", Z, None),
        ("div", Z, None),
    ],
)
def test_truncating_division_keeps_it_only_where_python_agrees(name: str, a: Any, index: Any) -> None:
    found = run(in_kernel(), f"jax.lax.{name}", scalar(a), Int(4)).index
    assert (found.dim if found else None) == index


def test_unsigned_and_narrow_scalars_stand_for_no_integer() -> None:
    m = in_kernel()
    assert run(m, "jax.lax.convert_element_type", scalar(N), DTYPES["uint32"]).index is None
    assert run(m, "jax.lax.convert_element_type", scalar(N), DTYPES["int8"]).index is None


# -- axes ---------------------------------------------------------------------------------------------


def test_an_axis_has_the_extent_of_the_launch() -> None:
    m = in_kernel(grid=(Int(4), Int(N)), grid_names=("i", "j"), num_threads=Int(2), thread_name="wg")
    assert [run(m, "jax.lax.axis_size", name) for name in ("i", "j", "wg")] == [Int(4), Int(N), Int(2)]
    assert run(m, "jax.lax.axis_size", "elsewhere").dim == run(m, "jax.lax.axis_size", "elsewhere").dim
