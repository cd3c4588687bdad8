"""One analysis that lives as long as the editor: the program, its target, and the questions asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import PurePath

from ..domain.fact import CallFact
from ..domain.finding import Finding, Fix
from ..domain.target import Target
from ..evaluate.memo import Memo
from ..evaluate.program import Files, Program
from ..evaluate.relevance import MOSAIC_GPU
from ..fixes.candidate import Repair
from ..fixes.offers import offers
from ..fixes.proof import Prover
from ..library.library import Library
from ..rules.engine import Doubt, Violation, judge
from ..rules.registry import all_rules
from ..rules.view import CallView
from ..source.module import Module
from ..source.span import Site, Span
from . import memory
from .examples import PREFIX, Example, Given, chunks, examples
from .explain import explain_fact
from .factrows import rows_of_site
from .findings import context_hints, finding_of, merged, said, unread_examples
from .hover import Places, hover_at
from .kernels import kernel_calls
from .memory import Memory
from .refusals import refusals
from .report import (
    FactRow,
    FileReport,
    Hover,
    KernelCall,
    MemoryLine,
    Offer,
    Step,
    Summary,
    SyntaxProblem,
    UnknownSite,
)
from .targets import targets
from .tuning import tuning_loops


class Session:
    """Answers about the files of a workspace.

    The texts come from `files`, examples of calls from comments and from `given` (by path: functions with arguments);
    call `changed()` after any of them changed. Every answer is brought up to date when
    it is asked for and
    costs what the change costs: units that the change does not reach keep their facts.
    """

    def __init__(self, files: Files, target: Target, given: Callable[[str], Given] = lambda path: ()) -> None:
        self.files = files
        self.target = target
        library = Library()
        self.given = given
        self.program = Program(files, library, lambda module: chunks(module, given(module.path)), focus=MOSAIC_GPU)
        self.prover = Prover(files, library, self._judge)
        self.picked: dict[str, Span] = {}

    def changed(self) -> None:
        """Texts may have changed since the last answer."""
        self.program.refresh()

    def check(self, path: str) -> FileReport:
        """Findings of a file."""
        memos = self.program.analyse(path)
        facts = [f for memo in memos for f in memo.facts]
        violations, doubts = self._judge(path, self.files, facts)
        findings = [finding_of(v, self.locate) for v in violations]
        findings += context_hints(violations, facts, self.locate)
        findings += tuning_loops(memos, lambda some: self._judge(path, self.files, some), self.locate)
        findings += refusals((r for memo in memos for r in memo.raises), self.locate, self.text, self._line)
        module = self.files.module(path)
        findings += unread_examples(self._examples(module) if module is not None else [], memos)
        return FileReport(
            path, tuple(merged(findings)), self._syntax(path), self._summary(path, facts, doubts), _notes(memos)
        )

    def _judge(self, path: str, files: Files, facts: list[CallFact]) -> tuple[list[Violation], list[Doubt]]:
        module = files.module(path)
        return judge(facts, targets(module, self.target, facts)) if module is not None else ([], [])

    def locate(self, site: Site) -> Span | None:
        """A site's place in its file's present text; None where the chunk is gone."""
        module = self.files.module(site.path) if site.path else None
        if module is not None and site.chunk.startswith(PREFIX):
            return next((e.span for e in self._examples(module) if e.site.chunk == site.chunk), None)
        return module.span(site) if module is not None and module.get(site.chunk) is not None else None

    def _examples(self, module: Module) -> list[Example]:
        return examples(module, self.given(module.path))

    def _syntax(self, path: str) -> tuple[SyntaxProblem, ...]:
        module = self.files.module(path)
        return tuple(SyntaxProblem(e.span, e.message) for e in module.errors) if module is not None else ()

    def _summary(self, path: str, facts: list[CallFact], doubts: list[Doubt]) -> Summary:
        """A site is checked where one of the ways in which it was seen left no doubt, or none has been seen with
        doubt."""
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
        """Proven fixes for the findings that touch a stretch of a file. Slow: an analysis for each candidate."""
        touching = [(v, f) for v, f in self._violations(path) if _touch(f.span, span)]
        return _each_once(offer for v, f in touching for offer in self._proven(v, f))

    def fixes_of(self, finding: Finding) -> list[Offer]:
        """Proven fixes for one finding."""
        rows = [v for v, f in self._violations(finding.span.path) if said(f) == said(finding)]
        return _each_once(o for v in rows for o in self._proven(v, finding))

    def _violations(self, path: str) -> list[tuple[Violation, Finding]]:
        rows = [(v, finding_of(v, self.locate)) for v in self._judge(path, self.files, self._facts(path))[0]]
        return [(v, f) for v, f in rows if f is not None]

    def _proven(self, violation: Violation, finding: Finding) -> list[Offer]:
        facts = tuple(f for state in self.program.states.values() for memo in state.memos() for f in memo.facts)
        repair = Repair(violation, CallView(violation.fact, violation.target), self.locate, self.text, facts)
        return [Offer(finding, Fix(c.title, c.safe, c.edits)) for c in offers(repair, self.prover, self.program.states)]

    def text(self, span: Span) -> str:
        """The present text of a span."""
        module = self.files.module(span.path)
        return module.text.content[span.start : span.end] if module is not None else ""

    def hover(self, path: str, offset: int) -> Hover | None:
        """What is known at a place: offset in characters."""
        places = Places(self.locate, self.text, self.place)
        facts = self._facts(path)
        found = hover_at(offset, path, facts, places, self.picked.get(path))
        taken = self._memory_at(path, offset, facts) if found is not None else ""
        return replace(found, markdown=f"{found.markdown}\n\n{taken}") if found is not None and taken else found

    def memory(self, path: str) -> list[MemoryLine]:
        """What each kernel of a file takes of shared and tensor memory."""
        rows = self._memories(path, self._facts(path))
        lines = [MemoryLine(span, memory.headline(x)) for span, x in rows]
        return sorted((line for line in lines if line.text), key=lambda line: line.span.start)

    def _memories(self, path: str, facts: list[CallFact]) -> list[tuple[Span, Memory]]:
        """The memory of each kernel that is made in a file, in the context to speak of."""
        by_span: dict[Span, list[Memory]] = {}
        for x in memory.memories(facts, self.target):
            span = self.locate(x.kernel.made.site)
            if span is not None and span.path == path:
                by_span.setdefault(span, []).append(x)
        picked = [(s, memory.chosen(rows, self.locate, self.picked.get(path))) for s, rows in by_span.items()]
        return [(s, x) for s, x in picked if x is not None]

    def _memory_at(self, path: str, offset: int, facts: list[CallFact]) -> str:
        """The memory of the kernel whose allocation stands at an offset."""
        for _, x in self._memories(path, facts):
            spans = [self.locate(site) for site in memory.sites(x)]
            if any(s is not None and s.path == path and s.start <= offset <= s.end for s in spans):
                return memory.markdown(x)
        return ""

    def pick(self, path: str, call: KernelCall | None) -> None:
        """The calling context that hovers over a file's kernels speak of; None: the general view."""
        if call is not None and call.context is not None:
            self.picked[path] = call.context
        else:
            self.picked.pop(path, None)

    def facts(self, path: str) -> list[FactRow]:
        """A row for each operand that has a shape, at each call site of the file."""
        out: list[FactRow] = []
        module = self.files.module(path)
        if module is None:
            return out
        by_site: dict[Site, list[CallFact]] = {}
        for f in self._facts(path):
            if f.site.path == path:
                by_site.setdefault(f.site, []).append(f)
        for site, facts in by_site.items():
            span = self.locate(site)
            if span is not None:
                line, col = module.text.position(span.start, "utf-8")
                out += rows_of_site(path, line + 1, col, facts)
        return sorted(out, key=lambda r: (r.line, r.col))

    def explain(self, path: str, line: int) -> list[Step]:
        """How the shapes at a line (0-based) came about."""
        module = self.files.module(path)
        out: dict[str, Step] = {}
        for f in self._facts(path) if module is not None else ():
            span = self.locate(f.site)
            if span is None or span.path != path or module is None:
                continue
            first, last = module.text.position(span.start, "utf-8")[0], module.text.position(span.end, "utf-8")[0]
            if first <= line <= last:
                step = explain_fact(f, self.locate)
                out.setdefault(repr(step), step)
        return list(out.values())

    def _facts(self, path: str) -> list[CallFact]:
        return [f for memo in self.program.analyse(path) for f in memo.facts]

    def place(self, span: Span) -> str:
        """A place for a person: "line 12", or "other.py:12" in another file."""
        line = self._line(span)
        text = self.text(span).split("\n")[0]
        return f"{PurePath(span.path).name}:{line} (`{text}`)"

    def _line(self, span: Span) -> int:
        """A place's line, counted from 1."""
        module = self.files.module(span.path)
        return module.text.position(span.start, "utf-8")[0] + 1 if module is not None else 0

    def kernels(self, path: str, callers: Iterable[str] = ()) -> list[KernelCall]:
        """What can be confirmed in a file, in order; `callers`: files whose calls are looked at, too."""
        self.program.analyse(path)
        for caller in callers:
            self.program.analyse(caller)
        state = self.program.states.get(path)
        calls = [c for s in self.program.states.values() for memo in s.memos() for c in memo.host_calls]
        return kernel_calls(path, state, calls, self.locate, self.place) if state is not None else []


def _notes(memos: list[Memo]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for memo in memos for note in memo.notes))


def _each_once(found: Iterable[Offer]) -> list[Offer]:
    """Offers for several violations that are one finding: a fix is the same for each of them."""
    return list({(o.fix.title, o.fix.edits): o for o in found}.values())


def _touch(a: Span, b: Span) -> bool:
    return a.path == b.path and a.start <= b.end and b.start <= a.end
