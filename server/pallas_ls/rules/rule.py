"""A rule's declaration, and what its check answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING

from ..domain.finding import JaxError, Severity
from ..domain.python import Value
from ..domain.target import JaxVersion, Semantics
from ..source.span import Site
from . import page as pages

if TYPE_CHECKING:
    from .view import CallView


@dataclass(frozen=True, slots=True)
class Note:
    """A place that belongs to a problem."""

    site: Site
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """The call certainly violates the rule.

    Attributes:
      message: the cause and its numbers, where they come from, what would do.
      jax: what JAX raises.
      at: the expression at fault; None: the whole call.
      notes: where the numbers come from.
      cause: the number at fault, where one alone decides: a person changes it where it is written.
    """

    message: str
    jax: JaxError | None = None
    at: Site | None = None
    notes: tuple[Note, ...] = ()
    cause: Value = None


@dataclass(frozen=True, slots=True)
class Unsure:
    """The rule cannot tell: what it would have to know."""

    why: str


_KERNELS = resources.files("pallas_ls.rules").joinpath("kernels")

#: The comment that marks the line at fault in a bad kernel.
REFUSED = "  # <- refused"

Answer = Problem | Unsure | None
Check = Callable[["CallView"], Answer]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that JAX refuses.

    Attributes:
      id: the diagnostic's code, a kebab-case slug that never changes.
      summary: one line: what is refused.
      apis: short names of the calls it looks at (`CallFact.api`).
      order: place among the checks of one call; the first violated one is reported. Tens leave room.
      warpgroup_order: its place under Warpgroup semantics, where that is another one.
      check: the decision.
      source: file and function of JAX that it mirrors.
      explanation: Markdown: what happens on the GPU and why, what to do.
      since, until: versions for which it holds (inclusive), or None.
      semantics: the lowering semantics for which it holds, or None for both.
      severity: errors are only what JAX is proven to refuse.
    """

    id: str
    summary: str
    apis: tuple[str, ...]
    order: int
    check: Check
    source: str
    explanation: str
    since: JaxVersion | None = None
    until: JaxVersion | None = None
    semantics: Semantics | None = None
    severity: Severity = Severity.ERROR
    extra: tuple[str, ...] = field(default=())
    warpgroup_order: int | None = None

    def holds_for(self, version: JaxVersion, semantics: Semantics) -> bool:
        """Whether the rule applies to a version and semantics."""
        if self.since is not None and version < self.since:
            return False
        if self.until is not None and version > self.until:
            return False
        return self.semantics is None or self.semantics is semantics

    def place(self, semantics: Semantics) -> int:
        """Its place among the checks of one call."""
        other = self.warpgroup_order
        return other if other is not None and semantics is Semantics.WARPGROUP else self.order

    def example(self, kind: str) -> str:
        """The rule's "bad" or "good" kernel. The line at fault of the bad one ends in REFUSED."""
        return _KERNELS.joinpath(f"{self.id}.{kind}.py").read_text("utf-8")

    def recorded(self) -> dict[str, str]:
        """What each measured release says of the bad kernel: {"0.12.0": "ValueError: ..."}; "OK" where it lowers."""
        head, *rows = (line.split("\t") for line in _KERNELS.joinpath("results.tsv").read_text("utf-8").splitlines())
        said = next(row for row in rows if row[0] == f"{self.id}.bad.py")
        return dict(zip(head[1:], said[1:], strict=True))

    @property
    def versions_text(self) -> str:
        """The JAX versions for which it holds: "since 0.11.0"."""
        if self.since is None and self.until is None:
            return "all"
        first = f"since {self.since}" if self.since is not None else ""
        return f"{first}{', ' if first and self.until else ''}{f'until {self.until}' if self.until is not None else ''}"

    @property
    def semantics_text(self) -> str:
        """The lowering semantics for which it holds."""
        return self.semantics.value if self.semantics is not None else "lane and warpgroup"

    def page(self) -> str:
        """The rule's page in Markdown."""
        return pages.page(self)
