"""StoreCases and JAX's verdicts as rows of a tab-separated file, so that other releases' answers can be kept."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.layout import LayoutDim, RegisterLayout, Replicated, Splat, Strided, Tiled
from pallas_ls.domain.target import JaxVersion, Semantics
from pallas_ls.rules.transfer.case import Accepted, BarrierKind, Sliced, StoreCase, View

from .generate import BITS

FOLDER = Path(__file__).parent
COLUMNS = (
    "shape",
    "dtype",
    "source",
    "tiling",
    "swizzle",
    "semantics",
    "optimized",
    "atomic",
    "barrier",
    "orders_tensor_core",
    "view",
    "type",
    "message",
)


def path(version: JaxVersion) -> Path:
    return FOLDER / f"recorded_{version}.tsv"


def write(version: JaxVersion, rows: Iterable[tuple[StoreCase, Accepted | JaxError]]) -> None:
    with path(version).open("w", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        for case, verdict in rows:
            said = ("", "OK") if isinstance(verdict, Accepted) else (verdict.type, verdict.message)
            writer.writerow([*_encode(case), *said])


def read(version: JaxVersion) -> Iterator[tuple[StoreCase, Accepted | JaxError]]:
    with path(version).open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            verdict = JaxError(row["type"], row["message"]) if row["type"] else Accepted()
            yield _decode(row, version), verdict


def _encode(case: StoreCase) -> list[str]:
    view = case.view and (case.view.parent, tuple(_part(p) for p in case.view.index), case.view.permutation)
    values = (
        case.shape,
        case.dtype,
        _encode_layout(case.source),
        case.tiling,
        case.swizzle,
        case.semantics.value,
        case.optimized,
        case.atomic,
        case.barrier.value,
        case.barrier_orders_tensor_core,
        view,
    )
    return [repr(value) for value in values]


def _part(part: Sliced | None) -> tuple[int, int] | None:
    return part and (part.size, part.offset_multiple)


def _encode_layout(layout: RegisterLayout | None) -> tuple[object, ...] | None:
    match layout:
        case None:
            return None
        case Splat():
            return ("splat",)
        case Strided():
            return ("strided", layout.vec)
        case Tiled():
            return (layout.name, layout.tiles, _dims(layout.warp_dims), _dims(layout.lane_dims), layout.vector_dim)


def _dims(dims: tuple[LayoutDim, ...]) -> tuple[object, ...]:
    """Replicated dimensions as positive numbers: the others are negative."""
    return tuple(d.times if isinstance(d, Replicated) else d for d in dims)


def _decode(row: dict[str, str], version: JaxVersion) -> StoreCase:
    value = {key: ast.literal_eval(row[key]) for key in COLUMNS[:-2]}
    view = None
    if value["view"]:
        parent, index, permutation = value["view"]
        view = View(parent, tuple(part and Sliced(*part) for part in index), permutation)
    return StoreCase(
        value["shape"],
        BITS[value["dtype"]],
        value["dtype"],
        _decode_layout(value["source"], value["shape"]),
        value["tiling"],
        value["swizzle"],
        Semantics(value["semantics"]),
        version,
        value["optimized"],
        value["atomic"],
        BarrierKind(value["barrier"]),
        value["orders_tensor_core"],
        view,
    )


def _decode_layout(parts: tuple | None, shape: tuple[int, ...]) -> RegisterLayout | None:
    if parts is None:
        return None
    if parts[0] == "splat":
        return Splat(shape)
    if parts[0] == "strided":
        return Strided(shape, parts[1])
    name, tiles, warps, lanes, vector = parts
    return Tiled(tiles, _undims(warps), _undims(lanes), vector, name)


def _undims(dims: tuple[int, ...]) -> tuple[LayoutDim, ...]:
    return tuple(Replicated(d) if d > 0 else d for d in dims)
