"""Padding of what a kernel is given, where its tiles take the whole of an axis that fills no register tiles.

The operand is padded with zeros before the kernel and the result sliced back after it. That keeps what is computed as
long as no element of the result depends on others along the padded axis: kernels that reduce, multiply matrices,
transpose or count along it are left alone. Blocks that cut an axis are too: padding would move their borders.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..domain.array import Array
from ..domain.fact import CallFact
from ..domain.finding import Edit
from ..domain.ref import Kernel
from ..source.span import Span
from .candidate import Candidate, Edits, Repair, Result, is_primary, together

#: What mixes elements of an array along an axis, or looks at where they are.
_MIXES = re.compile(
    r"@|(?<!core_)\b(sum|max|min|mean|prod|any|all|arg\w*|cum\w+|std|var|norm|dot\w*|matmul|einsum|\w*mma\w*|wgmma|"
    r"reduce\w*|softmax|log\w*softmax|logsumexp|sort\w*|top_k|roll|flip|gather|take\w*|transpose\w*|T|swapaxes|"
    r"broadcasted_iota|iota|arange|where|atomic|reshape|concatenate|stack|multimem\w*|shape|size|len)\b"
)
#: Where a number that grows may stand, besides shapes (tuples): sizes of slices.
_SIZES = ("ds", "Slice")


@dataclass(frozen=True, slots=True)
class Growth:
    """An extent of the tiles that becomes larger: `old` to `new` elements."""

    old: int
    new: int


def padded(repair: Repair, old: tuple[int, ...], new: tuple[int, ...], base: Edits, rest: str) -> Iterator[Candidate]:
    """Candidates that pad the operands of the violated kernel; `base`: edits that go with them, `rest`: their words."""
    growths = [Growth(a, b) for a, b in zip(old, new, strict=True) if a != b]
    call = _call(repair)
    if base is None or call is None or len(growths) != 1 or _mixes(repair) or not _only_shapes_change(repair, base):
        return
    text = repair.source(call.site)
    node = _parsed(text) if text is not None else None
    if node is None or not isinstance(call.result, Array):
        return
    for edits, shape, what in _paddings(repair, call, node, growths[0]):
        both = together(base, edits)
        if both:
            title = f"Pad {what} with zeros to {growths[0].new} before the kernel, and slice its result back"
            yield Candidate(title + (f"; {rest}" if rest else ""), False, both, "pad", Result(call, shape))


def _call(repair: Repair) -> CallFact | None:
    """The call of the kernel in which the violation is."""
    fact = repair.view.fact
    for f in repair.facts:
        kernel = f.operands.get("kernel")
        if (
            f.api == "kernel()"
            and f.chain == fact.chain
            and isinstance(kernel, Kernel)
            and kernel.launch is fact.launch
        ):
            return f
    return None


def _mixes(repair: Repair) -> bool:
    """Whether code of the kernel may let elements depend on others along an axis."""
    mine = repair.view.fact.launch
    here = mine.made.site if mine is not None and mine.made is not None else None  # of the kernel as a whole
    inside = [f.site for f in repair.facts if f.launch is mine and f.site != here]
    for chunk in {(site.path, site.chunk): site for site in inside}.values():
        text = repair.chunk(chunk)
        if text is None or _MIXES.search(_code(text)):
            return True
    return False


def _only_shapes_change(repair: Repair, base: tuple[Edit, ...]) -> bool:
    """Whether the constants that are edited stand for nothing but extents: not in `x / N`, say."""
    for edit in base:
        name = re.search(r"(?m)^(\w+)[^\n=]*=\s*$", repair.line_before(edit.span))
        if name is not None and edit.text.isdecimal():
            tree = _tree(repair.text(Span(edit.span.path, 0, 1 << 60)))
            if tree is None or not _is_only_an_extent(tree, name[1]):
                return False
    return True


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _is_only_an_extent(tree: ast.AST, name: str) -> bool:
    """Whether a name is only read in tuples (shapes) and as the size of slices."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return all(_is_extent(parents[n]) for n in uses)


def _is_extent(parent: ast.AST) -> bool:
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Attribute) and parent.func.attr in _SIZES
    return isinstance(parent, ast.Tuple)


def _only_shapes_are_read(function: ast.FunctionDef, name: str, call: str) -> bool:
    """Whether a function reads of a parameter only its type, and passes it to one call.

    `x.dtype`; `x.shape` as an argument; `x.shape[0]` in a tuple.
    """
    parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    for n in ast.walk(function):
        if not isinstance(n, ast.Name) or n.id != name:
            continue
        parent = parents[n]
        if isinstance(parent, ast.Call) and ast.unparse(parent) == call:
            continue
        if not isinstance(parent, ast.Attribute) or parent.attr not in ("shape", "dtype"):
            return False
        above = parents[parent]
        extent = isinstance(above, ast.Subscript) and _is_extent(parents[above])
        if parent.attr == "shape" and not extent and not isinstance(above, ast.Call):
            return False
    return True


def _code(text: str) -> str:
    """The text without comments, strings and decorators."""
    text = re.sub(r"\"\"\".*?\"\"\"|'''.*?'''|\"[^\"\n]*\"|'[^'\n]*'", '""', text, flags=re.DOTALL)
    return re.sub(r"(?m)#.*|^\s*@.*", "", text)


def _parsed(text: str) -> ast.Call | None:
    try:
        node = ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        return None
    return node if isinstance(node, ast.Call) and not node.keywords else None


def _paddings(
    repair: Repair, call: CallFact, node: ast.Call, growth: Growth
) -> Iterator[tuple[Edits, tuple[int, ...], str]]:
    """(edits, the shape of the kernel's result then, what is padded): at the kernel's call, then in its function."""
    operands = [(k, v) for k, v in call.operands.items() if k != "kernel"]
    arguments = [ast.unparse(a) for a in node.args]
    if len(operands) != len(arguments):
        return
    axes: dict[str, int] = {}
    for text, (_, v) in zip(arguments, operands, strict=True):
        axis = _axis(repair, v, growth.old)
        if axis is not None:
            axes[text] = axis
    result = repair.view.exact_shape(call.result.shape) if isinstance(call.result, Array) else None
    out = result.index(growth.old) if result is not None and result.count(growth.old) == 1 else None
    if not axes or result is None or out is None or not all(is_primary(text) for text in axes):
        return
    grown = tuple(growth.new if i == out else n for i, n in enumerate(result))
    ranks = {t: len(v.shape) for t, (_, v) in zip(arguments, operands, strict=True) if isinstance(v, Array)}
    yield _at_the_call(repair, call, node, axes, ranks, out, growth), grown, " and ".join(axes)
    yield _in_the_function(repair, call, axes, ranks, out, growth), grown, " and ".join(axes)


def _axis(repair: Repair, v: object, extent: int) -> int | None:
    """The only axis of an array that has an extent."""
    shape = repair.view.exact_shape(v.shape) if isinstance(v, Array) else None
    return shape.index(extent) if shape is not None and shape.count(extent) == 1 else None


def _pad(numpy: str, text: str, rank: int, axis: int, amount: str) -> str:
    widths = ", ".join(f"(0, {amount})" if i == axis else "(0, 0)" for i in range(rank))
    return f"{numpy}.pad({text}, {f'({widths})' if rank > 1 else widths})"


def _slice(axis: int, size: str) -> str:
    return f"[{':, ' * axis}:{size}]"


def _at_the_call(
    repair: Repair,
    call: CallFact,
    node: ast.Call,
    axes: Mapping[str, int],
    ranks: Mapping[str, int],
    out: int,
    growth: Growth,
) -> Edits:
    """`kernel(jnp.pad(x, ...))[:n]`, in numbers where the operands have no names of their own."""
    span, numpy = repair.locate(call.site), _numpy(repair, call)
    text = repair.source(call.site)
    if span is None or numpy is None or text is None:
        return None
    lines = [0]
    for line in f"({text}\n)".splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    raw = f"({text}\n)".encode()
    replaced = text
    for argument in reversed(node.args):
        name = ast.unparse(argument)
        if name not in axes or argument.end_lineno is None or argument.end_col_offset is None:
            continue
        start = len(raw[: lines[argument.lineno - 1] + argument.col_offset].decode()) - 1
        end = len(raw[: lines[argument.end_lineno - 1] + argument.end_col_offset].decode()) - 1
        new = _pad(numpy, replaced[start:end], ranks[name], axes[name], str(growth.new - growth.old))
        replaced = replaced[:start] + new + replaced[end:]
    return repair.replace(call.site, f"{replaced}{_slice(out, str(growth.old))}")


def _in_the_function(
    repair: Repair, call: CallFact, axes: Mapping[str, int], ranks: Mapping[str, int], out: int, growth: Growth
) -> Edits:
    """Before everything else in the function that returns the kernel's result: for all of its callers."""
    span, numpy, found = repair.locate(call.site), _numpy(repair, call), repair.chunk_span(call.site)
    if span is None or numpy is None or found is None or len(axes) != 1:
        return None
    text = repair.text(found)
    try:
        (function,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    ((name, axis),) = axes.items()
    if not isinstance(function, ast.FunctionDef) or name not in {a.arg for a in function.args.args}:
        return None
    last, first = function.body[-1], _first(function)
    returns = [n for n in ast.walk(function) if isinstance(n, ast.Return)]
    source = repair.source(call.site)
    if not isinstance(last, ast.Return) or len(returns) != 1 or last.value is None or first is None:
        return None
    if source is None or ast.get_source_segment(text, last.value) != source:
        return None
    if not _only_shapes_are_read(function, name, ast.unparse(last.value)):
        return None
    size = next(
        (s for s in ("rows", "size", f"{name}_size", f"{name}_length") if not re.search(rf"\b{s}\b", text)), None
    )
    if size is None:
        return None
    start = found.start + sum(len(line) for line in text.splitlines(keepends=True)[: first.lineno - 1])
    indent = " " * first.col_offset
    pad = _pad(numpy, name, ranks[name], axis, f"-{size} % {growth.new}")
    lines = f"{indent}{size} = {name}.shape[{axis}]\n{indent}{name} = {pad}\n"
    inserted = repair.edit(Span(found.path, start, start), lines)
    return together((inserted,), repair.insert_after(call.site, _slice(out, size)))


def _first(function: ast.FunctionDef) -> ast.stmt | None:
    """The first statement behind the docstring, where it has a line of its own."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[0] if body and body[0].lineno > function.lineno and body[0].col_offset > function.col_offset else None


def _numpy(repair: Repair, call: CallFact) -> str | None:
    """How the file of a call spells jax.numpy."""
    text = repair.text(Span(call.site.path, 0, 1 << 60))
    found = re.search(r"^import jax\.numpy as (\w+)|^from jax import numpy as (\w+)", text, re.MULTILINE)
    if found:
        return found[1] or found[2]
    return "jax.numpy" if re.search(r"^import jax(\.numpy)?$", text, re.MULTILINE) else None
