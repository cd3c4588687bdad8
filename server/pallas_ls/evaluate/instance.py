"""One row put into the evaluation of a function over symbols: what the call leaves behind in its context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..domain import cond as conds
from ..domain.array import Operation
from ..domain.cond import Cond, Truth
from ..domain.dependence import Dependence
from ..domain.fact import CallFact, Division, HostCall, Raise
from ..domain.facts import Facts
from ..domain.python import MISSING, Value
from ..domain.ref import Launch
from ..domain.substitute import Binding, Structure, Substitution
from ..source.span import Site
from .descriptors import ClassMethod, FieldOptions, Property, StaticMethod
from .frame import Frame, Function
from .machine import Machine, Path
from .modules import UserModule
from .rows import Row
from .symbolic import FIRST_NAME, HERE, Operations, Symbolic
from .trail import Slots

#: Types of values that are left as they are.
OPAQUE = (Function, Frame, UserModule, Property, StaticMethod, ClassMethod, FieldOptions)

Chain = tuple[Site, ...]
Guards = tuple[Cond, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """Where a call is made: its chain and stack, what handlers around it take, and the path."""

    chain: Chain
    stack: Chain
    caught: tuple[str, ...]
    row: int
    path: Path
    operations: list[Operation]

    @staticmethod
    def of(m: Machine) -> Context:
        """The context of what a machine does now."""
        return Context(m.chain, m.stack, m.caught, m.row, m.path, m.operations)


@dataclass(slots=True)
class Instantiated:
    """What one call leaves behind: its value, facts, raises, host calls and the guards that the path gains.

    Attributes:
      doubts: how often something may have raised for all that is known.
      written: (slots, key, old value) of objects that were made and then changed: a unit's end undoes that.
      operations: those outside of kernels.
      positions: where the facts, raises and host calls stand in the summary that they come from.
    """

    value: Value
    facts: list[CallFact]
    raises: list[Raise]
    calls: list[HostCall]
    guards: Guards
    doubts: int
    divisions: tuple[Division, ...] = ()
    written: tuple[tuple[Slots, str, Value], ...] = ()
    operations: tuple[Operation, ...] = ()
    positions: frozenset[tuple[str, int]] = frozenset()

    def parts(self) -> tuple[Value, list[CallFact], list[Raise], list[HostCall], Guards]:
        """What must be the same in two evaluations."""
        return self.value, self.facts, self.raises, self.calls, self.guards


@dataclass(frozen=True, slots=True)
class Place:
    """What facts that were recorded at one moment share."""

    guards: Guards
    facts: Facts
    launch: Launch | None
    chain: Chain
    stack: Chain
    caught: tuple[str, ...]
    operations: Sequence[Operation]


@dataclass(frozen=True, slots=True)
class Summary:
    """An evaluation over symbols.

    Attributes:
      row: the row whose symbols it was made with.
      foreign: identities of the slots of objects that were there before.
      found: what it read: slots, with the content that they had.
      own: kernels and launches made on the way; `named`: names given to conditions of many parts.
      places: the different places of facts; `place`: for each fact, which one is its.
      needs: what values depend on; `shared`: values by the numbers for that.
      before: by identity of slots, what they held before they were first written to.
    """

    machine: Symbolic
    outcome: Instantiated
    row: Row
    foreign: frozenset[int]
    found: list[tuple[Slots, Slots]]
    own: frozenset[int]
    named: dict[str, Cond]
    places: list[Place]
    place: list[int]
    needs: Dependence
    shared: dict[tuple[int, tuple[object, ...]], Value]
    before: dict[int, list[tuple[str, Value]]]

    @staticmethod
    def of(m: Symbolic, value: Value, row: Row, foreign: frozenset[int], found: list[tuple[Slots, Slots]]) -> Summary:
        """What a machine that evaluated the function over a row's symbols came to."""
        own = frozenset(id(x) for k in m.kernels for x in (k, k.launch))
        named = {name.name: c for c, name in m.named.items() if isinstance(name, Truth)}
        look = Dependence(row.numbers, frozenset(row.origins), m.bounds, foreign, own | {id(HERE)}, OPAQUE)
        for f in m.facts_out:
            look.all(f.operations)  # in the order in which they were made: what they are made of is known then
        place, places = _places(m.facts_out)
        outcome = Instantiated(value, m.facts_out, m.raises, m.host_calls, m.path.guards, m.doubts)
        return Summary(
            m,
            outcome,
            row,
            foreign,
            found,
            own,
            named,
            places,
            place,
            look,
            {},
            _before(m),
        )


def _before(m: Symbolic) -> dict[int, list[tuple[str, Value]]]:
    out: dict[int, list[tuple[str, Value]]] = {}
    for slots, key, value in m.base.old.values() if m.base is not None else ():
        out.setdefault(id(slots), []).append((key, value))
    return out


def _numbered(values: Iterable[Any]) -> tuple[list[int], list[Any]]:
    """For each value its number, and the different values."""
    numbers: dict[Any, int] = {}
    out = [numbers.setdefault(v, len(numbers)) for v in values]
    return out, list(numbers)


def _places(facts: list[CallFact]) -> tuple[list[int], list[Place]]:
    out = [Place(f.guards, f.facts, f.launch, f.chain, f.stack, f.caught, f.operations) for f in facts]
    keys = [(id(p.guards), id(p.facts), id(p.launch), p.chain, p.stack, p.caught, id(p.operations)) for p in out]
    place, different = _numbered(keys)
    first = dict(zip(reversed(keys), reversed(out), strict=True))
    return place, [first[k] for k in different]


def instantiate(summary: Summary, row: Row, context: Context, fresh: int) -> Instantiated:
    """The row put in; raises Structure where that is not possible."""
    try:
        return _Instance(summary, row, context, fresh).result()
    except RecursionError as e:
        raise Structure("values nested too deep") from e


class _Instance:
    def __init__(self, summary: Summary, row: Row, context: Context, fresh: int) -> None:
        self.summary = summary
        self.context = context
        self.positions: set[tuple[str, int]] = set()
        binding = Binding(
            numbers=row.numbers,
            given=context.path.facts,
            origins=dict(zip(summary.row.origins, row.origins.values(), strict=True)),
            objects=dict(zip(summary.row.objects, row.objects.values(), strict=True)),
            named=summary.named,
            bounds=summary.machine.bounds,
            foreign=summary.foreign,
            own=summary.own,
            guards=context.path.guards,
            here=HERE,
            chain=context.chain,
            opaque=OPAQUE,
            needs=summary.needs,
            shared=summary.shared,
        )
        #: For facts: what is made up in them is no one else's.
        self.local = Substitution(binding)
        self.operations: dict[int, list[Operation]] = {}
        #: For what is seen by the caller.
        self.put = Substitution(
            replace(binding, needs=None, rename=lambda n: n - FIRST_NAME + fresh if n > FIRST_NAME else None)
        )

    def result(self) -> Instantiated:
        """All of it."""
        was = self.summary.outcome
        raises = [new for i, r in enumerate(was.raises) if (new := self._raise(i, r)) is not None]
        guards = self.put.guards(was.guards)
        if guards is None:
            raise Structure("the call does not return")
        facts = list(self._facts(was.facts))
        calls = [new for i, c in enumerate(was.calls) if (new := self._call(i, c)) is not None]
        value = self.put.value(was.value)
        divisions, written = tuple(self._divisions()), tuple(self._written())
        positions = frozenset(self.positions)
        return Instantiated(
            value, facts, raises, calls, guards, self._doubts(), divisions, written, self._outside(), positions
        )

    def _chain(self, chain: Chain, outer: Chain) -> Chain:
        return (*outer, *chain[1:]) if chain[:1] == (HERE,) else chain

    def _guards(self, guards: Guards) -> Guards | None:
        mine = self.put.guards(guards)
        return None if mine is None else (*self.context.path.guards, *mine)

    def _raise(self, i: int, r: Raise) -> Raise | None:
        guards = self._guards(r.guards)
        if guards is None:
            return None
        if len(guards) == len(self.context.path.guards):
            raise Structure(f"it raises {r.name}")
        self.positions.add(("raise", i))
        chain, caught = self._chain(r.chain, self.context.chain), (*self.context.caught, *r.caught)
        return replace(r, guards=guards, chain=chain, caught=caught, row=self.context.row)

    # -- facts -------------------------------------------------------------------------------------

    def _facts(self, facts: list[CallFact]) -> Iterator[CallFact]:
        places = [self._place(p) for p in self.summary.places]
        value = self.local.value
        for i, f in enumerate(facts):
            p = places[self.summary.place[i]]
            if p is None:
                continue
            self.positions.add(("fact", i))
            yield CallFact(
                f.api,
                f.site,
                value(f.operands),
                value(f.result),
                f.arg_sites,
                p.guards,
                p.facts,
                p.launch,
                p.chain,
                p.stack,
                f.missing,
                f.excess,
                f.open,
                p.caught,
                operations=p.operations,
                row=self.context.row,
                positional=f.positional,
                keywords=f.keywords,
            )

    def _place(self, p: Place) -> Place | None:
        """A place; None where it is never reached."""
        guards = self._guards(p.guards)
        if guards is None:
            return None
        if _speaks_of_made_up(guards[len(self.context.path.guards) :]):
            raise Structure("a path that hinges on what was made up on the way")
        facts = self.local.facts(p.facts)
        if facts.contradictory:
            return None
        chain, stack = self._chain(p.chain, self.context.chain), self._chain(p.stack, self.context.stack)
        caught = (*self.context.caught, *p.caught)
        operations = self._operations(p.operations)
        return Place(guards, facts, self.local.value(p.launch), chain, stack, caught, operations)

    def _operations(self, found: Sequence[Operation]) -> Sequence[Operation]:
        """The operations of a kernel on paths that are reached, in their order."""
        if not isinstance(found, Operations):
            return found
        if found is self.summary.machine.outside:
            return self.context.operations
        if id(found) not in self.operations:
            pairs = zip(found, found.guards, strict=True)
            self.operations[id(found)] = [
                self.local.value(o) for o, guards in pairs if self.put.guards(guards) is not None
            ]
        return self.operations[id(found)]

    # -- the rest ----------------------------------------------------------------------------------

    def _call(self, i: int, c: HostCall) -> HostCall | None:
        guards = self._guards(c.guards)
        if guards is None:
            return None
        self.positions.add(("call", i))
        arguments = {k: self.put.value(v) for k, v in c.arguments.items()}
        caught = (*self.context.caught, *c.caught)
        chain = self._chain(c.chain, self.context.chain)
        return HostCall(c.path, c.name, arguments, c.site, chain, guards, self.context.row, caught)

    def _outside(self) -> tuple[Operation, ...]:
        found = self.summary.machine.outside
        pairs = zip(found, found.guards, strict=True)
        return tuple(self.local.value(o) for o, guards in pairs if self.put.guards(guards) is not None)

    def _doubts(self) -> int:
        return sum(self.put.guards(g) is not None for g in self.summary.machine.doubted)

    def _written(self) -> Iterator[tuple[Slots, str, Value]]:
        before = self.summary.before
        for put in (self.put, self.local):
            for old, new in list(put.copies):
                for key, value in before.get(id(old), ()):
                    yield new, key, value if value is MISSING else put.value(value)

    def _divisions(self) -> Iterator[Division]:
        for d, guards in self.summary.machine.divided:
            if self.put.guards(guards) is not None:
                yield Division(d.site, self.put.dim(d.dividend), self.put.dim(d.divisor), d.exact)


def _speaks_of_made_up(guards: Guards) -> bool:
    """Whether guards could be taken for those of another call's facts, if names that were made up stayed."""
    return any(n.startswith("?") and not n.startswith("?traced") for c in guards for n in conds.names(c))
