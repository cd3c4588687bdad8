"""What annotations say: bounds of pydantic fields, shapes and element types of jaxtyping arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.cond import Cond
from ..domain.dim import Dim
from ..domain.dtype import DTYPES
from ..domain.python import Call, Class, External, Int, Opaque, Subscripted, Value, field_names, lookup
from ..source.span import Site
from .descriptors import FieldOptions
from .exceptions import raised
from .machine import Machine

#: Classes of pydantic's that are integers with a bound.
_BOUNDED = {
    "PositiveInt": ("gt", 0),
    "NonNegativeInt": ("ge", 0),
    "NegativeInt": ("lt", 0),
    "NonPositiveInt": ("le", 0),
}


# -- integers ------------------------------------------------------------------------------------


def bounds(annotation: Value, default: Value) -> dict[str, Value]:
    """What an annotation and a field's default say of an integer: `gt`, `ge`, `lt`, `le`, `multiple_of`."""
    out: dict[str, Value] = {}
    for part in (*_metadata(annotation), default):
        if isinstance(part, FieldOptions):
            out |= {k: v for k, v in part.params.items() if k in ("gt", "ge", "lt", "le", "multiple_of")}
        elif isinstance(part, External) and part.name.startswith("pydantic.") and part.name[9:] in _BOUNDED:
            key, limit = _BOUNDED[part.name[9:]]
            out[key] = Int(limit)
    return out


def _metadata(annotation: Value) -> Iterator[Value]:
    """The parts of an annotation, those of `Annotated[int, ...]` one by one."""
    yield annotation
    if isinstance(annotation, Subscripted) and annotation.name.endswith(".Annotated"):
        for part in annotation.args:
            yield from _metadata(part)


def is_integer(annotation: Value) -> bool:
    """Whether the annotation is `int`, with or without more said of it."""
    return any(
        getattr(p, "name", "") in ("builtins.int", *(f"pydantic.{n}" for n in _BOUNDED)) for p in _metadata(annotation)
    )


def conditions(d: Dim, said: Mapping[str, Value]) -> list[Cond]:
    """The bounds as conditions on an integer."""
    out: list[Cond] = []
    for key, v in said.items():
        if not isinstance(v, Int):
            continue
        match key:
            case "gt":
                out.append(conds.less(v.dim, d))
            case "ge":
                out.append(conds.at_most(v.dim, d))
            case "lt":
                out.append(conds.less(d, v.dim))
            case "le":
                out.append(conds.at_most(d, v.dim))
            case _:
                out.append(conds.divides(v.dim, d))
    return out


def learn_bounds(m: Machine, name: str, annotation: Value, default: Value) -> Opaque | None:
    """A symbol of an annotated integer, whose bounds are known from here on; None where it is no integer."""
    said = bounds(annotation, default)
    if not said and not is_integer(annotation):
        return None
    for c in conditions(dims.symbol(name), said):
        m.learn(c)
    return Opaque(name, "int")


def check_fields(m: Machine, cls: Class, values: Mapping[str, Value], site: Site) -> None:
    """pydantic refuses an object whose fields are out of their bounds."""
    for name in field_names(cls):
        n = m.as_int(values.get(name)) if name in values else None
        said = bounds(cls.options.get(f"annotation {name}"), lookup(cls, name))
        for c in conditions(n.dim, said) if n is not None else ():
            limits = ", ".join(f"{k}={dims.text(v.dim)}" for k, v in said.items() if isinstance(v, Int))
            text = f"{name}={dims.text(n.dim) if n is not None else ''} of {cls.name} must have {limits}"
            _require(m, c, text, site)


def _require(m: Machine, c: Cond, text: str, site: Site) -> None:
    def refuse() -> Value:
        error = m.program.calls.apply(m, m.program.library.builtin("ValueError"), Call(site, (text,), {}))
        out = raised(m, error, "ValidationError", site)
        out.name = "ValidationError"
        raise out

    m.branch(c, lambda: None, refuse)


def is_checked(cls: Class) -> bool:
    """Whether pydantic checks the fields of the class when an object is made."""
    bases = [b.name for b in cls.bases if isinstance(b, External)]
    return cls.options.get("pydantic") is True or any(b.endswith("pydantic.BaseModel") for b in bases)


# -- arrays --------------------------------------------------------------------------------------


def array(m: Machine, name: str, annotation: Value, named: dict[str, Dim]) -> Opaque | None:
    """A symbol of an array annotated by jaxtyping, whose rank, named extents and element type are known from here on;
    None for other annotations. `named`: extents of the same function by name."""
    if not isinstance(annotation, Subscripted) or not annotation.name.startswith("jaxtyping."):
        return None
    dtype = DTYPES.get(annotation.name[10:].lower())
    if dtype is not None:
        m.learn(conds.Same(f"{name}.dtype", dtype))
    shape = annotation.args[1] if len(annotation.args) == 2 else None
    axes = shape.split() if isinstance(shape, str) else ["..."]
    if not any(a == "..." or a.startswith("*") for a in axes):
        m.learn(conds.Same(f"len({name}.shape)", len(axes)))
        for i, axis in enumerate(axes):
            _learn_extent(m, dims.symbol(f"{name}.shape[{i}]", low=0), axis, named)
    return Opaque(name, "array")


def _learn_extent(m: Machine, extent: Dim, axis: str, named: dict[str, Dim]) -> None:
    """`8`, `B`, `rows=8`; what may broadcast (`#B`) or is computed (`T-1`) says nothing here."""
    axis = axis.partition("=")[2] or axis
    if axis.isdigit():
        m.learn(conds.equal(extent, int(axis)))
    elif axis.isidentifier() and not axis.startswith("_"):
        m.learn(conds.equal(extent, named.setdefault(axis, extent)))
