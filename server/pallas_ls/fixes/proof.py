"""The proof of a fix: the edited text is analysed like any other, and judged by the same rules."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..domain import dim as dims
from ..domain.array import Array
from ..domain.fact import CallFact, Division, Raise
from ..domain.finding import Edit, Severity
from ..domain.ref import Ref
from ..domain.target import Target
from ..evaluate.program import Files, Program
from ..evaluate.relevance import MOSAIC_GPU
from ..rules.engine import Doubt, Kernels, Violation
from ..rules.registry import all_rules
from ..rules.rule import Problem, Unsure
from ..rules.view import CallView
from ..source.module import Module, parse_module
from ..source.span import Site, Span
from .agreement import Follow, agrees, of_call
from .candidate import Candidate, Repair, Result, apply_edits, moved, together
from .literals import set_shape

Judged = tuple[list[Violation], list[Doubt]]
#: How often further operands may follow a change of shape.
MOST_ROUNDS = 3


class EditedFiles:
    """The files of a workspace with some texts replaced."""

    def __init__(self, base: Files) -> None:
        self.base = base
        self.edited: dict[str, Module] = {}

    def find(self, name: str, level: int, importer: str) -> str | None:
        """As the workspace finds it."""
        return self.base.find(name, level, importer)

    def module(self, path: str) -> Module | None:
        """The edited text where there is one."""
        return self.edited.get(path) or self.base.module(path)


@dataclass(frozen=True, slots=True)
class Mark:
    """Something at a place of the new text."""

    what: Hashable
    path: str
    start: int


@dataclass(frozen=True, slots=True)
class State:
    """What is known of some files, with the texts that it is known of."""

    modules: Mapping[str, Module | None]
    violations: list[Violation]
    doubts: list[Doubt]
    facts: list[CallFact]
    raises: list[Raise]
    divisions: frozenset[Division]
    notes: int

    def mark(self, what: Hashable, site: Site) -> Mark:
        """A site of these texts."""
        module = self.modules.get(site.path)
        start = module.span(site).start if module is not None and module.get(site.chunk) is not None else -1
        return Mark(what, site.path, start)

    def locate(self, site: Site) -> Span | None:
        """A site's place in these texts."""
        module = self.modules.get(site.path)
        return module.span(site) if module is not None and module.get(site.chunk) is not None else None

    def text(self, span: Span) -> str:
        """What stands there."""
        module = self.modules.get(span.path)
        return module.text.content[span.start : span.end] if module is not None else ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate that is proven, or that leaves one violation more.

    Attributes:
      state: what is known once it is done; left: the violation that comes to light then.
    """

    candidate: Candidate
    state: State
    left: Violation | None

    def next_repair(self) -> Repair | None:
        """The repair of what is left, in the edited texts."""
        if self.left is None:
            return None
        view = CallView(self.left.fact, self.left.target)
        return Repair(self.left, view, self.state.locate, self.state.text, tuple(self.state.facts))


class Prover:
    """Proves candidates one after the other in a program of its own, which keeps what the edits do not reach."""

    def __init__(
        self, files: Files, library: object, judge_file: Callable[[str, Files, list[CallFact]], Judged]
    ) -> None:
        self.files = EditedFiles(files)
        self.program = Program(self.files, library, focus=MOSAIC_GPU)
        self.judge_file = judge_file
        self.base: State | None = None

    def proven(self, candidate: Candidate, repair: Repair, paths: Iterable[str]) -> Candidate | None:
        """The candidate, where it repairs the violation and breaks nothing in these files; None where it is not proven.

        Operands that must take the new shape, too, are edited with it.
        """
        found = self.attempt(candidate, repair, paths)
        return found.candidate if found is not None and found.left is None else None

    def attempt(self, candidate: Candidate, repair: Repair, paths: Iterable[str]) -> Attempt | None:
        """What comes of a candidate: it is proven, or one further violation is left; None where neither."""
        every = sorted({*paths, *(e.span.path for e in candidate.edits)})
        before = self._before(every)
        for _ in range(MOST_ROUNDS):
            by_path = _by_path(candidate.edits)
            edited = self._edited(by_path)
            if edited is None:
                return None
            after = self._state(every, edited)
            comparison = Comparison(before, after, by_path, repair, candidate.result, candidate.local)
            answer = comparison.answer()
            if isinstance(answer, bool):
                left = None if answer else comparison.only_violation_left()
                return Attempt(candidate, after, left) if answer or left is not None else None
            followed = _following(candidate, answer, repair) if candidate.result is None else None
            if followed is None:
                return None
            candidate = followed
        return None

    def _before(self, paths: Sequence[str]) -> State:
        """The state of the texts as they are, worked out once for them."""
        known = self.base
        modules = {path: self.files.base.module(path) for path in paths}
        if known is None or not _are_the_same(known.modules, modules):
            known = self.base = self._state(paths, {})
        return known

    def _edited(self, by_path: dict[str, list[Edit]]) -> dict[str, Module] | None:
        out: dict[str, Module] = {}
        for path, edits in by_path.items():
            old = self.files.base.module(path)
            if old is None:
                return None
            try:
                text = apply_edits(old.text.content, edits)
            except ValueError:
                return None
            out[path] = parse_module(path, text, old)
            if len(out[path].errors) > len(old.errors):
                return None
        return out

    def _state(self, paths: Sequence[str], edited: dict[str, Module]) -> State:
        self.files.edited = edited
        self.program.refresh()
        memos = {path: self.program.analyse(path) for path in paths}
        state = State({path: self.files.module(path) for path in paths}, [], [], [], [], frozenset(), 0)
        divisions: set[Division] = set()
        for path, rows in memos.items():
            facts = [f for memo in rows for f in memo.facts]
            found, unsure = self.judge_file(path, self.files, facts)
            state.violations.extend(found)
            state.doubts.extend(unsure)
            state.facts.extend(facts)
            state.raises.extend(r for memo in rows for r in memo.raises)
            divisions.update(d for memo in rows for d in memo.divisions)
        notes = sum(len(memo.notes) for rows in memos.values() for memo in rows)
        return replace(state, divisions=frozenset(divisions), notes=notes)


def _following(candidate: Candidate, follows: list[Follow], repair: Repair) -> Candidate | None:
    """The candidate with the edits that give further operands their shape."""
    groups = [candidate.edits]
    for f in follows:
        operand = f.fact.operands.get(f.operand)
        edits = set_shape(repair, operand.shape, f.shape) if isinstance(operand, (Array, Ref)) else None
        if not edits:
            return None
        groups.append(edits)
    edits = together(*groups)
    return replace(candidate, edits=edits) if edits is not None and edits != candidate.edits else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The state before a change against the state after it; places of the old text are moved into the new one."""

    before: State
    after: State
    by_path: dict[str, list[Edit]]
    repair: Repair
    result: Result | None = None
    local: bool = False

    def answer(self) -> bool | list[Follow]:
        """Whether the change repairs the violation and breaks nothing, or which operands would have to follow."""
        if self._newly_raised() or self._leaves_a_tail() or self.after.notes > self.before.notes:
            return False
        calls = self._calls_agree()
        return calls if calls is not True else not self._still_refused() and self._returns_as_said()

    def _returns_as_said(self) -> bool:
        """The kernel returns what the change counts upon, in the context that is repaired."""
        if self.result is None:
            return True
        call, view = self.result.call, self.repair.view
        place, chain = self._old("", call.site), [self._old("", s) for s in call.chain]
        found = [
            f.result
            for f in self.after.facts
            if f.api == "kernel()"
            and self.after.mark("", f.site) == place
            and [self.after.mark("", s) for s in f.chain] == chain
        ]
        shapes = [view.exact_shape(r.shape) for r in found if isinstance(r, Array)]
        return bool(shapes) and all(s == self.result.shape for s in shapes)

    def only_violation_left(self) -> Violation | None:
        """The violation that came to light when the first was repaired, where nothing else speaks against it."""
        if self._newly_raised() or self._leaves_a_tail():
            return None
        old = {self._old(v.rule.id, v.fact.site) for v in self.before.violations}
        repaired = self._old(self.repair.violation.rule.id, self.repair.violation.fact.site)
        new = {self.after.mark(v.rule.id, v.fact.site): v for v in self._violations_after()}
        left = [v for mark, v in new.items() if mark not in old]
        if len(left) != 1 or repaired in new:
            return None
        return left[0] if self._calls_agree(left[0].fact.site) is True else None

    def _old(self, what: Hashable, site: Site) -> Mark:
        mark = self.before.mark(what, site)
        return Mark(what, mark.path, moved(mark.start, self.by_path.get(mark.path, ())))

    def _still_refused(self) -> bool:
        """The violation is there, or one that was not there, or a doubt that was not there."""
        violation = self.repair.violation
        old = {self._old(v.rule.id, v.fact.site) for v in self.before.violations}
        new = {self.after.mark(v.rule.id, v.fact.site) for v in self._violations_after()}
        at = self._old("", violation.fact.site)
        here = any((m.path, m.start) == (at.path, at.start) for m in new)
        return here or not new <= old or self._newly_in_doubt()

    def _violations_after(self) -> list[Violation]:
        """The violations after the change, but for warnings that were true before: of a call only the first violation
        is reported, and an error hides them."""
        return [v for v in self.after.violations if v.rule.severity is Severity.ERROR or not self._held_before(v)]

    def _held_before(self, v: Violation) -> bool:
        mark, kernels = self.after.mark(v.fact.api, v.fact.site), Kernels(self.before.facts)
        return any(
            isinstance(v.rule.check(CallView(f, v.target, kernel=lambda f=f: kernels.of(f))), Problem)
            for f in self.before.facts
            if self._old(f.api, f.site) == mark
        )

    def _newly_in_doubt(self) -> bool:
        """Something is not known that was known, or for another reason than before (which the fault hid)."""
        old = {self._old((d.fact.api, d.why), d.fact.site) for d in self.before.doubts}
        launched = self._launched()
        for d in self.after.doubts:
            alone = d.fact.launch is None and self.after.mark(d.fact.api, d.fact.site) in launched
            known = alone or self.after.mark((d.fact.api, d.why), d.fact.site) in old
            if not known and not (self.local and self._doubted_before(d)):
                return True
        return False

    def _doubted_before(self, d: Doubt) -> bool:
        """Whether a rule could not tell this of the call before, where another one refused it."""
        mark, target = self.after.mark(d.fact.api, d.fact.site), self._target()
        rules = [r for r in all_rules() if d.fact.api in r.apis]
        for f in self.before.facts:
            if self._old(f.api, f.site) == mark:
                view = CallView(f, target)
                answers = [r.check(view) for r in rules if view.semantics and r.holds_for(view.version, view.semantics)]
                if any(isinstance(a, Unsure) and a.why == d.why for a in answers):
                    return True
        return False

    def _launched(self) -> set[Mark]:
        """Calls that were seen in a kernel; what they are in its body alone, without the kernel, decides nothing."""
        return {self.after.mark(f.api, f.site) for f in self.after.facts if f.launch is not None}

    def _newly_raised(self) -> bool:
        """The program's own checks refuse what they took before."""
        old = {self._old(r.name, r.site) for r in self.before.raises if r.site is not None}
        return not {self.after.mark(r.name, r.site) for r in self.after.raises if r.site is not None} <= old

    def _leaves_a_tail(self) -> bool:
        """A floor division leaves a remainder, or may leave one, that it did not leave before."""
        old = {self._old(_cut(d), d.site) for d in self.before.divisions if not d.exact}
        return not {self.after.mark(_cut(d), d.site) for d in self.after.divisions if not d.exact} <= old

    def _calls_agree(self, apart_from: Site | None = None) -> bool | list[Follow]:
        """Every call that is given something else takes it."""
        old: dict[Hashable, list[CallFact]] = {}
        for fact in self.before.facts:
            old.setdefault(self._old(fact.api, fact.site), []).append(fact)
        known = {key: {of_call(f) for f in facts} for key, facts in old.items()}
        launched = self._launched()
        follows: list[Follow] = []
        for fact in self.after.facts:
            key = self.after.mark(fact.api, fact.site)
            if of_call(fact) in known.get(key, ()) or (fact.launch is None and key in launched):
                continue
            if self._says_nothing(fact) or fact.site == apart_from:
                continue
            answer = agrees(old.get(key, [None])[0], fact, self._target(), self.after.divisions)
            if answer is False:
                return False
            if isinstance(answer, list):
                follows += answer
        return follows or True

    def _says_nothing(self, fact: CallFact) -> bool:
        """A function for all of its callers, with shapes that only they know; the repaired call is looked at, too."""
        shapes = [getattr(v, "shape", ()) for v in fact.operands.values() if isinstance(v, (Array, Ref))]
        return bool(self.repair.view.fact.chain) and not fact.chain and not all(isinstance(s, tuple) for s in shapes)

    def _target(self) -> Target:
        return self.repair.violation.target


def _cut(d: Division) -> tuple[str, str]:
    """A division by what it divides; what is divided where it is known (names of symbols need not be stable)."""
    return (str(d.dividend) if isinstance(d.dividend, int) else "", dims.text(d.divisor))


def _are_the_same(a: Mapping[str, Module | None], b: Mapping[str, Module | None]) -> bool:
    return a.keys() == b.keys() and all(a[path] is b[path] for path in a)


def _by_path(edits: Iterable[Edit]) -> dict[str, list[Edit]]:
    out: dict[str, list[Edit]] = {}
    for e in edits:
        out.setdefault(e.span.path, []).append(e)
    return out
