"""What class bodies hold besides functions and values: properties, wrapped methods, fields; and `super()`."""

from __future__ import annotations

from ..domain.python import Class, Instance, Opaque, Value

#: The slot of an object that may have attributes which the analysis has not seen being set.
OPEN = "__dict__"


class Property:
    """A property of a user's class; `cached`: the attribute in which `functools.cached_property` keeps its value."""

    __slots__ = ("cached", "getter", "setter")

    def __init__(self, getter: Value, setter: Value = None, cached: str = "") -> None:
        self.getter = getter
        self.setter = setter
        self.cached = cached


class StaticMethod:
    """A static method of a user's class."""

    __slots__ = ("function",)

    def __init__(self, function: Value) -> None:
        self.function = function


class ClassMethod:
    """A class method of a user's class."""

    __slots__ = ("function",)

    def __init__(self, function: Value) -> None:
        self.function = function


class SuperObject:
    """`super()` in a method: `classes` are those that come after the method's own for `me`."""

    __slots__ = ("classes", "me")

    def __init__(self, me: Instance | Class | Opaque, classes: tuple[Class, ...]) -> None:
        self.me = me
        self.classes = classes


class FieldOptions:
    """`dataclasses.field(...)` or pydantic's `Field(...)` in a class body."""

    __slots__ = ("compared", "default", "factory", "has_default", "init", "kw_only", "params")

    def __init__(self, params: dict[str, Value]) -> None:
        self.params = params
        self.default = params.get("default")
        self.factory = params.get("default_factory")
        self.has_default = "default" in params or "default_factory" in params
        self.init = params.get("init", True)
        self.kw_only = params.get("kw_only", False) is True
        self.compared = params.get("compare", True) is not False
