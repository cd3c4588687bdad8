"""What the evaluator asks of the library."""

from __future__ import annotations

from typing import Any

from ..domain.array import Array
from ..domain.python import MISSING, Builtin, Call, Class, DictCell, External, Instance, ModuleName, Opaque, Value
from ..source.span import Site
from . import catalogue
from .convert import as_array
from .dataflow import computed
from .recording import record
from .registry import NO_ATTRIBUTE, Registry
from .releases import MODULES, is_in_all
from .stdlib_classes import Entered, namedtuple_attribute, namedtuple_class_attribute


class Library:
    """All models, looked up by name and by type."""

    def __init__(self, registry: Registry | None = None) -> None:
        self.registry = registry if registry is not None else catalogue.registry()
        self.modules = _modules(self.registry)

    # -- names -------------------------------------------------------------------------------------

    def builtin(self, name: str) -> Value:
        """A builtin name of Python."""
        found = self.registry.names.get(f"builtins.{name}")
        return External(name) if found is None and f"builtins.{name}" not in self.registry.names else found

    def has_module(self, name: str) -> bool:
        """Whether a dotted module name belongs to the library."""
        return self.canonical(name) in self.modules

    def canonical(self, name: str) -> str:
        """The name under which models are registered: aliases of modules are replaced, longest first."""
        head = name
        while head:
            if head in self.registry.aliases:
                return self.registry.aliases[head] + name[len(head) :]
            head = head.rpartition(".")[0]
        return name

    def member(self, module: str, name: str) -> Value:
        """`from module import name`; MISSING where the module is not of the library."""
        if not self.has_module(module):
            return MISSING
        return self._named(f"{module}.{name}")

    def _named(self, full: str) -> Value:
        full = self.canonical(full)
        if full in self.registry.names:
            return self.registry.names[full]
        return ModuleName(full) if full in self.modules else External(full)

    def public(self, module: str) -> list[tuple[str, Value]]:
        """The names that `from module import *` brings."""
        prefix = self.canonical(module) + "."
        rows = [(n[len(prefix) :], v) for n, v in self.registry.names.items() if n.startswith(prefix)]
        return [(n, v) for n, v in rows if "." not in n and not n.startswith("_")]

    # -- attributes and calls ----------------------------------------------------------------------

    def getattr(self, m: Any, v: Value, name: str, site: Site) -> Value:
        """An attribute of a value that is no object of a user's class."""
        if isinstance(v, ModuleName):
            found = self._named(f"{v.name}.{name}")
            if v.name == MODULES[""] and not isinstance(found, ModuleName) and not is_in_all(name):
                record(m, "plgpu.name", site, {"name": name}, found)
            return found
        model = self.registry.attributes.get(type(v))
        found = model(m, v, name, site) if model else NO_ATTRIBUTE
        if found is NO_ATTRIBUTE:
            return m.unknown(f"attribute {name} of {type(v).__name__.lower()}", v, site=site)
        return found

    def call(self, m: Any, f: Value, call: Call) -> Value:
        """A call of a library object (a kernel, a bound loop)."""
        model = self.registry.calls.get(type(f))
        return model(m, f, call) if model else m.program.calls.unknown_call(m, f, call)

    def getitem(self, m: Any, v: Value, index: Value, site: Site, where: Site) -> Value:
        """A subscript of a library object."""
        model = self.registry.items.get(type(v))
        if model is None:
            return m.unknown(f"an element of {type(v).__name__.lower()}", v, site=site)
        result = model.get(m, v, index, site, where)
        if not isinstance(v, Array) or m.launch is None:
            return result
        operands = {"of": v, "index": index}
        result = computed(m, "getitem", operands, site, result)
        record(m, "getitem", site, operands, result, {"index": where})
        return result

    def setitem(self, m: Any, v: Value, index: Value, value: Value, site: Site, where: Site) -> None:
        """A subscript assignment to a library object."""
        model = self.registry.items.get(type(v))
        if model is not None:
            model.set(m, v, index, value, site, where)

    def iterate(self, m: Any, v: Value) -> list[Value] | None:
        """The elements of a library object."""
        model = self.registry.items.get(type(v))
        return model.iterate(m, v) if model is not None else None

    def enter(self, m: Any, v: Value) -> Value:
        """`with v as x`: the value of x."""
        if isinstance(v, Entered):
            return v.value
        if isinstance(v, Builtin):  # a scope that changes nothing that the analysis sees
            return None
        return m.unknown("the value of a context manager", v)

    # -- attributes of what is known in part -------------------------------------------------------

    def instance_attribute(self, m: Any, v: Instance, name: str, site: Site) -> Value:
        """An attribute that an object's class does not define; MISSING where nothing is known of one."""
        if v.cls.kind == "namedtuple":
            return namedtuple_attribute(m, v, name)
        return m.unknown(f"{name} of an exception", v, site=site) if v.cls.kind == "exception" else MISSING

    def class_attribute(self, m: Any, cls: Class, name: str, site: Site) -> Value:
        """An attribute that a class does not define."""
        if cls.kind == "namedtuple" and name in ("_fields", "_make", "_field_defaults"):
            return namedtuple_class_attribute(m, cls, name)
        if cls.kind == "enum" and name == "__members__":
            members = m.program.classes.enums.all_names(m, cls)
            return DictCell({"items": {n: (n, v) for n, v in members.items()}})
        return m.unknown(f"attribute {name} of {cls.name}", site=site)

    def opaque_attribute(self, m: Any, v: Opaque, name: str, site: Site) -> Value:
        """An attribute of a parameter: named after it."""
        return self.registry.attributes[Opaque](m, v, name, site)

    def array_item(self, m: Any, v: Opaque, index: Value, site: Site, where: Site) -> Value:
        """A subscript of a parameter that is annotated as an array."""
        return self.getitem(m, as_array(m, v), index, site, where)

    # -- operators on arrays -----------------------------------------------------------------------

    def array_binary(self, m: Any, op: str, a: Value, b: Value, site: Site) -> Value:
        """`a op b` where one is an array."""
        return self.registry.names["operator.binary"].run(m, Call(site, (op, a, b), {}))

    def array_unary(self, m: Any, op: str, v: Value, site: Site) -> Value:
        """`op v` of an array."""
        return self.registry.names["operator.unary"].run(m, Call(site, (op, v), {}))

    def array_compare(self, m: Any, op: str, a: Value, b: Value, site: Site) -> Value:
        """A comparison where one side is an array."""
        return self.registry.names["operator.compare"].run(m, Call(site, (op, a, b), {}))

    # -- kernels -----------------------------------------------------------------------------------

    def launch_idle(self, m: Any, kernel: Value) -> None:
        """A kernel that was made and never called is run with unknown operands."""
        self.registry.names["pallas.launch_idle"].run(m, Call(kernel.made.site, (kernel,), {}))


def _modules(registry: Registry) -> set[str]:
    out: set[str] = set()
    for full in (*registry.names, *registry.aliases.values(), *registry.aliases):
        parts = full.split(".")
        out.update(".".join(parts[:i]) for i in range(1, len(parts)))
    out.update(registry.aliases.values())
    out.discard("operator.binary")
    return out
