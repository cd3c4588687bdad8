"""Where something stands: in a chunk (stable under edits elsewhere) or in a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    """A stretch of one chunk. It stays valid while the chunk's own text does, wherever the chunk moves.

    Attributes:
      path: the file, as the workspace names it (an absolute path, or any unique string in tests).
      chunk: key of the chunk within the file (see `source.module`).
      start, end: offsets in characters (code points) from the start of the chunk's text.
    """

    path: str
    chunk: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a file's current text: offsets in characters (code points)."""

    path: str
    start: int
    end: int
