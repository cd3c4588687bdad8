"""`plgpu.CopyPartition`: how the blocks of a cluster share a copy."""

from __future__ import annotations

from typing import Any

from ..domain.python import Call, Made, Value
from .plgpu import MODULE, Described
from .registry import Registry


def register(r: Registry) -> None:
    """Registers `CopyPartition.PARTITIONED`; `REPLICATED` is known by its name."""
    r.function(f"{MODULE}.CopyPartition.PARTITIONED", "axis")(_partitioned)


def _partitioned(m: Any, call: Call, axis: Value) -> Value:
    return Described("CopyPartition.PARTITIONED", {"axis": axis}, Made(call.site))
