"""The installed JAX as an oracle, where there is one and its behaviour was measured."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

from pallas_ls.domain.target import MEASURED


@pytest.fixture(scope="session")
def live() -> ModuleType:
    """The module `live`; tests that need it are skipped without JAX, and with a release that was not measured."""
    pytest.importorskip("jax")
    module = importlib.import_module(f"{__package__}.live")
    if module.VERSION not in MEASURED:
        pytest.skip(f"JAX {module.VERSION} was not measured")
    return module
