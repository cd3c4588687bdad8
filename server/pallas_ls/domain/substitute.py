"""Numbers put in the place of symbols, in all that an evaluation leaves behind.

An evaluation over symbols holds for each binding of them. With a binding put in, conditions are decided, choices are
selected, and what stands on paths that never run is left out. What cannot be told by putting numbers in raises
`Structure`, which names the symbols at fault: it has to be evaluated anew with their values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, cast

from ..source.span import Site
from . import cond as conds
from . import dim as dims
from .cond import And, Cond, NonPos, Not, Or, Same, Truth, Zero
from .dependence import Dependence
from .dim import Atom, Dim, Expr, Sym
from .dtype import DType
from .facts import Facts
from .memory import Scope
from .python import (
    Bool,
    Builtin,
    Choice,
    Class,
    DictCell,
    Endless,
    External,
    Instance,
    Int,
    IteratorCell,
    Lazy,
    ListCell,
    Made,
    ModuleName,
    Opaque,
    Origin,
    PartlyKnown,
    Ratio,
    SetCell,
    Unknown,
    Value,
)

#: Values without a part that could be a symbol.
_PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes, type(...), Site, Made, DType, Class, Builtin,
                    External, ModuleName))  # fmt: skip
_FRESH = re.compile(r"\?(.*?)(\d+)")
_WORD = re.compile(r"\w+")

Bounds = tuple[Dim | None, Dim | None]


class Structure(Exception):
    """Numbers cannot be put in. `needs`: the symbols that decide more than a value; none where it is not about them."""

    def __init__(self, why: str, needs: frozenset[str] = frozenset()) -> None:
        super().__init__(why)
        self.needs = needs


@dataclass(frozen=True, slots=True)
class Binding:
    """What is put in, and what becomes of the objects and names that the evaluation made.

    Attributes:
      numbers: symbol -> integer.
      given: what is known where the result is used.
      rename: the number in a name made on the way ("?i3") -> the number to use, or None for a name made elsewhere.
      origins: by identity, the origin that a symbol was given -> that of the number, if it has one.
      objects: by identity, a stand-in that was evaluated with -> the object itself.
      named: names given to conditions of many parts -> the condition.
      bounds: symbols made on the way whose inclusive bounds are no plain integers.
      foreign: identities of the slots of objects that were there before: they are no one's copy.
      own: identities of further objects made on the way, of which each use gets its own.
      guards: of the path where the result is used.
      here: stands for the calling context at the head of chains of calls; `chain`: that context.
      opaque: types of values that are left as they are (functions with their closures).
      needs: what values depend on; `shared`: values by that, for all bindings of one evaluation.
    """

    numbers: Mapping[str, int]
    given: Facts = field(default_factory=Facts)
    rename: Callable[[int], int | None] = lambda n: None
    origins: Mapping[int, Origin | None] = field(default_factory=dict[int, Origin | None])
    objects: Mapping[int, Value] = field(default_factory=dict[int, Value])
    named: Mapping[str, Cond] = field(default_factory=dict[str, Cond])
    bounds: Mapping[str, Bounds] = field(default_factory=dict[str, Bounds])
    foreign: frozenset[int] = frozenset()
    own: frozenset[int] = frozenset()
    guards: tuple[Cond, ...] = ()
    here: Site | None = None
    chain: tuple[Site, ...] = ()
    opaque: tuple[type, ...] = ()
    needs: Dependence | None = None
    shared: dict[tuple[int, tuple[object, ...]], Value] = field(default_factory=dict[Any, Value])


class Substitution:
    """One binding put in: what is shared before is shared after."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.numbers = binding.numbers
        self._symbols: dict[Sym, Dim | None] = {}
        self._conds: dict[Cond, Cond] = {}
        self._values: dict[int, tuple[Value, Value]] = {}
        self._facts: dict[int, tuple[Facts, Facts]] = {}
        self._guards: dict[int, tuple[tuple[Cond, ...], tuple[Cond, ...] | None]] = {}
        self._origins: dict[int, tuple[Origin, Origin | None]] = {}
        self._keys: dict[frozenset[str | int], tuple[object, ...]] = {}
        #: Copies of objects that can change: (slots of the object, slots of its copy).
        self.copies: list[tuple[dict[str, Value], dict[str, Value]]] = []

    # -- integers ------------------------------------------------------------------------------------------------------

    def dim(self, d: Dim) -> Dim:
        """An integer; raises Structure where an operation then has no value."""
        if isinstance(d, int):
            return d
        leaf: dict[Atom, Dim] = {}
        for s in dims.symbols(d):
            new = self._symbol(s)
            if new is not None:
                leaf[s] = new
        if not leaf:
            return d
        try:
            return dims.rebuild(d, leaf)
        except (ZeroDivisionError, ValueError) as e:
            raise Structure("an operation that has no value", self._mine(s.name for s in dims.symbols(d))) from e

    def _symbol(self, s: Sym) -> Dim | None:
        """What stands for a symbol; None where it stays."""
        if s.name in self.numbers:
            return self.numbers[s.name]
        if s not in self._symbols:
            self._refuse(s.name)
            self._symbols[s] = self._made(s) if s.name.startswith("?") else None
        return self._symbols[s]

    def _refuse(self, name: str) -> None:
        """Raises Structure for a name that tells of a symbol (`find_swizzle(16*tile)`)."""
        if mine := self._mine(_WORD.findall(name)):
            raise Structure(f"what {name} is", mine)

    def _made(self, s: Sym) -> Dim | None:
        name = self.name(s.name)
        if s.name not in self.binding.bounds:
            return None if name == s.name else dims.symbol(name, sure=s.sure, low=s.low, high=s.high)
        low, high = (None if b is None else self.dim(b) for b in self.binding.bounds[s.name])
        return dims.symbol(
            name,
            sure=s.sure,
            low=low if isinstance(low, int) else s.low,
            high=high if isinstance(high, int) else s.high,
        )

    def name(self, name: str) -> str:
        """The name of a symbol or condition that was made on the way, where the result is used."""
        found = _FRESH.fullmatch(name)
        number = self.binding.rename(int(found[2])) if found else None
        return name if found is None or number is None else f"?{found[1]}{number}"

    def _mine(self, names: Any) -> frozenset[str]:
        return frozenset(n for n in names if n in self.numbers)

    # -- conditions ----------------------------------------------------------------------------------------------------

    def cond(self, c: Cond) -> Cond:
        """A condition, decided where the numbers decide it."""
        if isinstance(c, bool):
            return c
        known = self._conds.get(c)
        if known is None:
            known = self._conds[c] = self._cond(c)
        return known

    def _cond(self, c: Cond) -> Cond:
        match c:
            case Zero():
                return conds.zero(self.dim(c.expr))
            case NonPos():
                return conds.nonpos(self.dim(c.expr))
            case Truth():
                self._refuse(c.name)
                whole = self.binding.named.get(c.name)
                return Truth(self.name(c.name)) if whole is None else self.cond(whole)
            case Same():
                self._refuse(c.name)
                return Same(self.name(c.name), c.value)
            case Not():
                return conds.negate(self.cond(c.cond))
            case And():
                return conds.all_of([self.cond(x) for x in c.conds])
            case Or():
                return conds.any_of([self.cond(x) for x in c.conds])
            case _:
                return c

    def decide(self, c: Cond) -> Cond:
        """A condition, decided by the numbers and what is known where the result is used."""
        new = self.cond(c)
        known = self.binding.given.decide(new)
        return new if known is None else known

    def guards(self, guards: tuple[Cond, ...]) -> tuple[Cond, ...] | None:
        """The guards that are still open; None where one of them never holds."""
        known = self._guards.get(id(guards))
        if known is None:
            known = self._guards[id(guards)] = guards, self._open(guards)
        return known[1]

    def _open(self, guards: tuple[Cond, ...]) -> tuple[Cond, ...] | None:
        facts = self.binding.given
        out: list[Cond] = []
        for c in guards:
            new = self.cond(c)
            answer = facts.decide(new)
            if answer is False:
                return None
            if answer is None:
                facts = facts.learn(new)
                out.append(new)
        return tuple(out)

    def facts(self, facts: Facts) -> Facts:
        """What is known on a path."""
        known = self._facts.get(id(facts))
        if known is None:
            known = self._facts[id(facts)] = facts, self._learnt(facts)
        return known[1]

    def _learnt(self, facts: Facts) -> Facts:
        out = self.binding.given
        learnt = {new for c in facts.assumed if (new := self.cond(c)) is not True}
        for c in sorted(learnt - {False}, key=conds.text):
            out = out.learn(c)
        if facts.contradictory or False in learnt:
            out = replace(out, contradictory=True)
        return out

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, v: Value) -> Value:
        """Any value."""
        kind: type = v.__class__
        if kind in _PLAIN:
            return v
        known = self._values.get(id(v))
        if known is None:
            known = self._values[id(v)] = v, self._shared(v, kind)
        return known[1]

    def _shared(self, v: Value, kind: type) -> Value:
        """The value, as it was made for another binding with the same numbers for all that it depends on, if any."""
        needs = None if self.binding.needs is None else self.binding.needs.of(v)
        if needs is None:
            return self._new(v, kind)
        if not needs:
            return v
        key = self._keys.get(needs)
        if key is None:
            key = self._keys[needs] = tuple(self._bound(n) for n in needs)
        found = self.binding.shared.get((id(v), key))
        if found is None:
            found = self.binding.shared[id(v), key] = self._new(v, kind)
        return found

    def _bound(self, need: str | int) -> object:
        return self.numbers[need] if isinstance(need, str) else self.binding.origins[need]

    def _new(self, v: Value, kind: type) -> Value:
        special = _SPECIAL.get(kind)
        return special(self, v) if special is not None else self._object(v, kind)

    def _int(self, v: Int) -> Int:
        d, origin = self.dim(v.dim), self.origin(v.origin)
        return v if d is v.dim and origin is v.origin else Int(d, origin)

    def origin(self, o: Origin | None) -> Origin | None:
        """How a number came about."""
        if o is None:
            return None
        if id(o) in self.binding.origins:
            return self.binding.origins[id(o)]
        known = self._origins.get(id(o))
        if known is None:
            inputs = tuple(x for x in map(self.origin, o.inputs) if x is not None)
            same = len(inputs) == len(o.inputs) and all(a is b for a, b in zip(inputs, o.inputs, strict=True))
            known = self._origins[id(o)] = o, o if same else Origin(o.site, o.how, inputs)
        return known[1]

    def _bool(self, v: Bool) -> Value:
        c = self.decide(v.cond)
        return c if isinstance(c, bool) else Bool(c)

    def _choice(self, v: Choice) -> Value:
        c = self.decide(v.cond)
        if isinstance(c, bool):
            return self.value(v.yes if c else v.no)
        mine = self._mine(conds.names(v.cond))
        if mine:
            raise Structure("a case that the numbers do not decide alone", mine)
        return Choice(c, self.value(v.yes), self.value(v.no))

    def _unknown(self, v: Unknown) -> Unknown:
        mine = self._mine(v.needs)
        if mine:
            raise Structure(v.why, mine)
        return v

    def _ratio(self, v: Ratio) -> Ratio:
        mine = self._mine(s.name for d in (v.numerator, v.denominator) for s in dims.symbols(d))
        if mine:
            raise Structure("a quotient of numbers", mine)
        return v

    def _lazy(self, v: Value) -> Value:
        raise Structure("an iterator that has not been looked into")

    def _opaque(self, v: Opaque) -> Opaque:
        self._refuse(v.name)
        return v

    def _tuple(self, v: tuple[Value, ...]) -> tuple[Value, ...]:
        if v and v[0] is self.binding.here:
            return (*self.binding.chain, *v[1:])
        new = tuple(map(self.value, v))
        return v if all(a is b for a, b in zip(new, v, strict=True)) else new

    def _dict(self, v: dict[Any, Value]) -> dict[Any, Value]:
        new = {k: self.value(x) for k, x in v.items()}
        return v if all(new[k] is x for k, x in v.items()) else new

    def _cell(self, v: ListCell | DictCell | IteratorCell) -> Value:
        if id(v) in self.binding.objects or id(v.slots) in self.binding.foreign:
            return self.binding.objects.get(id(v), v)
        new = type(v)({})
        self.copies.append((v.slots, new.slots))
        self._values[id(v)] = v, new  # it may contain itself
        new.slots.update((k, self.value(x)) for k, x in v.slots.items())
        return new

    def _set(self, v: SetCell) -> Value:
        if id(v.slots) in self.binding.foreign:
            return v
        if any(self.value(x) is not x for x in v.slots.values()):
            raise Structure("a set of numbers that may be equal")
        new = SetCell(dict(v.slots))
        self.copies.append((v.slots, new.slots))
        return new

    def _scope(self, v: Scope) -> Scope:
        """A scope of a kernel's memory, with those inside that are reached."""
        guards = (*self.binding.guards, *(self.guards(v.guards) or ()))
        new = Scope(v.kind, v.site, self.value(v.entries), guards, self.value(v.launch), v.made)
        self._values[id(v)] = v, new
        new.inner += [self.value(x) for x in v.inner if self.guards(x.guards) is not None]
        return new

    def _instance(self, v: Instance) -> Value:
        if v.cls.kind == "enum" or id(v) in self.binding.objects or id(v.slots) in self.binding.foreign:
            return self.binding.objects.get(id(v), v)
        new = Instance(v.cls, {}, v.frozen)
        self.copies.append((v.slots, new.slots))
        self._values[id(v)] = v, new
        new.slots.update((k, self.value(x)) for k, x in v.slots.items())
        return new

    def _object(self, v: Value, kind: type) -> Value:
        """A dataclass of any kind, field by field."""
        if kind in self.binding.opaque:
            return v
        if not is_dataclass(kind):
            raise Structure(f"a value of type {kind}")
        new = {n: self.value(getattr(v, n)) for n in _fields_of(kind)}
        if id(v) not in self.binding.own and all(getattr(v, n) is x for n, x in new.items()):
            return v
        return cast(Any, kind)(**new)


@lru_cache(maxsize=256)
def _fields_of(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.init)


#: Types of which more is known than their fields.
_SPECIAL: Mapping[type, Callable[[Substitution, Any], Value]] = {
    Int: lambda s, v: s._int(v),  # pyright: ignore[reportPrivateUsage]
    Expr: lambda s, v: s.dim(v),
    Bool: lambda s, v: s._bool(v),  # pyright: ignore[reportPrivateUsage]
    Choice: lambda s, v: s._choice(v),  # pyright: ignore[reportPrivateUsage]
    Unknown: lambda s, v: s._unknown(v),  # pyright: ignore[reportPrivateUsage]
    Opaque: lambda s, v: s._opaque(v),  # pyright: ignore[reportPrivateUsage]
    PartlyKnown: lambda s, v: s._unknown(v),  # pyright: ignore[reportPrivateUsage]
    Ratio: lambda s, v: s._ratio(v),  # pyright: ignore[reportPrivateUsage]
    Lazy: lambda s, v: s._lazy(v),  # pyright: ignore[reportPrivateUsage]
    Endless: lambda s, v: s._lazy(v),  # pyright: ignore[reportPrivateUsage]
    IteratorCell: lambda s, v: s._cell(v),  # pyright: ignore[reportPrivateUsage]
    Scope: lambda s, v: s._scope(v),  # pyright: ignore[reportPrivateUsage]
    Origin: lambda s, v: s.origin(v),
    tuple: lambda s, v: s._tuple(v),  # pyright: ignore[reportPrivateUsage]
    dict: lambda s, v: s._dict(v),  # pyright: ignore[reportPrivateUsage]
    ListCell: lambda s, v: s._cell(v),  # pyright: ignore[reportPrivateUsage]
    DictCell: lambda s, v: s._cell(v),  # pyright: ignore[reportPrivateUsage]
    SetCell: lambda s, v: s._set(v),  # pyright: ignore[reportPrivateUsage]
    Instance: lambda s, v: s._instance(v),  # pyright: ignore[reportPrivateUsage]
}
