"""The pages in docs/rules are those that the rules make now."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from pallas_ls.rules.registry import all_rules
from pallas_ls.rules.rule import Rule

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def rule_docs() -> ModuleType:
    """tools/rule_docs.py, which is in no package."""
    spec = importlib.util.spec_from_file_location("rule_docs", ROOT / "tools" / "rule_docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_page_is_stale(rule_docs: ModuleType) -> None:
    assert rule_docs.stale() == [], "run `make docs`"


def test_a_changed_a_missing_and_a_left_over_page_are_stale(rule_docs: ModuleType, tmp_path: Path) -> None:
    rule_docs.write(tmp_path)
    assert rule_docs.stale(tmp_path) == []
    (tmp_path / "tiling-divides.md").write_text("# other\n")
    (tmp_path / "swizzle-row.md").unlink()
    (tmp_path / "no-rule.md").write_text("# no-rule\n")
    assert rule_docs.stale(tmp_path) == ["no-rule.md", "swizzle-row.md", "tiling-divides.md"]
    rule_docs.write(tmp_path)
    assert rule_docs.stale(tmp_path) == []


@pytest.mark.parametrize("rule", all_rules(), ids=lambda r: r.id)
def test_a_page_says_it_all(rule: Rule) -> None:
    page = rule.page()
    for part in (rule.summary, rule.source, rule.explanation.strip(), rule.semantics_text, rule.versions_text):
        assert part in page
    assert rule.example("bad").strip() in page
    assert rule.example("good").strip() in page
    assert f"# pallas: ignore[{rule.id}]" in page
    assert all(version in page for version in rule.recorded())
