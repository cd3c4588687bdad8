"""Entry functions: evaluated once over their parameters as symbols."""

from __future__ import annotations

import ast
from typing import Any

from ..domain.dim import Dim
from ..domain.python import Class, DictCell, Instance, Opaque, Value, field_names, has_known_bases, lookup, mro
from . import annotations
from .descriptors import ClassMethod, FieldOptions, Property, StaticMethod
from .frame import Frame, Function, Parameter
from .machine import Machine

_HINTS = {
    "int": "int", "float": "float", "str": "str", "bool": "bool", "jax.Array": "array", "Array": "array",
    "jnp.ndarray": "array", "jax.numpy.ndarray": "array", "np.ndarray": "array", "jax.typing.ArrayLike": "array",
    "jnp.dtype": "dtype", "np.dtype": "dtype",
    "Callable": "callable", "DTypeLike": "dtype", "jax.typing.DTypeLike": "dtype", "tuple": "tuple", "list": "list",
}  # fmt: skip
#: Named tuples in named tuples are followed no deeper.
MAX_DEPTH = 8


class Entries:
    """Symbolic arguments."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def finish(self, m: Machine, fr: Frame) -> None:
        """A frame ends: the functions made in it may still be called; those that never are, are evaluated at the
        end."""
        m.made.extend(fr.made)

    def arguments(self, m: Machine, f: Function, prefix: str = "") -> dict[str, Value]:
        """A symbol for each parameter, named by it."""
        fr = Frame(m, f.module, f.up, {})
        slots: dict[str, Value] = {}
        named: dict[str, Dim] = {}
        for p in f.code.parameters:
            name = prefix + p.name
            if p.kind == "**":
                slots[p.name] = DictCell({"items": m.unknown(f"**{p.name}", Opaque(name))})
            else:
                slots[p.name] = self._argument(fr, f, p, name, named)
        return slots

    def _argument(self, fr: Frame, f: Function, p: Parameter, name: str, named: dict[str, Dim]) -> Value:
        if p.kind == "*":
            return Opaque(name, "tuple")
        if not p.annotation:
            first = f.code.parameters[0] is p
            return Opaque(name, "", f.owner if first and isinstance(f.owner, Class) else None)
        if (parts := parts_of(name, p.annotation)) is not None:
            return parts
        hint, annotation = hint_of(p.annotation), f.annotations.get(p.name)
        if hint or annotation is None:
            return Opaque(name, hint)
        value = annotation(fr)
        found = annotations.array(fr.m, name, value, named) or annotations.learn_bounds(fr.m, name, value, None)
        if found is not None or not isinstance(value, Class):
            return found if found is not None else Opaque(name)
        return Opaque(name, "", value) if f.defaults.get(p.name, value) is None else self._of_class(fr.m, name, value)

    def _of_class(self, m: Machine, name: str, cls: Class) -> Value:
        """A symbol of a class; of a named tuple, which is no more than its fields, one for each of them."""
        if cls.kind != "namedtuple" or not has_known_bases(cls) or name.count(".") > MAX_DEPTH:
            return Opaque(name, "", cls)
        return Instance(cls, {n: self.annotated(m, f"{name}.{n}", cls, n) for n in field_names(cls)})

    def annotation(self, m: Machine, f: Function, parameter: str) -> Value:
        """What a parameter's annotation evaluates to; None where it has none."""
        found = f.annotations.get(parameter)
        return None if found is None else found(Frame(m, f.module, f.up, {}))

    def annotated(self, m: Machine, name: str, cls: Class, field: str) -> Value:
        """A field of a symbol whose class is known."""
        text = _annotation_of(cls, field)
        if (parts := parts_of(name, text or "")) is not None:
            return parts
        hint = hint_of(text or "")
        owner = next((c for c in mro(cls) if field in c.annotations), cls)
        value, default = owner.options.get(f"annotation {field}"), lookup(cls, field)
        if hint and not (hint == "int" and isinstance(default, FieldOptions)):
            return Opaque(name, hint)
        if (found := annotations.learn_bounds(m, name, value, default)) is not None:
            return found
        return self._of_class(m, name, value) if isinstance(value, Class) else Opaque(name)


def hint_of(text: str) -> str:
    """What an annotation's text says of a value: a key of `Opaque.hint`, or "" ("int | None" says nothing)."""
    text = text.strip("'\" ")
    if text in _HINTS:
        return _HINTS[text]
    head = text.split("[")[0]
    return _HINTS.get(head, "") if head in ("tuple", "list", "Callable", "Tuple", "Sequence") else ""


def parts_of(name: str, text: str) -> tuple[Value, ...] | None:
    """The elements of a tuple whose annotation says how many there are (`tuple[int, int]`); None for any other."""
    head, bracket, _ = text.strip("'\" ").partition("[")
    if not bracket or head not in ("tuple", "Tuple", "typing.Tuple"):
        return None
    try:
        said = ast.parse(text.strip("'\" "), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(said, ast.Subscript):
        return None  # `tuple[int, int] | None`
    inner = said.slice.elts if isinstance(said.slice, ast.Tuple) else [said.slice]
    texts = [ast.unparse(x) for x in inner]
    if any(t == "..." or t.startswith("*") for t in texts):
        return None
    return tuple(Opaque(f"{name}[{i}]", hint_of(t)) for i, t in enumerate(texts))


def _annotation_of(cls: Class, field: str) -> str | None:
    if field in cls.annotations:
        return cls.annotations[field]
    for base in cls.bases:
        if isinstance(base, Class):
            found = _annotation_of(base, field)
            if found is not None:
                return found
    return None


def underlying(v: Value) -> Function | None:
    """The user's function in what a decorator made of it."""
    if isinstance(v, Function):
        return v
    if isinstance(v, Property):
        return underlying(v.getter)
    if isinstance(v, (StaticMethod, ClassMethod)):
        return underlying(v.function)
    return None
