"""Calls: of the user's functions, of classes, partials and models of library functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..domain.array import Operation
from ..domain.fact import HostCall
from ..domain.python import (
    Bound,
    Builtin,
    Call,
    Choice,
    Class,
    DictCell,
    Entries,
    External,
    Instance,
    IteratorCell,
    Lazy,
    ListCell,
    Opaque,
    Partial,
    SetCell,
    Unknown,
    Value,
)
from ..source.span import Site
from . import partial_dicts
from .constructs import construct
from .descriptors import OPEN
from .early import attempt, conclude
from .frame import RETURN, Frame, Function, Unending
from .machine import MAX_DEPTH, Machine, Raised
from .managers import ManagerFunction, managed
from .trail import Trail, merge

#: The same function may be active so often at once (recursion over levels of a nest); then its result is unknown.
MAX_RECURSION = 8

NO_SITES: Mapping[str, Site] = {}


class Calls:
    """Calls of any value."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def call(
        self,
        m: Machine,
        f: Value,
        args: tuple[Value, ...],
        site: Site | None,
        kwargs: dict[str, Value] | None = None,
        arg_sites: tuple[Site, ...] = (),
        kwarg_sites: Mapping[str, Site] = NO_SITES,
        frame: Frame | None = None,
    ) -> Value:
        """`f(*args, **kwargs)`. `frame` is the caller's, for what looks at it (super)."""
        where = site if site is not None else self.program.nowhere
        return self.apply(m, f, Call(where, args, kwargs or {}, arg_sites, kwarg_sites), frame)

    def call_starred(self, fr: Frame, f: Value, args: list[Any], kwargs: list[Any], site: Site) -> Value:
        """A call with `*` or `**` arguments."""
        m = fr.m
        rows = [(star, e(fr), where) for star, e, where in args]
        named: dict[str, Value] = {}
        named_sites: dict[str, Site] = {}
        mappings: list[Value] = []
        for key, e, where in kwargs:
            v = e(fr)
            if key is not None:
                named[key], named_sites[key] = v, where
            else:
                mappings.append(v)
        return self._with_stars(m, f, Call(site, (), named, (), named_sites), rows, mappings, fr)

    def _with_stars(
        self, m: Machine, f: Value, call: Call, rows: list[tuple[bool, Value, Site]], mappings: list[Value], fr: Frame
    ) -> Value:
        """Spreads `*values`; one whose length differs under a condition splits the call, where there are few cases."""
        values, sites = list(call.args), list(call.arg_sites)
        unknown = False
        for i, (star, v, where) in enumerate(rows):
            items = self.program.items.iterate(m, v) if star else [v]
            if items is None and isinstance(choice := self.program.items.spread(m, v), Choice):
                begun = Call(call.site, tuple(values), call.kwargs, tuple(sites), call.kwarg_sites)
                sides = [[(True, x, where), *rows[i + 1 :]] for x in (choice.yes, choice.no)]
                return m.branch(
                    choice.cond,
                    lambda: self._with_stars(m, f, begun, sides[0], mappings, fr),  # noqa: B023
                    lambda: self._with_stars(m, f, begun, sides[1], mappings, fr),  # noqa: B023
                )
            if items is None:
                unknown = True
                break
            values += items
            sites += [where] * len(items)
        spread = Call(call.site, tuple(values), call.kwargs, tuple(sites), call.kwarg_sites, unknown)
        return self._with_mappings(m, f, spread, mappings, fr)

    def _with_mappings(self, m: Machine, f: Value, call: Call, mappings: list[Value], fr: Frame) -> Value:
        """Spreads `**mappings`; one that differs under a condition splits the call."""
        for i, v in enumerate(mappings):
            v = m.select(v)
            items = m.select(v.slots["items"]) if isinstance(v, DictCell) else v
            if isinstance(items, Choice):
                rest = mappings[i + 1 :]
                sides = [[_mapping(x), *rest] for x in (items.yes, items.no)]
                return m.branch(
                    items.cond,
                    lambda: self._with_mappings(m, f, call, sides[0], fr),  # noqa: B023
                    lambda: self._with_mappings(m, f, call, sides[1], fr),  # noqa: B023
                )
            if isinstance(items, dict) and all(isinstance(k, str) for k in items):
                extra = {k: x for k, (_, x) in items.items()}
                call = replace(call, kwargs={**call.kwargs, **extra})
            elif isinstance(items, Entries) and call.more is None:
                extra = {k: x for k, (_, x) in items.known.items()}
                call = replace(call, kwargs={**call.kwargs, **extra}, more=items)
            else:
                call = replace(call, open=True)
        return self.apply(m, f, call, fr)

    def apply(self, m: Machine, f: Value, call: Call, frame: Frame | None = None) -> Value:
        """Calls any value."""
        m.step()
        if isinstance(f, Function):
            return self.function(m, f, call)
        if call.more is not None and not isinstance(f, (Bound, Partial, Choice)):
            call = replace(call, open=True, more=None)
        if isinstance(f, Builtin):
            return f.run(m, call)
        if isinstance(f, Bound):
            inner = replace(call, args=(f.self, *call.args), arg_sites=(call.site, *call.arg_sites))
            return self.apply(m, f.function, inner, frame)
        if isinstance(f, Partial):
            return self.apply(m, f.function, _partial(f, call), frame)
        if isinstance(f, Choice):
            f = m.select(f)
            if isinstance(f, Choice):
                return m.branch(
                    f.cond, lambda: self.apply(m, f.yes, call, frame), lambda: self.apply(m, f.no, call, frame)
                )
            return self.apply(m, f, call, frame)
        if isinstance(f, Class):
            return self.program.classes.instantiate(m, f, call)
        if isinstance(f, Instance):
            method = self.program.attributes.special(m, f, "__call__")
            return self.apply(m, method, call, frame) if method is not None else self.unknown_call(m, f, call)
        if isinstance(f, External) and (special := construct(f.name)) is not None:
            return special(m, call, frame)
        if isinstance(f, (External, Opaque, Unknown)) or f is None:
            return self.unknown_call(m, f, call)
        if isinstance(f, ManagerFunction):
            return managed(m, f.function, call)
        return self.program.library.call(m, f, call)

    # -- functions of the user ---------------------------------------------------------------------

    def function(self, m: Machine, f: Function, call: Call) -> Value:
        """A call of a user's function, evaluated with these arguments."""
        if call.open:
            bound = self._bind_open(m, f, call)
        else:
            bound = self.bind(m, f, call)
        if isinstance(bound, Unknown):
            return bound
        m.called.add(id(f.code))
        if m.depth >= MAX_DEPTH or sum(1 for c in m.active if c is f.code) >= MAX_RECURSION:
            m.notes.append(f"{f.name}: calls nested too deep")
            return m.unknown(f"recursion in {f.name}", site=call.site)
        chain, row = m.chain, m.row
        if not m.launches:
            m.chain = (*chain, call.site)
            if not chain:
                m.rows += 1
                m.row = m.rows
            if f.up is None or (f.up.up is None and f.up.code is None and f.owner is None):
                context = (m.chain, m.path.guards, m.row, m.caught)
                m.host_calls.append(HostCall(f.module.path, f.name, dict(bound), call.site, *context))
        stack = m.stack
        m.stack = (*stack, call.site)
        try:
            if f.code.yields:
                return IteratorCell({"items": Lazy(self._generated(f, bound, m.chain), (f, *bound.values()))})
            return self.program.summaries.call(m, f, bound, lambda: self.run(m, f, bound))
        except Raised as r:
            r.chain = m.chain if r.chain is None else r.chain
            if not chain:
                m.failed.add(m.row)
            raise
        finally:
            m.chain, m.stack, m.row = chain, stack, row

    def _generated(self, f: Function, bound: dict[str, Value], chain: tuple[Site, ...]) -> Callable[[Machine], Value]:
        """What a generator yields, evaluated when the first of it is asked for."""

        def run(m: Machine) -> Value:
            here, m.chain = m.chain, chain
            try:
                return self.run(m, f, dict(bound))
            except Unending:
                return m.unknown(f"{f.name}, a generator without end")
            finally:
                m.chain = here

        return run

    def run_around(self, m: Machine, f: Function, call: Call, at_yield: Callable[[Value], Value]) -> None:
        """Runs a generator to its end, with `at_yield` called where it yields."""
        m.called.add(id(f.code))
        self.run(m, f, self.bind(m, f, call), at_yield)

    def run(
        self, m: Machine, f: Function, slots: dict[str, Value], at_yield: Callable[[Value], Value] | None = None
    ) -> Value:
        """Runs a function's body over bound parameters."""
        fr = Frame(m, f.module, f.up, slots, f.code)
        fr.owner = None
        fr.on_yield = at_yield
        if f.code.yields:
            fr.yielded = {"items": ()}
        m.depth += 1
        m.active.append(f.code)
        fr.site = f
        fr.caller = m.frame
        m.frame = fr
        outer, m.trail = m.trail, Trail()
        try:
            signal = attempt(fr, f.code.run, 0, (RETURN,))
            if signal != RETURN:
                fr.ret = None
            conclude(fr, 0, (RETURN,), signal, dying=True)
            self.program.entries.finish(m, fr)
        finally:
            m.depth -= 1
            m.frame = fr.caller
            m.active.pop()
            if outer is not None:
                m.trail.fold_into(outer, [])
            m.trail = outer
        return fr.yielded["items"] if fr.yielded is not None else fr.ret

    def bind(self, m: Machine, f: Function, call: Call) -> Any:
        """Parameters bound to arguments; raises TypeError in the program where they do not fit."""
        slots: dict[str, Value] = {}
        args = list(call.args)
        kwargs = dict(call.kwargs)
        for p in f.code.parameters:
            if p.kind in ("positional", "normal"):
                if args:
                    slots[p.name] = args.pop(0)
                elif p.kind == "normal" and p.name in kwargs:
                    slots[p.name] = kwargs.pop(p.name)
            elif p.kind == "*":
                slots[p.name], args = tuple(args), []
            elif p.kind == "keyword":
                if p.name in kwargs:
                    slots[p.name] = kwargs.pop(p.name)
                elif call.more is not None:
                    _bind_perhaps(m, f, call.more, p.name, slots)
            else:
                rows = {k: (k, v) for k, v in kwargs.items()}
                slots[p.name] = DictCell({"items": partial_dicts.rest(call.more, rows) if call.more else rows})
                kwargs = {}
            if p.name not in slots:
                if p.name not in f.defaults:
                    raise Raised(None, "TypeError", call.site)
                slots[p.name] = f.defaults[p.name]
        if args or kwargs:
            raise Raised(None, "TypeError", call.site)
        return slots

    def _bind_open(self, m: Machine, f: Function, call: Call) -> Any:
        """Some arguments are unknown: the given ones are bound, the others are unknown."""
        slots: dict[str, Value] = {}
        args = list(call.args)
        for p in f.code.parameters:
            if p.kind in ("positional", "normal") and args:
                slots[p.name] = args.pop(0)
            elif p.name in call.kwargs:
                slots[p.name] = call.kwargs[p.name]
            elif call.more is not None and p.kind == "keyword" and _bind_perhaps(m, f, call.more, p.name, slots):
                pass
            elif call.more is not None and p.kind == "**":
                named = [q.name for q in f.code.parameters]
                rows = {k: (k, v) for k, v in call.kwargs.items() if k not in named}
                slots[p.name] = DictCell({"items": partial_dicts.rest(call.more, rows)})
            else:
                slots[p.name] = m.unknown("an argument from a star of unknown content", site=call.site)
        return slots

    # -- calls of what is not known ----------------------------------------------------------------

    def unknown_call(self, m: Machine, f: Value, call: Call) -> Value:
        """A call of something without a model: whatever it may change is unknown, functions given to it are looked
        into."""
        m.doubts += 1
        if m.launch is not None:
            given = {str(i): v for i, v in enumerate((*call.args, *call.kwargs.values()))}
            m.operations.append(Operation("?", given, call.site))
        for v in (*call.args, *call.kwargs.values()):
            self.expose(m, v)
        return m.unknown(f"result of {describe(f)}", f, *call.args, *call.kwargs.values(), site=call.site)

    def expose(self, m: Machine, v: Value) -> None:
        """Mutable containers given away may have been changed."""
        if isinstance(v, IteratorCell):
            m.write(v.slots, "items", Unknown("an iterator given to an unknown function"))
        elif isinstance(v, Instance) and v.cls.kind == "plain":
            m.write(v.slots, OPEN, Unknown("an object given to an unknown function"))
        elif isinstance(v, (ListCell, DictCell, SetCell)):
            items = m.select(v.slots["items"])
            if isinstance(items, (tuple, dict)):
                for x in items if isinstance(items, tuple) else [y for _, y in items.values()]:
                    self.expose(m, x)
            m.write(v.slots, "items", Unknown("a container given to an unknown function"))
        elif type(v) is tuple:
            for x in v:
                self.expose(m, x)


def _bind_perhaps(m: Machine, f: Function, more: Entries, name: str, slots: dict[str, Value]) -> bool:
    """Binds a parameter to a keyword argument that may not be given; False where it is not given."""
    found = partial_dicts.get(more, name)
    if found is None or found[0] is False:
        return False
    there, value = found
    otherwise = f.defaults.get(name, Unknown(f"{name}, which may not be given"))
    slots[name] = value if m.decide(there) is True else merge(there, value, otherwise)
    return True


def _mapping(items: Value) -> Value:
    return DictCell({"items": items}) if isinstance(items, (dict, Choice)) else items


def _partial(f: Partial, call: Call) -> Call:
    return Call(
        call.site,
        (*f.args, *call.args),
        {**f.kwargs, **call.kwargs},
        (*f.arg_sites, *call.arg_sites),
        {**f.kwarg_sites, **call.kwarg_sites},
        call.open,
        call.more,
    )


def describe(f: Value) -> str:
    """A callee for a message."""
    if isinstance(f, Opaque):
        return f"{f.name}(...), a parameter"
    if isinstance(f, External):
        return f"{f.name}(...), which has no model here"
    if isinstance(f, Unknown):
        return f"a call of an unknown function ({f.why})"
    return f"a call of {type(f).__name__}"
