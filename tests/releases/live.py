"""The public names of Pallas in the installed JAX, and how its functions are called."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import warnings
from collections.abc import Iterator
from enum import Enum

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax

from pallas_ls.domain.target import JaxVersion
from pallas_ls.library.catalogue import registry
from pallas_ls.library.releases import ANY, MODULES, Row, rows

VERSION = JaxVersion.parse(jax.__version__)
#: Classes whose members are looked at, too.
_ENUMS = ("Layout", "TMEMLayout")
_UNEXPECTED = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument")


def names() -> Iterator[Row]:
    """A row for each public name: those that a module lists, and those of other releases that it gives all the same."""
    for prefix, module in MODULES.items():
        found = importlib.import_module(module)
        asked = {*dir(found), *_known(prefix, module)}
        for name in sorted(n for n in asked if not n.startswith("_")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if hasattr(found, name):
                    yield from _rows(prefix + name, getattr(found, name))


def _known(prefix: str, module: str) -> Iterator[str]:
    """Names of a module that the library or another release knows."""
    full = [n.removeprefix(f"{module}.") for n in registry().names if n.startswith(f"{module}.")]
    other = [r.name.removeprefix(prefix) for r in rows() if r.name.startswith(prefix)]
    yield from (n for n in (*full, *other) if "." not in n)


def _rows(name: str, value: object) -> Iterator[Row]:
    yield Row(name, VERSION, *_told(value))
    if name in _ENUMS:
        yield from (Row(f"{name}.{member}", VERSION, ANY, ANY) for member in value.__members__)


def _told(value: object) -> tuple[str, str]:
    """What Python calls a function in errors, and its parameters."""
    parameters = _parameters(value)
    if parameters == ANY:
        return ANY, ANY
    try:
        value(not_a_parameter=None)
    except TypeError as error:
        said = _UNEXPECTED.search(str(error))
        return (said[1], parameters) if said else (ANY, ANY)
    except Exception:  # it takes any keyword
        return ANY, ANY
    return ANY, ANY


def _parameters(value: object) -> str:
    """As Python writes them, each default as None."""
    if inspect.ismodule(value) or not callable(value) or (isinstance(value, type) and issubclass(value, Enum)):
        return ANY
    try:
        signature = inspect.signature(value.__call__ if isinstance(value, Enum) else value)
    except (TypeError, ValueError):
        return ANY
    given = signature.parameters.values()
    if any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL, p.POSITIONAL_ONLY) for p in given):
        return ANY
    plain = [p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None) for p in given]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))[1:-1]
