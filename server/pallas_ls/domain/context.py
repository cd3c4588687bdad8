"""Calling contexts that a program lists itself: the rows of a parametrised test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..source.span import Site
from .python import Value


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Arguments of one call of a test, and where they are written."""

    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    site: Site | None


@dataclass(frozen=True, slots=True, eq=False)
class Parametrised:
    """A test function with the rows of arguments that it is run with."""

    function: Value
    rows: tuple[Row, ...]
    binds: ClassVar[bool] = True
