"""Runs the evaluator on texts held in memory, with Python's models and one probe that records what it is given."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pallas_ls.domain.cond import Cond
from pallas_ls.domain.fact import CallFact, Raise
from pallas_ls.domain.python import Value
from pallas_ls.evaluate.frame import Function
from pallas_ls.evaluate.machine import BudgetExceeded, Machine, Raised
from pallas_ls.evaluate.memo import Memo
from pallas_ls.evaluate.program import Program
from pallas_ls.evaluate.trail import Trail
from pallas_ls.library import catalogue
from pallas_ls.library.library import Library
from pallas_ls.library.recording import record
from pallas_ls.source.module import Module, parse_module

#: Statements and calls that one evaluation may take; small, so that what would never end shows early.
BUDGET = 60_000


class Texts:
    """Modules by name; a module's path is its name with ".py"."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.modules: dict[str, Module] = {}
        for name, text in texts.items():
            self.put(name, text)

    def put(self, name: str, text: str) -> None:
        """Gives a module a new text, parsed incrementally."""
        path = f"{name}.py"
        self.modules[path] = parse_module(path, text, self.modules.get(path))

    def find(self, name: str, level: int, importer: str) -> str | None:
        """The path of a module, where there is one of that name."""
        return f"{name}.py" if f"{name}.py" in self.modules else None

    def module(self, path: str) -> Module | None:
        """The parsed text."""
        return self.modules.get(path)


@functools.cache
def library() -> Library:
    """All models, and `kit.probe(x, y)`, which records its arguments and returns x."""
    r = catalogue.registry()

    @r.function("kit.probe", "x, y=None")
    def _probe(m: Any, call: Any, x: Value, y: Value) -> Value:
        record(m, "probe", call.site, {"x": x, "y": y}, x)
        return x

    return Library(r)


def program(texts: Mapping[str, str], budget: int = BUDGET) -> tuple[Program, Texts]:
    """A program over modules in memory, "main" being the one under analysis."""
    files = Texts(texts)
    return Program(files, library(), budget=budget), files


@dataclass(slots=True)
class Result:
    """What one call came to.

    Attributes:
      value: what it returned; None where `raised` is set.
      raised: the exception's name, where every path raises; `stopped`: the budget ended.
      facts, raises: what was recorded on the way.
      guards: what the path assumes at the end.
      decisions: (guards of the path, condition, answer) of each question that was decided.
    """

    value: Value = None
    raised: str | None = None
    stopped: bool = False
    facts: list[CallFact] = field(default_factory=list[CallFact])
    raises: list[Raise] = field(default_factory=list[Raise])
    guards: tuple[Any, ...] = ()
    decisions: list[tuple[tuple[Cond, ...], Cond, bool]] = field(default_factory=list)


class Watched(Machine):
    """A machine that keeps what it decides."""

    def __init__(self, budget: int, p: Program) -> None:
        super().__init__(budget, p)
        self.decisions: list[tuple[tuple[Cond, ...], Cond, bool]] = []

    def decide(self, c: Cond) -> bool | None:
        """As the machine does."""
        answer = super().decide(c)
        if answer is not None and not isinstance(c, bool):
            self.decisions.append((self.path.guards, c, answer))
        return answer


def call(text: str, name: str, args: tuple[Value, ...] | None = None) -> Result:
    """Evaluates a module and calls a function of it: with these arguments, or over symbols for its parameters."""
    p, _ = program({"main": text})
    return call_in(p, name, args)


def call_in(p: Program, name: str, args: tuple[Value, ...] | None = None) -> Result:
    """Calls a function of the module "main"."""
    state = p.run("main.py")
    assert state is not None
    f = state.env.vars.get(name)
    assert isinstance(f, Function), f"{name} is {f}"
    m = Watched(p.budget, p)
    m.trail = m.base = Trail()
    out = Result(facts=m.facts_out, raises=m.raises, decisions=m.decisions)
    try:
        if args is None:
            out.value = p.calls.run(m, f, p.entries.arguments(m, f))
        else:
            out.value = p.calls.call(m, f, args, None)
    except Raised as r:
        out.raised = r.name
        m.note_raised(r, m.path.guards)
    except BudgetExceeded:
        out.stopped = True
    out.guards = m.path.guards
    return out


def analyse(texts: Mapping[str, str]) -> tuple[Program, list[Memo]]:
    """All units of "main"."""
    p, _ = program(texts)
    return p, p.analyse("main.py")
