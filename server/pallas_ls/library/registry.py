"""Models of library functions: their signatures, and how they are found by name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from ..domain.python import Bool, Bound, Builtin, Call, Choice, Int, ListCell, Unknown, Value
from ..source.span import Site
from .dataflow import computed, noted

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
    @cache
    def parse(text: str) -> Signature:
        """Reads a parameter list; defaults are literals. Kept: every session registers the same ones."""
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

        def one(values: dict[str, Value]) -> Value:
            if m.launch is None or not name.startswith("jax."):
                return computed(m, name, values, call.site, model(m, call, **values))
            return noted(m, name, call, arguments.sites, values, lambda: model(m, call, **values))

        return by_case(m, arguments.values, one)

    return run


def by_case(
    m: Any, values: dict[str, Value], run: Callable[[dict[str, Value]], Value], *, lists: bool = False, depth: int = 0
) -> Value:
    """`run` for each case of the values, one at a time, with the case's condition assumed; results are merged.

    Attributes:
      lists: elements of lists count, too (not where the function may change the list).
      depth: how many conditions are assumed already; values that differ under more than MAX_CONDITIONS are unknown.
    """
    settled = {k: v if type(v) in _PLAIN else _settled(m, v, lists, 0) for k, v in values.items()}
    undecided = (_open(m, v, lists, 0) for v in settled.values() if type(v) not in _PLAIN)
    cond = next((c for c in undecided if c is not None), None)
    if cond is None:
        return run(settled)
    if depth >= MAX_CONDITIONS:
        return run({k: _given_up(m, v, lists, 0) for k, v in settled.items()})

    def side() -> Value:
        return by_case(m, settled, run, lists=lists, depth=depth + 1)

    return m.branch(cond, side, side)


#: Arguments that differ under more conditions than this are not looked at case by case.
MAX_CONDITIONS = 4
#: How deep tuples (and lists) of an argument are looked into for values that differ.
_DEPTH = 3
#: Types of values that never hold cases.
_PLAIN = frozenset((Int, str, bool, float, type(None)))


def _settled(m: Any, v: Value, lists: bool, depth: int) -> Value:
    """The value with the cases that the path decides."""
    if isinstance(v, Choice):
        v = m.select(v)
    parts = _parts(m, v, lists) if depth < _DEPTH else None
    if parts is None:
        return v
    new = tuple([p if type(p) in _PLAIN else _settled(m, p, lists, depth + 1) for p in parts])
    if all(a is b for a, b in zip(parts, new, strict=True)):
        return v
    return ListCell({"items": new}) if isinstance(v, ListCell) else new


def _parts(m: Any, v: Value, lists: bool) -> tuple[Value, ...] | None:
    if type(v) is tuple:
        return v
    if lists and isinstance(v, ListCell):
        items = m.select(v.slots["items"])
        return items if type(items) is tuple else None
    return None


def _open(m: Any, v: Value, lists: bool, depth: int) -> Any:
    """The condition of the first case that is not decided."""
    if isinstance(v, Choice):
        return v.cond
    if lists and isinstance(v, ListCell) and isinstance(items := m.select(v.slots["items"]), Choice):
        return items.cond
    parts = _parts(m, v, lists) if depth < _DEPTH else None
    for p in parts or ():
        if type(p) not in _PLAIN and (c := _open(m, p, lists, depth + 1)) is not None:
            return c
    return None


def _given_up(m: Any, v: Value, lists: bool, depth: int) -> Value:
    if isinstance(v, Choice):
        return replace(m.unknown("too many cases", v), number=_is_number(v))
    parts = _parts(m, v, lists) if depth < _DEPTH else None
    if parts is None:
        return v
    new = tuple(_given_up(m, p, lists, depth + 1) for p in parts)
    return ListCell({"items": new}) if isinstance(v, ListCell) else new


def _is_number(v: Value) -> bool:
    return _is_number(v.yes) and _is_number(v.no) if isinstance(v, Choice) else isinstance(v, (Int, Bool, bool))


def method(v: Value, name: str, signature: str, model: Callable[..., Value]) -> Value:
    """A method of a library object: `model(m, call, v, **arguments)`."""
    parsed = Signature.parse(f"self, {signature}" if signature else "self")

    def adapted(m: Any, call: Call, **arguments: Value) -> Value:
        return model(m, call, arguments.pop("self"), **arguments)

    return Bound(v, Builtin(name, _modelled(name, parsed, adapted)))


def _literal(node: ast.expr) -> Value:
    value = ast.literal_eval(node)
    return Int(value) if isinstance(value, int) and not isinstance(value, bool) else value
