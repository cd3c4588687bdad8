"""The proof of a fix: the edited text is analysed like any other, and judged by the same rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..domain.fact import CallFact
from ..domain.finding import Edit
from ..evaluate.program import Files, Program
from ..rules.engine import Doubt, Violation
from ..source.module import Module, parse_module
from ..source.span import Site
from .candidate import Candidate, apply_edits, moved

Judged = tuple[list[Violation], list[Doubt]]


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
    """A violation or doubt by its place in the new text."""

    code: str
    path: str
    start: int


@dataclass(frozen=True, slots=True)
class State:
    """What the rules say of some files."""

    violations: list[Violation]
    doubts: list[Doubt]
    inexact: frozenset[Mark]


class Prover:
    """Proves candidates one after the other in a program of its own, which keeps what the edits do not reach."""

    def __init__(
        self, files: Files, library: object, judge_file: Callable[[str, Files, list[CallFact]], Judged]
    ) -> None:
        self.files = EditedFiles(files)
        self.program = Program(self.files, library)
        self.judge_file = judge_file

    def proves(self, candidate: Candidate, violation: Violation, paths: Iterable[str]) -> bool:
        """Whether the candidate repairs the violation and breaks nothing in these files."""
        by_path = _by_path(candidate.edits)
        every = sorted({*paths, *by_path})
        before = self._state(every, {})
        edited = self._edited(by_path)
        if edited is None:
            return False
        after = self._state(every, edited)
        return self._is_better(before, after, by_path, violation)

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
        violations: list[Violation] = []
        doubts: list[Doubt] = []
        inexact: set[Mark] = set()
        for path in paths:
            memos = self.program.analyse(path)
            inexact |= {self._mark("//", site) for memo in memos for site in memo.inexact}
            found, unsure = self.judge_file(path, self.files, [f for memo in memos for f in memo.facts])
            violations += found
            doubts += unsure
        return State(violations, doubts, frozenset(inexact))

    def _mark(self, code: str, site: Site) -> Mark:
        module = self.files.module(site.path)
        start = module.span(site).start if module is not None and module.get(site.chunk) is not None else -1
        return Mark(code, site.path, start)

    def _is_better(self, before: State, after: State, by_path: dict[str, list[Edit]], violation: Violation) -> bool:
        self.files.edited = {}
        old = {_moved(self._mark(v.rule.id, v.fact.site), by_path) for v in before.violations}
        old_doubts = {_moved(self._mark(d.fact.api, d.fact.site), by_path) for d in before.doubts}
        old_inexact = {_moved(m, by_path) for m in before.inexact}
        repaired = _moved(self._mark(violation.rule.id, violation.fact.site), by_path)
        self.files.edited = self._edited(by_path) or {}
        new = {self._mark(v.rule.id, v.fact.site) for v in after.violations}
        new_doubts = {self._mark(d.fact.api, d.fact.site) for d in after.doubts}
        at_place = {m for m in new if (m.path, m.start) == (repaired.path, repaired.start)}
        return not at_place and new <= old and new_doubts <= old_doubts and after.inexact <= old_inexact


def _by_path(edits: Iterable[Edit]) -> dict[str, list[Edit]]:
    out: dict[str, list[Edit]] = {}
    for e in edits:
        out.setdefault(e.span.path, []).append(e)
    return out


def _moved(mark: Mark, by_path: dict[str, list[Edit]]) -> Mark:
    return Mark(mark.code, mark.path, moved(mark.start, by_path.get(mark.path, ())))
