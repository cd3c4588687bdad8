"""Calls of one function with many rows of numbers: evaluated over symbols once, then the numbers are put in.

The first rows of a shape (see `rows`) are evaluated as they are. When more come, the function is evaluated over
symbols for its numbers, and the first row is put into that: only where this gives what its own evaluation gave are
further rows put in as well. Where a row takes a path that no row took before, it is evaluated as it is and compared
again. Numbers that decide more than a value (how often a loop is unrolled) are no numbers then but part of the shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..domain import cond as conds
from ..domain.array import Array, ShapeDtype
from ..domain.dtype import DType
from ..domain.fact import Division
from ..domain.python import (
    MISSING,
    Bool,
    Choice,
    DictCell,
    External,
    Instance,
    Int,
    ListCell,
    Unknown,
    Value,
)
from ..domain.substitute import Structure
from .agreement import difference
from .frame import Code, Function
from .instance import Context, Instantiated, Summary, instantiate
from .machine import BudgetExceeded, Machine, Raised
from .reach import slots_under
from .rows import Row, is_global, row_of
from .symbolic import FIRST_NAME, Symbolic
from .trail import Slots, Trail

#: A call that takes fewer steps is not worth a summary; nor are fewer rows of one shape: an evaluation over symbols
#: takes as long as three or four with numbers.
LEAST_STEPS = 150
LEAST_ROWS = 4
#: An evaluation over symbols may take so many times the steps of the first row.
MAX_COST = 8
#: So often are numbers that turn out to be structure taken back before a function is given up.
MAX_TRIES = 4
#: Functions whose summaries are kept.
MAX_FUNCTIONS = 64


@dataclass(slots=True)
class Shape:
    """The rows of one shape.

    Attributes:
      row, arguments, first, context: the first row, what it gave, where and in how many steps; rows: how many came.
      covered: positions of the summary's facts that agreed with an evaluation of their own.
      refused: why no summary is made.
    """

    row: Row
    arguments: dict[str, Value]
    first: Instantiated
    context: Context
    steps: int
    summary: Summary | None = None
    rows: int = 1
    covered: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    refused: str = ""


@dataclass(slots=True)
class Known:
    """What is known of one function: places of numbers that are structure, and its shapes."""

    fixed: set[str] = field(default_factory=set[str])
    shapes: dict[tuple[object, ...], Shape] = field(default_factory=dict[tuple[object, ...], Shape])
    tries: int = 0
    small: bool = False


class Summaries:
    """Summaries of a program's functions; `used` counts calls that were answered by putting numbers in."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.functions: dict[Code, Known] = {}
        self.enabled = True
        self.least_steps = LEAST_STEPS
        self.least_rows = LEAST_ROWS
        self.used = 0

    def call(self, m: Machine, f: Function, bound: dict[str, Value], run: Callable[[], Value]) -> Value:
        """A call outside of kernels with bound arguments; `run` evaluates it as it is."""
        if not self.enabled or isinstance(m, Symbolic) or m.launches or m.handling or not is_global(f) or f.code.yields:
            return run()
        known = self._known(f)
        row = None if known.small or f.code in m.active else row_of(bound, known.fixed)
        if row is None or not row.numbers:
            return run()
        shape = known.shapes.get(row.shape)
        if shape is not None and shape.summary is not None and not _still(shape.summary.found):
            del known.shapes[row.shape]
            shape = None
        if shape is None:
            return self._first(m, known, row, bound, run)
        shape.rows += 1
        if shape.summary is None and not shape.refused and shape.rows >= self.least_rows:
            self._summarise(m, f, known, shape)
        if shape.summary is None:
            return run()
        return self._put_in(m, shape, shape.summary, row, run)

    def _known(self, f: Function) -> Known:
        """What is known of a function; the one that was not called for longest makes room."""
        known = self.functions.pop(f.code, None) or Known()
        self.functions[f.code] = known
        if len(self.functions) > MAX_FUNCTIONS:
            del self.functions[next(iter(self.functions))]
        return known

    # -- the first row -----------------------------------------------------------------------------

    def _first(self, m: Machine, known: Known, row: Row, bound: dict[str, Value], run: Callable[[], Value]) -> Value:
        """A row of a new shape: evaluated as it is, and kept for comparison."""
        context, arguments = Context.of(m), dict(bound)
        value, outcome, steps = _watched(m, run)
        if steps < self.least_steps:
            known.small = True
        else:
            known.shapes[row.shape] = Shape(row, arguments, outcome, context, steps)
        return value

    # -- over symbols ------------------------------------------------------------------------------

    def _summarise(self, m: Machine, f: Function, known: Known, shape: Shape) -> None:
        """Makes the shape's summary, or says why there is none."""
        try:
            summary = self._over_symbols(m, f, shape)
            self._compare(m, shape, summary, shape.row, shape.context, shape.first)
            shape.summary = summary
        except Structure as s:
            shape.refused = str(s)
            known.tries += 1
            places = {shape.row.places[n] for n in s.needs if n in shape.row.places}
            if not places or known.tries > MAX_TRIES:
                known.small = not places and known.tries > MAX_TRIES
                return
            known.fixed |= places
            known.shapes.clear()
            again = row_of(shape.arguments, known.fixed)
            if again is not None and again.numbers:
                known.shapes[again.shape] = Shape(again, shape.arguments, shape.first, shape.context, shape.steps)

    def _over_symbols(self, m: Machine, f: Function, shape: Shape) -> Summary:
        """Evaluates the function over symbols; where that is of no use, it leaves nothing changed."""
        s = Symbolic(min(m.steps, MAX_COST * shape.steps), self.program)
        whole = s.trail
        try:
            return self._summary(m, f, shape.row, s)
        except BaseException:
            if whole is not None:
                whole.undo()
            raise

    def _summary(self, m: Machine, f: Function, row: Row, s: Symbolic) -> Summary:
        budget, fr = s.steps, None
        try:
            fr = self.program.calls.run(s, f, dict(row.arguments))
        except Raised as r:
            raise Structure(f"it raises {r.name}") from r
        except BudgetExceeded as e:
            raise Structure("it takes too many steps") from e
        finally:
            m.step(min(budget, budget - s.steps))
            for key, n in s.evaluated.items():
                m.evaluated[key] = m.evaluated.get(key, 0) + n
        structure = frozenset(n for n in s.structure if n in row.numbers)
        if structure:
            raise Structure("how often something runs", structure)
        foreign = self._read(s)
        _refuse_effects(s, row, foreign, fr)
        summary = Summary.of(s, fr, row, frozenset(foreign), self._found(s, foreign))
        self._refuse_idle(s, summary)
        return summary

    def _refuse_idle(self, s: Symbolic, summary: Summary) -> None:
        """Raises Structure where functions that are made and not called leave something behind when looked into."""
        called, launched, before = set(s.called), set(s.launched), (*s.recorded(), len(s.divided), len(s.reads))
        whole = s.trail
        s.trail = s.base = looked = Trail()
        try:
            self.program.look_into(s, s.kernels, s.made, set())
        finally:
            looked.undo()
            s.trail = s.base = whole
        if (*s.recorded(), len(s.divided), len(s.reads)) != before or s.notes:
            raise Structure("it makes functions that it does not call")
        s.called, s.launched = called, launched
        del s.doubted[summary.outcome.doubts :]

    def _read(self, s: Machine) -> dict[int, Slots]:
        """The slots of all objects under the global names that were read."""
        states = self.program.states
        return slots_under(states[p].env.vars.get(n) for p, n in s.reads if p in states)

    def _found(self, s: Machine, foreign: dict[int, Slots]) -> list[tuple[Slots, Slots]]:
        states = self.program.states
        names = [(states[p].env.vars, n) for p, n in s.reads if p in states]
        return [(slots, {n: slots.get(n, MISSING)}) for slots, n in names] + [(x, dict(x)) for x in foreign.values()]

    # -- numbers put in ----------------------------------------------------------------------------

    def _compare(
        self, m: Machine, shape: Shape, summary: Summary, row: Row, context: Context, own: Instantiated
    ) -> None:
        """Takes the facts of a row as covered where they are those of its own evaluation; raises Structure if not."""
        mine = instantiate(summary, row, context, m.fresh)
        found = difference(mine.parts(), own.parts())
        if not found and bool(mine.doubts) != bool(own.doubts):
            found = f"doubts {mine.doubts} against {own.doubts}"
        if found:
            raise Structure(f"not the same: {found}", frozenset(summary.machine.suspects) & row.numbers.keys())
        shape.covered |= mine.positions

    def _put_in(self, m: Machine, shape: Shape, summary: Summary, row: Row, run: Callable[[], Value]) -> Value:
        context = Context.of(m)
        try:
            found = instantiate(summary, row, context, m.fresh)
        except Structure:
            return run()
        if not found.positions <= shape.covered:
            value, own, _ = _watched(m, run)
            try:
                self._compare(m, shape, summary, row, context, own)
            except Structure as s:
                shape.summary, shape.refused = None, str(s)
            return value
        self.used += 1
        return self._record(m, summary, found)

    def _record(self, m: Machine, summary: Summary, found: Instantiated) -> Value:
        """Leaves behind what the call would have left."""
        s = summary.machine
        m.step(1 + len(found.facts))
        m.fresh += s.fresh - FIRST_NAME
        m.doubts += found.doubts
        m.facts_out += found.facts
        m.raises += found.raises
        m.host_calls += found.calls
        m.operations += found.operations
        m.called |= s.called
        m.launched |= s.launched
        for path, name in s.reads:
            if (path, name) not in m.reads:
                state = self.program.states[path]
                state.env.note(m, name)
        if m.trail is not None:
            for slots, key, old in found.written:
                m.trail.old.setdefault((id(slots), key), (slots, key, old))
        for d in found.divisions:
            m.divisions.add(Division(d.site, d.dividend, d.divisor, m.decide(conds.divides(d.divisor, d.dividend))))
        for c in found.guards:
            m.assume(c)
        return found.value


def _watched(m: Machine, run: Callable[[], Value]) -> tuple[Value, Instantiated, int]:
    """Evaluates a call as it is: its value, what it left behind, and the steps that it took."""
    begun, steps, doubts, guards = m.recorded(), m.steps, m.doubts, len(m.path.guards)
    value = run()
    facts, raises, calls, _ = begun
    own = Instantiated(
        value,
        m.facts_out[facts:],
        m.raises[raises:],
        m.host_calls[calls:],
        m.path.guards[guards:],
        m.doubts - doubts,
    )
    return value, own, steps - m.steps


def _still(found: list[tuple[Slots, Slots]]) -> bool:
    """Whether all that was read is what it was."""
    return all(
        (len(before) == 1 or len(slots) == len(before))
        and all(slots.get(name, MISSING) is v for name, v in before.items())
        for slots, before in found
    )


def _refuse_effects(s: Machine, row: Row, foreign: dict[int, Slots], value: Value) -> None:
    """Raises Structure where more than facts and a plain value comes of the call."""
    if s.notes:
        raise Structure(s.notes[0])
    if s.parametrised:
        raise Structure("it makes tests")
    if s.global_writes:
        raise Structure("it writes global names")
    written = {id(slots) for slots, _, _ in s.base.old.values()} if s.base is not None else set[int]()
    if not written.isdisjoint(row.slots) or not written.isdisjoint(foreign):
        raise Structure("it changes objects that were there before")
    if not row.slots.isdisjoint(foreign):
        raise Structure("an argument is also found under a global name")
    if any(id(k) not in s.launched for k in s.kernels):
        raise Structure("it makes kernels that it does not launch")
    if not _is_plain(value):
        raise Structure("it returns a function")


def _is_plain(v: Value) -> bool:
    """Data, without a function that closes over it."""
    if type(v) is tuple:
        return all(map(_is_plain, v))
    if type(v) is dict:
        return all(_is_plain(x) for _, x in v.values())
    if isinstance(v, (ListCell, DictCell, Instance)):
        return all(map(_is_plain, v.slots.values()))
    if isinstance(v, Choice):
        return _is_plain(v.yes) and _is_plain(v.no)
    plain = (bool, str, float, bytes, Int, Bool, Array, ShapeDtype, DType, External, Unknown)
    return v is None or isinstance(v, plain)
