"""How messages speak of matrices and their transforms."""

from __future__ import annotations

from collections.abc import Sequence

from ...domain.python import Value
from ...domain.ref import Ref, Swizzle
from ...source.span import Site
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


def odd_one(a: Operand, b: Operand) -> str:
    """Which of two operands has another swizzle than fits both; the second, where neither has it."""
    both = fitting([a, b])
    return "a" if b.swizzle == both and a.swizzle != both else "b"


def swizzle_of(v: CallView, operand: str) -> Value:
    """The number of a buffer's swizzle."""
    x = v.value(operand)
    transforms = x.type.transforms if isinstance(x, Ref) else ()
    found = [t.swizzle for t in transforms if isinstance(t, Swizzle)] if isinstance(transforms, tuple) else []
    return found[0] if len(found) == 1 else None


def declaration(v: CallView, operand: str, keyword: str) -> tuple[Site | None, tuple[Note, ...]]:
    """Where what an operand lacks would be declared, and a note of the call that lacks it; the operand itself, where
    its declaration is not known or stands in another file."""
    x = v.value(operand)
    made = x.type.made if isinstance(x, Ref) else None
    if made is None or made.site.path != v.fact.site.path:
        return v.site(operand), declared(v, operand)
    return made.args.get(keyword, made.site), (Note(v.fact.site, f"plgpu.{v.fact.api} is refused here"),)


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
