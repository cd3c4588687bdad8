"""Literate cases: Python with expectations beside the line.

    m, k = x.shape
    tiles = m // tile * tile   #: tiles = x.shape[0]//tile*tile

`#: NAME = TEXT` states what a name holds when the function that the line stands in has been evaluated over symbols (at
module level: when the module has run). TEXT is written by `show`. `#: raises NAME if TEXT` states that the line raises
under this condition; `#: probe if TEXT` that a call of `kit.probe` on the line is recorded under it (`always`: under
none).

A case may hold several modules: `# module NAME` begins one, the first is "main".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pallas_ls.domain import cond as conds
from pallas_ls.domain import dim as dims
from pallas_ls.domain.cond import Cond
from pallas_ls.domain.python import (
    MISSING,
    Bool,
    Choice,
    Class,
    DictCell,
    Instance,
    Int,
    ListCell,
    Opaque,
    SetCell,
    Slice,
    Unknown,
    Value,
)
from pallas_ls.evaluate.frame import Function
from pallas_ls.evaluate.machine import Machine, Raised
from pallas_ls.evaluate.trail import Trail
from pallas_ls.source.span import Site

from .workbench import program

_EXPECTATION = re.compile(r"#: (.+)$")
_MODULE = re.compile(r"^# module (\w+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One line's expectation: its number (from 1) in the module, and its text."""

    line: int
    text: str


def modules(case: str) -> dict[str, str]:
    """The modules of a case by name."""
    parts = _MODULE.split(case)
    names, texts = ["main", *parts[1::2]], [parts[0], *parts[2::2]]
    return dict(zip(names, texts, strict=True))


def expectations(text: str) -> list[Expectation]:
    """What the lines of a module state."""
    rows = [(i, _EXPECTATION.search(line)) for i, line in enumerate(text.split("\n"), 1)]
    return [Expectation(i, part) for i, found in rows if found for part in found[1].split("; ")]


def failures(case: str) -> list[str]:
    """The expectations that do not hold, each with what is the case instead."""
    texts = modules(case)
    run = _Run(texts)
    return [
        f"line {e.line}: {e.text}\n      is: {actual}"
        for e in expectations(texts["main"])
        if (actual := run.actual(e)) != e.text
    ]


class _Run:
    """All functions of "main", evaluated over symbols, with the values of their names."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.program, self.files = program(texts)
        self.text = texts["main"]
        state = self.program.run("main.py")
        assert state is not None and state.env.module is not None
        self.globals = state.env.vars
        self.facts: list[Any] = [f for memo in state.chunks.values() for f in memo.facts]
        self.raises: list[Any] = [r for memo in state.chunks.values() for r in memo.raises]
        self.locals: list[tuple[int, int, dict[str, Value]]] = []
        for chunk in state.env.module.chunks:
            for f in state.chunks[chunk.key].made:
                self._evaluate(f)

    def _evaluate(self, f: Function) -> None:
        """Runs a function over symbols and keeps what its names hold at the end."""
        p = self.program
        m = Machine(p.budget, p)
        m.trail = Trail()
        slots = p.entries.arguments(m, f)
        try:
            slots["return"] = p.calls.run(m, f, slots)
        except Raised as r:
            m.note_raised(r, m.path.guards)
        span = self.files.modules["main.py"].span(f.code.site)
        self.locals.append((self._line(span.start), self._line(span.end), slots))
        self.facts += m.facts_out
        self.raises += m.raises

    def _line(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def actual(self, e: Expectation) -> str:
        """What is the case on the line, in the form of the expectation."""
        if e.text.startswith("raises "):
            return _events("raises", ((r.name, r.guards) for r in self.raises if self._at(r.site, e.line)))
        if e.text.startswith("probe "):
            return _events("probe", (("", f.guards) for f in self.facts if self._at(f.site, e.line)))
        name = e.text.split(" = ", 1)[0]
        slots = next((s for first, last, s in reversed(self.locals) if first <= e.line <= last), self.globals)
        return f"{name} = {show(slots.get(name, MISSING))}"

    def _at(self, site: Site | None, line: int) -> bool:
        if site is None or site.path != "main.py":
            return False
        return self._line(self.files.modules["main.py"].span(site).start) == line


def _events(kind: str, rows: Iterable[tuple[str, tuple[Cond, ...]]]) -> str:
    found = [f"{name} if {_guards(guards)}".strip() for name, guards in rows]
    return f"{kind} {' | '.join(dict.fromkeys(found))}" if found else f"{kind} never"


def _guards(guards: tuple[Cond, ...]) -> str:
    return " and ".join(conds.text(g) for g in guards) or "always"


def show(v: Value) -> str:
    """A value as text: integers as expressions, choices as conditional expressions, "?" and why for what is unknown."""
    if type(v) is tuple:
        return f"({', '.join(show(x) for x in v)}{',' if len(v) == 1 else ''})"
    match v:
        case Int():
            return dims.text(v.dim)
        case Bool():
            return conds.text(v.cond)
        case Choice():
            return f"{_part(v.yes)} if {conds.text(v.cond)} else {_part(v.no)}"
        case Unknown():
            return f"? {v.why}"
        case Opaque():
            return v.name
        case ListCell():
            return _content(v.slots["items"], "[", "]")
        case SetCell():
            return _content(v.slots["items"], "{", "}")
        case DictCell():
            return _mapping(v.slots["items"])
        case Instance():
            return _instance(v)
        case Class():
            return v.name
        case Function():
            return f"function {v.name}"
        case Slice():
            return f"slice({show(v.start)}, {show(v.stop)}, {show(v.step)})"
        case _ if v is MISSING:
            return "missing"
        case _:
            return getattr(v, "name", None) or repr(v)


def _part(v: Value) -> str:
    return f"({show(v)})" if isinstance(v, Choice) else show(v)


def _content(items: Value, left: str, right: str) -> str:
    if type(items) is tuple:
        return left + ", ".join(show(x) for x in items) + right
    if isinstance(items, Choice):
        return f"{_content(items.yes, left, right)} if {conds.text(items.cond)} else {_content(items.no, left, right)}"
    return f"{left}{show(items)}{right}"


def _mapping(items: Value) -> str:
    if isinstance(items, dict):
        return "{" + ", ".join(f"{show(k)}: {show(x)}" for k, x in items.values()) + "}"
    if isinstance(items, Choice):
        return f"{_mapping(items.yes)} if {conds.text(items.cond)} else {_mapping(items.no)}"
    return "{" + show(items) + "}"


def _instance(v: Instance) -> str:
    if v.cls.kind == "enum":
        return f"{v.cls.name}.{v.slots['name']}"
    return f"{v.cls.name}({', '.join(f'{n}={show(x)}' for n, x in v.slots.items())})"
