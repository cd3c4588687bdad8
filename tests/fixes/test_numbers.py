"""Which literal is edited so that a dimension gets another size."""

from __future__ import annotations

import pytest

from .offered import STYLES, offers, texts_of

KERNEL = (
    (STYLES / "rows_constant.py")
    .read_text()
    .replace("plgpu.layout_cast(jnp.zeros((ROWS, COLS), DTYPE), plgpu.Layout.WGMMA)", "jnp.zeros((ROWS, COLS), DTYPE)")
)


@pytest.mark.parametrize(
    ("definition", "edited"),
    [
        ("ROWS = 48", "ROWS = 64"),
        ("BLOCK = 24\nROWS = BLOCK * 2", "BLOCK = 32\nROWS = BLOCK * 2"),
        ("BLOCK = 24\nROWS = 2 * BLOCK", "BLOCK = 32\nROWS = 2 * BLOCK"),
        ("TOTAL = 96\nROWS = TOTAL // 2", "TOTAL = 128\nROWS = TOTAL // 2"),
        ("HALO = 8\nROWS = 40 + HALO", "HALO = 24\nROWS = 40 + HALO"),
        ("ROWS = min(48, 512)", "ROWS = min(64, 512)"),
        ("ROWS = 0x30", "ROWS = 64"),
        ("SIZES = (48, 16)\nROWS, _ = SIZES", "SIZES = (64, 16)\nROWS, _ = SIZES"),
        ("SIZES = dict(rows=48)\nROWS = SIZES['rows']", "SIZES = dict(rows=64)\nROWS = SIZES['rows']"),
        ("def rows(n=48):\n    return n\n\nROWS = rows()", "def rows(n=64):\n    return n\n\nROWS = rows()"),
    ],
)
def test_the_literal_behind_a_size_is_edited(definition: str, edited: str) -> None:
    text = KERNEL.replace("ROWS = 48", definition)
    found = offers({"k.py": text}, "k.py")
    assert found[0].texts["k.py"] == KERNEL.replace("ROWS = 48", edited)


def test_a_check_of_the_program_that_would_raise_forbids_the_size() -> None:
    text = KERNEL.replace("COLS = 64", "COLS = 64\nassert 96 % ROWS == 0")
    assert offers({"k.py": text}, "k.py") == []


def test_a_size_that_exceeds_shared_memory_is_not_offered() -> None:
    small = KERNEL.replace("ROWS = 48", "ROWS = 1752")
    assert [o.fix.title for o in offers({"k.py": small}, "k.py")][:1] == [
        "Round ROWS up to 1792: bfloat16[1792, 64], 229,376 B"
    ]
    assert offers({"k.py": KERNEL.replace("ROWS = 48", "ROWS = 1800")}, "k.py") == []


def test_two_kernels_that_share_a_constant_change_together() -> None:
    other = texts_of(STYLES / "blocks_covered.py")["blocks_covered.py"].replace(
        "BLOCK = 48\n", "from k import ROWS as BLOCK\n"
    )
    found = offers({"k.py": KERNEL, "other.py": other}, "other.py")
    assert [o.fix.title for o in found] == ["Round ROWS up to 64: bfloat16[64, 64], 8,192 B"]
    assert [e.span.path for e in found[0].fix.edits] == ["k.py"]


def test_a_constant_is_not_changed_where_another_kernel_would_lose_its_tail() -> None:
    uncovered = texts_of(STYLES / "tail_uncovered.py")["tail_uncovered.py"]
    text = KERNEL.replace("ROWS = 48", "ROWS = 48\nBLOCKS = 480 // ROWS")
    assert offers({"k.py": text}, "k.py") == []
    both = uncovered.replace("BLOCK = 48\n", "from k import ROWS as BLOCK\n")
    assert offers({"k.py": KERNEL, "other.py": both}, "other.py") == []
