"""Where a rule is explained on the web."""

from __future__ import annotations

from functools import cache
from importlib import metadata

from ..rules.registry import rule_named

#: The label of the project's URL below which the rules' pages lie.
LABEL = "Rules"


def page_of(code: str) -> str | None:
    """The address of a rule's page; None for other codes, and where the installed package names no place."""
    base = _base()
    return f"{base.rstrip('/')}/{code}.md" if base and rule_named(code) else None


@cache
def _base() -> str | None:
    try:
        urls = metadata.metadata("pallas-ls").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    labelled = dict(url.split(", ", 1) for url in urls if ", " in url)
    return labelled.get(LABEL)
