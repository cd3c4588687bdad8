"""`typing`, `dataclasses`, `enum`, `collections`, `contextlib`: what helps to write classes and types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..domain.python import (
    MISSING,
    Bool,
    Bound,
    Builtin,
    Call,
    Class,
    DictCell,
    External,
    Instance,
    Int,
    ListCell,
    NotConstant,
    Opaque,
    Subscripted,
    Value,
    constant,
    field_names,
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
    for name in _KNOWN_BY_NAME:  # what the evaluator knows by name; the packages themselves are not read
        r.value(name, External(name))


_KNOWN_BY_NAME = (
    "pydantic.Field", "pydantic.BaseModel", "pydantic.ConfigDict", "pydantic.dataclasses.dataclass",
    "pydantic.PositiveInt", "pydantic.NonNegativeInt", "jaxtyping.Array", "jaxtyping.Float", "jaxtyping.Int",
    "jaxtyping.Bool", "jaxtyping.Num", "jaxtyping.Shaped", "jaxtyping.BFloat16", "jaxtyping.Float16",
    "jaxtyping.Float32", "jaxtyping.Float64", "jaxtyping.Int8", "jaxtyping.Int16", "jaxtyping.Int32",
    "jaxtyping.Int64", "jaxtyping.UInt8", "jaxtyping.UInt16", "jaxtyping.UInt32", "jaxtyping.UInt64",
    "jaxtyping.Complex", "jaxtyping.Integer", "jaxtyping.Inexact", "jaxtyping.PyTree", "jaxtyping.Scalar",
)  # fmt: skip


class ExternalItems:
    """Subscripts of names without a model: `Optional[int]` is a type, `os.environ["X"]` is not known."""

    def get(self, m: Any, v: External, index: Value, site: Site, where: Site) -> Value:
        """`v[index]`."""
        if v.name.startswith("jaxtyping.") or v.name.rpartition(".")[2] in ("Literal", "Annotated"):
            return Subscripted(v.name, index if type(index) is tuple else (index,))
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

        @r.function(f"{typing}.get_args", "tp")
        def get_args(m: Any, call: Call, tp: Value) -> Value:
            return tp.args if isinstance(tp, Subscripted) else m.unknown("the arguments of a type", tp, site=call.site)

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
        return tuple(_field(m, name) for name in field_names(cls))

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


# -- namedtuple, SimpleNamespace, context managers ---------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Entered:
    """A context manager that does nothing but give a value."""

    value: Value


#: The class of the objects that `types.SimpleNamespace` makes.
NAMESPACE = Class("SimpleNamespace", (), {}, "namespace")


def _collections(r: Registry) -> None:
    @r.raw("collections.defaultdict")
    def defaultdict(m: Any, call: Call) -> Value:
        factory, *rest = call.args or (None,)
        made = m.program.library.builtin("dict").run(m, Call(call.site, tuple(rest), call.kwargs, open=call.open))
        return DictCell({**made.slots, "default": factory}) if isinstance(made, DictCell) else made

    @r.function("collections.Counter", "iterable=()")
    def counter(m: Any, call: Call, iterable: Value) -> Value:
        if isinstance(iterable, DictCell):
            return DictCell({"items": iterable.slots["items"], "default": Int(0)})
        return DictCell({"items": m.lift(lambda items: _counts(m, items), contents(m, iterable)), "default": Int(0)})

    @r.function("collections.deque", "iterable=(), maxlen=None")
    def deque(m: Any, call: Call, iterable: Value, maxlen: Value) -> Value:
        content = contents(m, iterable)
        return ListCell({"items": content if maxlen is None else m.unknown("a deque that is cut", maxlen)})

    @r.raw("collections.namedtuple")
    def namedtuple(m: Any, call: Call) -> Value:
        return _namedtuple(m, call)

    @r.raw("types.SimpleNamespace argparse.Namespace")
    def namespace(m: Any, call: Call) -> Value:
        if call.args or call.open:
            return m.unknown("a namespace of unknown content", *call.args, site=call.site)
        return Instance(NAMESPACE, dict(call.kwargs))

    @r.function("builtins.vars", "obj")
    def vars_(m: Any, call: Call, obj: Value) -> Value:
        return m.program.attributes.get(m, obj, "__dict__", call.site)

    @r.function("contextlib.nullcontext", "enter_result=None")
    def nullcontext(m: Any, call: Call, enter_result: Value) -> Value:
        return Entered(enter_result)

    @r.function("contextlib.closing", "thing")
    def closing(m: Any, call: Call, thing: Value) -> Value:
        return Entered(thing)


def _counts(m: Any, items: Value) -> Value:
    """How often each element comes up."""
    out: dict[Any, tuple[Value, Value]] = {}
    if type(items) is not tuple:
        return m.unknown("counts of an unknown iterable", items)
    for x in items:
        try:
            key = constant(x)
        except NotConstant:
            return m.unknown("counts of elements that are not known", x)
        before = out[key][1].dim if key in out else 0
        out[key] = (x, Int(before + 1))
    return out


def _namedtuple(m: Any, call: Call) -> Value:
    """`namedtuple("Tile", "m n", defaults=(8,))`."""
    known = {"defaults", "module", "rename"}
    if len(call.args) != 2 or not isinstance(call.args[0], str) or not known.issuperset(call.kwargs):
        return m.unknown("a class made by namedtuple", *call.args, site=call.site)
    listed = call.args[1]
    given = tuple(listed.replace(",", " ").split()) if isinstance(listed, str) else contents(m, listed)
    defaults = contents(m, call.kwargs.get("defaults") or ())
    names = list(given) if type(given) is tuple else []
    if not names or not all(isinstance(n, str) for n in names) or type(defaults) is not tuple:
        return m.unknown("a class made by namedtuple", *call.args, site=call.site)
    slots = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    return Class(call.args[0], (), slots, "namedtuple", dict.fromkeys(names, ""), site=call.site)


def namedtuple_attribute(m: Any, v: Instance, name: str) -> Value:
    """What every NamedTuple has; MISSING for other names."""
    if name in ("_asdict", "_replace"):
        full = f"dataclasses.{'asdict' if name == '_asdict' else 'replace'}"
        return Bound(v, m.program.library.registry.names[full])
    if name in ("_fields", "_make", "_field_defaults"):
        return namedtuple_class_attribute(m, v.cls, name)
    if name in ("index", "count"):
        return m.program.attributes.get(m, tuple(v.slots.values()), name, m.program.nowhere)
    return MISSING


def namedtuple_class_attribute(m: Any, cls: Class, name: str) -> Value:
    """`_fields`, `_make` and `_field_defaults` of a NamedTuple class."""
    fields = field_names(cls)
    if name == "_fields":
        return tuple(fields)
    if name == "_field_defaults":
        return DictCell({"items": {n: (n, cls.slots[n]) for n in fields if n in cls.slots}})

    def make(m: Any, call: Call) -> Value:
        items = m.program.items.iterate(m, call.args[0]) if call.args else None
        if items is None:
            return m.unknown(f"a {cls.name} made from an unknown sequence", *call.args, site=call.site)
        return m.program.calls.call(m, cls, tuple(items), call.site)

    return Builtin(f"{cls.name}._make", make)


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
