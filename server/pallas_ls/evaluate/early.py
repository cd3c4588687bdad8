"""Early ends: a return, break or continue under a condition. The rest runs under its negation, and both meet again
where the jump lands."""

from __future__ import annotations

from collections.abc import Callable

from ..domain import cond as conds
from ..domain.cond import Cond
from ..domain.python import MISSING
from .frame import NORMAL, RETURN, STOPPED, Exec, Frame, Pending
from .machine import Machine, Raised
from .trail import Writes, merge


def end_early(fr: Frame, signal: int, cond: Cond, value: object, writes: Writes, learnt: tuple[Cond, ...] = ()) -> None:
    """Records an end that happens under a condition. The present state is the one before the branch."""
    m = fr.m
    guards = (*m.path.guards, *(() if cond is True else (cond,)), *learnt)
    fr.pending.append(Pending(signal, cond, value, {**_written(m), **writes}, m.path, guards))


def _written(m: Machine) -> Writes:
    return m.trail.new() if m.trail is not None else {}


def rebase(fr: Frame, start: int, cond: Cond) -> None:
    """A side of a branch is over and undone: early ends inside it are seen from outside the branch from now on."""
    inside = fr.pending[start:]
    if not inside:
        return
    before = _written(fr.m)
    for p in inside:
        p.cond = fr.m.compact(conds.all_of([cond, p.cond]))
        p.writes = {**before, **p.writes}
        p.path = fr.m.path


def attempt(fr: Frame, run: Exec, start: int, signals: tuple[int, ...]) -> int:
    """Runs; a raise stops only the present path where some end with these signals goes on."""
    try:
        return run(fr)
    except Raised as r:
        if not any(p.signal in signals for p in fr.pending[start:]):
            raise
        fr.m.dropped += 1
        fr.m.note_raised(r, fr.m.path.guards)
        return STOPPED


def conclude(fr: Frame, start: int, signals: tuple[int, ...], signal: int, dying: bool = False) -> int:
    """Where jumps with these signals land: merges the ends recorded since `start`. Returns how what follows goes on.

    dying: the frame's variables are going away.
    """
    if not any(p.signal in signals for p in fr.pending[start:]):
        return NORMAL if signal in signals else signal
    alive = signal == NORMAL or signal in signals
    if not alive and signal != STOPPED:
        end_early(fr, signal, True, fr.ret, {})
    _settle(fr, start, signals, alive, dying)
    return NORMAL


def _settle(fr: Frame, start: int, signals: tuple[int, ...], alive: bool, dying: bool) -> None:
    m = fr.m
    taken, kept = _split(fr.pending[start:], signals)
    fr.pending[start:] = kept
    guards = m.path.guards
    path = taken[0].path
    if not alive:
        last = taken.pop()
        guards = last.guards
        _merge_state(fr, last, True, dying)
    for p in reversed(taken):
        guards = _either(len(p.path.guards), p.guards, guards)
        _merge_state(fr, p, p.cond, dying)
    m.path = path
    for c in guards[len(path.guards) :]:
        m.assume(c)


def _split(pending: list[Pending], signals: tuple[int, ...]) -> tuple[list[Pending], list[Pending]]:
    """Those that land here, and those that jump further: their conditions exclude the former from now on."""
    taken: list[Pending] = []
    kept: list[Pending] = []
    for p in pending:
        if p.signal in signals:
            taken.append(p)
            continue
        if taken:
            p.cond = conds.all_of([*(conds.negate(t.cond) for t in taken), p.cond])
            p.path = taken[0].path
        kept.append(p)
    return taken, kept


def _merge_state(fr: Frame, p: Pending, cond: Cond, dying: bool) -> None:
    """The present state, or that of an early end where its condition holds."""
    m = fr.m
    if p.signal == RETURN:
        fr.ret = p.value if cond is True else merge(cond, p.value, fr.ret)
    old = m.trail.old if m.trail is not None else {}
    for slots, key, value in {**old, **p.writes}.values():
        now = slots.get(key, MISSING)
        if value is now or (dying and slots is fr.vars and not fr.made):
            continue
        m.write(slots, key, value if cond is True else merge(cond, value, now))


def _either(common: int, one: tuple[Cond, ...], other: tuple[Cond, ...]) -> tuple[Cond, ...]:
    """The guards of what is reached on either path; both begin with the same `common` guards."""
    a, b = one[common:], other[common:]
    first = conds.all_of(a)
    if b and b[0] == conds.negate(first):
        return (*other[:common], *(conds.any_of([first, c]) for c in b[1:]))
    if a and b and b[0] == conds.negate(a[0]):
        left = [conds.any_of([b[0], c]) for c in a[1:]]
        right = [conds.any_of([a[0], c]) for c in b[1:]]
        return (*other[:common], *left, *right)
    return (*other[:common], conds.any_of([first, conds.all_of(b)]))


def in_state(fr: Frame, p: Pending, run: Callable[[], int]) -> None:
    """Runs something more (a `finally`) in the state of an early end."""
    m, ret = fr.m, fr.ret
    here = m.path
    m.path = p.path
    old = m.trail.old if m.trail is not None else {}
    state = {**old, **p.writes}

    def resumed() -> int:
        m.apply(state)
        fr.ret = p.value
        return run()

    out = m.run_side(conds.all_of(p.guards[len(p.path.guards) :]), resumed)
    if out.raised is not None:
        m.note_raise(conds.all_of(p.guards[len(p.path.guards) :]), out.raised)
        fr.pending.remove(p)
    else:
        p.writes = {**p.writes, **out.writes}
        p.guards = (*p.guards, *out.learnt)
        if out.value != NORMAL:
            p.signal, p.value = out.value, fr.ret
    m.path, fr.ret = here, ret
