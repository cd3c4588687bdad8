"""The format `full`: source lines with carets, what JAX raises, related places, fixes as diffs."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text as Styled

from ..domain.finding import Finding, Fix, JaxError, Severity
from ..domain.target import Target
from ..source.span import Span
from .edits import fix_difference
from .excerpt import excerpt
from .problem import shown
from .result import Reported, Results

STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFORMATION: "bold cyan",
    Severity.HINT: "bold cyan",
}
DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}
FRAME = "blue"


def print_full(results: Results, console: Console) -> None:
    """All findings, a blank line behind each."""
    for file, reported in results:
        for line in finding_lines(reported, file.target, results):
            console.print(line)
        console.print()


def finding_lines(reported: Reported, target: Target, results: Results) -> Iterator[Styled]:
    """The lines of one finding."""
    finding = reported.finding
    style = STYLES[finding.severity]
    head, *rest = finding.message.splitlines() or [""]
    yield Styled.assemble((f"{finding.severity.value}[{finding.code}]", style), (f": {head}", "bold"))
    yield from (Styled(f"  {line}", "bold") for line in rest)
    yield from source_lines(finding.span, results, "^", style)
    if finding.jax is not None:
        yield Styled.assemble(("  = ", FRAME), jax_sentence(finding.jax, target))
    yield from related_lines(finding, results)
    for fix in reported.fixes[:1]:
        yield from fix_lines(fix, results)
    yield from (Styled.assemble(("  or: ", "green"), fix.title) for fix in reported.fixes[1:])


def jax_sentence(jax: JaxError, target: Target) -> str:
    """ "JAX (0.12.0, warpgroup) raises X: text"; semantics only where they are set, for a kernel may choose its own."""
    semantics = f", {target.semantics.value}" if target.semantics else ""
    text = f"{jax.type}: {' '.join(jax.message.split())}" if jax.message else f"a bare {jax.type}"
    return f"JAX ({target.jax}{semantics}) raises {text}"


def source_lines(span: Span, results: Results, mark: str, style: str) -> Iterator[Styled]:
    """Where a span stands, and its source with marks below."""
    lines = excerpt(results.text(span.path), span.start, span.end)
    gutter = max(len(str(line.number or "")) for line in lines)
    blank = " " * gutter
    row, column = results.place(span)
    yield Styled.assemble((f"{blank}--> ", FRAME), f"{shown(span.path)}:{row}:{column}")
    yield Styled(f"{blank} |", FRAME)
    for line in lines:
        if line.number is None:
            yield Styled(f"{blank} ...", FRAME)
            continue
        yield Styled.assemble((f"{line.number:>{gutter}} | ", FRAME), line.text)
        yield Styled.assemble((f"{blank} | ", FRAME), " " * line.start, (mark * line.width, style))


def related_lines(finding: Finding, results: Results) -> Iterator[Styled]:
    """The other places that belong to a finding."""
    for related in finding.related:
        yield Styled.assemble(("  note: ", "bold cyan"), related.message)
        yield from source_lines(related.span, results, "-", "cyan")


def fix_lines(fix: Fix, results: Results) -> Iterator[Styled]:
    """A fix with its diff. Only the first of a finding's fixes is shown so: `--format json` has the edits of all."""
    safety = "safe" if fix.safe else "unsafe: it changes tiles, grid or numbers"
    yield Styled.assemble(("  fix", "bold green"), f" ({safety}): {fix.title}")
    for line in fix_difference(fix.edits, lambda path: results.text(path).content, shown):
        style = "bold" if line.startswith(("+++", "---")) else DIFF_STYLES.get(line[:1], "")
        yield Styled(f"    {line}", style)
