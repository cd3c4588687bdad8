"""Classes of the user: plain ones, dataclasses, NamedTuples, enums, exceptions."""

from __future__ import annotations

from typing import Any

from ..domain.python import MISSING, Bound, Call, Class, DictCell, External, Instance, Int, Value
from ..source.span import Site
from . import operators as ops
from .attributes import SuperObject, lookup
from .frame import Frame, Function
from .machine import Machine, Raised

_KINDS = {"NamedTuple": "namedtuple", "Enum": "enum", "IntEnum": "enum", "StrEnum": "enum", "Flag": "enum",
          "IntFlag": "enum", "BaseModel": "dataclass", "PyTreeNode": "dataclass"}  # fmt: skip


class Classes:
    """Making classes and objects."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def begin(self, fr: Frame, name: str, bases: list[Value], keywords: dict[str, Value], site: Site) -> Class:
        """A class whose body is about to be evaluated."""
        kind = next((k for b in bases for k in [_kind_of(b)] if k != "plain"), "plain")
        return Class(name, tuple(bases), {}, kind, {}, dict(keywords), fr.module.name, site)

    def instantiate(self, m: Machine, cls: Class, call: Call) -> Value:
        """`cls(...)`."""
        if cls.kind == "enum":
            return self._enum_member(m, cls, call)
        if cls.kind == "exception":
            return Instance(cls, {"args": call.args})
        new = Instance(cls, {})
        init = lookup(cls, "__init__")
        if isinstance(init, Function):
            self.program.calls.apply(m, Bound(new, init), call)
            return new
        if cls.kind in ("dataclass", "namedtuple"):
            return self._from_fields(m, cls, new, call)
        if not all(isinstance(b, Class) or (isinstance(b, External) and b.name == "object") for b in cls.bases):
            return m.unknown(f"an object of {cls.name}, whose base has no model here", *call.args, site=call.site)
        return new

    def _from_fields(self, m: Machine, cls: Class, new: Instance, call: Call) -> Value:
        if call.open:
            return m.unknown(f"a {cls.name} made from unknown arguments", site=call.site)
        fields = self.fields(cls)
        args, kwargs = list(call.args), dict(call.kwargs)
        for name in fields:
            default = lookup(cls, name)
            options = default if isinstance(default, FieldOptions) else None
            if options is not None and options.init is False:
                new.slots[name] = self._default(m, options, call.site)
            elif args and not (options and options.kw_only) and cls.options.get("kw_only") is not True:
                new.slots[name] = args.pop(0)
            elif name in kwargs:
                new.slots[name] = kwargs.pop(name)
            elif options is not None and options.has_default:
                new.slots[name] = self._default(m, options, call.site)
            elif default is MISSING or options is not None:
                raise Raised(None, "TypeError", call.site)
            else:
                new.slots[name] = default
        if args or kwargs:
            raise Raised(None, "TypeError", call.site)
        post = lookup(cls, "__post_init__")
        if isinstance(post, Function):
            self.program.calls.apply(m, Bound(new, post), Call(call.site, (), {}))
        return new

    def _default(self, m: Machine, options: FieldOptions, site: Site) -> Value:
        if options.factory is not None:
            return self.program.calls.call(m, options.factory, (), site)
        return options.default

    def fields(self, cls: Class) -> list[str]:
        """Names of a dataclass's fields, those of its bases first."""
        out: dict[str, None] = {}
        for base in cls.bases:
            if isinstance(base, Class):
                out.update(dict.fromkeys(self.fields(base)))
        for name, text in cls.annotations.items():
            if not text.startswith(("ClassVar", "typing.ClassVar")):
                out[name] = None
        return list(out)

    def _enum_member(self, m: Machine, cls: Class, call: Call) -> Value:
        if len(call.args) == 1:
            for member in self.enum_members(cls):
                if ops.equality(m, member.slots["value"], call.args[0]) is True:
                    return member
        return m.unknown(f"a member of {cls.name}", *call.args, site=call.site)

    def enum_members(self, cls: Class) -> list[Instance]:
        """An enum's members in order."""
        found = [self.enum_member(cls, name) for name in list(cls.slots)]
        return [v for v in found if v is not None]

    def enum_member(self, cls: Class, name: str) -> Instance | None:
        """A member of an enum by name; None for methods and other names. The same object at every access."""
        value = cls.slots.get(name)
        if name not in cls.slots or name.startswith("_") or isinstance(value, Function) or _is_descriptor(value):
            return None
        if isinstance(value, External) and value.name.endswith("auto"):
            value = Int(list(cls.slots).index(name) + 1)
        key = f"member {name}"
        known = cls.options.get(key)
        if known is None or known.slots["value"] != value:  # the member's statement may have been edited
            known = cls.options[key] = Instance(cls, {"name": name, "value": value}, True)
        return known

    def super_object(self, m: Machine, frame: Frame | None) -> Value:
        """`super()`: the first base that the analysis knows."""
        fn = frame.site if frame is not None else None
        if isinstance(fn, Function) and isinstance(fn.owner, Class) and frame is not None and fn.code.parameters:
            me = frame.vars.get(fn.code.parameters[0].name)
            base = next((b for b in fn.owner.bases if isinstance(b, Class)), None)
            if base is not None and isinstance(me, Instance):
                return SuperObject(me, base)
        return m.unknown("super()")

    def replace(self, m: Machine, v: Value, changes: dict[str, Value], site: Site) -> Value:
        """`dataclasses.replace(v, **changes)`."""
        if not isinstance(v, Instance):
            return m.unknown("replace of an unknown object", v, site=site)
        kept = {n: v.slots[n] for n in self.fields(v.cls) if n in v.slots}
        new = Instance(v.cls, {**kept, **changes})
        post = lookup(v.cls, "__post_init__")
        if isinstance(post, Function):
            self.program.calls.apply(m, Bound(new, post), Call(site, (), {}))
        return new

    def as_dict(self, m: Machine, v: Instance) -> Value:
        """`dataclasses.asdict(v)`, one level."""
        return DictCell({"items": {n: (n, v.slots[n]) for n in self.fields(v.cls) if n in v.slots}})


class FieldOptions:
    """`dataclasses.field(...)` or pydantic's `Field(...)` in a class body."""

    __slots__ = ("default", "factory", "has_default", "init", "kw_only", "params")

    def __init__(self, params: dict[str, Value]) -> None:
        self.params = params
        self.default = params.get("default")
        self.factory = params.get("default_factory")
        self.has_default = "default" in params or "default_factory" in params
        self.init = params.get("init", True)
        self.kw_only = params.get("kw_only", False) is True


def _kind_of(base: Value) -> str:
    if isinstance(base, Class):
        return base.kind
    if isinstance(base, External):
        name = base.name.rsplit(".", 1)[-1]
        if name in _KINDS:
            return _KINDS[name]
        if name.endswith(("Error", "Exception", "Warning")):
            return "exception"
    return "plain"


def _is_descriptor(v: Value) -> bool:
    return type(v).__name__ in ("Property", "StaticMethod", "ClassMethod")
