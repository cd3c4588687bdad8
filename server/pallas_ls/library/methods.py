"""Tables of methods: what `value.name` means for a Python type or a library object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..domain.python import Bound, Builtin, Call, Value
from ..source.span import Site
from .registry import NO_ATTRIBUTE, Registry


class Methods:
    """The methods of one type. A model is called as `model(m, call, self, **arguments)`, like any library function."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        self._table = Registry()

    def method(self, names: str, signature: str = "") -> Callable[[Callable[..., Value]], Callable[..., Value]]:
        """Registers a model under method names separated by spaces."""
        full = " ".join(f"{self.type_name}.{n}" for n in names.split())
        return self._table.function(full, f"self, {signature}" if signature else "self")

    def raw(self, names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
        """Registers a model that takes the call itself, the object as its first argument."""
        return self._table.raw(" ".join(f"{self.type_name}.{n}" for n in names.split()))

    def find(self, name: str) -> Builtin | None:
        """The method as a function of the object."""
        return self._table.names.get(f"{self.type_name}.{name}")

    def bind(self, v: Value, name: str) -> Value:
        """The method bound to an object; NO_ATTRIBUTE where the type has none of that name."""
        found = self.find(name)
        return NO_ATTRIBUTE if found is None else Bound(v, found)

    def attribute(self, m: Any, v: Value, name: str, site: Site) -> Value:
        """As an attribute model of a type that has methods only."""
        return self.bind(v, name)

    @property
    def names(self) -> list[str]:
        """All method names."""
        return [n.rpartition(".")[2] for n in self._table.names]


def arguments(call: Call) -> tuple[Value, ...]:
    """Positional arguments of a raw method call, without the object."""
    return call.args[1:]
