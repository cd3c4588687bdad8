"""Models of library functions: their signatures, and how they are found by name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..domain.python import Bound, Builtin, Call, Choice, Int, Unknown, Value
from ..source.span import Site
from .dataflow import computed

Attribute = Callable[[Any, Any, str, Site], Value]


class _Required:
    """Marks a parameter without a default that the call does not give."""

    def __repr__(self) -> str:
        return "<required>"


REQUIRED = _Required()
#: An argument that a star of unknown content may give.
_FROM_A_STAR = Unknown("an argument that may come from a star of unknown content")
#: What an attribute model returns where the object has no such attribute.
NO_ATTRIBUTE = object()


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters of a library function, as written in Python: "src, ref, *, barrier=None"."""

    positional: tuple[str, ...]
    keyword: tuple[str, ...]
    defaults: Mapping[str, Value]
    star: str | None = None
    star_star: str | None = None

    @staticmethod
    def parse(text: str) -> Signature:
        """Reads a parameter list; defaults are literals."""
        node = ast.parse(f"def f({text}): pass").body[0]
        assert isinstance(node, ast.FunctionDef)
        a = node.args
        positional = tuple(p.arg for p in (*a.posonlyargs, *a.args))
        keyword = tuple(p.arg for p in a.kwonlyargs)
        given = zip(positional[len(positional) - len(a.defaults) :], a.defaults, strict=True)
        defaults = {name: _literal(d) for name, d in given}
        defaults |= {name: _literal(d) for name, d in zip(keyword, a.kw_defaults, strict=True) if d is not None}
        return Signature(
            positional, keyword, defaults, a.vararg.arg if a.vararg else None, a.kwarg.arg if a.kwarg else None
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All named parameters in order."""
        return self.positional + self.keyword

    def bind(self, call: Call) -> Arguments:
        """The call's arguments by parameter; never fails: what does not fit is told in the result."""
        values: dict[str, Value] = {}
        sites: dict[str, Site] = {}
        for i, v in enumerate(call.args[: len(self.positional)]):
            values[self.positional[i]] = v
            if i < len(call.arg_sites):
                sites[self.positional[i]] = call.arg_sites[i]
        extra = call.args[len(self.positional) :]
        excess: list[str] = []
        others: dict[str, Value] = {}
        for k, v in call.kwargs.items():
            if k in self.names and k not in values:
                values[k] = v
                if k in call.kwarg_sites:
                    sites[k] = call.kwarg_sites[k]
            elif self.star_star:
                others[k] = v
            else:
                excess.append(k)
        if extra and self.star is None:
            excess.append(f"positional argument {len(self.positional) + 1}")
        given = frozenset(values)
        missing = tuple(n for n in self.names if n not in values and n not in self.defaults)
        for n in self.names:
            values.setdefault(n, _FROM_A_STAR if call.open else self.defaults.get(n, REQUIRED))
        if self.star:
            values[self.star] = _FROM_A_STAR if call.open else tuple(extra)
        if self.star_star:
            values[self.star_star] = _FROM_A_STAR if call.open else others
        return Arguments(values, sites, given, missing, tuple(excess), call.open)


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments by parameter name.

    Attributes:
      values: one for each parameter; a default where the call gives none; REQUIRED where there is no default either;
        Unknown where the call is open and does not give it by name or position.
      sites: the expressions of those given at the call.
      given: names of those that the call gives.
      missing: required ones that it does not give; `excess`: keywords that the function does not know.
      open: further arguments came from a star of unknown content: what seems missing may be there.
    """

    values: dict[str, Value]
    sites: dict[str, Site]
    given: frozenset[str]
    missing: tuple[str, ...]
    excess: tuple[str, ...]
    open: bool

    @property
    def fits(self) -> bool:
        """Every required argument is there, or may be, and no unknown one."""
        return not (self.lacking or self.excess)

    @property
    def lacking(self) -> bool:
        """A required argument is certainly not there."""
        return bool(self.missing) and not self.open


@dataclass(slots=True)
class Registry:
    """Models by full name ("jax.numpy.zeros") and attributes by type."""

    names: dict[str, Value] = field(default_factory=dict[str, Value])
    attributes: dict[type, Attribute] = field(default_factory=dict[type, Attribute])
    calls: dict[type, Callable[[Any, Any, Call], Value]] = field(default_factory=dict)
    items: dict[type, Any] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict[str, str])

    def function(self, names: str, signature: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
        """Registers a model under full names separated by spaces.

        The model is called as `model(m, call, **arguments)`, only where the arguments fit the signature, and never
        sees a
        `Choice` as an argument, nor as an element of a tuple argument: it runs once for each case.
        """
        parsed = Signature.parse(signature)

        def register(model: Callable[..., Value]) -> Callable[..., Value]:
            for name in names.split():
                self.names[name] = Builtin(name, _modelled(name, parsed, model))
            return model

        return register

    def raw(self, names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
        """Registers a model that takes the call as it is: `model(m, call)`."""

        def register(model: Callable[..., Value]) -> Callable[..., Value]:
            for name in names.split():
                self.names[name] = Builtin(name, model)
            return model

        return register

    def attribute(self, *types: type) -> Callable[[Attribute], Attribute]:
        """Registers how attributes of a type's values are read: `model(m, v, name, site)`."""

        def register(model: Attribute) -> Attribute:
            for t in types:
                self.attributes[t] = model
            return model

        return register

    def value(self, name: str, value: Value) -> None:
        """Registers a constant."""
        self.names[name] = value

    def alias(self, name: str, target: str) -> None:
        """`name` is another path to the module or object `target`."""
        self.aliases[name] = target


def _modelled(name: str, signature: Signature, model: Callable[..., Value]) -> Callable[[Any, Call], Value]:
    def run(m: Any, call: Call) -> Value:
        arguments = signature.bind(call)
        if not arguments.fits or (arguments.open and (signature.star or signature.star_star)):
            return m.unknown(f"{name} called with arguments that do not fit", *call.args, site=call.site)
        return by_case(
            m, arguments.values, lambda values: computed(m, name, values, call.site, model(m, call, **values))
        )

    return run


def by_case(m: Any, values: dict[str, Value], run: Callable[[dict[str, Value]], Value]) -> Value:
    """`run` for each case of the values, one at a time, with the case's condition assumed; results are merged."""
    names = list(values)
    spread = [cases_on_top(m, v) for v in values.values()]
    if not any(isinstance(v, Choice) for v in spread):
        return run(values)
    return m.lift(lambda *picked: run(dict(zip(names, picked, strict=True))), *spread)


def cases_on_top(m: Any, v: Value, depth: int = 2) -> Value:
    """A tuple with choices among its elements, as a choice of tuples."""
    if type(v) is not tuple or depth == 0:
        return v
    items = tuple(cases_on_top(m, x, depth - 1) for x in v)
    if not any(isinstance(x, Choice) for x in items):
        return v
    return m.lift(lambda *picked: picked, *items)


def method(v: Value, name: str, signature: str, model: Callable[..., Value]) -> Value:
    """A method of a library object: `model(m, call, v, **arguments)`."""
    parsed = Signature.parse(f"self, {signature}" if signature else "self")

    def adapted(m: Any, call: Call, **arguments: Value) -> Value:
        return model(m, call, arguments.pop("self"), **arguments)

    return Bound(v, Builtin(name, _modelled(name, parsed, adapted)))


def _literal(node: ast.expr) -> Value:
    value = ast.literal_eval(node)
    return Int(value) if isinstance(value, int) and not isinstance(value, bool) else value
