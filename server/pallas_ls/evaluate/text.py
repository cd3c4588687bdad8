"""Formatted text: f-strings, with what is known of them where some parts are not."""

from __future__ import annotations

from ..domain.python import Instance, Int, NotConstant, Opaque, PartlyKnown, Unknown, Value
from ..source.span import Site
from . import exceptions, sequences
from .frame import Eval, Frame
from .machine import needs_of

_CONVERSIONS = {115: str, 114: repr, 97: ascii}  # what `ast.FormattedValue.conversion` holds: s, r, a


def joined(fr: Frame, parts: list[Eval | str]) -> Value:
    """An f-string."""
    return fr.m.lift(lambda *found: _joined(fr, found), *(p if isinstance(p, str) else p(fr) for p in parts))


def _joined(fr: Frame, found: tuple[Value, ...]) -> Value:
    if all(isinstance(p, str) for p in found):
        return "".join(found)
    if any(isinstance(p, (Unknown, Instance)) for p in found):
        fr.m.doubts += 1  # what an object does when it is formatted is not known
    needs = frozenset[str]().union(*map(needs_of, found))
    return PartlyKnown("formatted text", needs, text="".join(map(exceptions.known_text, found)), pieces=_pieces(found))


def _pieces(found: tuple[Value, ...]) -> tuple[str, ...]:
    """The text around the parts that are not known; nothing, where one of those is no integer."""
    out = [""]
    for p in found:
        if isinstance(p, str):
            out[-1] += p
        elif isinstance(p, Int):
            out.append("")
        else:
            return ()
    return tuple(out)


def formatted(fr: Frame, v: Value, conversion: int, spec: Value, site: Site) -> Value:
    """One replacement field: text, or the value itself where what it prints is not known."""
    return fr.m.lift(lambda x, s: _field(fr, x, conversion, s, site), v, spec)


def _field(fr: Frame, v: Value, conversion: int, spec: Value, site: Site) -> Value:
    if isinstance(v, Int) and isinstance(v.dim, int) and conversion == -1 and spec == "":
        return str(v.dim)
    if not isinstance(spec, str):
        return Unknown("formatted text")
    method = {115: "str", 114: "repr", 97: "ascii"}.get(conversion, "str" if not spec else "")
    try:
        shown = sequences.python(v)
    except NotConstant:
        if not method or spec:
            return Unknown("formatted text")
        if isinstance(v, (Int, Opaque, Unknown, tuple)):
            return v
        said = fr.m.program.calls.call(fr.m, fr.m.program.library.builtin(method), (v,), site)
        return said if isinstance(said, str) else v
    try:
        return format(_CONVERSIONS[conversion](shown) if conversion in _CONVERSIONS else shown, spec)
    except (TypeError, ValueError):
        return Unknown("formatted text")
