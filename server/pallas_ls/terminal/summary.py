"""What is said at the end of a check: how much was found, how much was seen, and what could not be known."""

from __future__ import annotations

from collections import Counter

from ..domain.finding import Severity
from .problem import shown
from .result import SYNTAX_ERROR, Results

NAMES = ((Severity.ERROR, "error"), (Severity.WARNING, "warning"))


def summary_lines(results: Results, explain: bool) -> list[str]:
    """ "2 errors, 1 warning." and "12 of 14 call sites checked; 2 unknown (--explain)"; `explain`: which, and why."""
    lines = [f"{counted(results)}.", sites(results, explain)]
    return [*lines, *unknown_lines(results)] if explain else lines


def counted(results: Results) -> str:
    """How many findings of each severity: "1 error, 2 warnings", "nothing found"."""
    numbers = [(results.count(severity), name) for severity, name in NAMES]
    others = sum(1 for _ in results) - sum(number for number, _ in numbers)
    numbers.append((others, "remark"))
    return ", ".join(plural(number, name) for number, name in numbers if number) or "Nothing found"


def sites(results: Results, explain: bool) -> str:
    """How much was seen."""
    total = results.summary
    if total.sites == 0:
        where = "this file" if len(results.checked) == 1 else "these files"
        return f"No call sites that pallas-ls has rules for in {where}."
    unknown = total.sites - total.checked
    line = f"{total.checked} of {plural(total.sites, 'call site')} checked"
    if not unknown:
        return f"{line}."
    return f"{line}; {unknown} unknown{':' if explain else ' (--explain)'}"


def unknown_lines(results: Results) -> list[str]:
    """Each call site of which something is not known, and why."""
    lines: list[str] = []
    for site in results.summary.unknown:
        row, column = results.place(site.span)
        lines.append(f"  {shown(site.span.path)}:{row}:{column}: {site.api}: {site.why}")
    return lines


def statistics_lines(results: Results) -> list[str]:
    """Each code with its number of findings, the most frequent first."""
    counts = Counter(reported.finding.code for _, reported in results)
    width = max((len(str(number)) for number in counts.values()), default=0)
    return [
        f"{number:>{width}}  {code}" for code, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def syntax_errors(results: Results) -> int:
    """How many statements do not parse."""
    return sum(reported.finding.code == SYNTAX_ERROR for _, reported in results)


def plural(number: int, noun: str) -> str:
    """ "1 error", "2 errors"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
