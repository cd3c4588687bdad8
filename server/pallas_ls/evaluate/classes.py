"""Classes of the user: plain ones, dataclasses, NamedTuples, enums, exceptions."""

from __future__ import annotations

from typing import Any

from ..domain.python import (
    MISSING,
    Bound,
    Builtin,
    Call,
    Class,
    DictCell,
    External,
    Instance,
    Opaque,
    Value,
    defines,
    field_names,
    has_known_bases,
    lookup,
    mro,
)
from ..source.span import Site
from . import annotations
from .descriptors import ClassMethod, FieldOptions, SuperObject
from .enums import Enums
from .frame import Frame, Function
from .machine import Machine, Raised

_KINDS = {"NamedTuple": "namedtuple", "Enum": "enum", "IntEnum": "enum", "StrEnum": "enum", "Flag": "enum",
          "IntFlag": "enum", "BaseModel": "dataclass", "PyTreeNode": "dataclass"}  # fmt: skip


class Classes:
    """Making classes and objects."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.enums = Enums(program)

    def begin(self, fr: Frame, name: str, bases: list[Value], keywords: dict[str, Value], site: Site) -> Class:
        """A class whose body is about to be evaluated."""
        kind = next((k for b in bases for k in [_kind_of(b)] if k != "plain"), "plain")
        return Class(name, tuple(bases), {}, kind, {}, dict(keywords), fr.module.name, site)

    def instantiate(self, m: Machine, cls: Class, call: Call) -> Value:
        """`cls(...)`."""
        if cls.kind == "enum":
            return self.enums.member_of(m, cls, call)
        if defines(cls, "__new__"):
            return m.unknown(f"an object of {cls.name}, which makes its objects itself", *call.args, site=call.site)
        new = Instance(cls, {"args": call.args} if cls.kind == "exception" else {})
        init = lookup(cls, "__init__")
        if isinstance(init, Function):
            self.program.calls.apply(m, Bound(new, init), call)
            return new
        if cls.kind in ("dataclass", "namedtuple"):
            return self._from_fields(m, cls, new, call)
        if cls.kind == "exception":
            return new
        if has_known_bases(cls) and (call.args or call.kwargs):
            raise Raised(None, "TypeError", call.site)
        if not has_known_bases(cls):
            return m.unknown(f"an object of {cls.name}, whose base has no model here", *call.args, site=call.site)
        return new

    def _from_fields(self, m: Machine, cls: Class, new: Instance, call: Call) -> Value:
        if call.open:
            return m.unknown(f"a {cls.name} made from unknown arguments", site=call.site)
        fields = field_names(cls)
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
        if annotations.is_checked(cls):
            annotations.check_fields(m, cls, new.slots, call.site)
        post = lookup(cls, "__post_init__")
        if isinstance(post, Function):
            self.program.calls.apply(m, Bound(new, post), Call(call.site, (), {}))
        return new

    def _default(self, m: Machine, options: FieldOptions, site: Site) -> Value:
        if options.factory is not None:
            return self.program.calls.call(m, options.factory, (), site)
        return options.default

    def super_object(self, m: Machine, frame: Frame | None, args: tuple[Value, ...] = ()) -> Value:
        """`super()`, or `super(cls, me)`: what comes after the method's class for its object."""
        fn = frame.site if frame is not None else None
        owner: Value = None
        me: Value = None
        if len(args) == 2:
            owner, me = args
        elif isinstance(fn, Function) and frame is not None and fn.code.parameters:
            owner, me = fn.owner, frame.vars.get(fn.code.parameters[0].name)
        cls = me.cls if isinstance(me, (Instance, Opaque)) else me
        if isinstance(owner, Class) and isinstance(cls, Class):
            order = mro(cls)
            if owner in order:
                return SuperObject(me, order[order.index(owner) + 1 :])
        return m.unknown("super()")

    def inherited(self, m: Machine, me: Value, name: str, site: Site) -> Value:
        """What `super().name` is where no class of the user's has it: a method of `object` or of an exception."""
        cls = me.cls if isinstance(me, (Instance, Opaque)) else me
        if not isinstance(cls, Class):
            return m.unknown(f"super().{name}", site=site)
        if name == "__init__" and isinstance(me, Instance) and (cls.kind == "exception" or has_known_bases(cls)):
            return Builtin("object.__init__", lambda m, call: self._init_object(m, me, call))
        if name == "__init_subclass__" and has_known_bases(cls):
            return Builtin("object.__init_subclass__", lambda m, call: None)
        if name == "__setattr__" and isinstance(me, Instance):
            return Builtin("object.__setattr__", lambda m, call: self._set_plainly(m, me, call))
        return m.unknown(f"super().{name}", site=site)

    def _init_object(self, m: Machine, me: Instance, call: Call) -> Value:
        if me.cls.kind == "exception":
            m.write(me.slots, "args", call.args)

    def _set_plainly(self, m: Machine, me: Instance, call: Call) -> Value:
        if len(call.args) == 2 and isinstance(call.args[0], str):
            m.write(me.slots, call.args[0], call.args[1])
            return None
        return self.program.calls.unknown_call(m, None, call)

    def subclassed(self, m: Machine, cls: Class, keywords: dict[str, Value], site: Site) -> None:
        """A class was made: `__init_subclass__` of what it inherits from is told."""
        hook = next((c.slots["__init_subclass__"] for c in mro(cls)[1:] if "__init_subclass__" in c.slots), None)
        function = hook.function if isinstance(hook, ClassMethod) else hook
        if isinstance(function, Function):
            named = {k: v for k, v in keywords.items() if k != "metaclass"}
            self.program.calls.apply(m, Bound(cls, function), Call(site, (), named))

    def replace(self, m: Machine, v: Value, changes: dict[str, Value], site: Site) -> Value:
        """`dataclasses.replace(v, **changes)`."""
        if not isinstance(v, Instance):
            return m.unknown("replace of an unknown object", v, site=site)
        kept = {n: v.slots[n] for n in field_names(v.cls) if n in v.slots}
        new = Instance(v.cls, {**kept, **changes})
        post = lookup(v.cls, "__post_init__")
        if isinstance(post, Function):
            self.program.calls.apply(m, Bound(new, post), Call(site, (), {}))
        return new

    def as_dict(self, m: Machine, v: Instance) -> Value:
        """`dataclasses.asdict(v)`, one level."""
        return DictCell({"items": {n: (n, v.slots[n]) for n in field_names(v.cls) if n in v.slots}})


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
