"""Raise statements, and what an exception says."""

from __future__ import annotations

from ..domain import dim as dims
from ..domain.python import Class, Instance, Int, PartlyKnown, Value, mro
from ..source.span import Site
from .frame import Frame
from .machine import Machine, Raised


def raise_(fr: Frame, value: Value, name: str, site: Site) -> int:
    """`raise value`; `name`: what stands there, for where the value is not known."""
    m = fr.m
    value = m.select(value)
    if isinstance(value, Class) and value.kind == "exception":
        value = m.program.calls.call(m, value, (), site)
    raise raised(m, value, name, site)


def raised(m: Machine, value: Value, name: str, site: Site | None) -> Raised:
    """A deliberate exception."""
    r = Raised(value, name, site)
    r.deliberate = True
    if isinstance(value, Instance):
        r.name = value.cls.name
        r.kinds = tuple(c.name for c in mro(value.cls))
        r.message = message(value)
    return r


def raise_again(fr: Frame, site: Site) -> int:
    """A bare `raise`: of the exception that is being handled."""
    handled = fr.m.handling[-1] if fr.m.handling else None
    raise handled if handled is not None else Raised(None, "Exception", site)


def message(e: Instance) -> str:
    """What an exception says; "" where that is not known."""
    args: Value = e.slots.get("args")
    if type(args) is not tuple or not args:
        return ""
    if len(args) > 1:
        return f"({', '.join(known_text(a) for a in args)})"
    return known_text(args[0])


def known_text(v: Value) -> str:
    """A value as text, "..." in the place of what is not known."""
    if isinstance(v, PartlyKnown):
        return v.text
    if isinstance(v, Int):
        return dims.text(v.dim)
    if type(v) is tuple:
        return f"({', '.join(map(known_text, v))}{',' if len(v) == 1 else ''})"
    if v is None or isinstance(v, (bool, str, float)):
        return str(v)
    if isinstance(v, Instance) and v.cls.kind == "enum":
        return f"{v.cls.name}.{v.slots['name']}"
    return getattr(v, "name", None) or "..."
