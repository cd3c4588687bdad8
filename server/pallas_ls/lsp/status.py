"""The notification `pallas/status`: how much of a file was checked, and for which target."""

from __future__ import annotations

from typing import Any

from ..answers.report import Summary
from ..domain.target import Target

METHOD = "pallas/status"


def status(uri: str, summary: Summary, target: Target, context: str | None) -> dict[str, Any]:
    """The notification's parameters; `context`: the call that the user picked for the file's kernels."""
    return {
        "uri": uri,
        "checked": summary.checked,
        "total": summary.sites,
        "unknown": len(summary.unknown),
        "target": target_text(target),
        "context": context,
    }


def target_text(target: Target) -> str:
    """ "JAX 0.12.0, warpgroup semantics, sm_90a"; the architecture only where it is set."""
    parts = [f"JAX {target.jax}", f"{target.default_semantics().value} semantics", target.arch]
    return ", ".join(part for part in parts if part)
