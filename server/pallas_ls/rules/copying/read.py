"""A call of a copy as the model's question: `CopyCase` from a call fact."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from ...domain import dim as dims
from ...domain.array import Array
from ...domain.dtype import DType
from ...domain.python import External, Int, Value
from ...domain.ref import Ds, Elsewhere, Gather, Indexed, Permuted, Position, Ref
from ...domain.target import Semantics
from ...library.plgpu import Described
from ..rule import Unsure
from ..store_case import exact_transforms
from ..view import CallView
from .case import ALONE, V11, Buffer, Collective, CopyCase, Kind, Oob, Outcome, Part, Undecided
from .model import outcome as outcome_of
from .proof import proves_nothing
from .tables import element_bits, element_name

KINDS = {k.value: k for k in Kind}
#: The parameter of each call that is in GMEM, and the one in shared memory.
SIDES = {Kind.LOAD: ("src", "dst"), Kind.STORE: ("dst", "src"), Kind.PREFETCH: ("ref", "")}


def kind_of(v: CallView) -> Kind:
    """Which copy the call is."""
    return KINDS[v.fact.api]


def sides(v: CallView) -> tuple[Ref, Ref | None] | Unsure:
    """(reference in GMEM, reference in shared memory)."""
    first, second = SIDES[kind_of(v)]
    gmem, smem = v.value(first), v.value(second)
    if not isinstance(gmem, Ref) or (second and not isinstance(smem, Ref)):
        return Unsure("an operand is not known")
    return gmem, smem if isinstance(smem, Ref) else None


def outcome(v: CallView) -> Outcome | Unsure:
    """What JAX's lowering says of the call, once its operands have passed."""
    return v.cached("copy outcome", lambda: _outcome(v))


def _outcome(v: CallView) -> Outcome | Unsure:
    case = copy_case(v)
    if isinstance(case, Unsure):
        return case
    found = outcome_of(case)
    return Unsure(found.why) if isinstance(found, Undecided) else found


def copy_case(v: CallView) -> CopyCase | Unsure:
    """The call's data, as far as they are known."""
    return v.cached("copy case", lambda: _copy_case(v))


def _copy_case(v: CallView) -> CopyCase | Unsure:
    found = sides(v)
    if isinstance(found, Unsure):
        return found
    gmem, smem = found
    if kind_of(v) is Kind.LOAD and v.version >= V11 and v.capability < (9, 0):
        return Unsure("copies of older GPUs, without TMA, have no model")
    semantics, dtype = v.semantics, gmem.dtype
    if semantics is None or not isinstance(dtype, DType) or not isinstance(gmem.type.shape, tuple):
        return Unsure("the semantics, the element type or the shape are not known")
    operand = parts(v, gmem)
    if isinstance(operand, Unsure):
        return operand
    buffer = _buffer(v, smem, semantics) if smem is not None else None
    if isinstance(buffer, Unsure):
        return buffer
    together = collective(v)
    if isinstance(together, Unsure):
        return together
    oob, op = _oob(v), v.value("reduction_op")
    if oob is None or not (op is None or isinstance(op, str)):
        return Unsure("oob_mode or reduction_op are not known")
    shape = tuple(v.exact(e) for e in gmem.type.shape)
    bits, element = element_bits(dtype), element_name(dtype)
    return CopyCase(kind_of(v), semantics, bits, element, shape, operand, buffer, v.version, together, oob, op)


def _oob(v: CallView) -> Oob | None:
    if kind_of(v) is Kind.STORE:
        return Oob.UNDEFINED
    given = v.value("oob_mode")
    if given is None:
        return Oob.ZEROS
    name = given.name.rpartition(".")[2] if isinstance(given, External) else ""
    return Oob[name] if name in Oob.__members__ else None


# -- indices ---------------------------------------------------------------------------------------


def parts(v: CallView, ref: Ref) -> tuple[Part, ...] | Unsure:
    """What the indices of a reference take of each axis of what is behind it; views of other kinds have no model."""
    shape = ref.type.shape
    if not isinstance(shape, tuple):
        return Unsure("a shape is not known")
    out = [Part(v.exact(e)) for e in shape]
    for x in ref.views:
        if isinstance(x, Elsewhere):
            continue
        if not isinstance(x, Indexed) or not isinstance(x.items, tuple):
            return Unsure("this view has no model")
        left = [i for i, p in enumerate(out) if not p.squeezed]
        if len(left) != len(x.items):
            return Unsure("an index of another rank")
        for i, item in zip(left, x.items, strict=True):
            new = _part(v, item)
            if new is None:
                return Unsure("this index has no model")
            out[i] = _within(out[i], new)
    return tuple(out)


def _part(v: CallView, item: object) -> Part | None:
    if isinstance(item, Ds):
        step = v.exact(item.stride)
        start = _static(v, item.start)
        return None if step is None else Part(v.exact(item.size), start, step, *_divisor(v, item.start))
    if isinstance(item, Position):
        return Part(1, _static(v, item.index), 1, *_divisor(v, item.index), squeezed=True)
    return None


def _static(v: CallView, start: Value) -> int | None:
    return v.exact(start) if isinstance(start, Int) else None


def _divisor(v: CallView, start: Value) -> tuple[int, bool]:
    """The largest number known to divide a start, and whether no larger one divides all that can occur, or none that
    JAX could prove."""
    index = start.index if isinstance(start, Array) else start
    if not isinstance(index, Int):
        return 1, proves_nothing(v, start)
    d = v.simplify(index.dim)
    if not isinstance(d, int) and proves_nothing(v, start):
        return 1, True
    return v.fact.facts.divisor(d), isinstance(d, int) or _takes_all(v, d)


def _takes_all(v: CallView, d: dims.Dim) -> bool:
    """Whether a sum of products of indices takes every value of its residue class: each of them has two neighbours."""
    for atom in dims.atoms(d):
        symbol = atom if isinstance(atom, dims.Sym) else None
        if symbol is None or not symbol.name.startswith("?"):
            return False
        low, high = v.fact.facts.span(dims.of_atom(symbol))
        if low is None or (high is not None and high <= low):
            return False
    return True


def _within(old: Part, new: Part) -> Part:
    """A part of a part."""
    start = None if old.start is None or new.start is None else old.start + new.start
    if old.size is not None and (old.start, old.divisor) == (0, 0):
        return new
    return Part(new.size, start, max(old.step, new.step), gcd(old.divisor, new.divisor), False, new.squeezed)


def is_gather(ref: Ref) -> bool:
    """Whether an index is an array of positions."""
    items = [i for x in ref.views if isinstance(x, Indexed) and isinstance(x.items, tuple) for i in x.items]
    return any(isinstance(i, Gather) for i in items)


# -- the buffer ------------------------------------------------------------------------------------


def _buffer(v: CallView, ref: Ref, semantics: Semantics) -> Buffer | Unsure:
    shape = v.exact_shape(ref.type.shape)
    transforms = exact_transforms(v, ref.type)
    if shape is None or ref.type.kind != "data":
        return Unsure("the buffer is not known")
    if isinstance(transforms, Unsure):
        return transforms
    views, permutation = ref.views, None
    if views and isinstance(views[-1], Permuted) and isinstance(views[-1].permutation, tuple):
        permutation, views = views[-1].permutation, views[:-1]
    taken = parts(v, Ref(ref.type, ref.type.shape, ref.dtype, views))
    if isinstance(taken, Unsure):
        return taken
    if any(p.size is None or p.step != 1 for p in taken) or ref.dtype != ref.type.dtype:
        return Unsure("the buffer's view is not known")
    tiling, swizzle = transforms
    if any(p.squeezed for p in taken[len(shape) - len(tiling or ()) :]) and tiling:
        return Unsure("a tiled axis is indexed by one position")
    free = semantics is Semantics.WARPGROUP and not ref.type.transforms and used_elsewhere(v, ref)
    return Buffer(shape, taken, permutation, tiling, swizzle, free)


#: Calls that do not make Warpgroup's solver choose transforms for a buffer.
_INDIFFERENT = frozenset(
    ("copy_gmem_to_smem", "copy_smem_to_gmem", "ref.at", "ref.transpose", "launch", "pl.run_scoped")
)


def used_elsewhere(v: CallView, ref: Ref) -> bool:
    """Whether another call of the kernel reads or writes the buffer, for which the solver may choose transforms."""
    return any(f.api not in _INDIFFERENT and any(is_of(x, ref) for x in f.operands.values()) for f in v.kernel())


def is_of(x: Value, ref: Ref) -> bool:
    """Whether an operand is the buffer, a view of it, or has it among others."""
    if isinstance(x, Ref):
        return x.type is ref.type or x.type.made == ref.type.made or x.type.kind == "union"
    return type(x) is tuple and any(is_of(y, ref) for y in x)


# -- clusters --------------------------------------------------------------------------------------


def collective(v: CallView) -> Collective | Unsure:
    """The blocks that copy together."""
    leader = _leader(v)
    if isinstance(leader, Unsure):
        return leader
    axes = collective_names(v)
    if isinstance(axes, Unsure):
        return axes
    if not axes or (kind_of(v) is Kind.PREFETCH and v.semantics is Semantics.WARPGROUP):
        return ALONE  # Warpgroup semantics prefetch for each block alone, without a word
    sizes = cluster(v)
    if isinstance(sizes, Unsure):
        return sizes
    names = list(sizes)
    if any(a not in sizes for a in axes):
        return Unsure("a cluster axis is not known")
    total: int | None = 1
    for a in axes:
        n = sizes[a]
        total = None if n is None or total is None else total * n
    return Collective(total, leader[0], leader[1], list(axes) == names[-1:])


def collective_names(v: CallView) -> tuple[str, ...] | Unsure:
    """The names given as `collective_axes`."""
    given = v.value("collective_axes")
    if given is None:
        return ()
    items = (given,) if isinstance(given, str) else given
    if type(items) is not tuple or not all(isinstance(x, str) for x in items):
        return Unsure("collective_axes are not known")
    return items


def cluster(v: CallView) -> dict[str, int | None] | Unsure:
    """The cluster's axes with their sizes."""
    launch = v.fact.launch
    if launch is None or not isinstance(launch.cluster_names, tuple) or not isinstance(launch.cluster, tuple):
        return Unsure("the kernel's cluster is not known")
    names: Sequence[Value] = launch.cluster_names
    if len(names) != len(launch.cluster) or not all(isinstance(n, str) for n in names):
        return Unsure("the kernel's cluster is not known")
    return {str(n): v.exact(size) for n, size in zip(names, launch.cluster, strict=True)}


def _leader(v: CallView) -> tuple[str, int] | Unsure:
    given = v.value("leader_tracked")
    if given is None:
        return "", 0
    if isinstance(given, External) and given.name.endswith(".REPLICATED"):
        return "replicated", 0
    if isinstance(given, Described) and given.kind == "CopyPartition.PARTITIONED":
        axis = v.exact(given.params["axis"])
        if axis is not None and axis >= 0:
            return "partitioned", axis
    return Unsure("leader_tracked is not known")
