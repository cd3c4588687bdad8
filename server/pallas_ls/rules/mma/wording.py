"""How messages speak of matrices and their transforms."""

from __future__ import annotations

from collections.abc import Sequence

from ...domain.ref import Ref
from ..rule import Note
from ..view import CallView, show_array
from .case import Operand
from .shared import SWIZZLES, divides, tile_of


def called(v: CallView, operand: str) -> str:
    """An operand's name in the program, else its parameter's."""
    x = v.value(operand)
    return x.name if isinstance(x, Ref) and x.name else operand


def matrix(x: Operand) -> str:
    """A matrix as it is passed: "float16[64, 128]"."""
    return f"{x.dtype}{list(x.shape)}"


def transforms(x: Operand) -> str:
    """A buffer's transforms: "TilingTransform((8, 64)) and SwizzleTransform(128)"."""
    parts = [f"TilingTransform({x.tiling})"] if x.tiling is not None else []
    parts += [f"SwizzleTransform({x.swizzle})"] if x.swizzle is not None else []
    return " and ".join(parts) or "no transforms"


def fitting(operands: Sequence[Operand], limit: int | None = None) -> int | None:
    """The widest swizzle whose tiles make up all these buffers (a row of no more than `limit` elements)."""
    for swizzle in SWIZZLES:
        tiles = [tile_of(swizzle, x.bits) for x in operands]
        fits = all(divides(t, x.allocated) for t, x in zip(tiles, operands, strict=True))
        if fits and (limit is None or tiles[-1][1] <= limit):
            return swizzle
    return None


def needed(swizzle: int, x: Operand) -> str:
    """The transforms of a buffer for a swizzle."""
    return f"TilingTransform({tile_of(swizzle, x.bits)}) and SwizzleTransform({swizzle})"


def declared(v: CallView, *operands: str) -> tuple[Note, ...]:
    """Where buffers are declared."""
    notes: list[Note] = []
    for operand in operands:
        x = v.value(operand)
        made = x.type.made if isinstance(x, Ref) else None
        if isinstance(x, Ref) and made is not None:
            where = made.args.get("transforms", made.args.get("shape", made.site))
            notes.append(Note(where, f"{x.name or operand} is {show_array(x.type.shape, x.type.dtype)}"))
    return tuple(notes)
