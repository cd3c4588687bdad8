"""With statements: what a context manager does at its two ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ..domain.python import Bound, Call, Instance, Unknown, Value
from ..source.span import Site
from . import operators as ops
from .control import distrust, try_
from .frame import NORMAL, Eval, Exec, Frame, Function
from .machine import Machine, Raised

Store = Callable[[Frame, Value], None]


@dataclass(frozen=True, slots=True, eq=False)
class Manager:
    """What a function decorated with `contextlib.contextmanager` returns: its generator, with the arguments bound."""

    function: Function
    call: Call


@dataclass(frozen=True, slots=True, eq=False)
class ManagerFunction:
    """A function decorated with `contextlib.contextmanager`."""

    function: Value
    binds: ClassVar[bool] = True


def entered(value: Eval, store: Store | None, body: Exec, leaves: bool, site: Site) -> Exec:
    """One item of a with statement around what it holds. `leaves`: a return, break or continue stands in it."""

    def run(fr: Frame) -> int:
        manager = fr.m.select(value(fr))
        if isinstance(manager, Manager) and manager.function.code.one_yield and not leaves:
            return _run_generator(fr, manager, store, body)
        if isinstance(manager, Instance) and fr.m.program.attributes.special(fr.m, manager, "__enter__") is not None:
            return _run_object(fr, manager, store, body, site)
        if isinstance(manager, Manager):
            _distrust_generator(fr, manager)
        if store:
            store(fr, fr.m.program.library.enter(fr.m, manager))
        return body(fr)

    return run


def _run_object(fr: Frame, v: Instance, store: Store | None, body: Exec, site: Site) -> int:
    """An object with `__enter__` and `__exit__`."""
    m = fr.m
    attributes = m.program.attributes
    x = m.program.calls.call(m, attributes.special(m, v, "__enter__"), (), site)
    if store:
        store(fr, x)
    answers: list[Value] = []

    def leave(inner: Frame) -> int:
        method = attributes.special(inner.m, v, "__exit__")
        why = Unknown("the exception that a context manager is told of")
        if method is not None:
            answers.append(inner.m.program.calls.call(inner.m, method, (why, why, why), site))
        return NORMAL

    try:
        return try_(fr, body, [], None, leave)
    except Raised:
        if answers and ops.truth(m, answers[-1]) is not False:
            m.doubts += 1
            return NORMAL
        raise


def _distrust_generator(fr: Frame, manager: Manager) -> None:
    """A generator that cannot be run around the statements: whatever it changes is unknown."""
    m = fr.m

    def run() -> Value:
        m.program.calls.run_around(m, manager.function, manager.call, lambda v: None)
        return None

    facts, _, _, inner = m.recorded()
    out = m.run_side(m.fresh_condition(), run)
    _, raises, calls, _ = m.recorded()
    m.forget((facts, raises, calls, inner))
    distrust(m, out.writes)


def _run_generator(fr: Frame, manager: Manager, store: Store | None, body: Exec) -> int:
    """A generator that yields once: what stands in the with statement is run where it yields."""
    m = fr.m
    signals: list[int] = []

    def at_yield(v: Value) -> Value:
        if store:
            store(fr, v)
        signals.append(body(fr))
        return None

    m.program.calls.run_around(m, manager.function, manager.call, at_yield)
    return signals[-1] if signals else NORMAL


def managed(m: Machine, f: Value, call: Call) -> Value:
    """`contextlib.contextmanager(f)(*args)`."""
    arguments = call
    while isinstance(f, Bound):
        arguments = Call(call.site, (f.self, *arguments.args), call.kwargs, (), call.kwarg_sites, call.open)
        f = f.function
    if isinstance(f, Function) and f.code.yields and not call.open:
        return Manager(f, arguments)
    return m.unknown("the value of a context manager", f, *call.args, site=call.site)
