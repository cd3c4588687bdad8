"""Where a rule is explained: its page of the documentation, a Markdown file that is installed with the package."""

from __future__ import annotations

from pathlib import Path

from ..rules.registry import rule_named

_PACKAGE = Path(__file__).resolve().parent.parent
#: In an installed package; in a checkout, where the package is imported from `server/`.
_FOLDERS = (_PACKAGE / "docs" / "rules", _PACKAGE.parent.parent / "docs" / "rules")


def page_of(code: str) -> str | None:
    """The URI of a rule's page; None for other codes, and where no pages are installed."""
    if rule_named(code) is None:
        return None
    pages = (folder / f"{code}.md" for folder in _FOLDERS)
    return next((page.as_uri() for page in pages if page.is_file()), None)
