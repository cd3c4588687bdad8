"""One analysis that lives as long as the editor: the program, its target, and the questions asked of it."""

from __future__ import annotations

from ..domain.fact import CallFact
from ..domain.finding import Finding
from ..domain.target import Target
from ..evaluate.program import Files, Memo, Program
from ..library.library import Library
from ..rules.engine import Doubt, judge
from ..rules.registry import all_rules
from ..source.span import Site, Span
from .findings import finding_of
from .report import FactRow, FileReport, Hover, KernelCall, Offer, Step, Summary, SyntaxProblem, UnknownSite


class Session:
    """Answers about the files of a workspace.

    The texts come from `files`; call `changed()` after any of them changed. Every answer is brought up to date when it is asked for and
    costs what the change costs: units that the change does not reach keep their facts.
    """

    def __init__(self, files: Files, target: Target) -> None:
        self.files = files
        self.target = target
        self.program = Program(files, Library())

    def changed(self) -> None:
        """Texts may have changed since the last answer."""
        self.program.refresh()

    def check(self, path: str) -> FileReport:
        """Findings of a file."""
        memos = self.program.analyse(path)
        facts = [f for memo in memos for f in memo.facts]
        violations, doubts = judge(facts, self.target)
        findings = [finding_of(v, self.locate) for v in violations]
        kept = sorted({f for f in findings if f is not None}, key=lambda f: (f.span.path, f.span.start, f.code, f.message))
        return FileReport(path, tuple(kept), self._syntax(path), self._summary(path, facts, doubts), _notes(memos))

    def locate(self, site: Site) -> Span | None:
        """A site's place in its file's present text; None where the chunk is gone."""
        module = self.files.module(site.path) if site.path else None
        return module.span(site) if module is not None and module.get(site.chunk) is not None else None

    def _syntax(self, path: str) -> tuple[SyntaxProblem, ...]:
        module = self.files.module(path)
        return tuple(SyntaxProblem(e.span, e.message) for e in module.errors) if module is not None else ()

    def _summary(self, path: str, facts: list[CallFact], doubts: list[Doubt]) -> Summary:
        """A site is checked where one of the ways in which it was seen left no doubt, or none has been seen with doubt."""
        ruled = {api for rule in all_rules() for api in rule.apis}
        mine = [f for f in facts if f.site.path == path and f.api in ruled]
        doubted = {id(d.fact): d for d in doubts}
        sites = {f.site for f in mine}
        sure = {f.site for f in mine if id(f) not in doubted}
        unknown: dict[Site, UnknownSite] = {}
        for f in mine:
            span = self.locate(f.site)
            if f.site not in sure and span is not None:
                unknown.setdefault(f.site, UnknownSite(span, f.api, doubted[id(f)].why))
        return Summary(len(sites), len(sure), tuple(sorted(unknown.values(), key=lambda u: u.span.start)))

    def fixes(self, path: str, span: Span) -> list[Offer]:
        """Proven fixes for the findings that touch a stretch of a file (its first to its last line). Slow: an analysis per candidate."""
        raise NotImplementedError

    def fixes_of(self, finding: Finding) -> list[Offer]:
        """Proven fixes for one finding."""
        raise NotImplementedError

    def hover(self, path: str, offset: int) -> Hover | None:
        """What is known at a place: offset in characters."""
        raise NotImplementedError

    def facts(self, path: str) -> list[FactRow]:
        """A row for each operand that has a shape, at each call site."""
        raise NotImplementedError

    def explain(self, path: str, line: int) -> list[Step]:
        """How the shapes at a line (0-based) came about."""
        raise NotImplementedError

    def kernels(self, path: str) -> list[KernelCall]:
        """What can be confirmed in a file, in order."""
        raise NotImplementedError


def _notes(memos: list[Memo]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for memo in memos for note in memo.notes))
