"""A chunk: one statement of a module or a member of a class, with positions of its own."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from functools import cached_property

from pallas_ls.source.text import Text


@dataclass(frozen=True, slots=True)
class Fault:
    """A broken statement of a chunk: offsets in characters from the chunk's start."""

    start: int
    end: int
    message: str


@dataclass(frozen=True)
class Chunk:
    """A statement of a module or of a class body, decorators included.

    A chunk does not know where it stands (`Module.start` does), so that it stays the same object wherever it moves.

    Attributes:
      key: unique in the module: "def matmul", "class Config", "class Config.def size", "N =", "N =#2" for the second
        of that name, "if:1f2e3d4c" for statements without a name (with a hash of their text).
      text: from the start of its first line (indentation included) to the end of its last, without the line break.
      tree: its statements. Line numbers count from 1 at the chunk's first line, columns are those of the file. Broken
        statements are `pass` here. Of a class with a body of its own lines only the header: its body is one `pass`.
      faults: what did not parse.
      members: of a class header, the keys of its body's chunks.
      indent: columns that its statements are indented by.
    """

    key: str
    text: str
    tree: tuple[ast.stmt, ...]
    faults: tuple[Fault, ...] = ()
    members: tuple[str, ...] = ()
    indent: int = 0

    @cached_property
    def digest(self) -> str:
        """A short hash of the text: 16 hexadecimal digits."""
        return text_digest(self.text, 8)

    @cached_property
    def lines(self) -> Text:
        """The chunk's text with its line table."""
        return Text(self.text)

    def offset(self, lineno: int, col_offset: int) -> int:
        """Offset in characters from the chunk's start of a position as `ast` gives it (column in bytes)."""
        return self.lines.ast_offset(lineno, col_offset)

    def range(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.pattern) -> tuple[int, int]:
        """(start, end) of a node of `tree`, in characters from the chunk's start."""
        start = self.offset(node.lineno, node.col_offset)
        if node.end_lineno is None or node.end_col_offset is None:
            return start, start
        return start, self.offset(node.end_lineno, node.end_col_offset)


def text_digest(text: str, size: int) -> str:
    """A hash of a text as 2 * size hexadecimal digits."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
