"""Attributes and methods of strings and numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..domain.python import Bool, Bound, Builtin, Call, Int, NotConstant, Slice, Value
from ..source.span import Site
from .operate import contents, plain, wrapped
from .registry import NO_ATTRIBUTE, Registry

#: Methods that depend on constants only: computed by Python itself.
_STRING = [
    "capitalize",
    "casefold",
    "center",
    "count",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isspace",
    "istitle",
    "isupper",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "upper",
    "zfill",
    "encode",
]
_FLOAT = ("is_integer", "hex", "as_integer_ratio", "conjugate")
_INT = ("bit_length", "bit_count", "conjugate", "as_integer_ratio")


def register(r: Registry) -> None:
    """Registers the attributes of strings, integers, floats and truth values."""
    strings = {name: _pure_method(str, name) for name in _STRING} | {"join": Builtin("str.join", _join)}
    floats = {name: _pure_method(float, name) for name in _FLOAT}
    ints = {name: _pure_method(int, name) for name in _INT}

    @r.attribute(str)
    def of_string(m: Any, v: str, name: str, site: Site) -> Value:
        return Bound(v, strings[name]) if name in strings else NO_ATTRIBUTE

    @r.attribute(float)
    def of_float(m: Any, v: float, name: str, site: Site) -> Value:
        if name in ("real", "imag"):
            return v if name == "real" else 0.0
        return Bound(v, floats[name]) if name in floats else NO_ATTRIBUTE

    @r.attribute(Int, bool, Bool)
    def of_int(m: Any, v: Value, name: str, site: Site) -> Value:
        if name in ("real", "numerator"):
            return v
        if name in ("imag", "denominator"):
            return Int(0 if name == "imag" else 1)
        return Bound(v, ints[name]) if name in ints else NO_ATTRIBUTE

    @r.attribute(complex)
    def of_complex(m: Any, v: complex, name: str, site: Site) -> Value:
        return getattr(v, name) if name in ("real", "imag") else NO_ATTRIBUTE

    @r.attribute(Slice)
    def of_slice(m: Any, v: Slice, name: str, site: Site) -> Value:
        return getattr(v, name) if name in ("start", "stop", "step") else NO_ATTRIBUTE


def _pure_method(cls: type, name: str) -> Builtin:
    return Builtin(
        f"{cls.__name__}.{name}", lambda m, call: m.lift(lambda *args: _computed(m, cls, name, args, call), *call.args)
    )


def _computed(m: Any, cls: type, name: str, args: tuple[Value, ...], call: Call) -> Value:
    run: Callable[..., Any] = getattr(cls, name)
    try:
        return wrapped(run(*(plain(a) for a in args), **{k: plain(v) for k, v in call.kwargs.items()}))
    except NotConstant:
        return m.unknown(f"{cls.__name__}.{name} of values that are not known", *args, site=call.site)
    except (TypeError, ValueError, LookupError) as e:
        return m.unknown(f"{cls.__name__}.{name} raises {type(e).__name__}", *args, site=call.site)


def _join(m: Any, call: Call) -> Value:
    """`separator.join(strings)`."""

    def joined(separator: Value, items: Value) -> Value:
        if isinstance(separator, str) and type(items) is tuple and all(isinstance(x, str) for x in items):
            return separator.join(items)
        return m.unknown("joined text", separator, items, site=call.site)

    if len(call.args) != 2 or call.kwargs:
        return m.unknown("joined text", *call.args, site=call.site)
    return m.lift(joined, call.args[0], m.lift(lambda x: contents(m, x), call.args[1]))
