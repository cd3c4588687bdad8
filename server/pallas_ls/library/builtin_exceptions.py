"""Python's exception classes."""

from __future__ import annotations

import builtins

from ..domain.python import Class
from .registry import Registry


def register(r: Registry) -> None:
    """Registers each of them, with what it inherits from."""
    for name, value in vars(builtins).items():
        if isinstance(value, type) and issubclass(value, BaseException) and not issubclass(value, BaseExceptionGroup):
            r.value(f"builtins.{name}", _class(r, value))


def _class(r: Registry, cls: type) -> Class:
    full = f"builtins.{cls.__name__}"
    if full not in r.names:
        bases = tuple(_class(r, b) for b in cls.__bases__ if issubclass(b, BaseException))
        r.value(full, Class(cls.__name__, bases, {}, "exception", module="builtins"))
    return r.names[full]
