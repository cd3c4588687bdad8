"""A kernel's shared and tensor memory in words: a line for the lens, a table for the hover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..domain import dim as dims
from ..domain.dim import Dim
from ..domain.fact import CallFact
from ..domain.memory import Scope
from ..domain.python import Int
from ..domain.ref import Kernel, RefType
from ..domain.target import Target
from ..rules import capacity
from ..rules.capacity import SMEM_LIMIT, TMEM_LIMIT, Footprint, Part
from ..rules.memory import fitting_stages, is_pipeline
from ..rules.view import CallView, show_array
from ..source.span import Site, Span

Locate = Callable[[Site], Span | None]


#: So many names of what a sum depends on are shown.
NAMES = 4


@dataclass(frozen=True, slots=True)
class Memory:
    """What one kernel takes, in one of its contexts.

    Attributes:
      view: its fact; footprint: the count, with what stands under conditions.
    """

    view: CallView
    footprint: Footprint

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self.view.fact.operands["kernel"]

    @property
    def exact(self) -> bool:
        """Whether the sum is a number."""
        return isinstance(self.view.simplify(self.footprint.total), int)


def memories(facts: Iterable[CallFact], target: Target) -> list[Memory]:
    """The memory of each kernel among the facts, in each context."""
    out: list[Memory] = []
    for f in facts:
        kernel, scope = f.operands.get("kernel"), f.operands.get("scope")
        if f.api == "kernel.memory" and isinstance(kernel, Kernel) and isinstance(scope, Scope):
            found = capacity.footprint(kernel, scope, f.facts, target.jax, every=True)
            out.append(Memory(CallView(f, target), found))
    return out


def chosen(found: Iterable[Memory], locate: Locate, context: Span | None) -> Memory | None:
    """Of a kernel's contexts the one to speak of: the picked one, else one whose numbers are known."""
    rows = list(found)

    def rank(x: Memory) -> tuple[bool, bool]:
        chain = x.view.fact.chain
        picked = context is not None and bool(chain) and locate(chain[0]) == context
        return not picked, not x.exact

    return min(rows, key=rank) if rows else None


def headline(x: Memory) -> str:
    """One line: "SMEM 229,440 / 232,448 · 4 stages (max 4) · accumulator 128 registers/thread"; "" where nothing is
    allocated."""
    f = x.footprint
    parts = []
    if f.total != 0:
        parts.append(_total(x))
    depth = _depth_words(x)
    parts += [depth] if depth else []
    if f.columns != 0:
        columns = x.view.simplify(f.columns)
        rounded = capacity.rounded_columns(columns) if isinstance(columns, int) else columns
        parts.append(f"TMEM {_amount(x, rounded)} / {TMEM_LIMIT} columns")
    registers = [r for p in f.usage.parts if (r := x.view.simplify(p.registers)) != 0]
    if registers:
        parts.append(f"accumulator {_amount(x, _sum(registers))} registers/thread")
    return " · ".join(parts)


def _total(x: Memory) -> str:
    """The sum, or what it depends on."""
    total = x.view.simplify(x.footprint.total)
    if isinstance(total, int):
        return f"SMEM {'' if x.footprint.sure else 'about '}{total:,} / {SMEM_LIMIT:,}"
    names = sorted(s.name for s in dims.symbols(total) if not s.name.startswith("?"))
    listed = ", ".join(names[:NAMES]) + (" ..." if len(names) > NAMES else "")
    return f"SMEM depends on {listed}" if names else "SMEM not known"


def _amount(x: Memory, n: Dim) -> str:
    n = x.view.simplify(n)
    return f"{n:,}" if isinstance(n, int) else dims.text(n)


def _sum(values: Iterable[Dim]) -> Dim:
    total: Dim = 0
    for n in values:
        total = dims.add(total, n)
    return total


def _depth_words(x: Memory) -> str:
    """ "4 stages (max 4)": of the pipeline that is alive where memory is fullest."""
    if not x.exact:
        return ""
    found = fitting_stages(x.view, x.footprint)
    if found is None:
        return ""
    scope, most, _ = found
    count = next((n for p in x.footprint.usage.parts if p.scope is scope and (n := _stages(x, p)) is not None), None)
    return f"{count} stage{'' if count == 1 else 's'} (max {most})" if count is not None else ""


def _stages(x: Memory, p: Part) -> int | None:
    first = p.type.shape[0] if p.type is not None and p.bytes != 0 and isinstance(p.type.shape, tuple) else None
    return x.view.exact(first)


def markdown(x: Memory) -> str:
    """Every buffer with its bytes, what is alive together, and the sum."""
    f = x.footprint
    if not f.usage.parts:
        return ""
    lines = [f"**Memory** of the kernel: {headline(x)}", "", "| | type | takes |", "| --- | --- | ---: |"]
    lines += _rows(x, f.usage.parts)
    if f.profiler != 0:
        lines.append(f"| profiler | | {_amount(x, f.profiler)} B |")
    others = [*_rows(x, f.usage.others)]
    if others:
        lines += ["", "At other times, in the same memory:", "", "| | type | takes |", "| --- | --- | ---: |", *others]
    lines += ["", "Each buffer is rounded up to 1,024 B, as JAX does; a barrier takes 8 B."]
    if not f.sure:
        lines.append("Something is not known here, or stands under a condition: the sum may differ.")
    return "\n".join(lines)


def _rows(x: Memory, parts: Iterable[Part]) -> Iterator[str]:
    for p in parts:
        yield f"| `{p.name.replace('|', ' ')}`{_where(p)} | {_type(x, p)} | {_takes(x, p)} |"


def _where(p: Part) -> str:
    return "" if p.scope.kind == "kernel" else f" ({p.scope.kind})"


def _type(x: Memory, p: Part) -> str:
    t = p.type
    if not isinstance(t, RefType):
        return ""
    if t.kind in ("barrier", "cluster_barrier"):
        return "Barrier" if t.kind == "barrier" else "ClusterBarrier"
    if t.kind == "union":
        return "RefUnion"
    first = t.shape[0] if isinstance(t.shape, tuple) and t.shape else None
    stages = f", {_amount(x, first.dim)} stages" if is_pipeline(p.scope) and isinstance(first, Int) else ""
    return f"`{show_array(t.shape, t.dtype)}`{stages}"


def _takes(x: Memory, p: Part) -> str:
    if p.barriers != 0:
        return f"{_amount(x, dims.mul(p.barriers, capacity.BARRIER_BYTES))} B"
    if p.columns != 0:
        return f"{_amount(x, p.columns)} columns"
    if p.registers != 0:
        return f"{_amount(x, p.registers)} registers/thread"
    return f"{_amount(x, p.bytes)} B"


def sites(x: Memory) -> Iterator[Site]:
    """The expressions over which a hover tells of the kernel's memory."""
    yield x.kernel.made.site
    stack = [x.view.fact.operands["scope"]]
    while stack:
        scope: Scope = stack.pop()
        stack += scope.inner
        if scope.made is not None:
            yield scope.made.site
        for entry in scope.entries:
            for _, t in capacity.leaves(entry.name, entry.type):
                if isinstance(t, RefType) and t.made is not None:
                    yield t.made.site
