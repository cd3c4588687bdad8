"""The plain data that answers are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..domain.finding import Finding, Fix
from ..source.span import Span


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """A statement that does not parse; everything else is still analysed."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class UnknownSite:
    """A call site of which something that the rules need is not known, and why."""

    span: Span
    api: str
    why: str


@dataclass(frozen=True, slots=True)
class Summary:
    """How much was seen: `checked` of `sites` call sites; the others in `unknown`."""

    sites: int
    checked: int
    unknown: tuple[UnknownSite, ...] = ()


@dataclass(frozen=True, slots=True)
class FileReport:
    """All that is published of a file.

    Attributes:
      findings: of this file, sorted by place; some stand in other files (the caller at fault): those are reported
        with theirs.
      syntax: statements that do not parse.
      notes: what the analysis gave up, for a log ("matmul: the analysis took too many steps").
    """

    path: str
    findings: tuple[Finding, ...]
    syntax: tuple[SyntaxProblem, ...]
    summary: Summary
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """A proven fix and the finding that it repairs."""

    finding: Finding
    fix: Fix


@dataclass(frozen=True, slots=True)
class Hover:
    """What is shown over an expression: Markdown, and the stretch of text that it speaks of.

    `symbol` is the dotted library name under the cursor ("jax.experimental.pallas.mosaic_gpu.async_store_smem"), for
    which the
    workspace may add JAX's own signature and documentation below.
    """

    span: Span
    markdown: str
    symbol: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """What a kernel takes of its block's memory, in one line, for the place where the kernel is made."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class FactRow:
    """One operand of one call site, as `pallas-ls facts` prints it (the fields of the JSON lines)."""

    file: str
    line: int
    col: int
    api: str
    operand: str
    shape: tuple[int | str | None, ...] | None
    dtype: str | None
    bytes: int | str | None
    space: str | None = None
    tiling: tuple[int | str | None, ...] | None = None
    swizzle: int | str | None = None
    alternatives: tuple[tuple[int | str | None, ...], ...] | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an explanation: where, what, and the steps that it rests on."""

    text: str
    span: Span | None = None
    inner: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call that can be confirmed: how the agent is to make it (see `confirm`).

    Attributes:
      name: for a person ("matmul at bench.py:31").
      span: the kernel, or the call that gives the arguments.
      expression: a Python expression in the module's namespace that gives the callable; "" where importing the module
        is the confirmation.
      args, kwargs: Python expressions of the arguments.
      why: empty where it can be called; else what is missing and how to give it.
      covers: the functions that run in it; a line in one of them speaks of this kernel.
      context: the call whose arguments these are.
    """

    name: str
    span: Span
    expression: str
    args: tuple[str, ...] = ()
    kwargs: Mapping[str, str] = field(default_factory=dict[str, str])
    why: str = ""
    covers: tuple[Span, ...] = ()
    context: Span | None = None
