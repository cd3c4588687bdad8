"""Fixes that move code: out of a warp's code, into a `pl.run_scoped`, from outputs to scratch."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..domain.finding import Edit
from ..rules.allocation import types_of
from ..source.span import Span
from .arguments import kernel_of
from .call_text import removal
from .candidate import Candidate, Edits, Repair, some, together
from .store import pallas
from .text import parsed

Make = Callable[[Repair], Iterator[Candidate]]


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and where its lines start."""

    path: str
    text: str
    tree: ast.Module
    starts: tuple[int, ...]

    def offset(self, line: int, column: int) -> int:
        """The offset in characters of a line (from 1) and a column (in bytes, as `ast` has it)."""
        row = self.text[self.starts[line - 1] : self.starts[line] if line < len(self.starts) else None]
        return self.starts[line - 1] + len(row.encode()[:column].decode())

    def start(self, node: ast.stmt | ast.expr | ast.arg) -> int:
        """Where a node starts."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.stmt | ast.expr | ast.arg) -> int:
        """Where a node ends."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)


def source_of(repair: Repair, path: str) -> Source | None:
    """A file that parses."""
    text = repair.text(Span(path, 0, 1 << 60))
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return Source(path, text, tree, tuple(starts))


# -- out of a warp's code --------------------------------------------------------------------------


def out_of_the_warp(repair: Repair) -> Iterator[Candidate]:
    """The call behind the warp's code, where the whole warpgroup runs it; no code is left where it was all."""
    span = repair.locate(repair.view.fact.site)
    source = source_of(repair, span.path) if span is not None else None
    if span is None or source is None:
        return
    for f in ast.walk(source.tree):
        if not isinstance(f, ast.FunctionDef) or len(f.decorator_list) != 1:
            continue
        mine = [s for s in f.body if isinstance(s, ast.Expr) and source.start(s) == span.start]
        if mine and "core_map" in ast.unparse(f.decorator_list[0]):
            yield from _behind(repair, source, f, span, len(f.body) == 1)


def _behind(repair: Repair, source: Source, f: ast.FunctionDef, call: Span, alone: bool) -> Iterator[Candidate]:
    first = source.starts[f.decorator_list[0].lineno - 1]
    line = source.text[first : source.start(f.decorator_list[0])]
    indent = line[: len(line) - len(line.lstrip())]
    text, end, path = repair.text(call), source.end(f), source.path
    if alone:
        edits = (repair.edit(Span(path, first + len(indent), end), text),)
    elif end == call.end:
        start = source.text.rindex("\n", 0, call.start)
        edits = (repair.edit(Span(path, start, end), f"{repair.line_break(path)}{indent}{text}"),)
    else:
        return
    yield Candidate("Arrive with the whole warpgroup, behind the warp's code", False, edits)


# -- accumulators ----------------------------------------------------------------------------------


def scoped_accumulator(repair: Repair) -> Iterator[Candidate]:
    """Accumulators that each warpgroup allocates for itself, around all that the kernel does."""
    kernel = kernel_of(repair)
    name = getattr(kernel.body if kernel is not None else None, "name", None)
    launch = repair.view.fact.launch
    made = launch.made if launch is not None else None
    scratch = made.args.get("scratch_types") if made is not None else None
    source = source_of(repair, made.site.path) if made is not None else None
    if source is None or scratch is None or kernel is None:
        return
    functions = [n for n in ast.walk(source.tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    container, node = repair.locate(scratch), parsed(repair.source(scratch) or "")
    accumulators = [t.made.site for t in types_of(repair.view) if t.kind == "acc" and t.made is not None]
    if len(functions) != 1 or container is None or not isinstance(node, ast.List) or len(accumulators) != 1:
        return
    [f], inner = functions, repair.locate(accumulators[0])
    entries = [ast.unparse(e) for e in node.elts]
    if inner is None or repair.source(accumulators[0]) is None:
        return
    entry = parsed(repair.text(inner))
    at = entries.index(ast.unparse(entry)) if entry is not None and ast.unparse(entry) in entries else -1
    parameters = f.args.posonlyargs + f.args.args
    if at < 0 or len(parameters) < len(entries) or f.args.kwonlyargs or f.args.vararg or f.args.defaults:
        return
    parameter = parameters[len(parameters) - len(entries) + at]
    cut = removal(repair.text(container), inner.start - container.start, inner.end - container.start)
    entry_edit = Edit(Span(container.path, container.start + cut[0], container.start + cut[1]), "")
    edits = together(
        (entry_edit,), _without_parameter(source, f, parameter), _wrapped(repair, source, f, parameter, inner)
    )
    if edits:
        yield Candidate("Allocate it in the body with pl.run_scoped", False, edits)


def _without_parameter(source: Source, f: ast.FunctionDef, parameter: ast.arg) -> Edits:
    parameters = f.args.posonlyargs + f.args.args
    i = parameters.index(parameter)
    if i > 0:
        return (Edit(Span(source.path, source.end(parameters[i - 1]), source.end(parameter)), ""),)
    if i + 1 < len(parameters):
        return (Edit(Span(source.path, source.start(parameter), source.start(parameters[i + 1])), ""),)
    return (Edit(Span(source.path, source.start(parameter), source.end(parameter)), ""),)


def _wrapped(repair: Repair, source: Source, f: ast.FunctionDef, parameter: ast.arg, made: Span) -> Edits:
    """The body as a function of the accumulator, and the call that allocates it."""
    body = f.body[1:] if ast.get_docstring(f) is not None and len(f.body) > 1 else f.body
    if any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(f)) or body[0].lineno == f.lineno:
        return None
    if any(isinstance(n, ast.Constant) and n.end_lineno != n.lineno for s in body for n in ast.walk(s)):
        return None  # a string of several lines would be indented, too
    first, path, stop = source.starts[_first_line(body[0]) - 1], source.path, repair.line_break(source.path)
    text = source.text[first : source.end(body[-1])]
    indent = text[: len(text) - len(text.lstrip())]
    step = "\t" if "\t" in indent else "    "
    at, edits = first, [Edit(Span(path, first, first), f"{indent}def scoped({parameter.arg}):{stop}{step}")]
    for line in text.split(stop)[:-1]:
        at += len(line) + len(stop)
        if source.text[at : at + len(stop)] != stop:
            edits.append(Edit(Span(path, at, at), step))
    call = f"{indent}{pallas(repair)}run_scoped(scoped, {repair.text(made)})"
    end = first + len(text)
    return (*edits, Edit(Span(path, end, end), f"{stop}{stop}{call}"))


def _first_line(s: ast.stmt) -> int:
    decorators = s.decorator_list if isinstance(s, (ast.FunctionDef, ast.ClassDef)) else []
    return min([s.lineno, *(d.lineno for d in decorators)])


# -- semaphores ------------------------------------------------------------------------------------


def semaphore_as_scratch(repair: Repair) -> Iterator[Candidate]:
    """A semaphore as the first scratch type: the body gets it in the same place."""
    out, scratch = repair.view.site("out_type"), repair.view.site("scratch_types")
    text = repair.source(out)
    if text is None or parsed(text) is None or isinstance(parsed(text), (ast.Tuple, ast.List, ast.Dict)):
        return
    if scratch is None:
        groups: tuple[Edits, ...] = (some(repair.add_argument(repair.view.fact.site, f"scratch_types=[{text}]")),)
    else:
        node = parsed(repair.source(scratch) or "")
        kept = [ast.unparse(e) for e in node.elts] if isinstance(node, (ast.List, ast.Tuple)) else None
        groups = (some(repair.replace(scratch, f"[{', '.join([text, *kept])}]")) if kept is not None else None,)
    edits = together(*groups, some(repair.replace(out, "()")))
    if edits:
        yield Candidate("Allocate the semaphore in scratch_types", False, edits)


#: Fixes that only some of a rule's violations have.
SOME: dict[str, tuple[Make, ...]] = {"accumulator-scope": (scoped_accumulator,)}
FIXES: dict[str, tuple[Make, ...]] = {
    "warp-arrival": (out_of_the_warp,),
    "semaphore-output": (semaphore_as_scratch,),
}
