"""What is offered for each kernel, word for word, and what holds for every offer."""

from __future__ import annotations

from pathlib import Path

import pytest

from pallas_ls.fixes.offers import MOST
from pallas_ls.fixes.registry import FIXES
from pallas_ls.rules.registry import all_rules

from .offered import CENSUS, HERE, STYLES, kernels, offers, session, shown, texts_of

#: Rules of the store for which no edit is known that keeps what the kernel does.
NO_FIX = {"async-store-warp", "async-store-scalar", "async-store-architecture"}


@pytest.mark.parametrize("kernel", kernels(), ids=lambda path: path.stem)
def test_the_fixes_of_a_kernel_are_the_recorded_ones(kernel: Path) -> None:
    texts = texts_of(kernel)
    assert shown(texts, offers(texts, kernel.name)) == (HERE / "expected" / f"{kernel.stem}.diff").read_text()


@pytest.mark.parametrize("kernel", kernels(), ids=lambda path: path.stem)
def test_a_fixed_kernel_has_no_finding_and_few_offers_none_twice(kernel: Path) -> None:
    texts = texts_of(kernel)
    found = offers(texts, kernel.name)
    by_code: dict[str, int] = {}
    for o in found:
        by_code[o.code] = by_code.get(o.code, 0) + 1
        s, _ = session(o.texts)
        assert s.check(kernel.name).findings == ()
    assert all(n <= MOST for n in by_code.values())
    assert len({(o.code, tuple(o.texts.items())) for o in found}) == len(found)


def test_every_rule_of_the_store_has_fixes() -> None:
    apis = ("async_store_smem", "SwizzleTransform", "Barrier", "kernel", "lax.axis_index")
    rules = {r.id for r in all_rules() if set(r.apis) & set(apis)}
    assert {r for r in rules if r.startswith("async-store")} - FIXES.keys() == NO_FIX & rules


@pytest.mark.parametrize(
    "name", ["tail_uncovered", "tail_fixed_count", "tail_unknown_length"], ids=lambda name: name.replace("_", "-")
)
def test_no_fix_leaves_a_tail_of_the_data(name: str) -> None:
    kernel = STYLES / f"{name}.py"
    s, _ = session(texts_of(kernel))
    assert [f.code for f in s.check(kernel.name).findings] == ["async-store-layout"]
    assert offers(texts_of(kernel), kernel.name) == []


def test_blocks_that_still_cover_the_data_may_grow() -> None:
    kernel = STYLES / "blocks_covered.py"
    titles = [o.fix.title for o in offers(texts_of(kernel), kernel.name)]
    assert titles[0] == "Round BLOCK up to 64: bfloat16[64, 64], 8,192 B"


def test_a_constant_of_another_module_is_edited_there() -> None:
    kernel = STYLES / "second_module.py"
    found = offers(texts_of(kernel), kernel.name)[0]
    assert {e.span.path for e in found.fix.edits} == {"sizes.py"}
    assert "ROWS = 64\n" in found.texts["sizes.py"]


def test_offers_follow_the_text_as_it_is_typed() -> None:
    kernel = STYLES / "arithmetic.py"
    s, files = session(texts_of(kernel))
    for block, expected in ((24, 32), (8, 32), (32, None), (40, 64), (24, 32)):
        files.put(kernel.name, kernel.read_text().replace("BLOCK = 24", f"BLOCK = {block}"))
        s.changed()
        found = [o.fix for f in s.check(kernel.name).findings for o in s.fixes_of(f)]
        assert [e.text for e in found[0].edits] == [str(expected)] if found else expected is None


def test_most_refused_kernels_have_a_fix() -> None:
    refused = fixed = 0
    for kernel in (*CENSUS.glob("*.py"), *STYLES.glob("*.py")):
        texts = texts_of(kernel)
        if session(texts)[0].check(kernel.name).findings:
            refused += 1
            fixed += bool(offers(texts, kernel.name))
    assert fixed / refused > 0.8, (fixed, refused)


@pytest.mark.parametrize("name", ["pad_caller_at_module_level", "tail_of_48_floats", "config_dataclass"])
def test_added_lines_end_and_are_indented_as_those_of_the_file(name: str) -> None:
    plain = (STYLES / f"{name}.py").read_text()
    tabs = "".join(line.replace("    ", "\t") for line in plain.splitlines(keepends=True))
    for text in (plain.replace("\n", "\r\n"), tabs, tabs.replace("\n", "\r\n")):
        found = offers({"k.py": text}, "k.py")
        assert found
        for o in found:
            changed = o.texts["k.py"]
            compile(changed, "k.py", "exec")
            assert ("\r\n" in changed) == ("\r\n" in text)
            assert changed.count("\n") == changed.count("\r\n") or "\r\n" not in text
