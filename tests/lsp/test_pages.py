"""Diagnostics link to the page of their rule, a file that is there."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from pallas_ls.lsp import pages
from pallas_ls.rules.registry import all_rules


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_every_rule_has_its_page(rule) -> None:
    uri = pages.page_of(rule.id)
    assert uri is not None
    page = Path(url2pathname(urlparse(uri).path))
    assert page.read_text("utf-8").startswith(f"# {rule.id}\n")


def test_other_codes_have_none() -> None:
    assert pages.page_of("syntax") is None
    assert pages.page_of("../README") is None


def test_the_pages_of_an_installed_package_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "docs" / "rules"
    installed.mkdir(parents=True)
    (installed / "tiling-divides.md").write_text("# tiling-divides\n")
    monkeypatch.setattr(pages, "_FOLDERS", (installed, *pages._FOLDERS))
    assert pages.page_of("tiling-divides") == (installed / "tiling-divides.md").as_uri()
    assert "/docs/rules/swizzle-row.md" in (pages.page_of("swizzle-row") or "")


def test_the_wheel_carries_them() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    assert re.search(r'wheel\.force-include\]\n"docs/rules" = "pallas_ls/docs/rules"', project)
