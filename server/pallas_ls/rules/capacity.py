"""How much shared and tensor memory a kernel asks for, counted as JAX does.

Mirrors jax/_src/pallas/mosaic_gpu/lowering.py, `_estimate_resources` and `Resources`: buffers of one scope add up, each
rounded up to 1,024 bytes; scopes that follow each other share memory, those inside a scope come on top of it. Barriers
of one kind are shared as well, 8 bytes each; tensor memory is counted in columns of 128 lanes x 32 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..domain import cond as conds
from ..domain import dim as dims
from ..domain.array import LayoutName, byte_count, element_bits, extents
from ..domain.cond import Not, Truth
from ..domain.dim import Dim
from ..domain.facts import Facts
from ..domain.memory import Allocation, Scope
from ..domain.python import DictCell, Int, ListCell, Value
from ..domain.ref import CompilerParams, Kernel, RefType
from ..domain.target import JaxVersion

#: Bytes of shared memory that a block can have on Hopper and Blackwell (mosaic/gpu/core.py, _launch).
SMEM_LIMIT = 227 * 1024
#: Buffers start at multiples of this.
ALIGNMENT = 1024
BARRIER_BYTES = 8
#: Where the address of tensor memory is kept.
TMEM_ADDRESS_BYTES = 4
#: Columns of tensor memory, and their granularity: of a buffer, and of the whole.
TMEM_LIMIT, TMEM_STEP, TMEM_LEAST = 512, 8, 32
TMEM_LANES = 128
#: Scratch memory of a reduction, unless CompilerParams says otherwise.
REDUCTION_BYTES = 2048
WARPGROUP = 128
_REDUCTIONS = ("reduction", "product")

#: (how often it repeats, values in a 32-bit column) of named layouts of tensor memory.
_TMEM_LAYOUTS = {
    "TMEMLayout.SCALES_LAYOUT": (4, 4),
    "TMEMLayout.SPARSE_METADATA_LAYOUT": (1, 16),
    "TMEMLayout.SCALES_M64_COLLECTIVE_LAYOUT": (2, 4),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One allocation and what it takes.

    Attributes:
      name: the parameter that it is bound to.
      type: its type.
      scope: where it is allocated.
      bytes: of shared memory, as counted; columns: of tensor memory; registers: a thread's, of an accumulator.
      barriers: how many.
    """

    name: str
    type: RefType | None
    scope: Scope
    bytes: Dim = 0
    columns: Dim = 0
    registers: Dim = 0
    barriers: Dim = 0


#: Barriers by what tells them apart, with the bytes of each.
Barriers = Mapping[tuple[Any, ...], tuple[int, Dim]]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a scope asks for, with all that is inside it.

    Attributes:
      smem: bytes of buffers; tmem, collective: columns.
      barriers: their kinds.
      parts: what is alive where shared memory is fullest.
      others: what is allocated elsewhere, in the same memory.
      sure: nothing is left out, and nothing is counted that may not be there.
    """

    smem: Dim = 0
    tmem: Dim = 0
    collective: Dim = 0
    barriers: Barriers = field(default_factory=dict[tuple[Any, ...], tuple[int, Dim]])
    parts: tuple[Part, ...] = ()
    others: tuple[Part, ...] = ()
    sure: bool = True

    @property
    def barrier_bytes(self) -> Dim:
        """Bytes of all barriers."""
        total: Dim = 0
        for count, size in self.barriers.values():
            total = dims.add(total, dims.mul(count, size))
        return total


@dataclass(frozen=True, slots=True)
class Footprint:
    """A kernel's memory.

    Attributes:
      usage: of its scopes.
      profiler: bytes of the profiler's buffer.
      total: bytes of shared memory that the launch asks for.
      columns: of tensor memory, before they are rounded up to a power of two.
    """

    usage: Usage
    profiler: Dim
    total: Dim
    columns: Dim

    @property
    def sure(self) -> bool:
        """Whether the numbers are exact."""
        return self.usage.sure


@dataclass(frozen=True, slots=True)
class Count:
    """Counts a kernel's scopes on one path.

    Attributes:
      facts: what is known of the numbers.
      version: reductions count differently from release to release.
      reduction: bytes of scratch memory of a reduction.
      every: conditional scopes count, too.
      stages: of pipelines, other numbers of stages than the program asks for.
    """

    facts: Facts
    version: JaxVersion
    reduction: Dim = REDUCTION_BYTES
    every: bool = False
    stages: Mapping[int, int] = field(default_factory=dict[int, int])

    # -- scopes ------------------------------------------------------------------------------------

    def scope(self, s: Scope) -> Usage:
        """A scope with what is inside it."""
        own = self._own(s)
        inner: Usage | None = None
        sure = True
        for child in s.inner:
            certain = all(_is_traced(g) or self.facts.decide(g) is True for g in child.guards)
            sure = sure and certain
            if certain or self.every:
                inner = self.scope(child) if inner is None else self._either(inner, self.scope(child))
        whole = own if inner is None else self._both(own, inner)
        return whole if sure else replace(whole, sure=False)

    def _own(self, s: Scope) -> Usage:
        if s.kind in _REDUCTIONS:
            counted = s.kind == "reduction" or self.version >= JaxVersion(0, 12)
            size = round_up(self.reduction, ALIGNMENT) if counted else 0
            return Usage(smem=size, parts=(Part("reduction scratch", None, s, size),) if counted else ())
        out = Usage()
        for entry in s.entries:
            for name, t in leaves(entry.name, entry.type):
                out = self._both(out, self._one(s, entry, name, t))
        return out

    def _one(self, s: Scope, entry: Allocation, name: str, t: Value) -> Usage:
        if not isinstance(t, RefType):
            return Usage(sure=False)
        if entry.note == "stages" and id(s) in self.stages:
            t = _with_stages(t, self.stages[id(s)])
        if t.kind == "semaphore":
            return Usage()
        if t.kind in ("barrier", "cluster_barrier"):
            return self._barrier(s, name, t)
        if t.kind == "acc":
            return Usage(parts=(Part(name, t, s, registers=registers_of(t)),))
        if _space(t) == "tmem":
            return self._tensor(s, name, t)
        if _space(t) == "smem":
            size = self._bytes(t)
            if size is None:
                return Usage(sure=False)
            return Usage(smem=size, parts=(Part(name, t, s, size),))
        return Usage(sure=False)

    def _bytes(self, t: RefType) -> Dim | None:
        size = union_bytes(t) if t.kind == "union" else buffer_bytes(t)
        return None if size is None else self.facts.simplify(round_up(size, ALIGNMENT))

    def _barrier(self, s: Scope, name: str, t: RefType) -> Usage:
        count = _product(t)
        if count is None:
            return Usage(sure=False)
        kind = [_key(t.params.get(k)) for k in _BARRIER_KEYS]
        parts = (Part(name, t, s, barriers=count),)
        if None in kind:  # it may be one that is counted already
            return Usage(parts=parts, sure=False)
        return Usage(barriers={(t.kind, count, *kind): (1, dims.mul(count, BARRIER_BYTES))}, parts=parts)

    def _tensor(self, s: Scope, name: str, t: RefType) -> Usage:
        n = union_columns(t) if t.kind == "union" else tmem_columns(t)
        together = collective(t)
        if n is None:
            return Usage(sure=False)
        n = self.facts.simplify(round_up(n, TMEM_STEP))
        parts = (Part(name, t, s, columns=n),)
        if together is None:
            return Usage(parts=parts, sure=False)
        return Usage(collective=n, parts=parts) if together else Usage(tmem=n, parts=parts)

    # -- sums --------------------------------------------------------------------------------------

    def _both(self, a: Usage, b: Usage) -> Usage:
        """Allocated together."""
        counts = {k: (a.barriers.get(k, (0, 0))[0] + b.barriers.get(k, (0, 0))[0], _size(a, b, k)) for k in _keys(a, b)}
        return Usage(
            self.facts.simplify(dims.add(a.smem, b.smem)),
            dims.add(a.tmem, b.tmem),
            dims.add(a.collective, b.collective),
            counts,
            a.parts + b.parts,
            a.others + b.others,
            a.sure and b.sure,
        )

    def _either(self, a: Usage, b: Usage) -> Usage:
        """Allocated one after the other."""
        counts = {
            k: (max(a.barriers.get(k, (0, 0))[0], b.barriers.get(k, (0, 0))[0]), _size(a, b, k)) for k in _keys(a, b)
        }
        fuller = self._is_fuller(a, b)
        more, less = (b, a) if fuller else (a, b)
        return Usage(
            self._larger(a.smem, b.smem),
            self._larger(a.tmem, b.tmem),
            self._larger(a.collective, b.collective),
            counts,
            more.parts,
            a.others + b.others + less.parts,
            a.sure and b.sure,
        )

    def _is_fuller(self, a: Usage, b: Usage) -> bool:
        """Whether b is what to show."""
        decided = self.facts.decide(conds.less(a.smem, b.smem)) if a.smem != b.smem else None
        return decided if decided is not None else len(b.parts) > len(a.parts)

    def _larger(self, a: Dim, b: Dim) -> Dim:
        return self.facts.simplify(dims.maximum(a, b))


def _keys(a: Usage, b: Usage) -> dict[tuple[Any, ...], None]:
    return dict.fromkeys((*a.barriers, *b.barriers))


def _size(a: Usage, b: Usage, key: tuple[Any, ...]) -> Dim:
    return (a.barriers.get(key) or b.barriers[key])[1]


_BARRIER_KEYS = ("num_arrivals", "orders_tensor_core", "collective_axes", "leader_tracked", "scheduler")


def _key(v: Value) -> tuple[Any, ...] | None:
    """What tells two barriers apart; None where it is not known."""
    if isinstance(v, Int):
        return (v.dim,)
    if isinstance(v, (bool, str)) or v is None:
        return (v or None,)  # a flag that is not given is off
    if type(v) is tuple and all(isinstance(x, (str, tuple)) for x in v):
        return v
    return None


def _is_traced(c: conds.Cond) -> bool:
    """Whether JAX traces what stands under the condition, whatever it will be; that a loop runs is taken for
    granted."""
    inner = c.cond if isinstance(c, Not) else c
    return isinstance(inner, Truth) and inner.name.startswith(("?traced", "?loop"))


# -- one buffer ------------------------------------------------------------------------------------


def round_up(n: Dim, step: int) -> Dim:
    """The next multiple of `step`."""
    return dims.mul(dims.floordiv(dims.add(n, step - 1), step), step)


def _product(t: RefType) -> Dim | None:
    known = extents(t.shape)
    return None if known is None else dims.product(known)


def _space(t: RefType) -> str:
    """The memory of a buffer; of a union that of its members."""
    if t.kind != "union":
        return t.space
    spaces = {x.space for _, x in _members(t) if isinstance(x, RefType)}
    return spaces.pop() if len(spaces) == 1 else "?"


def _members(t: RefType) -> Iterator[tuple[str, Value]]:
    for group in t.members:
        yield from leaves("", group)


def buffer_bytes(t: RefType) -> Dim | None:
    """Bytes of a buffer in shared memory, before rounding."""
    count, bits = _product(t), element_bits(t.dtype)
    if count is None or bits is None:
        return None
    return dims.floordiv(dims.mul(count, bits), 8)


def union_bytes(t: RefType) -> Dim | None:
    """Bytes of a `RefUnion`: of its largest group, whose members each start at a multiple of 1,024."""
    largest: Dim = 0
    for group in t.members:
        size: Dim = 0
        for _, x in leaves("", group):
            if not isinstance(x, RefType):
                return None
            n = union_bytes(x) if x.kind == "union" else buffer_bytes(x)
            if n is None:
                return None
            size = dims.add(round_up(size, ALIGNMENT), n)
        largest = dims.maximum(largest, size)
    return largest


def tmem_columns(t: RefType) -> Dim | None:
    """Columns of a buffer in tensor memory, before rounding; leading dimensions stand beside each other."""
    known, layout = extents(t.shape), tmem_layout(t)
    if known is None or layout is None or len(known) < 2:
        return None
    repeats, per_column = layout
    return dims.floordiv(dims.mul(dims.product(known), repeats), TMEM_LANES * per_column)


def tmem_layout(t: RefType) -> tuple[int, int] | None:
    """(how often the data repeats, values in a column) of a buffer in tensor memory."""
    layout, packed = t.params.get("layout"), t.params.get("packed")
    if layout is not None:
        if not isinstance(layout, LayoutName):
            return None
        if layout.name == "TMEMLayout.M64_COLLECTIVE_LAYOUT":
            return (1, 1) if len(layout.args) == 1 and not layout.options else None
        return _TMEM_LAYOUTS.get(layout.name)
    if packed is None or packed is False:
        return 1, 1
    bits = element_bits(t.dtype)
    return (1, 32 // bits) if packed is True and isinstance(bits, int) and bits <= 32 else None


def union_columns(t: RefType) -> Dim | None:
    """Columns of a `RefUnion` in tensor memory: of its largest group, whose members are rounded up to 8."""
    largest: Dim = 0
    for group in t.members:
        size: Dim = 0
        for _, x in leaves("", group):
            n = tmem_columns(x) if isinstance(x, RefType) and x.kind == "data" else None
            if n is None:
                return None
            size = dims.add(size, round_up(n, TMEM_STEP))
        largest = dims.maximum(largest, size)
    return largest


def collective(t: RefType) -> bool | None:
    """Whether tensor memory is allocated by two blocks together; None where that is not known."""
    if t.kind == "union":
        found = {collective(x) for _, x in _members(t) if isinstance(x, RefType)}
        return found.pop() if len(found) == 1 else None
    given = t.params.get("collective")
    return False if given is None else given if isinstance(given, bool) else None


def registers_of(t: RefType) -> Dim:
    """32-bit registers that each thread of a warpgroup keeps of an accumulator; 0 where that is not known."""
    size = byte_count(t.shape, t.dtype)
    return 0 if size is None else dims.floordiv(size, 4 * WARPGROUP)


def _with_stages(t: RefType, n: int) -> RefType:
    return replace(t, shape=(Int(n), *t.shape[1:])) if isinstance(t.shape, tuple) else t


def leaves(name: str, v: Value) -> Iterator[tuple[str, Value]]:
    """The types in a tree of types, each with a name, in the order in which JAX flattens them."""
    if isinstance(v, (ListCell, DictCell)):
        yield from leaves(name, v.slots["items"])
    elif isinstance(v, dict):
        for key, item in _sorted(v):
            yield from leaves(f"{name}[{key!r}]", item)
    elif type(v) is tuple:
        for i, x in enumerate(v):
            yield from leaves(f"{name}[{i}]", x)
    elif v is not None:
        yield name, v


def _sorted(v: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
    rows = [(k, item[1] if type(item) is tuple and len(item) == 2 else item) for k, item in v.items()]
    return sorted(rows) if all(isinstance(k, str) for k, _ in rows) else rows


# -- a kernel --------------------------------------------------------------------------------------


def footprint(
    kernel: Kernel, scope: Scope, facts: Facts, version: JaxVersion, *, every: bool = False,
    stages: Mapping[int, int] | None = None
) -> Footprint:  # fmt: skip
    """What a kernel asks for. Without `every`, what it asks for at least: scopes under a condition are left out."""
    params = kernel.params.params if isinstance(kernel.params, CompilerParams) else {}
    reduction, known = _number(params, "reduction_scratch_bytes", REDUCTION_BYTES)
    usage = Count(facts, version, reduction, every, stages or {}).scope(scope)
    profiler = _profiler(kernel, params)
    if profiler is None or not known or (kernel.params is not None and not isinstance(kernel.params, CompilerParams)):
        usage = replace(usage, sure=False)
    columns = dims.add(usage.tmem, usage.collective)
    total = dims.add(usage.smem, usage.barrier_bytes)
    if columns != 0:
        total = dims.add(total, TMEM_ADDRESS_BYTES)
    if profiler:
        total = dims.add(round_up(total, 8), profiler)
    return Footprint(usage, profiler or 0, facts.simplify(total), facts.simplify(columns))


def _number(params: Mapping[str, Value], name: str, default: int) -> tuple[Dim, bool]:
    """A keyword's number, and whether it is known; 0 where it is not."""
    if name not in params:
        return default, True
    given = params[name]
    return (given.dim, True) if isinstance(given, Int) else (0, False)


def _profiler(kernel: Kernel, params: Mapping[str, Value]) -> Dim | None:
    """Bytes of the profiler's events: 4 entries of 4 bytes for each, in each warpgroup or each of its warps."""
    space, known = _number(params, "profile_space", 0)
    if not known:
        return None
    if space == 0:
        return 0
    threads = kernel.launch.num_threads
    count: Dim | None = 1 if threads is None else threads.dim if isinstance(threads, Int) else None
    if count is None or "profile_trace_scope" in params:
        return None
    return dims.mul(dims.mul(space, 16), count)


def rounded_columns(n: int) -> int:
    """Columns as they are allocated: a power of two, 32 or more."""
    return max(TMEM_LEAST, 1 << max(0, n - 1).bit_length())
