"""The state of a program as plain data that two programs can be compared by."""

from __future__ import annotations

from typing import Any

from pallas_ls.domain import cond as conds
from pallas_ls.domain import dim as dims
from pallas_ls.domain.python import Bool, Choice, Class, DictCell, Instance, Int, ListCell, Partial, SetCell, Value
from pallas_ls.evaluate.descriptors import Property
from pallas_ls.evaluate.frame import Function
from pallas_ls.evaluate.managers import ManagerFunction
from pallas_ls.evaluate.memo import Memo
from pallas_ls.evaluate.modules import UserModule
from pallas_ls.evaluate.program import Program
from pallas_ls.source.span import Site

from .workbench import Texts


class Snapshot:
    """Writes values as nested tuples; an object met before is named by its number, so that aliases show."""

    def __init__(self, files: Texts) -> None:
        self.files = files
        self.seen: dict[int, int] = {}

    def place(self, site: Site | None) -> Any:
        """A site as a span of the present text."""
        if site is None or site.path not in self.files.modules:
            return None
        span = self.files.modules[site.path].span(site)
        return span.path, span.start, span.end

    def value(self, v: Value) -> Any:
        """Any value."""
        if type(v) is tuple:
            return tuple(self.value(x) for x in v)
        if isinstance(v, (ListCell, DictCell, SetCell, Instance, Class)):
            return self._object(v)
        match v:
            case Int():
                return dims.text(v.dim)
            case Bool():
                return conds.text(v.cond)
            case Choice():
                return conds.text(v.cond), self.value(v.yes), self.value(v.no)
            case Function():
                return "function", v.name, self.place(v.code.site), self._slots(v.defaults)
            case UserModule():
                return "module", v.env.name
            case Property():
                return "property", self.value(v.getter), self.value(v.setter)
            case ManagerFunction():
                return "manager", self.value(v.function)
            case Partial():
                return "partial", self.value(v.function), self.value(v.args), self._slots(dict(v.kwargs))
            case _ if type(v) is dict:
                return tuple((repr(k), self.value(x)) for k, (_, x) in v.items())
            case _:
                return type(v).__name__, getattr(v, "why", None) or getattr(v, "name", None) or repr(v)

    def _object(self, v: Any) -> Any:
        if id(v) in self.seen:
            return "seen", self.seen[id(v)]
        self.seen[id(v)] = len(self.seen)
        if isinstance(v, Class):
            return "class", v.name, v.kind, self._slots(v.slots), tuple(v.annotations.items())
        kind = v.cls.name if isinstance(v, Instance) else type(v).__name__
        return kind, self._slots(v.slots)

    def _slots(self, slots: dict[str, Value]) -> Any:
        return tuple((name, self.value(x)) for name, x in sorted(slots.items()))

    def globals(self, p: Program, path: str) -> Any:
        """The global names of a module."""
        names = p.states[path].env.vars
        return {n: self.value(v) for n, v in names.items() if not n.startswith("class ")}

    def memo(self, memo: Memo) -> Any:
        """What a unit left behind."""
        facts = [
            (
                f.api,
                self.place(f.site),
                {n: self.value(v) for n, v in f.operands.items()},
                _texts(f.guards),
                self._chain(f.chain),
            )
            for f in memo.facts
        ]
        raises = [(r.name, self.place(r.site), _texts(r.guards), self._chain(r.chain)) for r in memo.raises]
        return facts, raises, memo.notes, memo.stopped

    def _chain(self, chain: tuple[Site, ...]) -> Any:
        return tuple(self.place(s) for s in chain)


def _texts(guards: tuple[conds.Cond, ...]) -> tuple[str, ...]:
    return tuple(conds.text(g) for g in guards)


def snapshot(p: Program, files: Texts) -> Any:
    """The whole state of "main": its global names, and what its units left behind."""
    memos = p.analyse("main.py")
    s = Snapshot(files)
    return s.globals(p, "main.py"), [s.memo(m) for m in memos]
