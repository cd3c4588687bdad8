"""What is published: findings with their fixes. Plain data; command line and language server only render it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..source.span import Span


class Severity(Enum):
    """How certain and how grave: an error is only what JAX is proven to refuse."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class JaxError:
    """What JAX raises for the target: exception class and text. An empty text is a bare exception."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a finding: the scratch type, the constant, the caller."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace a span's text by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A proven change: all its edits together, across files.

    Attributes:
      title: an imperative phrase for the editor's menu ("Round BLOCK up to 64 rows").
      safe: it keeps the program's meaning; `--fix` applies safe fixes only.
      edits: not overlapping, in any order.
    """

    title: str
    safe: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, at the place that a person would change.

    Attributes:
      code: the rule's id (a kebab-case slug), stable for ever.
      message: cause and numbers first, where they come from, what would lower. No final "JAX raises": `jax` says it.
      jax: what JAX raises, or None where it raises nothing (warnings).
    Fixes are not here: they are proven lazily, on request.
    """

    code: str
    severity: Severity
    span: Span
    message: str
    jax: JaxError | None = None
    related: tuple[Related, ...] = ()
