"""The client's core stays free of the editor, so that node's test runner can test it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "client" / "src"
IMPORT = re.compile(r'from "([^"]+)"')


@pytest.mark.parametrize("file", sorted((SOURCE / "core").glob("*.ts")), ids=lambda file: file.name)
def test_core_imports_neither_the_editor_nor_node_nor_what_uses_them(file: Path):
    imported = IMPORT.findall(file.read_text("utf-8"))
    assert [name for name in imported if not name.startswith("./")] == []
