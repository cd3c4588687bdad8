"""Fixes of what a matrix multiplication is given: shapes that agree, sizes that it takes, the memory they are in."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..domain.array import Array
from ..domain.finding import Edit
from ..domain.ref import Permuted, Ref, RefType
from ..rules.allocation import types_of
from ..rules.mma.tcgen05 import MOST_COLLECTIVE
from ..rules.mma.wgmma import MOST_COLUMNS, ROWS
from ..rules.tmem import LANES
from ..source.span import Site
from .arguments import kernel_of, scratch_of
from .candidate import Candidate, Edits, Repair, some, together
from .literals import set_shape
from .multiplication import set_dtype
from .text import called, parsed

Make = Callable[[Repair], Iterator[Candidate]]
Shape = tuple[int, int]

#: Columns of a product on Blackwell above 256: this number alone.
WIDEST = 512


def _ref(repair: Repair, name: str) -> Ref | None:
    x = repair.view.value(name)
    return x if isinstance(x, Ref) else None


def _shapes(repair: Repair) -> dict[str, Shape] | None:
    """Rows and columns of each operand as it is passed."""
    out: dict[str, Shape] = {}
    for name in ("acc", "a", "b"):
        x = repair.view.value(name)
        shape = repair.view.exact_shape(x.shape) if isinstance(x, (Ref, Array)) else None
        if shape is None or len(shape) != 2:
            return None
        out[name] = (shape[0], shape[1])
    return out


def resized(repair: Repair, name: str, shape: Shape) -> Edits:
    """Edits that make an operand as passed another one of this shape; of a slot of a buffer, all slots."""
    ref = _ref(repair, name)
    if ref is None or not isinstance(ref.type.shape, tuple) or not isinstance(ref.shape, tuple):
        return None
    turned = [x for x in ref.views if isinstance(x, Permuted)]
    last = ref.type.shape[-2:]
    old = repair.view.exact_shape(last[::-1] if len(turned) % 2 else last)
    if old is None or old != repair.view.exact_shape(ref.shape):
        return None
    return set_shape(repair, last, shape[::-1] if len(turned) % 2 else shape)


def _all(repair: Repair, old: dict[str, Shape], new: dict[str, Shape]) -> Edits:
    return together(*(resized(repair, name, new[name]) for name in new if new[name] != old[name]))


def agreeing(repair: Repair) -> Iterator[Candidate]:
    """One operand in the shape that the two others ask for: the accumulator first, which is made for them."""
    old = _shapes(repair)
    if old is None:
        return
    (m, n), (am, ak), (bk, bn) = old["acc"], old["a"], old["b"]
    pair = 2 if repair.view.value("collective_axis") is not None else 1
    wanted: dict[str, Shape] = {"acc": (am, bn * pair), "a": (m, bk), "b": (ak, n // pair)}
    for name, shape in wanted.items():
        if shape == old[name] or (name != "acc" and _is_copied(repair, name)):
            continue
        edits = resized(repair, name, shape)
        if edits:
            ref = _ref(repair, name)
            called = ref.name if ref is not None and ref.name else {"acc": "the accumulator"}.get(name, name)
            yield Candidate(f"Give {called} the shape {shape}", False, edits)


def _is_copied(repair: Repair, name: str) -> bool:
    """Whether an operand is filled from outside of the kernel, so that its size is the data's."""
    ref = _ref(repair, name)
    made = ref.type.made if ref is not None else None
    return made is not None and any(
        f.api == "copy_gmem_to_smem" and isinstance(x, Ref) and x.type.made == made
        for f in repair.facts
        for x in f.operands.values()
    )


def columns(*allowed: int) -> Make:
    """A product with a number of columns that the tensor core makes: fewer first, then more."""

    def make(repair: Repair) -> Iterator[Candidate]:
        old = _shapes(repair)
        if old is None:
            return
        n = old["b"][1]
        pair = 2 if repair.view.value("collective_axis") is not None else 1
        most = MOST_COLLECTIVE if pair == 2 else MOST_COLUMNS
        for new in (*_fewer(n, most), *(x for x in allowed if x > n and pair == 1)):
            shapes: dict[str, Shape] = {"b": (old["b"][0], new), "acc": (old["acc"][0], new * pair)}
            edits = _all(repair, old, shapes)
            if edits:
                yield Candidate(f"Multiply by {new} columns at a time", False, edits)

    return make


def _fewer(n: int, most: int) -> tuple[int, ...]:
    """The most columns below n that can be had, in halves of n where that is one of them."""
    halves = [n >> i for i in range(1, 8) if n % (1 << i) == 0 and n >> i <= most and (n >> i) % 16 == 0]
    return tuple(dict.fromkeys((*halves[:1], *((most,) if n > most else ()))))


def rows(least: int) -> Make:
    """A product with as many rows as the instruction has."""

    def make(repair: Repair) -> Iterator[Candidate]:
        old = _shapes(repair)
        if old is None:
            return
        new = -(-old["acc"][0] // least) * least
        edits = _all(repair, old, {"acc": (new, old["acc"][1]), "a": (new, old["a"][1])})
        if edits:
            yield Candidate(f"Multiply {new} rows at a time", False, edits)

    return make


def half(repair: Repair) -> Iterator[Candidate]:
    """All lanes, where the left operand is in tensor memory, which has no instruction for half of them."""
    ref = _ref(repair, "a")
    if ref is not None and ref.type.space == "tmem":
        yield from rows(LANES)(repair)


def in_its_memory(repair: Repair) -> Iterator[Candidate]:
    """The kernel's only buffer in shared memory that the operand can be, where it was given one from outside."""
    taken = {repair.source(repair.view.site(n)) for n in ("acc", "a", "b", "barrier")}
    kernel = kernel_of(repair)
    for name in ("a", "b"):
        ref = _ref(repair, name)
        if ref is None or ref.type.space != "gmem" or kernel is None:
            continue
        fitting = [n for n, t in scratch_of(kernel) if n not in taken and _fits(repair, ref, t)]
        edits = repair.replace(repair.view.site(name), fitting[0]) if len(fitting) == 1 else ()
        if edits:
            yield Candidate(f"Pass {fitting[0]}, which is in shared memory", False, edits)


def _fits(repair: Repair, ref: Ref, t: object) -> bool:
    if not isinstance(t, RefType) or t.kind != "data" or t.space != "smem" or t.dtype != ref.dtype:
        return False
    return repair.view.shapes_differ(ref.shape, t.shape) is False


def stored_by_columns(repair: Repair) -> Iterator[Candidate]:
    """b stored the other way round and passed as `.T`: what is summed over then runs fastest."""
    ref = _ref(repair, "b")
    shape = repair.view.exact_shape(ref.type.shape) if ref is not None else None
    if ref is None or ref.views or shape is None or len(shape) != 2:
        return
    where = ref.type.made.args.get("shape") if ref.type.made is not None else None
    edits = together(some(_reversed(repair, where)), repair.method(repair.view.site("b"), ".T"))
    if edits:
        yield Candidate(f"Store {ref.name or 'b'} as (n, k), and pass it transposed (.T)", False, edits)


def _reversed(repair: Repair, where: Site | None) -> tuple[Edit, ...]:
    """A pair written out, the other way round."""
    node = parsed(repair.source(where) or "")
    if not isinstance(node, ast.Tuple) or len(node.elts) != 2:
        return ()
    first, second = map(ast.unparse, node.elts)
    return repair.replace(where, f"({second}, {first})")


def in_tensor_memory(repair: Repair) -> Iterator[Candidate]:
    """The accumulator in tensor memory, where it was given shared memory."""
    ref = _ref(repair, "acc")
    made = ref.type.made if ref is not None and ref.type.space == "smem" else None
    if ref is None or made is None or ref.type.transforms != ():
        return
    edits = called(repair, made.site, repair.spelled("TMEM", made.site))
    if edits:
        yield Candidate(f"Allocate {ref.name or 'the accumulator'} in tensor memory", False, edits)


def accumulator(repair: Repair) -> Iterator[Candidate]:
    """A type that wgmma adds up in, a shape that it makes."""
    for t in types_of(repair.view):
        if t.kind != "acc":
            continue
        edits = set_dtype(repair, t, "int32") if getattr(t.dtype, "family", "") == "uint" else None
        if edits:
            yield Candidate("Accumulate in int32", False, edits)
        shape = repair.view.exact_shape(t.shape)
        if shape is None or len(shape) != 2:
            continue
        new = (-(-shape[0] // ROWS) * ROWS, -(-shape[1] // 8) * 8)
        edits = set_shape(repair, t.shape, new) if new != shape else None
        if edits:
            yield Candidate(f"Round the accumulator up to {new}", False, edits, "grow")


FIXES: dict[str, tuple[Make, ...]] = {
    "wgmma-shape": (agreeing,),
    "tcgen05-shape": (agreeing,),
    "wgmma-memory-space": (in_its_memory,),
    "tcgen05-memory-space": (in_its_memory, in_tensor_memory),
    "accumulator-type": (accumulator,),
}
#: Fixes that only some of a rule's violations have: where the size of a tile is not that of the data.
SOME: dict[str, tuple[Make, ...]] = {
    "wgmma-columns": (columns(),),
    "tcgen05-columns": (columns(WIDEST),),
    "wgmma-rows": (rows(ROWS),),
    "tcgen05-rows": (rows(LANES),),
    "tcgen05-half": (half,),
    "wgmma-transpose": (stored_by_columns,),
}
