"""Calls in a loop whose handler takes what JAX raises (tuning loops): one word on how many of them lower.

None of them is at fault: the handler is there because some configurations do not fit. Told is what JAX would say of
each call by itself, whatever the calls before it did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from ..domain.fact import CallFact, HostCall
from ..domain.finding import Finding, Related, Severity
from ..evaluate.control import catches
from ..evaluate.memo import Memo
from ..rules.engine import Doubt, Violation
from ..source.span import Site
from .findings import Locate

#: The code of such a finding: it belongs to no rule.
CODE = "tuning-loop"

Judge = Callable[[list[CallFact]], tuple[list[Violation], list[Doubt]]]


@dataclass(slots=True)
class Rounds:
    """The calls that one expression makes.

    Attributes:
      refused: the first violation of each call that JAX refuses and the handler takes.
      raising: how many raise an error of the program's own, for certain or maybe; open: how many are not known.
    """

    total: int = 0
    refused: list[Violation] = field(default_factory=list[Violation])
    raising: int = 0
    open: int = 0


def tuning_loops(memos: Iterable[Memo], judge: Judge, locate: Locate) -> list[Finding]:
    """A finding for each call that is made more than once, where JAX refuses some and a handler takes that."""
    found: list[Finding] = []
    for memo in memos:
        for site, rounds in _rounds(memo, judge).items():
            span = locate(site)
            if span is not None and rounds.total > 1 and rounds.refused:
                related = tuple(_related(rounds.refused, locate))
                found.append(Finding(CODE, Severity.INFORMATION, span, _message(rounds), None, related))
    return found


def _rounds(memo: Memo, judge: Judge) -> dict[Site, Rounds]:
    rows: dict[int, HostCall] = {}
    for call in memo.host_calls:
        if call.caught and "BaseException" not in call.caught:  # a test that expects an exception is no tuning loop
            rows.setdefault(call.row, call)
    again = Counter(call.site for call in rows.values())
    facts: dict[int, list[CallFact]] = {}
    for f in memo.facts:
        if f.row in rows and again[rows[f.row].site] > 1:
            facts.setdefault(f.row, []).append(f)
    out: dict[Site, Rounds] = {}
    for number, call in rows.items():
        if again[call.site] > 1:
            _count(out.setdefault(call.site, Rounds()), memo, number, call, facts.get(number, []), judge)
    return out


def _count(rounds: Rounds, memo: Memo, number: int, call: HostCall, facts: list[CallFact], judge: Judge) -> None:
    rounds.total += 1
    if number in memo.failed or number in memo.interrupted:
        rounds.raising += 1
        return
    violations, doubts = judge([_alone(f, call) for f in facts])
    if not violations:
        rounds.open += bool(doubts)
        return
    first = violations[0]
    if any(catches(kind, first.problem.jax.type if first.problem.jax else "") for kind in call.caught):
        rounds.refused.append(first)


def _alone(f: CallFact, call: HostCall) -> CallFact:
    """A fact as if its call stood by itself: under no condition but its own, with no handler around."""
    known = len(call.guards)
    guards = f.guards[known:] if f.guards[:known] == call.guards else f.guards
    return replace(f, guards=guards, caught=f.caught[len(call.caught) :])


def _message(rounds: Rounds) -> str:
    rules = Counter(v.rule.id for v in rounds.refused)
    summaries = {v.rule.id: v.rule.summary.rstrip(".") for v in rounds.refused}
    why = "; ".join(f"{n} by {rule}: {summaries[rule]}" for rule, n in rules.most_common())
    parts = [
        f"JAX refuses {len(rounds.refused)} of the {rounds.total} calls made here, and the handler takes it ({why})."
    ]
    if rounds.raising:
        parts.append(f"{rounds.raising} raise an error of the program's own, or may.")
    if rounds.open:
        parts.append(f"Of {rounds.open} it is not known.")
    left = rounds.total - len(rounds.refused) - rounds.raising - rounds.open
    if left:
        parts.append(f"In {left} nothing was found that JAX refuses.")
    return " ".join(parts)


def _related(refused: list[Violation], locate: Locate) -> Iterable[Related]:
    """For each rule, the place of its first violation."""
    for v in {v.rule.id: v for v in reversed(refused)}.values():
        span = locate(v.problem.at or v.fact.site)
        if span is not None:
            yield Related(span, f"{v.rule.id}: {v.problem.message}")
