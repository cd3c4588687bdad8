"""Examples of calls that the user wrote in comments: `# pallas: example f(x: bf16[4096, 4096],
config=Config(tile_m=128))`.

An example is evaluated like a call in the file. What it breaks is a warning at the comment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..source.chunk import Chunk
from ..source.comments import directives
from ..source.module import Module
from ..source.span import Site, Span

#: Chunk keys of sites that stand for an example comment.
PREFIX = "example:"
_ARRAY = re.compile(r"^(\w+)\s*\[(.*)\]$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """An example comment.

    Attributes:
      site: stands for the comment (its chunk key begins with `PREFIX`).
      expression: the call as a Python expression; array types are calls of `__array_type__`.
      problem: why it cannot be read; empty where it can.
    """

    site: Site
    span: Span
    function: str
    expression: str
    problem: str = ""


#: (function, arguments) of the examples that settings give for a file.
Given = Sequence[tuple[str, str]]


def examples(module: Module, given: Given = ()) -> list[Example]:
    """The examples of a file: its comments in order, then those of the settings, which stand at the function's head."""
    found = [(d.argument, d.span) for d in directives(module) if d.kind == "example"]
    for function, arguments in given:
        chunk = module.get(f"def {function}")
        if chunk is not None:
            start = module.start(chunk.key)
            found.append((f"{function}({arguments})", Span(module.path, start, start + len(chunk.text.split("\n")[0]))))
    return [_example(module.path, i, text, span) for i, (text, span) in enumerate(found)]


def chunks(module: Module, given: Given = ()) -> list[Chunk]:
    """The examples that can be read, as statements to evaluate."""
    readable = [e for e in examples(module, given) if not e.problem]
    return [Chunk(e.site.chunk, e.expression, tuple(ast.parse(e.expression).body)) for e in readable]


def _example(path: str, index: int, text: str, span: Span) -> Example:
    site = Site(path, f"{PREFIX}{index}", 0, 0)
    text = " ".join(text.split())
    head, bracket, rest = text.partition("(")
    name = head.strip()
    if not bracket or not rest.endswith(")") or not name.replace(".", "").isidentifier():
        return Example(site, span, name, "", f"an example reads `name(argument, ...)`: {text!r}")
    try:
        arguments = ", ".join(_argument(part) for part in split_arguments(rest[:-1]))
        expression = f"{name}({arguments})"
        ast.parse(expression, mode="eval")
    except (SyntaxError, ValueError) as e:
        return Example(site, span, name, "", f"this example cannot be read: {e}")
    return Example(site, span, name, expression)


def _argument(part: str) -> str:
    """`x: bf16[4, 4]` as `x=__array_type__('bf16', 4, 4)`; `n: 4` as `n=4`; anything else as it is."""
    name, colon, kind = part.partition(":")
    if not colon or not name.strip().isidentifier():
        found = _ARRAY.match(part.strip())
        return _array(found) if found else part
    found = _ARRAY.match(kind.strip())
    return f"{name.strip()}={_array(found) if found else kind.strip()}"


def _array(found: re.Match[str]) -> str:
    inner = found[2].strip()
    return f"__array_type__({found[1]!r}{', ' + inner if inner else ''})"


def split_arguments(text: str) -> Iterator[str]:
    """Arguments separated by commas outside of brackets and strings."""
    depth, start, quote = 0, 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            yield text[start:i].strip()
            start = i + 1
    last = text[start:].strip()
    if last:
        yield last
