"""The question that this package answers: one copy between GMEM and SMEM, or one prefetch, with concrete data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...domain.finding import JaxError
from ...domain.target import NEWEST, JaxVersion, Semantics

#: Extents; None where one is not known.
Extents = tuple[int | None, ...]
#: The release from which Warpgroup is the default and the copy's types are compared at the call.
V11 = JaxVersion(0, 11)
V12 = JaxVersion(0, 12)


class Kind(Enum):
    """Which way the data go."""

    LOAD = "copy_gmem_to_smem"
    STORE = "copy_smem_to_gmem"
    PREFETCH = "async_prefetch"


class Oob(Enum):
    """`plgpu.OOBFillMode`."""

    ZEROS = "ZEROS"
    UNDEFINED = "UNDEFINED"
    PROMISE_IN_BOUNDS = "PROMISE_IN_BOUNDS"


@dataclass(frozen=True, slots=True)
class Part:
    """What is taken of one axis.

    Attributes:
      size: elements; None where it is not known.
      start: where it is known before the kernel runs, else None.
      step: distance of neighbours.
      divisor: a number that divides every start; exact: no larger one divides all the starts that occur.
      squeezed: one position, whose axis is dropped.
    """

    size: int | None
    start: int | None = 0
    step: int = 1
    divisor: int = 0
    exact: bool = True
    squeezed: bool = False


@dataclass(frozen=True, slots=True)
class Buffer:
    """The side in shared memory.

    Attributes:
      shape: as it is allocated.
      parts: an entry for each axis of it.
      permutation: of what the parts leave, or None.
      tiling, swizzle: its transforms, None without.
      free: Warpgroup semantics may give it other transforms: it has none, and further calls use it.
    """

    shape: tuple[int, ...]
    parts: tuple[Part, ...]
    permutation: tuple[int, ...] | None = None
    tiling: tuple[int, ...] | None = None
    swizzle: int | None = None
    free: bool = False


@dataclass(frozen=True, slots=True)
class Collective:
    """Blocks of a cluster that copy together.

    Attributes:
      size: how many; None where it is not known.
      leader: "" (multicast), "replicated" or "partitioned"; axis: of the slice, that is partitioned.
      innermost: the one axis is the last of the cluster.
    """

    size: int | None = 1
    leader: str = ""
    axis: int = 0
    innermost: bool = True


ALONE = Collective()


@dataclass(frozen=True, slots=True)
class CopyCase:
    """All that decides what JAX's lowering says of a copy, once its operands have passed.

    Attributes:
      bits: width of an element as MLIR counts it (bool: 1); element: MLIR's name of it ("f32", "i8").
      gmem: shape of the operand in GMEM; parts: an entry for each axis of it.
      buffer: None for a prefetch.
    """

    kind: Kind
    semantics: Semantics
    bits: int
    element: str
    gmem: Extents
    parts: tuple[Part, ...]
    buffer: Buffer | None
    version: JaxVersion = NEWEST
    collective: Collective = ALONE
    oob: Oob = Oob.ZEROS
    reduction: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """JAX refuses.

    Attributes:
      check: which of the checks it is (the id of the rule that reports it).
      numbers: what the message shows.
    """

    check: str
    jax: JaxError
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Undecided:
    """The data given does not decide."""

    why: str


Outcome = Refused | Undecided | None
