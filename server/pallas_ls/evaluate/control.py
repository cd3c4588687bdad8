"""Control flow: branches that may end early, loops, exceptions, patterns."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ..domain import cond as conds
from ..domain.array import Array
from ..domain.cond import Cond
from ..domain.python import MISSING, Int, Range, Unknown, Value
from ..source.span import Site
from . import operators as ops
from .frame import BREAK, CONTINUE, NORMAL, RETURN, Eval, Exec, Frame, Pending
from .machine import Machine, Outcome, Raised
from .trail import Trail, Writes, merge, same

Store = Callable[[Frame, Value], None]

#: A loop of unknown length is run again until nothing changes, at most so often; then what still changes is unknown.
MAX_PASSES = 3


def if_(fr: Frame, cond: Cond, yes: Exec, no: Exec) -> int:
    """An if statement."""
    if isinstance(cond, bool):
        return yes(fr) if cond else no(fr)
    m = fr.m
    cond = m.compact(cond)
    negation = conds.negate(cond)
    a, ra = _side(fr, cond, yes)
    b, rb = _side(fr, negation, no)
    if a.raised or b.raised:
        signal = m.join(cond, a, b)
        fr.ret = rb if a.raised else ra
        return signal
    return _join(fr, cond, a, b, ra, rb)


def _side(fr: Frame, cond: Cond, run: Exec) -> tuple[Outcome, Value]:
    """Runs one side; early ends inside it get the side's condition and its writes."""
    before = len(fr.pending)
    ret = fr.ret
    out = fr.m.run_side(cond, lambda: run(fr))
    mine, fr.ret = fr.ret, ret
    for p in fr.pending[before:]:
        p.cond = fr.m.compact(conds.all_of([cond, p.cond]))
        p.writes = {**out.writes, **p.writes}
        p.path = fr.m.path
    return out, mine


def _join(fr: Frame, cond: Cond, a: Outcome, b: Outcome, ra: Value, rb: Value) -> int:
    """Both sides ran to an end; where one ends early, the rest runs under the other's condition."""
    m = fr.m
    if a.value == b.value:
        m.merge_writes(cond, a.writes, b.writes)
        if a.value == RETURN:
            fr.ret = merge(cond, ra, rb)
        return a.value
    if a.value != NORMAL:
        fr.pending.append(Pending(a.value, cond, ra, a.writes, m.path))
        kept, ret, learnt = b, rb, conds.negate(cond)
    else:
        fr.pending.append(Pending(b.value, conds.negate(cond), rb, b.writes, m.path))
        kept, ret, learnt = a, ra, cond
    m.assume(learnt)
    m.apply(kept.writes)
    fr.ret = ret
    return kept.value


def settle(fr: Frame, start: int, signals: tuple[int, ...], own: bool) -> None:
    """Merges the early ends with these signals, recorded since `start`, into the present state.

    own: the frame's variables are going away (a return); only other state is merged.
    """
    m = fr.m
    taken = [p for p in fr.pending[start:] if p.signal in signals]
    if not taken:
        return
    fr.pending[start:] = [p for p in fr.pending[start:] if p.signal not in signals]
    m.path = taken[0].path
    for p in reversed(taken):
        if p.signal == RETURN:
            fr.ret = merge(p.cond, p.value, fr.ret)
        for slots, key, value in p.writes.values():
            if own and slots is fr.vars:
                continue
            now = slots.get(key, MISSING)
            if now is not MISSING or value is not MISSING:
                m.write(slots, key, merge(p.cond, value, now))


def check(fr: Frame, cond: Cond, name: str, site: Site) -> int:
    """An assert: what follows runs only where it holds."""
    m = fr.m
    if cond is False:
        raise Raised(None, name, site)
    if cond is not True:
        m.note_raise(conds.negate(cond), Raised(None, name, site))
        m.assume(cond)
    return NORMAL


def raise_(fr: Frame, value: Value, name: str, site: Site) -> int:
    """A raise statement."""
    raise Raised(value, name, site)


# -- loops ---------------------------------------------------------------------------------------------------------------------


def for_(fr: Frame, source: Value, store: Store, body: Exec, orelse: Exec | None, label: str, site: Site) -> int:
    """A for loop: unrolled where the sequence is known, else a fixed point."""
    items = fr.m.program.items.iterate(fr.m, source)
    if items is None:
        element = _element(fr.m, source, label)
        return _unknown_loop(fr, lambda: store(fr, element), body, orelse)
    start = len(fr.pending)
    for x in items:
        fr.m.step()
        store(fr, x)
        signal = _iteration(fr, body)
        if signal == BREAK:
            _settle_loop(fr, start)
            return NORMAL
        if signal == RETURN:
            return RETURN
    signal = orelse(fr) if orelse else NORMAL
    _settle_loop(fr, start)
    return signal


def _iteration(fr: Frame, body: Exec) -> int:
    start = len(fr.pending)
    signal = body(fr)
    settle_continue(fr, start)
    return NORMAL if signal == CONTINUE else signal


def settle_continue(fr: Frame, start: int) -> None:
    """Iterations that ended early join the next one."""
    settle(fr, start, (CONTINUE,), own=False)


def _settle_loop(fr: Frame, start: int) -> None:
    settle(fr, start, (BREAK,), own=False)


def _element(m: Machine, source: Value, label: str) -> Value:
    """An element of a sequence of unknown length."""
    if isinstance(source, Range) and source.step.dim == 1:
        low = source.start.dim if isinstance(source.start.dim, int) else None
        high = source.stop.dim - 1 if isinstance(source.stop.dim, int) else None
        d = m.fresh_symbol(label, low, high)
        m.assume(conds.less(d, source.stop.dim))
        m.assume(conds.at_most(source.start.dim, d))
        return Int(d)
    if isinstance(source, Array) and isinstance(source.shape, tuple) and source.shape:
        return Array(source.shape[1:], source.dtype)
    return m.unknown("an element of an unknown sequence", source)


def while_(fr: Frame, test: Eval, body: Exec, orelse: Exec | None) -> int:
    """A while loop: unrolled as long as the test is decided, else a fixed point."""
    start = len(fr.pending)
    while True:
        fr.m.step()
        c = ops.truth(fr.m, test(fr))
        if not isinstance(c, bool):
            signal = _unknown_loop(fr, lambda: test(fr), body, orelse)
            _settle_loop(fr, start)
            return signal
        if not c:
            break
        signal = _iteration(fr, body)
        if signal == BREAK:
            _settle_loop(fr, start)
            return NORMAL
        if signal == RETURN:
            return RETURN
    signal = orelse(fr) if orelse else NORMAL
    _settle_loop(fr, start)
    return signal


def _unknown_loop(fr: Frame, begin: Callable[[], Any], body: Exec, orelse: Exec | None) -> int:
    """A loop of unknown length: what its body changes is widened first, then the body runs once for its facts."""
    m = fr.m
    recording, m.recording = m.recording, False
    try:
        for i in range(MAX_PASSES):
            changed = _changes(fr, begin, body)
            if not changed:
                break
            for slots, key, value in changed.values():
                now = slots.get(key, MISSING)
                wide = _widen(now, value) if i < MAX_PASSES - 1 else Unknown("changed by a loop of unknown length")
                m.write(slots, key, wide)
    finally:
        m.recording = recording
    out, ret, ended = _one_pass(fr, m.fresh_condition("loop"), begin, body)
    for slots, key, value in out.writes.values():
        now = slots.get(key, MISSING)
        if now is not MISSING or value is not MISSING:
            m.write(slots, key, _widen(now, value))
    if ended:
        fr.pending.append(
            Pending(RETURN, m.fresh_condition(), Unknown("returned from a loop of unknown length"), {}, m.path)
        )
    return orelse(fr) if orelse else NORMAL


def _one_pass(fr: Frame, cond: Cond, begin: Callable[[], Any], body: Exec) -> tuple[Outcome, Value, bool]:
    """One run of a loop's body, undone; whether it may return."""
    before = len(fr.pending)
    ret = fr.ret

    def run() -> int:
        begin()
        return body(fr)

    out = fr.m.run_side(cond, run)
    mine, fr.ret = fr.ret, ret
    early = fr.pending[before:]
    del fr.pending[before:]
    for p in early:
        for where, row in p.writes.items():
            out.writes.setdefault(where, row)
            if not same(out.writes[where][2], row[2]):
                slots, key, _ = row
                out.writes[where] = (slots, key, Unknown("changed by a loop of unknown length"))
    ended = out.value == RETURN or any(p.signal == RETURN for p in early)
    return out, mine, ended


def _changes(fr: Frame, begin: Callable[[], Any], body: Exec) -> Writes:
    out, _, _ = _one_pass(fr, fr.m.fresh_condition("loop"), begin, body)
    return {
        where: (slots, key, value)
        for where, (slots, key, value) in out.writes.items()
        if slots.get(key, MISSING) is not MISSING and not same(slots.get(key, MISSING), value)
    }


def _widen(now: Value, new: Value) -> Value:
    """A value that is either, in a form that stays valid however often the loop runs."""
    if now is MISSING:
        return new
    if new is MISSING or same(now, new):
        return now
    if isinstance(now, Array) and isinstance(new, Array) and now.dtype == new.dtype and now.shape == new.shape:
        return Array(now.shape, now.dtype, now.weak and new.weak)
    return Unknown("changed by a loop of unknown length")


# -- exceptions ----------------------------------------------------------------------------------------------------------------


def try_(fr: Frame, body: Exec, handlers: list[Any], orelse: Exec | None, final: Exec | None, site: Site) -> int:
    """A try statement."""
    try:
        signal = _try_body(fr, body, handlers, orelse)
    except Raised:
        if final:
            final(fr)
        raise
    if final:
        end = final(fr)
        if end != NORMAL:
            return end
    return signal


def _try_body(fr: Frame, body: Exec, handlers: list[Any], orelse: Exec | None) -> int:
    m = fr.m
    if not handlers:
        signal = body(fr)
        return orelse(fr) if orelse and signal == NORMAL else signal
    dropped, unknown, path, outer = m.dropped, m.unknown_calls, m.path, m.trail
    m.trail = Trail()
    raised: Raised | None = None
    signal = NORMAL
    try:
        signal = body(fr)
    except Raised as r:
        raised = r
    finally:
        writes = m.trail.old
        m.trail = outer
        if outer is not None:
            for slots, key, old in writes.values():
                outer.old.setdefault((id(slots), key), (slots, key, old))
    if raised is not None:
        return _handle(fr, raised, handlers)
    uncertain = m.dropped > dropped or m.unknown_calls > unknown
    if orelse and signal == NORMAL:
        signal = orelse(fr)
    if not uncertain:
        return signal
    m.path = path
    return _maybe_handled(fr, handlers, writes, signal)


def _handle(fr: Frame, raised: Raised, handlers: list[Any]) -> int:
    """Runs the handler that takes the exception, or raises it on."""
    for kinds, store, run in handlers:
        if any(catches(kind, raised.name) for kind in kinds):
            if store:
                store(fr, Unknown("an exception"))
            return run(fr)
    raise raised


def catches(kind: str, name: str) -> bool:
    """Whether `except kind` takes an exception of class `name`, by Python's own hierarchy; unknown classes by name."""
    k, n = getattr(builtins, kind, None), getattr(builtins, name, None)
    if isinstance(k, type) and isinstance(n, type):
        return issubclass(n, k)
    return kind == name or kind in ("Exception", "BaseException")


def _maybe_handled(fr: Frame, handlers: list[Any], writes: Writes, signal: int) -> int:
    """The body may have raised: what it wrote may have happened or not, and a handler may have run."""
    ret = fr.ret

    def went_well(inner: Frame) -> int:
        inner.ret = ret
        return signal

    result: Exec = went_well
    for _, store, run in handlers:
        result = _after(fr, store, run, writes, result)
    return result(fr)


def _after(fr: Frame, store: Store | None, run: Exec, writes: Writes, otherwise: Exec) -> Exec:
    def handler(inner: Frame) -> int:
        for slots, key, _ in writes.values():
            inner.m.write(slots, key, Unknown("may have been interrupted by an exception"))
        if store:
            store(inner, Unknown("an exception"))
        return run(inner)

    return lambda inner: if_(inner, inner.m.fresh_condition(), handler, otherwise)


# -- patterns ------------------------------------------------------------------------------------------------------------------


def match_(fr: Frame, subject: Value, cases: list[Any]) -> int:
    """A match statement: its cases are tried in order."""
    if not cases:
        return NORMAL
    pattern, guard, body = cases[0]
    c = pattern(fr, subject)
    if guard is not None and c is not False:
        c = conds.all_of([c, ops.truth(fr.m, guard(fr))])
    known = fr.m.decide(c)
    return if_(fr, c if known is None else known, body, lambda inner: match_(inner, subject, cases[1:]))


def capture(fr: Frame, v: Value, test: Any, store: Store | None) -> Cond:
    """A capture pattern: binds where the inner pattern fits."""
    c = test(fr, v)
    if store and c is not False:
        store(fr, v)
    return c


def match_sequence(fr: Frame, v: Value, tests: list[Any]) -> Cond:
    """A sequence pattern without a star."""
    items = fr.m.program.items.iterate(fr.m, v)
    if items is None:
        return fr.m.fresh_condition()
    if len(items) != len(tests):
        return False
    return conds.all_of([t(fr, x) for t, x in zip(tests, items, strict=True)])


def match_unknown(fr: Frame, names: list[Store]) -> Cond:
    """A pattern that is not understood: its names are unknown, its outcome open."""
    for store in names:
        store(fr, Unknown("bound by a pattern that is not understood"))
    return fr.m.fresh_condition()
