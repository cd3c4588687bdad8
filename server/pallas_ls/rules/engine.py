"""Rules applied to call facts: what is certainly refused, where, and what could not be told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain import cond as conds
from ..domain.cond import And, Cond, Not, Or, Truth
from ..domain.fact import CallFact
from ..domain.target import Semantics, Target
from ..evaluate.control import catches
from ..source.span import Site
from .registry import all_rules
from .rule import Problem, Rule, Unsure
from .view import CallView

#: A call and the context that it was seen in.
Place = tuple[Site, tuple[Site, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Violation:
    """A call that a rule refuses.

    `chain` is the context: empty where every binding of the entry's parameters violates the rule, else the host calls
    (outermost first)
    whose arguments do.
    """

    rule: Rule
    problem: Problem
    fact: CallFact
    target: Target

    @property
    def chain(self) -> tuple[Site, ...]:
        """The host calls that led here."""
        return self.fact.chain


@dataclass(frozen=True, slots=True)
class Doubt:
    """A call of which a rule could not tell."""

    fact: CallFact
    why: str


class Kernels:
    """The calls of each kernel, grouped when they are first asked for."""

    def __init__(self, facts: Sequence[CallFact]) -> None:
        self.facts = facts
        self.groups: dict[object, list[CallFact]] | None = None
        self.memories: dict[object, dict[Any, Any]] = {}

    def of(self, fact: CallFact) -> Sequence[CallFact]:
        """The calls of the kernel in which a call stands, in its context; those of warps belong to it."""
        if self.groups is None:
            self.groups = {}
            for f in self.facts:
                self.groups.setdefault(_kernel(f), []).append(f)
        return self.groups.get(_kernel(fact), ()) if fact.launch is not None else ()

    def memory(self, fact: CallFact) -> dict[Any, Any]:
        """What the calls of its kernel have worked out together."""
        return self.memories.setdefault(_kernel(fact), {}) if fact.launch is not None else {}


def _kernel(f: CallFact) -> object:
    made = f.launch.made if f.launch is not None else None
    return (made.site if made is not None else id(f.launch), f.chain)


def judge(facts: Iterable[CallFact], target_of: Callable[[CallFact], Target]) -> tuple[list[Violation], list[Doubt]]:
    """The first violated rule of each fact, in JAX's order; and the facts of which something is not known."""
    facts = list(facts)
    kernels = Kernels(facts)
    by_api: dict[str, list[Rule]] = {}
    for rule in all_rules():
        for api in rule.apis:
            by_api.setdefault(api, []).append(rule)
    violations: list[Violation] = []
    doubts: list[Doubt] = []
    passed: dict[Place, list[CallFact]] = {}
    for fact in facts:
        rules = by_api.get(fact.api)
        if rules is None:
            continue
        view = CallView(fact, target_of(fact), kernel=lambda fact=fact: kernels.of(fact), shared=kernels.memory(fact))
        found = _judge_one(view, rules)
        if isinstance(found, Violation):
            violations.append(found)
            continue
        passed.setdefault((fact.site, fact.chain), []).append(fact)
        if found is not None:
            doubts.append(found)
    certain = [v for v in violations if not _depends(v.fact, passed.get((v.fact.site, v.fact.chain), ()))]
    sure = {id(v) for v in certain}
    doubts += [
        Doubt(v.fact, "it is refused for some values of what is not known here")
        for v in violations
        if id(v) not in sure
    ]
    return _without_repeats(certain), doubts


def _depends(fact: CallFact, passed: Iterable[CallFact]) -> bool:
    """Whether the same call passes in another case of an open condition: then not every binding violates the rule."""
    opposite = {conds.negate(c) for c in fact.guards if not _is_traced(c)}
    return any(not opposite.isdisjoint(other.guards) for other in passed)


def _judge_one(view: CallView, rules: list[Rule]) -> Violation | Doubt | None:
    if view.fact.facts.contradictory:
        return None
    if view.semantics is None:
        return _judge_both(view, rules)
    return _judge_under(view, rules, view.semantics)


def _judge_both(view: CallView, rules: list[Rule]) -> Violation | Doubt | None:
    """A call of unknown semantics is refused where both refuse it; quoted is what JAX says under the default ones."""
    default = view.target.default_semantics()
    views = {s: CallView(view.fact, view.target, s, view.kernel, shared=view.shared) for s in Semantics}
    found = {s: _judge_under(v, rules, s) for s, v in views.items()}
    other = next(found[s] for s in Semantics if s is not default)
    if isinstance(found[default], Violation) and isinstance(other, Violation):
        return found[default]
    doubt = next((d for d in found.values() if isinstance(d, Doubt)), None)
    if doubt is None and any(found.values()):
        return Doubt(view.fact, "the lowering semantics are not known, and only one of them refuses this")
    return doubt


def _judge_under(view: CallView, rules: list[Rule], semantics: Semantics) -> Violation | Doubt | None:
    doubt: str | None = None
    fact = view.fact
    for rule in sorted(rules, key=lambda r: r.place(semantics)):
        if not rule.holds_for(view.version, semantics):
            continue
        try:
            answer = rule.check(view)
        except ZeroDivisionError:  # a tile or an extent of 0, as a line half typed has it: JAX divides by it, too
            answer = Unsure("a size of 0 stands here")
        if isinstance(answer, Problem):
            if any(catches(kind, answer.jax.type if answer.jax else "") for kind in fact.caught):
                return None  # a handler takes it, or a test expects it
            if _hinges_on_unknown(fact.guards):
                return Doubt(fact, "whether this line runs at all is not known")
            return Violation(rule, answer, fact, view.target)
        if isinstance(answer, Unsure) and doubt is None:
            doubt = answer.why
    return Doubt(fact, doubt) if doubt is not None else None


def _hinges_on_unknown(guards: tuple[Cond, ...]) -> bool:
    """Whether the path stands under a condition that the analysis knows nothing of (that a loop runs at all is taken
    for granted)."""
    return any(_is_unknown(g) for g in guards)


def _is_unknown(c: Cond) -> bool:
    match c:
        case Truth():
            return c.name.startswith("?") and not c.name.startswith(("?loop", "?traced"))
        case Not():
            return _is_unknown(c.cond)
        case And() | Or():
            return any(_is_unknown(x) for x in c.conds)
        case conds.Same():
            return c.name.startswith("?")
        case _:
            return False


def _is_traced(c: Cond) -> bool:
    """Whether JAX traces both sides of the condition (`lax.cond`)."""
    inner = c.cond if isinstance(c, Not) else c
    return isinstance(inner, Truth) and inner.name.startswith("?traced")


def _without_repeats(violations: list[Violation]) -> list[Violation]:
    """One for each rule, site and context; a context that contains another one's is left out (the inner call says it
    already)."""
    by_place: dict[tuple[str, Site], dict[tuple[Site, ...], Violation]] = {}
    for v in violations:
        place = (v.rule.id, v.problem.at or v.fact.site)
        by_place.setdefault(place, {}).setdefault(v.chain, v)
    out: list[Violation] = []
    for chains in by_place.values():
        for chain, v in chains.items():
            if not any(chain[i:] in chains for i in range(1, len(chain) + 1)):
                out.append(v)
    return out
