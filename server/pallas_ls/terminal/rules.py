"""`pallas-ls rule`: the rules, or one rule's page."""

from __future__ import annotations

import sys

from ..rules.registry import RETIRED, all_rules
from ..workspace.ignores import OWN_CODES
from ..workspace.settings import suggestion
from .problem import FOUND_NOTHING, Refused


def rules(id: str | None) -> int:
    """Prints all rules, or the page of one; the exit code. Raises `Refused`."""
    if id is None:
        sys.stdout.write("\n".join(rule_lines()) + "\n")
        return FOUND_NOTHING
    _print_page(page(id))
    return FOUND_NOTHING


def rule_lines() -> list[str]:
    """A line a rule: id, severity, what it refuses."""
    rows = [(rule.id, rule.severity.value, rule.summary) for rule in all_rules()]
    rows += [(code, "warning", summary) for code, summary in OWN_CODES.items()]
    width = max(len(id) for id, _, _ in rows)
    grave = max(len(severity) for _, severity, _ in rows)
    return [f"{id:<{width}}  {severity:<{grave}}  {summary}" for id, severity, summary in sorted(rows)]


def page(id: str) -> str:
    """A rule's page in Markdown. Raises `Refused` where there is no such rule."""
    for rule in all_rules():
        if rule.id == id:
            return rule.page()
    if id in OWN_CODES:
        return f"# {id}\n\n{OWN_CODES[id]}\n\nSeverity: warning.\n"
    if id in RETIRED:
        raise Refused(f"{id!r} is retired; {RETIRED[id]!r} tells of the same")
    known = [*(rule.id for rule in all_rules()), *OWN_CODES]
    raise Refused(f"there is no rule {id!r}{suggestion(id, known)}; `pallas-ls rule` lists them")


def _print_page(text: str) -> None:
    """Rendered on a terminal, as Markdown elsewhere."""
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        return
    from rich.console import Console  # noqa: PLC0415 - rich's Markdown costs start-up time that only a terminal needs
    from rich.markdown import Markdown  # noqa: PLC0415

    Console().print(Markdown(text))
