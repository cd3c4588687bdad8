"""Attribute access: objects of the user's classes here, everything else in the library."""

from __future__ import annotations

from typing import Any

from ..domain.python import (
    MISSING,
    Bound,
    Builtin,
    Choice,
    Class,
    DictCell,
    External,
    Instance,
    Opaque,
    Unknown,
    Value,
    has_known_bases,
    lookup,
    mro,
)
from ..source.span import Site
from .descriptors import OPEN, ClassMethod, FieldOptions, Property, StaticMethod, SuperObject
from .frame import Function
from .machine import Machine, Raised
from .modules import UserModule


class Attributes:
    """Attribute access."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def get(self, m: Machine, v: Value, name: str, site: Site) -> Value:
        """`v.name`."""
        if isinstance(v, Choice):
            return m.lift(lambda x: self.get(m, x, name, site), v)
        if isinstance(v, Instance):
            return self._of_instance(m, v, name, site)
        if isinstance(v, Class):
            return self._of_class(m, v, name, site)
        if isinstance(v, Opaque):
            return self._of_opaque(m, v, name, site)
        if isinstance(v, Unknown):
            return m.unknown(v.why, v, site=site)
        if isinstance(v, External):
            return External(f"{v.name}.{name}")
        if isinstance(v, UserModule):
            return self._of_module(m, v, name, site)
        if isinstance(v, Function):
            return _of_function(m, v, name)
        if isinstance(v, SuperObject):
            return self._of_super(m, v, name, site)
        if isinstance(v, Property):
            return _of_property(v, name)
        return self.program.library.getattr(m, v, name, site)

    def _of_instance(self, m: Machine, v: Instance, name: str, site: Site) -> Value:
        if name in v.slots:
            return m.select(v.slots[name])
        if name == "__class__":
            return v.cls
        self._note_member(m, v.cls, name)
        member = lookup(v.cls, name)
        if member is not MISSING:
            return self.bind(m, v, member, site)
        fallback = lookup(v.cls, "__getattr__")
        if isinstance(fallback, Function):
            return self.program.calls.call(m, Bound(v, fallback), (name,), site)
        known = self.program.library.instance_attribute(m, v, name, site)
        if known is not MISSING:
            return known
        if name == OPEN:
            return self._as_dict(m, v)
        if self._has_no_others(v) and not name.startswith("__"):
            raise Raised(None, "AttributeError", site)
        return m.unknown(f"attribute {name} of a {v.cls.name}", v, site=site)

    def _as_dict(self, m: Machine, v: Instance) -> Value:
        """`v.__dict__`: what is written into it is not followed."""
        items = {k: (k, x) for k, x in v.slots.items() if k != OPEN}
        m.write(v.slots, OPEN, Unknown("the attributes of an object, given away"))
        return DictCell({"items": items})

    def _has_no_others(self, v: Instance) -> bool:
        """Whether all attributes of an object are known: what is not among them is missing."""
        if v.cls.kind not in ("plain", "namespace") or OPEN in v.slots or not has_known_bases(v.cls):
            return False
        return not any(self._is_broken(c) for c in mro(v.cls))

    def _is_broken(self, cls: Class) -> bool:
        """Whether a statement in the class does not parse: it may be about to set the attribute."""
        module = self.program.files.module(cls.site.path) if cls.site is not None else None
        if module is None or cls.site is None:
            return False
        mine = (cls.site.chunk, f"{cls.site.chunk}.")
        return any(c.faults for c in module.chunks if c.key == mine[0] or c.key.startswith(mine[1]))

    def bind(self, m: Machine, v: Value, member: Value, site: Site) -> Value:
        """A class's member seen through an object: methods are bound, properties called."""
        if isinstance(member, Function):
            return Bound(v, member)
        if isinstance(member, Property):
            value = self.program.calls.call(m, member.getter, (v,), site)
            if member.cached and isinstance(v, Instance):
                m.write(v.slots, member.cached, value)
            return value
        if getattr(member, "binds", False):
            return Bound(v, member)
        if isinstance(member, StaticMethod):
            return member.function
        if isinstance(member, ClassMethod):
            return Bound(v.cls if isinstance(v, Instance) else v, member.function)
        if isinstance(member, Instance) and (getter := self.special(m, member, "__get__")) is not None:
            return self.program.calls.call(m, getter, (v, v.cls if isinstance(v, Instance) else None), site)
        return m.select(member)

    def _of_module(self, m: Machine, v: UserModule, name: str, site: Site) -> Value:
        found = v.env.member(m, name)
        if found is not MISSING:
            return m.select(found)
        inner = self.program.load(m, f"{v.env.name}.{name}", 0, v.env.path)
        return UserModule(inner) if inner is not None else m.unknown(f"{name} of module {v.env.name}", site=site)

    def _of_super(self, m: Machine, v: SuperObject, name: str, site: Site) -> Value:
        member = next((c.slots[name] for c in v.classes if name in c.slots), MISSING)
        if member is not MISSING:
            return self.bind(m, v.me, member, site)
        return self.program.classes.inherited(m, v.me, name, site)

    def _of_class(self, m: Machine, cls: Class, name: str, site: Site) -> Value:
        if name in ("__name__", "__qualname__"):
            return cls.name
        if name in ("__mro__", "__bases__"):
            rows = (*mro(cls), External("object")) if name == "__mro__" else cls.bases or (External("object"),)
            return rows if has_known_bases(cls) else m.unknown(f"{name} of {cls.name}", site=site)
        if cls.kind == "enum":
            found = self.program.classes.enums.member(m, cls, name)
            if found is not None:
                return found
        member = lookup(cls, name)
        if member is MISSING:
            return self.program.library.class_attribute(m, cls, name, site)
        if name in cls.annotations and isinstance(member, FieldOptions):
            return member.default if "default" in member.params else m.unknown(f"{name} of {cls.name}", site=site)
        if isinstance(member, ClassMethod):
            return Bound(cls, member.function)
        if isinstance(member, StaticMethod):
            return member.function
        return m.select(member)

    def _of_opaque(self, m: Machine, v: Opaque, name: str, site: Site) -> Value:
        if v.cls is not None:
            self._note_member(m, v.cls, name)
            member = lookup(v.cls, name)
            if isinstance(member, (Function, Property, StaticMethod, ClassMethod)) or hasattr(member, "binds"):
                return self.bind(m, v, member, site)
            if name in v.cls.annotations or member is not MISSING:
                return self.program.entries.annotated(m, f"{v.name}.{name}", v.cls, name)
        return self.program.library.opaque_attribute(m, v, name, site)

    def _note_member(self, m: Machine, cls: Class, name: str) -> None:
        """The unit depends on what this name is in the class and its bases."""
        if cls.site is not None and (state := self.program.states.get(cls.site.path)) is not None:
            state.env.note(m, f"{cls.site.chunk}.{name}")
        for base in cls.bases:
            if isinstance(base, Class):
                self._note_member(m, base, name)

    def special(self, m: Machine, v: Instance, name: str) -> Value:
        """A special method of an object, bound; None where its class has none."""
        member = lookup(v.cls, name)
        return Bound(v, member) if isinstance(member, Function) else None

    def set(self, m: Machine, v: Value, name: str, value: Value, site: Site | None = None) -> None:
        """`v.name = value`."""
        v = m.select(v)
        if isinstance(v, Choice):
            m.branch(
                v.cond,
                lambda: self.set(m, v.yes, name, value, site),
                lambda: self.set(m, v.no, name, value, site),
            )
        elif isinstance(v, Instance):
            setter = lookup(v.cls, name)
            if isinstance(setter, Property) and setter.setter is not None:
                self.program.calls.call(m, setter.setter, (v, value), None)
            else:
                if v.cls.kind == "dataclass" and v.cls.options.get("frozen") is True:
                    raise Raised(None, "FrozenInstanceError", site)
                m.write(v.slots, name, value)
        elif isinstance(v, (Class, Function)):
            m.write(v.slots, name, value)


def _of_property(v: Property, name: str) -> Value:
    """`@x.setter` and `@x.getter`."""
    if name == "setter":
        return Builtin("property.setter", lambda m, call: Property(v.getter, call.args[0]))
    if name == "getter":
        return Builtin("property.getter", lambda m, call: Property(call.args[0], v.setter))
    return Unknown(f"attribute {name} of a property")


def _of_function(m: Machine, v: Function, name: str) -> Value:
    if name in v.slots:
        return m.select(v.slots[name])
    if name in ("__name__", "__qualname__"):
        return v.name
    if name == "__defaults__":
        return tuple(v.defaults[p.name] for p in v.code.parameters if p.kind != "keyword" and p.name in v.defaults)
    if name == "__module__":
        return v.module.name
    return m.unknown(f"attribute {name} of a function")
