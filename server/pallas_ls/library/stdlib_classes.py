"""`typing`, `dataclasses`, `enum`, `collections`, `contextlib`: what helps to write classes and types."""

from __future__ import annotations

from typing import Any

from ..domain.python import (
    Bool,
    Call,
    Class,
    DictCell,
    External,
    Instance,
    ListCell,
    Opaque,
    Value,
)
from ..source.span import Site
from .operate import contents
from .registry import Registry
from .stdlib_functions import identity


def register(r: Registry) -> None:
    """Registers these modules."""
    _typing(r)
    _dataclasses(r)
    _collections(r)
    _harmless(r)
    r.items[External] = ExternalItems()


class ExternalItems:
    """Subscripts of names without a model: `Optional[int]` is a type, `os.environ["X"]` is not known."""

    def get(self, m: Any, v: External, index: Value, site: Site, where: Site) -> Value:
        """`v[index]`."""
        if v.name.startswith(("typing.", "typing_extensions.", "collections.abc.", "jaxtyping.")):
            return v
        return m.unknown(f"an element of {v.name}, which has no model here", v, index, site=site)

    def set(self, m: Any, v: Value, index: Value, value: Value, site: Site, where: Site) -> None:
        """What it changes is not seen by the analysis."""

    def iterate(self, m: Any, v: Value) -> list[Value] | None:
        """Not known."""
        return None


def _typing(r: Registry) -> None:
    for typing in ("typing", "typing_extensions"):
        r.value(f"{typing}.TYPE_CHECKING", False)
        r.raw(f"{typing}.final {typing}.overload {typing}.runtime_checkable {typing}.no_type_check {typing}.override")(
            identity
        )

        @r.function(f"{typing}.cast", "typ, val")
        def cast(m: Any, call: Call, typ: Value, val: Value) -> Value:
            return val

        @r.function(f"{typing}.assert_type {typing}.reveal_type", "val, typ=None")
        def assert_type(m: Any, call: Call, val: Value, typ: Value) -> Value:
            return val

        @r.raw(f"{typing}.TypeVar {typing}.ParamSpec {typing}.NewType {typing}.TypeVarTuple")
        def type_variable(m: Any, call: Call) -> Value:
            return External("typing.TypeVar")

    r.value("collections.abc.Callable", External("typing.Callable"))


# -- dataclasses and enums -------------------------------------------------------------------------


def _dataclasses(r: Registry) -> None:
    @r.raw("dataclasses.replace copy.replace")
    def replace(m: Any, call: Call) -> Value:
        if len(call.args) != 1 or call.open:
            return m.unknown("replace with unknown arguments", *call.args, site=call.site)
        return m.lift(lambda v: m.program.classes.replace(m, v, dict(call.kwargs), call.site), call.args[0])

    @r.function("dataclasses.asdict", "obj, *, dict_factory=None")
    def asdict(m: Any, call: Call, obj: Value, dict_factory: Value) -> Value:
        if not isinstance(obj, Instance) or dict_factory is not None:
            return m.unknown("the fields of an unknown object", obj, site=call.site)
        return m.program.classes.as_dict(m, obj)

    @r.function("dataclasses.fields", "obj")
    def fields(m: Any, call: Call, obj: Value) -> Value:
        cls = obj.cls if isinstance(obj, (Instance, Opaque)) else obj
        if not isinstance(cls, Class):
            return m.unknown("the fields of an unknown class", obj, site=call.site)
        return tuple(_field(m, name) for name in m.program.classes.fields(cls))

    @r.function("dataclasses.is_dataclass", "obj")
    def is_dataclass(m: Any, call: Call, obj: Value) -> Value:
        cls = obj.cls if isinstance(obj, (Instance, Opaque)) else obj
        if isinstance(cls, Class):
            return cls.kind == "dataclass"
        return Bool(m.fresh_condition())

    @r.raw("enum.auto")
    def auto(m: Any, call: Call) -> Value:
        return External("enum.auto")

    r.raw("enum.unique")(identity)


_FIELD = Class("Field", (), {}, module="dataclasses")


def _field(m: Any, name: str) -> Instance:
    unknown = m.unknown("what a dataclass field says of itself")
    return Instance(_FIELD, {"name": name, "type": unknown, "default": unknown, "metadata": unknown}, True)


# -- collections -----------------------------------------------------------------------------------


def _collections(r: Registry) -> None:
    @r.raw("collections.defaultdict collections.Counter")
    def defaultdict(m: Any, call: Call) -> Value:
        return DictCell({"items": m.unknown("a dict that makes its own entries", site=call.site)})

    @r.function("collections.deque", "iterable=(), maxlen=None")
    def deque(m: Any, call: Call, iterable: Value, maxlen: Value) -> Value:
        return ListCell({"items": m.unknown("the content of a deque", iterable, site=call.site)})

    @r.raw("collections.namedtuple")
    def namedtuple(m: Any, call: Call) -> Value:
        return _namedtuple(m, call)


def _namedtuple(m: Any, call: Call) -> Value:
    """`namedtuple("Tile", "m n")`."""
    if len(call.args) != 2 or not isinstance(call.args[0], str) or call.kwargs:
        return m.unknown("a class made by namedtuple", *call.args, site=call.site)
    listed = call.args[1]
    given = tuple(listed.replace(",", " ").split()) if isinstance(listed, str) else contents(m, listed)
    names = list(given) if type(given) is tuple else []
    if not names or not all(isinstance(n, str) for n in names):
        return m.unknown("a class made by namedtuple", *call.args, site=call.site)
    annotations = dict.fromkeys(names, "")
    return Class(call.args[0], (), {}, "namedtuple", annotations, site=call.site)


# -- what changes nothing that the analysis sees ---------------------------------------------------


def _harmless(r: Registry) -> None:
    names = (
        "warnings.warn warnings.filterwarnings warnings.simplefilter logging.debug logging.info "
        "logging.warning logging.error "
        "logging.basicConfig time.sleep sys.path.insert sys.path.append gc.collect os.makedirs"
    )

    @r.raw(names)
    def nothing(m: Any, call: Call) -> Value:
        return None

    @r.raw("os.getenv os.environ.get")
    def getenv(m: Any, call: Call) -> Value:
        return m.unknown("an environment variable", site=call.site)
