"""The state of one evaluation: path, writes, budget, recorded facts; and the branching of undecided conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import Operation
from ..domain.cond import Cond
from ..domain.context import Parametrised
from ..domain.dim import Dim, Expr
from ..domain.fact import CallFact, Division, HostCall, Raise
from ..domain.facts import Facts
from ..domain.memory import Scope
from ..domain.python import (
    MISSING,
    Bool,
    Choice,
    Instance,
    Int,
    Opaque,
    Range,
    Unknown,
    Value,
    is_integer_enum,
    root_of,
)
from ..domain.ref import Launch
from ..source.span import Site
from .naming import Names, parameter_as_integer, selected, visible
from .trail import MAX_LEAVES, Slots, Trail, Writes, leaves, merge, put

if TYPE_CHECKING:
    from .frame import Frame
    from .ways import Way

#: Calls nested deeper than this are given up (Python's own limit is 1000; kernels nest a dozen).
MAX_DEPTH = 60


#: Conditions of more parts than this get a name.
MAX_PARTS = 12


class Raised(Exception):
    """The program raises here on this path.

    Attributes:
      value: the exception object; None where Python makes it.
      name: its class; `kinds`: that and the classes that it inherits from.
      cases: (condition, raised where it holds, raised where it does not), where both sides of a branch raise.
      message: what it says; `deliberate`: by a statement of the program's.
      chain: the host calls that it came through, once it has left the innermost.
    """

    def __init__(
        self, value: Value, name: str, site: Site | None, cases: tuple[Cond, Raised, Raised] | None = None
    ) -> None:
        super().__init__(name)
        self.value = value
        self.name = name
        self.site = site
        self.cases = cases
        self.kinds: tuple[str, ...] = (name,)
        self.message = ""
        self.deliberate = False
        self.chain: tuple[Site, ...] | None = None


class BudgetExceeded(Exception):
    """The evaluation took more steps than it may."""


@dataclass(slots=True)
class Outcome:
    """One side of a branch: its value, its writes (undone), what it raised, and the guards that its path gained
    inside."""

    value: Value
    writes: Writes
    raised: Raised | None
    learnt: tuple[Cond, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """The conditions under which the present statement runs."""

    facts: Facts = field(default_factory=Facts)
    guards: tuple[Cond, ...] = ()


class Machine:
    """One evaluation. The functions of `library` see it as their only door to the evaluator.

    Attributes:
      path: what is assumed at present.
      trail: the innermost undo log; base: that of the whole unit.
      launches: kernels that are being launched, outermost first.
      row: number of the outermost host call under way, 0 for none; rows: how many there were.
      failed: rows whose call raises; interrupted: rows of which a handler may have taken a raise.
      scopes: allocations that are open in the kernel that is being launched, outermost first.
      operations: what the innermost of them computed so far, on all its paths.
      calling: sites of the calls of JAX inside kernels that are under way.
      chain: sites of the host calls under way, outermost first (the context of what is recorded).
      caught: exception classes that handlers around the present statement take.
      facts_out: recorded call facts, in order.
      doubts: how often something happened that may raise for all that is known; tries: enclosing try statements.
      frame: the activation of a function that runs.
      bounds: bounds of symbols made on the way that are no plain integers, by name.
      structure: parameters that decide how often something runs, which is not known.
      handling: exceptions whose handlers are running, innermost last; None where it is not known which.
      parametrised: tests with rows of arguments, by the identity of their function.
      unit: path and key of the entry that is evaluated; ways: kernels' launches that others may borrow from it;
        borrowed: those that were not evaluated here because another one is the same.
      divisions: floor divisions (a fix must not make one leave a remainder: a tail of the data would be left).
    """

    def __init__(self, budget: int, program: Any) -> None:
        self.path = Path()
        self.trail: Trail | None = None
        self.base: Trail | None = None
        self.steps = budget
        self.program = program
        self.launches: list[Launch] = []
        self.scopes: list[Scope] = []
        self.operations: list[Operation] = []
        self.calling: list[Site] = []
        self.chain: tuple[Site, ...] = ()
        self.stack: tuple[Site, ...] = ()
        self.row = self.rows = 0
        self.failed: set[int] = set()
        self.interrupted: set[int] = set()
        self.depth = 0
        self.active: list[Any] = []
        self.called: set[int] = set()
        self.facts_out: list[CallFact] = []
        self.raises: list[Raise] = []
        self.dropped = 0
        self.doubts = 0
        self.tries = 0
        self.fresh = 0
        self.bounds: dict[str, tuple[Dim | None, Dim | None]] = {}
        self.structure: set[str] = set()
        self.evaluated: dict[tuple[str, str], int] = {}
        self.notes: list[str] = []
        self.made: list[Any] = []
        self.reads: dict[tuple[str, str], str] = {}
        self.global_writes: dict[tuple[str, str], Any] = {}
        self.kernels: list[Any] = []
        self.launched: set[int] = set()
        self.divisions: set[Division] = set()
        self.named: dict[Cond, Cond] = {}
        self.host_calls: list[HostCall] = []
        self.caught: tuple[str, ...] = ()
        self.frame: Frame | None = None
        self.cases: dict[object, int] = {}
        self.handling: list[Raised | None] = []
        self.parametrised: dict[int, Parametrised] = {}
        self.unit: tuple[str, str] | None = None
        self.ways: list[Way] = []
        self.borrowed: list[Way] = []

    # -- writes ------------------------------------------------------------------------------------

    def write(self, slots: Slots, key: str, value: Value) -> None:
        """Writes a slot so that a branch can take it back."""
        if self.trail is not None:
            self.trail.note(slots, key)
        put(slots, key, value)

    def apply(self, writes: Writes) -> None:
        """Does the writes of a branch that is known to be taken."""
        for slots, key, value in writes.values():
            self.write(slots, key, value)

    # -- the path ----------------------------------------------------------------------------------

    def decide(self, c: Cond) -> bool | None:
        """True: always on this path; False: never; None: cannot tell."""
        return c if isinstance(c, bool) else self.path.facts.decide(c)

    def assume(self, c: Cond) -> None:
        """Takes a condition as true from here on, to the end of the enclosing branch."""
        if c is True or self.decide(c) is True:
            return
        facts = self.path.facts
        self.step(0 if c in facts.notes.learnt else len(facts.assumed))  # every fact is looked at again
        self.path = Path(facts.learn(c), (*self.path.guards, c))

    def learn(self, c: Cond) -> None:
        """Takes as true what any further use of the values implies (the rank of what is unpacked); no guard of the
        path."""
        self.path = Path(self.path.facts.learn(c), self.path.guards)

    def count(self, key: tuple[str, str]) -> None:
        """Counts an evaluated statement of a chunk."""
        self.step()
        self.evaluated[key] = self.evaluated.get(key, 0) + 1

    def simplify(self, d: Dim) -> Dim:
        """A Dim under what is known on this path."""
        return self.path.facts.simplify(d)

    # -- branching ---------------------------------------------------------------------------------

    def compact(self, c: Cond) -> Cond:
        """A condition of many parts under a name of its own: nothing is known of it then, but that it is the same
        wherever it comes up.

        Conditions built from conditions (a later test of what an earlier test decided) would grow without end.
        """
        if isinstance(c, bool) or conds.size(c, MAX_PARTS + 1) <= MAX_PARTS:
            return c
        if c not in self.named:
            name = self.fresh_condition("many parts ")
            self.named[c], self.named[conds.negate(c)] = name, conds.negate(name)
        return self.named[c]

    def branch(self, cond: Cond, yes: Callable[[], Value], no: Callable[[], Value]) -> Value:
        """Runs both sides where the condition is undecided, and merges what they return and write."""
        known = self.decide(cond)
        if known is not None:
            return yes() if known else no()
        cond = self.compact(cond)
        return self.join(cond, self.run_side(cond, yes), self.run_side(conds.negate(cond), no))

    def run_side(self, cond: Cond, run: Callable[[], Value]) -> Outcome:
        """Runs one side with the condition assumed, and undoes its writes."""
        path, trail, depth = self.path, self.trail, self.depth
        launches, scopes, active = len(self.launches), len(self.scopes), len(self.active)
        chain, stack = self.chain, self.stack
        self.trail = Trail()
        self.assume(cond)
        begun = len(self.path.guards)
        learnt: tuple[Cond, ...] = ()
        value: Value = MISSING
        raised: Raised | None = None
        try:
            if self.path.facts.contradictory:
                raised = Raised(None, "", None)
            else:
                value = run()
                learnt = self.path.guards[begun:]
        except Raised as r:
            raised = r
        finally:
            writes = self.trail.new()
            self.trail.undo()
            self.path, self.trail, self.depth = path, trail, depth
            del self.launches[launches:], self.scopes[scopes:], self.active[active:]
            self.chain, self.stack = chain, stack
        return Outcome(value, writes, raised, learnt)

    def join(self, cond: Cond, a: Outcome, b: Outcome) -> Value:
        """Merges two sides; one that raises teaches the negation of its condition."""
        if a.raised and b.raised:
            self.merge_writes(cond, a.writes, b.writes)
            raise _either(cond, a.raised, b.raised)
        if a.raised or b.raised:
            lost, kept, learnt = (a, b, conds.negate(cond)) if a.raised else (b, a, cond)
            if lost.raised is not None and lost.raised.name == "Skipped":
                return self._as_if_not_skipped(learnt, kept)
            self.note_raise(conds.negate(learnt), lost.raised)
            self.note_writes(lost.writes)
            self.take(learnt, kept)
            return kept.value
        self.learn_from(cond, a)
        self.learn_from(conds.negate(cond), b)
        self.merge_writes(cond, a.writes, b.writes)
        return merge(cond, a.value, b.value)

    def _as_if_not_skipped(self, learnt: Cond, kept: Outcome) -> Value:
        """A test that may be skipped is looked at as if it is not: that is no condition of what it calls."""
        self.learn(learnt)
        self.apply(kept.writes)
        for c in kept.learnt:
            self.assume(c)
        return kept.value

    def take(self, cond: Cond, side: Outcome) -> None:
        """Goes on with one side only: its condition, its writes, and what it learnt hold from here on."""
        self.assume(cond)
        self.apply(side.writes)
        for c in side.learnt:
            self.assume(c)

    def learn_from(self, cond: Cond, side: Outcome) -> None:
        """What one side learnt holds after the branch wherever its condition does."""
        for c in side.learnt:
            self.assume(conds.any_of([conds.negate(cond), c]))

    def note_raise(self, cond: Cond, raised: Raised | None) -> None:
        """Remembers a raise of the program's that happens under a condition."""
        if raised is not None and raised.name:
            self.dropped += 1
            self.note_raised(raised, (*self.path.guards, cond))

    def note_raised(self, raised: Raised, guards: tuple[Cond, ...]) -> None:
        """Records a raise, each of its cases by itself."""
        if raised.cases is None:
            chain = self.chain if raised.chain is None else raised.chain
            kept = (raised.kinds, raised.message, raised.deliberate, self.caught, self.row)
            self.raises.append(Raise(raised.site, raised.name, guards, chain, *kept))
            return
        cond, yes, no = raised.cases
        self.note_raised(yes, (*guards, cond))
        self.note_raised(no, (*guards, conds.negate(cond)))

    def note_writes(self, writes: Writes) -> None:
        """Slots that a side wrote before it raised: a handler further out must not trust them."""
        if self.trail is not None:
            for slots, key, _ in writes.values():
                self.trail.note(slots, key)

    def merge_writes(self, cond: Cond, a: Writes, b: Writes) -> None:
        """Writes what both sides leave behind."""
        for where in a.keys() | b.keys():
            slots, key, _ = a.get(where) or b[where]
            now = slots.get(key, MISSING)
            yes = a[where][2] if where in a else now
            no = b[where][2] if where in b else now
            if yes is MISSING and no is MISSING:
                self.write(slots, key, MISSING)
            else:
                self.write(slots, key, merge(cond, yes, no))

    def select(self, v: Value) -> Value:
        """The case of a Choice that holds on this path, where that is decided."""
        return selected(self.path.facts, v) if isinstance(v, Choice) else v

    def lift(self, run: Callable[..., Value], *args: Value) -> Value:
        """`run(*args)` for each combination of the arguments' cases, merged. `run` never sees a Choice on top."""
        picked = tuple(self.select(a) if isinstance(a, Choice) else a for a in args)
        for i, a in enumerate(picked):
            if isinstance(a, Choice):
                if leaves(a) > MAX_LEAVES:
                    return Unknown("too many cases")
                yes, no = (*picked[:i], a.yes, *picked[i + 1 :]), (*picked[:i], a.no, *picked[i + 1 :])
                return self.branch(a.cond, lambda: self.lift(run, *yes), lambda: self.lift(run, *no))  # noqa: B023
        return run(*picked)

    # -- symbols and unknowns ----------------------------------------------------------------------

    def fresh_symbol(self, name: str, low: Dim | None = None, high: Dim | None = None) -> Dim:
        """An integer that nothing is known of but its inclusive bounds, as far as these are plain integers; its name
        starts with "?" (it is no name of the source)."""
        name = f"?{name}{self.next_fresh()}"
        self.note_bounds(name, low, high)
        return dims.symbol(
            name, low=low if isinstance(low, int) else None, high=high if isinstance(high, int) else None
        )

    def next_fresh(self) -> int:
        """A number that no symbol of this evaluation has yet."""
        self.fresh += 1
        return self.fresh

    def note_bounds(self, name: str, low: Dim | None, high: Dim | None) -> None:
        """Remembers inclusive bounds of a symbol that are no plain integers yet (see `domain.substitute`)."""
        if isinstance(low, Expr) or isinstance(high, Expr):
            self.bounds[name] = low, high

    def fresh_condition(self, what: str = "") -> Cond:
        """A condition that nothing is known of; "loop": that a loop runs at all."""
        self.fresh += 1
        return conds.Truth(f"?{what}{self.fresh}")

    def as_int(self, v: Value, site: Site | None = None) -> Int | None:
        """The value as an integer, where it is one: a parameter becomes a symbol, a bool 0 or 1."""
        if isinstance(v, Int):
            return v
        if isinstance(v, bool):
            return Int(int(v))
        if isinstance(v, Opaque) and v.hint in ("", "int"):
            return parameter_as_integer(self.path.facts, v, site)
        if isinstance(v, Instance) and is_integer_enum(v.cls):
            return self.as_int(v.slots.get("value"), site)
        index = getattr(v, "index", None)
        return index if isinstance(index, Int) else None

    def unknown(self, why: str, *sources: Value, site: Site | None = None) -> Unknown:
        """An unknown value that says why, and which parameters would have decided it."""
        self.doubts += 1
        return Unknown(why, frozenset().union(*(needs_of(s) for s in sources)), site)

    def raises_error(self, name: str, site: Site | None) -> NoReturn:
        """Python raises here, whatever is not known."""
        raise Raised(None, name, site)

    # -- budget ------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Counts work; raises BudgetExceeded at the end of the budget."""
        self.steps -= n
        if self.steps < 0:
            raise BudgetExceeded

    # -- recording ---------------------------------------------------------------------------------

    @property
    def launch(self) -> Launch | None:
        """The kernel that is being launched, innermost."""
        return self.launches[-1] if self.launches else None

    def count_case(self, key: object) -> int:
        """How often this was asked for a key, this time included."""
        self.cases[key] = self.cases.get(key, 0) + 1
        return self.cases[key]

    def names(self) -> Names:
        """Variables that the present statement sees, by the integers that they hold."""
        return visible(self.path.facts, self.frame)

    def record(self, fact: CallFact) -> None:
        """Keeps a call fact."""
        self.facts_out.append(fact)

    def recorded(self) -> tuple[int, int, int, int]:
        """How much is recorded: facts, raises, host calls, and scopes inside the innermost one."""
        inner = len(self.scopes[-1].inner) if self.scopes else 0
        return len(self.facts_out), len(self.raises), len(self.host_calls), inner

    def forget(self, since: tuple[int, int, int, int]) -> None:
        """Takes back what was recorded since: a pass over a loop that only showed what changes."""
        facts, raises, calls, inner = since
        del self.facts_out[facts:], self.raises[raises:], self.host_calls[calls:]
        if self.scopes:
            del self.scopes[-1].inner[inner:]


def _either(cond: Cond, yes: Raised, no: Raised) -> Raised:
    """What two sides raise; a side without a name never runs."""
    if not (yes.name and no.name):
        return yes if yes.name else no
    return Raised(None, yes.name if yes.name == no.name else "Exception", yes.site, (cond, yes, no))


def needs_of(v: Value) -> frozenset[str]:
    """Names of the parameters that a value depends on."""
    if isinstance(v, Opaque):
        return frozenset((v.root,))
    if isinstance(v, Int):
        return frozenset(root_of(s.name) for s in dims.symbols(v.dim))
    if isinstance(v, Unknown):
        return v.needs
    if isinstance(v, Bool):
        return needs_of_cond(v.cond)
    if isinstance(v, Choice):
        return needs_of_cond(v.cond) | needs_of(v.yes) | needs_of(v.no)
    if isinstance(v, tuple):
        return frozenset().union(*(needs_of(x) for x in v))
    if isinstance(v, Range):
        return needs_of((v.start, v.stop, v.step))
    return frozenset()


def needs_of_cond(c: Cond) -> frozenset[str]:
    """Names of the parameters that a condition depends on."""
    match c:
        case conds.Zero() | conds.NonPos():
            return frozenset(root_of(s.name) for s in dims.symbols(c.expr))
        case conds.Truth() | conds.Same():
            return frozenset((root_of(c.name),))
        case conds.Not():
            return needs_of_cond(c.cond)
        case conds.And() | conds.Or():
            return _union(needs_of_cond(x) for x in c.conds)
        case _:
            return frozenset()


def _union(parts: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*parts)
