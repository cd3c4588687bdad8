"""Control flow: branches that may end early, loops, exceptions, patterns."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ..domain import cond as conds
from ..domain.array import Array
from ..domain.cond import Cond
from ..domain.fact import Raise
from ..domain.python import (
    MISSING,
    Choice,
    Class,
    DictCell,
    Endless,
    Instance,
    IteratorCell,
    ListCell,
    Unknown,
    Value,
    same,
)
from ..source.span import Site
from . import alike, exceptions, partial_dicts
from . import operators as ops
from .early import attempt, conclude, end_early, in_state, rebase
from .frame import BREAK, CONTINUE, LEFT, NORMAL, RETURN, Eval, Exec, Frame
from .items import after_first, cases
from .machine import Machine, Outcome, Path, Raised, needs_of, needs_of_cond
from .trail import Trail, Writes, merge

Store = Callable[[Frame, Value], None]

#: A loop of unknown length is run again until nothing changes, at most so often; then what still changes is unknown.
MAX_PASSES = 3
#: Rounds over one list or iterator that are evaluated one by one.
MAX_ROUNDS = 4096


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
    rebase(fr, before, cond)
    return out, mine


def _join(fr: Frame, cond: Cond, a: Outcome, b: Outcome, ra: Value, rb: Value) -> int:
    """Both sides ran to an end; where one ends early, the rest runs under the other's condition."""
    m = fr.m
    if a.value == b.value:
        m.learn_from(cond, a)
        m.learn_from(conds.negate(cond), b)
        m.merge_writes(cond, a.writes, b.writes)
        if a.value == RETURN:
            fr.ret = merge(cond, ra, rb)
        return a.value
    if a.value != NORMAL:
        end_early(fr, a.value, cond, ra, a.writes, a.learnt)
        kept, ret, learnt = b, rb, conds.negate(cond)
    else:
        end_early(fr, b.value, conds.negate(cond), rb, b.writes, b.learnt)
        kept, ret, learnt = a, ra, cond
    m.take(learnt, kept)
    fr.ret = ret
    return kept.value


def check(fr: Frame, cond: Cond, said: Eval | None, site: Site) -> int:
    """An assert: what follows runs only where it holds."""
    m = fr.m
    cond = m.compact(cond)
    if cond is True:
        return NORMAL

    def fails() -> Value:
        args = () if said is None else (said(fr),)
        raise exceptions.raised(m, Instance(_ASSERTION, {"args": args}), "AssertionError", site)

    return m.branch(cond, lambda: NORMAL, fails)


_ASSERTION = Class("AssertionError", (), {}, "exception")


# -- loops -----------------------------------------------------------------------------------------


def for_(fr: Frame, source: Value, store: Store, body: Exec, orelse: Exec | None, label: str, site: Site) -> int:
    """A for loop: unrolled where the sequence is known, once for each case of it, else a fixed point."""
    content = fr.m.select(source.slots["items"] if isinstance(source, ListCell) else source)
    if isinstance(content, Choice):
        yes, no = content.yes, content.no
        return if_(
            fr,
            content.cond,
            lambda inner: for_(inner, yes, store, body, orelse, label, site),
            lambda inner: for_(inner, no, store, body, orelse, label, site),
        )
    source = fr.m.select(source)
    if isinstance(source, (ListCell, DictCell)) and not isinstance(source.slots["items"], Unknown):
        return _loop(fr, lambda inner: _cell_rounds(inner, source, 0, store, body, label), orelse)
    if isinstance(source, IteratorCell) and not isinstance(fr.m.program.items.remaining(fr.m, source), Unknown):
        return _loop(fr, lambda inner: _drawn_rounds(inner, source, store, body, label), orelse)
    items = fr.m.program.items.iterate(fr.m, source)
    if items is None and isinstance(choice := fr.m.program.items.spread(fr.m, source), Choice):
        sides = [lambda inner, x=x: for_(inner, x, store, body, orelse, label, site) for x in (choice.yes, choice.no)]
        return if_(fr, choice.cond, *sides)
    if items is None:
        fr.m.structure |= needs_of(source)

        def begin() -> None:  # what is known of the element holds in the body only: the loop may not run at all
            store(fr, _element(fr.m, source, label))

        return _loop(fr, lambda inner: _unknown_loop(inner, begin, body), orelse)
    return _loop(fr, lambda inner: _rounds(inner, items, store, body), orelse)


def _loop(fr: Frame, rounds: Exec, orelse: Exec | None) -> int:
    """A loop; what breaks out of it goes on after its else clause, in which `break` means the loop outside."""
    start = len(fr.pending)
    signal = attempt(fr, rounds, start, (BREAK,))
    for p in fr.pending[start:]:
        p.signal = LEFT if p.signal == BREAK else p.signal
    if signal == BREAK:
        signal = LEFT
    elif signal == NORMAL and orelse:
        signal = attempt(fr, orelse, start, (LEFT,))
    return conclude(fr, start, (LEFT,), signal)


def _rounds(fr: Frame, items: list[Value], store: Store, body: Exec) -> int:
    for x in items:
        fr.m.step()
        store(fr, x)
        signal = _iteration(fr, body)
        if signal != NORMAL:
            return signal
    return NORMAL


def _cell_rounds(fr: Frame, cell: ListCell | DictCell, at: int, store: Store, body: Exec, label: str) -> int:
    """Rounds over a list or dict, which the body may change: its content is looked at anew in each."""
    m = fr.m
    size = -1
    while True:
        m.step()
        items = _content(m, cell)
        if isinstance(items, Choice):
            return _by_case(fr, cell, items, lambda inner: _cell_rounds(inner, cell, at, store, body, label))  # noqa: B023
        if not isinstance(items, (tuple, dict)) or at > MAX_ROUNDS:
            return _unknown_loop(fr, lambda: store(fr, m.unknown("an element of a list that changes", items)), body)  # noqa: B023
        if isinstance(items, dict):
            if size not in (-1, len(items)):
                raise Raised(None, "RuntimeError", None)
            size = len(items)
            items = tuple(k for k, _ in items.values())
        if at >= len(items):
            return NORMAL
        store(fr, items[at])
        at += 1
        signal = _iteration(fr, body)
        if signal != NORMAL:
            return signal


def _drawn_rounds(fr: Frame, cell: IteratorCell, store: Store, body: Exec, label: str) -> int:
    """Rounds over an iterator: what a break leaves is there for the next one who asks."""
    m = fr.m
    for _ in range(MAX_ROUNDS):
        m.step()
        items = m.program.items.remaining(m, cell)
        if isinstance(items, Choice):
            flat = cases(m, items)
            if flat is None:
                return _by_case(fr, cell, items, lambda inner: _drawn_rounds(inner, cell, store, body, label))
            items = tuple(flat)
        if isinstance(items, Endless):
            element: Value = items.at(items.position)
        elif type(items) is not tuple:
            break
        elif not items:
            return NORMAL
        else:
            element = items[0]
        m.write(cell.slots, "items", after_first(items))
        store(fr, element)
        signal = _iteration(fr, body)
        if signal != NORMAL:
            return signal
    m.write(cell.slots, "items", m.unknown("an iterator of unknown content"))
    return _unknown_loop(fr, lambda: store(fr, m.unknown("an element of an iterator", cell.slots["items"])), body)


def _content(m: Machine, cell: ListCell | DictCell) -> Value:
    """The content of a list or dict, cases of one length merged element by element."""
    items = m.select(cell.slots["items"])
    if not isinstance(items, Choice):
        return items
    flat = cases(m, items)
    return items if flat is None else tuple(flat)


def _by_case(fr: Frame, cell: Any, items: Choice, rest: Exec) -> int:
    """The other rounds in each case of the content."""

    def side(content: Value) -> Exec:
        def run(inner: Frame) -> int:
            inner.m.write(cell.slots, "items", content)
            return rest(inner)

        return run

    return if_(fr, items.cond, side(items.yes), side(items.no))


def _iteration(fr: Frame, body: Exec) -> int:
    """One round of a loop; what continues early joins the next one."""
    start = len(fr.pending)
    return conclude(fr, start, (CONTINUE,), attempt(fr, body, start, (CONTINUE,)))


def _element(m: Machine, source: Value, label: str) -> Value:
    """An element of a sequence of unknown length."""
    found = alike.element(m, source, label)
    return m.unknown("an element of an unknown sequence", source) if found is None else found


def while_(fr: Frame, test: Eval, body: Exec, orelse: Exec | None) -> int:
    """A while loop: unrolled as long as the test is decided, else a fixed point."""
    return _loop(fr, lambda inner: _while_rounds(inner, test, body), orelse)


def _while_rounds(fr: Frame, test: Eval, body: Exec) -> int:
    while True:
        fr.m.step()
        c = ops.truth(fr.m, test(fr))
        if not isinstance(c, bool):
            fr.m.structure |= needs_of_cond(c)
            return _unknown_loop(fr, lambda: test(fr), body)
        if not c:
            return NORMAL
        signal = _iteration(fr, body)
        if signal != NORMAL:
            return signal


def _unknown_loop(fr: Frame, begin: Callable[[], Any], body: Exec) -> int:
    """A loop of unknown length: its body runs over widened state until nothing more changes; the last run counts."""
    m = fr.m
    cond, (out, ended, broken) = _settled_pass(fr, begin, body)
    for slots, key, value in out.writes.values():
        now = slots.get(key, MISSING)
        if now is not MISSING or value is not MISSING:
            m.write(slots, key, _widen(now, value))
    if out.raised is not None:
        m.note_raise(cond, out.raised)
        m.assume(conds.negate(cond))
    elif out.learnt:
        m.assume(m.fresh_condition())  # no round raised
    if ended:
        _may_end(fr, RETURN, Unknown("returned from a loop of unknown length"))
    if broken:
        _may_end(fr, BREAK, None)
    return NORMAL


def _settled_pass(fr: Frame, begin: Callable[[], Any], body: Exec) -> tuple[Cond, tuple[Outcome, bool, bool]]:
    """The run of a loop's body that holds for any round, with the condition that there is one."""
    m = fr.m
    for i in range(MAX_PASSES):
        recorded = m.recorded()
        cond = m.fresh_condition("loop")
        found = _one_pass(fr, cond, begin, body)
        changed = _changes(found[0].writes)
        if not changed:
            return cond, found
        m.forget(recorded)
        for slots, key, value in changed.values():
            now = slots.get(key, MISSING)
            wide = _widen(now, value) if i < MAX_PASSES - 1 else Unknown("changed by a loop of unknown length")
            m.write(slots, key, wide)
    cond = m.fresh_condition("loop")
    return cond, _one_pass(fr, cond, begin, body)


def _may_end(fr: Frame, signal: int, value: Value) -> None:
    """The loop may have ended this way in one of its rounds."""
    c = fr.m.fresh_condition()
    end_early(fr, signal, c, value, {})
    fr.m.assume(conds.negate(c))


def _one_pass(fr: Frame, cond: Cond, begin: Callable[[], Any], body: Exec) -> tuple[Outcome, bool, bool]:
    """One run of a loop's body, undone; whether it may return, and whether it may break."""
    before = len(fr.pending)
    ret = fr.ret

    def run() -> int:
        begin()
        return attempt(fr, body, before, (RETURN, BREAK, CONTINUE))

    out = fr.m.run_side(cond, run)
    fr.ret = ret
    early = fr.pending[before:]
    del fr.pending[before:]
    for p in early:
        for where, row in p.writes.items():
            out.writes.setdefault(where, row)
            if not same(out.writes[where][2], row[2]):
                slots, key, _ = row
                out.writes[where] = (slots, key, Unknown("changed by a loop of unknown length"))
    signals = {out.value, *(p.signal for p in early)}
    return out, RETURN in signals, BREAK in signals


def _changes(writes: Writes) -> Writes:
    """What a round leaves different from what it began with, and from what stands for any round already."""
    return {
        where: (slots, key, value)
        for where, (slots, key, value) in writes.items()
        if (now := slots.get(key, MISSING)) is not MISSING and not same(now, _widen(now, value))
    }


def _widen(now: Value, new: Value) -> Value:
    """A value that is either, in a form that stays valid however often the loop runs."""
    if now is MISSING:
        return new
    if new is MISSING or same(now, new):
        return now
    if isinstance(now, Array) and isinstance(new, Array) and now.dtype == new.dtype and now.shape == new.shape:
        return Array(now.shape, now.dtype, now.weak and new.weak)
    if isinstance(now, Choice) and isinstance(new, Choice) and now.cond == new.cond:
        return merge(now.cond, _widen(now.yes, new.yes), _widen(now.no, new.no))
    if partial_dicts.covers(new, now):
        return new
    if (longer := alike.grown(now, new)) is not None:
        return longer
    return Unknown("changed by a loop of unknown length")


# -- exceptions ------------------------------------------------------------------------------------


def try_(fr: Frame, body: Exec, handlers: list[Any], orelse: Exec | None, final: Exec | None) -> int:
    """A try statement."""
    if final is None:
        return _try_body(fr, body, handlers, orelse)
    m = fr.m
    start, raises, path = len(fr.pending), len(m.raises), m.path
    raised, signal, writes = _watched(fr, lambda inner: _try_body(inner, body, handlers, orelse))
    _finally_raised(fr, m.raises[raises:], path, writes, final)
    end = _finally(fr, start, final)
    if end == NORMAL and raised is not None:
        raise raised
    return signal if end == NORMAL else end


def _finally_raised(fr: Frame, raises: list[Raise], path: Path, writes: Writes, final: Exec) -> None:
    """What is done at the end where the body raised under a condition: for what it records only."""
    if not raises:
        return
    m, ret, before = fr.m, fr.ret, len(fr.pending)
    here, m.path = m.path, path

    def run() -> int:
        distrust(m, writes)
        return final(fr)

    m.run_side(conds.any_of(conds.all_of(r.guards[len(path.guards) :]) for r in raises), run)
    m.path, fr.ret = here, ret
    del fr.pending[before:]


def _finally(fr: Frame, start: int, final: Exec) -> int:
    """Runs what is to be done at the end: for each early end, and for the path that goes on."""
    for p in fr.pending[start:]:
        in_state(fr, p, lambda: final(fr))
    ret = fr.ret
    signal = final(fr)
    if signal != RETURN:
        fr.ret = ret
    return signal


def _try_body(fr: Frame, body: Exec, handlers: list[Any], orelse: Exec | None) -> int:
    if not handlers:
        signal = body(fr)
        return orelse(fr) if orelse and signal == NORMAL else signal
    m = fr.m
    start, raises, doubts, path = len(fr.pending), len(m.raises), m.doubts, m.path
    outer = m.caught
    m.caught = (*outer, *(kind for kinds, _, _ in handlers for kind in kinds))
    try:
        raised, signal, writes = _watched(fr, body)
    finally:
        m.caught = outer
    caught = _take_caught(m, raises, handlers)
    if raised is not None:
        if caught or m.doubts > doubts:
            distrust(m, writes)
        return _handle(fr, raised, handlers)
    uncertain = bool(caught) or m.doubts > doubts
    doubted = m.doubts > doubts
    if orelse and signal == NORMAL:
        signal = orelse(fr)
    if not uncertain:
        return signal
    _forget_success(fr, path, start, m.raises[raises:], caught, doubted)
    return _maybe_handled(fr, handlers, writes, signal, caught, len(path.guards), doubted)


def _forget_success(
    fr: Frame, path: Path, start: int, uncaught: list[Raise], caught: list[Raise], doubted: bool
) -> None:
    """After a try whose handler may have run, less is known than at the end of its body.

    What was raised and not caught did not happen, nor did an early end, unless the body was interrupted before it.
    """
    m = fr.m
    m.path = path
    known = len(path.guards)
    interrupted = [conds.all_of(r.guards[known:]) for r in caught]
    interrupted += [m.fresh_condition()] if doubted else []
    for r in uncaught:
        m.assume(conds.negate(conds.all_of(r.guards[known:])))
    for p in fr.pending[start:]:
        m.assume(conds.any_of([conds.negate(conds.all_of(p.guards[known:])), *interrupted]))


def _watched(fr: Frame, body: Exec) -> tuple[Raised | None, int, Writes]:
    """Runs the body of a try: what it raises on every path, how it ended, and what it wrote."""
    m = fr.m
    start, outer = len(fr.pending), m.trail
    m.trail = inner = Trail()
    raised: Raised | None = None
    signal = NORMAL
    m.tries += 1
    try:
        signal = body(fr)
    except Raised as r:
        raised = r
    finally:
        m.tries -= 1
        m.trail = outer
        if outer is not None:
            inner.fold_into(outer, fr.pending[start:])
    return raised, signal, inner.old


def _take_caught(m: Machine, start: int, handlers: list[Any]) -> list[Raise]:
    """Takes the raises that a handler may take off the record."""
    kinds = [k for names, _, _ in handlers for k in names]
    caught = [r for r in m.raises[start:] if any(takes(k, r) for k in kinds)]
    if not m.row:
        m.interrupted.update(r.row for r in caught)
    if caught:
        m.raises[start:] = [r for r in m.raises[start:] if r not in caught]
    return caught


def expecting(fr: Frame, body: Exec) -> int:
    """A block of which a test expects an exception: what it raises ends here, what JAX raises in it is no finding."""
    m = fr.m
    outer = m.caught
    m.caught = (*outer, "BaseException")
    try:
        return body(fr)
    except Raised:
        return NORMAL
    finally:
        m.caught = outer


def _handle(fr: Frame, raised: Raised, handlers: list[Any]) -> int:
    """Runs the handler that takes the exception, or raises it on."""
    if raised.cases is not None:
        cond, yes, no = raised.cases
        return if_(fr, cond, lambda inner: _handle(inner, yes, handlers), lambda inner: _handle(inner, no, handlers))
    for kinds, store, run in handlers:
        if any(takes(kind, raised) for kind in kinds):
            if store:
                store(fr, Unknown("an exception") if raised.value is None else raised.value)
            return _handling(fr, raised, run)
    raise raised


def _handling(fr: Frame, raised: Raised | None, run: Exec) -> int:
    """Runs a handler, in which a bare `raise` raises the exception again."""
    fr.m.handling.append(raised)
    try:
        return run(fr)
    finally:
        fr.m.handling.pop()


def takes(kind: str, raised: Raised | Raise) -> bool:
    """Whether `except kind` takes the exception."""
    return any(catches(kind, name) for name in raised.kinds or (raised.name,))


def takes_any(kinds: tuple[str, ...], raised: Raise) -> bool:
    """Whether a handler of one of these classes takes the exception."""
    return any(takes(kind, raised) for kind in kinds)


def catches(kind: str, name: str) -> bool:
    """Whether `except kind` takes an exception of class `name`, by Python's own hierarchy; unknown classes by name."""
    k, n = getattr(builtins, kind, None), getattr(builtins, name, None)
    if isinstance(k, type) and isinstance(n, type):
        return issubclass(n, k)
    return kind == name or kind in ("Exception", "BaseException")


def _maybe_handled(
    fr: Frame, handlers: list[Any], writes: Writes, signal: int, caught: list[Raise], known: int, doubted: bool
) -> int:
    """The body may have raised: what it wrote may have happened or not, and a handler may have run.

    known: guards of the path before the body; doubted: that it raises elsewhere cannot be told.
    """
    ret = fr.ret

    def went_well(inner: Frame) -> int:
        inner.ret = ret
        return signal

    result: Exec = went_well
    left = caught
    for kinds, store, run in handlers:
        mine = [r for r in left if takes_any(kinds, r)]
        left = [r for r in left if r not in mine]
        cond = fr.m.fresh_condition() if doubted else conds.any_of(conds.all_of(r.guards[known:]) for r in mine)
        only = _as_raised(mine[0]) if len(mine) == 1 and not doubted else None
        result = _after(cond, store, run, writes, only, result)
    return result(fr)


def _as_raised(r: Raise) -> Raised:
    """A recorded exception, to be raised again by its handler."""
    out = Raised(None, r.name, r.site)
    out.kinds, out.message, out.deliberate = r.kinds, r.message, r.deliberate
    return out


def _after(cond: Cond, store: Store | None, run: Exec, writes: Writes, raised: Raised | None, otherwise: Exec) -> Exec:
    def handler(inner: Frame) -> int:
        distrust(inner.m, writes)
        if store:
            store(inner, Unknown("an exception"))
        return _handling(inner, raised, run)

    return lambda inner: if_(inner, cond, handler, otherwise)


def distrust(m: Machine, writes: Writes) -> None:
    """Slots that may have been written, or not."""
    for slots, key, _ in writes.values():
        m.write(slots, key, Unknown("may have been interrupted by an exception"))
