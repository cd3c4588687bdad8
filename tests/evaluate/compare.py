"""The evaluator's account of a generated program beside what Python does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pallas_ls.domain.cond import Cond
from pallas_ls.domain.fact import CallFact
from pallas_ls.domain.python import Int

from . import reality
from .reality import Reality
from .substitute import agrees, incomplete, plain, truth
from .workbench import Result, Texts, call_in, program

#: Exceptions that the evaluator does not model: what leads to them is unknown to it.
UNSEEN = ("UnboundLocalError", "TypeError")


@dataclass(slots=True)
class Account:
    """A program with the evaluator's account over symbols."""

    text: str
    parameters: list[str]
    files: Texts
    symbolic: Result
    lines: list[str] = field(default_factory=list[str])

    @staticmethod
    def of(text: str, parameters: list[str]) -> Account:
        """Evaluates `main` over symbols."""
        p, files = program({"main": text})
        return Account(text, parameters, files, call_in(p, "main"), text.split("\n"))

    def concrete(self, binding: Mapping[str, int]) -> Result:
        """Evaluates `main` on integers, in a program of its own: what it writes into module globals stays there."""
        p, _ = program({"main": self.text})
        return call_in(p, "main", tuple(Int(binding[n]) for n in self.parameters))

    def line(self, fact: CallFact) -> int:
        """The line of a fact's call, counted from 1."""
        span = self.files.modules["main.py"].span(fact.site)
        return self.text.count("\n", 0, span.start) + 1

    def deliberate(self, real: Reality) -> bool:
        """Whether the program raised by a `raise` or `assert` of its own."""
        return bool(real.raised_at) and self.lines[real.raised_at[-1] - 1].strip().startswith(("raise", "assert"))


def hold(guards: Iterable[Cond], binding: Mapping[str, int]) -> bool | None:
    """Whether all guards hold; None where one of them is not decided by the substitution."""
    answers = [truth(g, binding) for g in guards]
    return False if False in answers else None if None in answers else True


def disagreements(account: Account, binding: Mapping[str, int]) -> list[str]:
    """What the evaluator claims and Python contradicts, for one substitution."""
    real = reality.run(account.text, binding)
    return [
        *(f"concrete: {x}" for x in _differences(account, account.concrete(binding), real, {})),
        *(f"symbolic: {x}" for x in _differences(account, account.symbolic, real, binding)),
    ]


def _differences(account: Account, claimed: Result, real: Reality, binding: Mapping[str, int]) -> list[str]:
    if claimed.stopped:
        return []
    out = [*_missing_facts(account, claimed, real, binding), *_false_decisions(claimed, binding)]
    if real.raised is None or account.deliberate(real):
        out += _false_facts(account, claimed, real, binding)
    return out + (
        _about_value(claimed, real, binding) if real.raised is None else _about_raise(account, claimed, real, binding)
    )


def _about_value(claimed: Result, real: Reality, binding: Mapping[str, int]) -> list[str]:
    out = [f"{r.name} raised under {r.guards}, Python returns" for r in claimed.raises if hold(r.guards, binding)]
    if claimed.raised:
        return [*out, f"raises {claimed.raised}, Python returns {real.value}"]
    if hold(claimed.guards, binding) is False:
        out.append(f"the end is said not to be reached: {claimed.guards}")
    value = plain(claimed.value, binding)
    return out if agrees(value, real.value) else [*out, f"returns {value}, Python returns {real.value}"]


def _about_raise(account: Account, claimed: Result, real: Reality, binding: Mapping[str, int]) -> list[str]:
    if not account.deliberate(real):
        if (
            binding
            or claimed.raised == real.raised
            or real.raised in UNSEEN
            or incomplete(plain(claimed.value, binding))
        ):
            return []
        return [f"returns {plain(claimed.value, binding)}, Python raises {real.raised}"]
    out: list[str] = []
    if not any(r.name == real.raised and hold(r.guards, binding) is not False for r in claimed.raises):
        out.append(f"no word of the {real.raised} that Python raises")
    if claimed.raised is None and hold(claimed.guards, binding):
        out.append(f"the end is said to be reached, Python raises {real.raised}")
    return out


def _false_decisions(claimed: Result, binding: Mapping[str, int]) -> list[str]:
    """Each "always" and "never" holds wherever its path does."""
    return [
        f"decided that {c} is {answer} under {guards}"
        for guards, c, answer in claimed.decisions
        if truth(c, binding) is (not answer) and hold(guards, binding)
    ]


# -- facts --------------------------------------------------------------------------------


def _values(fact: CallFact, binding: Mapping[str, int]) -> tuple[Any, Any]:
    return plain(fact.operands["x"], binding), plain(fact.operands["y"], binding)


def _missing_facts(account: Account, claimed: Result, real: Reality, binding: Mapping[str, int]) -> list[str]:
    """Each call that Python makes is a fact whose guards may hold."""
    rows = [(account.line(f), *_values(f, binding)) for f in claimed.facts if hold(f.guards, binding) is not False]
    return [
        f"no fact of probe{x, y} on line {line}"
        for line, x, y in real.probes
        if not any(at == line and agrees(a, x) and agrees(b, y) for at, a, b in rows)
    ]


def _false_facts(account: Account, claimed: Result, real: Reality, binding: Mapping[str, int]) -> list[str]:
    """Each fact whose guards hold is a call that Python makes, and there are no more of them than calls."""
    out: list[str] = []
    certain: Counter[int] = Counter()
    happened = Counter(line for line, _, _ in real.probes)
    for f in claimed.facts:
        if hold(f.guards, binding) is not True:
            continue
        line, (a, b) = account.line(f), _values(f, binding)
        certain[line] += 1
        if not any(at == line and agrees(a, x) and agrees(b, y) for at, x, y in real.probes):
            out.append(f"fact probe{a, b} on line {line} under {f.guards} never happened")
    out += [
        f"{n} facts on line {line}, Python calls {happened[line]} times"
        for line, n in certain.items()
        if n > happened[line]
    ]
    return out


def share_unknown(account: Account, binding: Mapping[str, int]) -> tuple[bool, bool] | None:
    """Whether the results on integers and over symbols are incomplete; None where Python raises."""
    real = reality.run(account.text, binding)
    if real.raised is not None:
        return None
    one, two = account.concrete(binding), account.symbolic
    return (
        one.stopped or incomplete(plain(one.value, {})),
        two.stopped or incomplete(plain(two.value, binding)),
    )
