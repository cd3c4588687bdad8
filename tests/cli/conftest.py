from __future__ import annotations

from pathlib import Path

import pytest

SETTINGS = '[tool.pallas-ls]\njax-version = "0.12.0"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose rules do not depend on what is installed here."""
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    return tmp_path
