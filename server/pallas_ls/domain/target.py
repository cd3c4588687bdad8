"""What a kernel is lowered for: a JAX version, lowering semantics and a GPU architecture."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Semantics(Enum):
    """Mosaic GPU's lowering semantics (`plgpu.LoweringSemantics`)."""

    LANE = "lane"
    WARPGROUP = "warpgroup"


@dataclass(frozen=True, slots=True, order=True)
class JaxVersion:
    """A release of JAX by its numbers: `JaxVersion(0, 12, 0)`; a fourth number and suffixes are dropped."""

    major: int
    minor: int
    micro: int = 0

    @staticmethod
    def parse(text: str) -> JaxVersion:
        """Reads "0.12.0.1", "0.11.2" or "0.13.0.dev20261101". Raises ValueError on anything else."""
        numbers: list[int] = []
        for part in text.strip().split(".")[:3]:
            digits = "".join(c for c in part if c.isdigit()) if part[:1].isdigit() else ""
            if not digits:
                raise ValueError(f"not a JAX version: {text!r}")
            numbers.append(int(digits))
        if len(numbers) < 2:
            raise ValueError(f"not a JAX version: {text!r}")
        return JaxVersion(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 0)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.micro}"


#: The releases whose behaviour was measured; another version is answered by the newest of these that is not newer.
MEASURED = (JaxVersion(0, 10, 2), JaxVersion(0, 11, 2), JaxVersion(0, 12, 0))
NEWEST = MEASURED[-1]


@dataclass(frozen=True, slots=True)
class Target:
    """What the answers are for.

    Attributes:
      jax: the JAX version whose checks apply.
      semantics: given explicitly, or None: `CompilerParams` decides, else the version's default.
      arch: "sm_90a", "sm_100a", ...; None: inferred from what the kernel calls, else sm_90a.
      inferred: nobody said the architecture.
      mapped: axes that no kernel declares may be bound around it: the file maps functions over a mesh of devices
        (`jax.shard_map`), or nothing in it runs the kernel, so that callers may.
    """

    jax: JaxVersion = NEWEST
    semantics: Semantics | None = None
    arch: str | None = None
    mapped: bool = False
    inferred: bool = False

    def default_semantics(self) -> Semantics:
        """The semantics of a kernel whose `CompilerParams` says nothing (Lane up to 0.10.x, Warpgroup since 0.11.0)."""
        if self.semantics is not None:
            return self.semantics
        return Semantics.LANE if self.jax < JaxVersion(0, 11) else Semantics.WARPGROUP
