"""Fixes of what a kernel computes with values: layouts, narrow elements, selection, loops, missing operations."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..domain.array import Array, LayoutName, element_bits
from ..domain.dtype import DType
from ..domain.fact import CallFact
from ..domain.python import Int
from ..domain.ref import Ref, RefType, Swizzle, Tiling
from ..rules.advice import rounded
from ..rules.references import LOADS, STORES, reference
from ..source.span import Site
from .agreement import WITHOUT_INDEX
from .call_text import function_prefix
from .candidate import Candidate, Edits, Repair, together
from .literals import set_number, set_shape
from .text import parsed, subscript, whole
from .transforms import SWIZZLES, bits_of, drop_transforms, set_transforms

Make = Callable[[Repair], Iterator[Candidate]]

#: Threads of a warpgroup, and the bits that each of them moves at once where elements are dealt out in turn.
THREADS, VECTOR_BITS = 128, 64
#: Rows and columns of a tile of wgmma's register layout.
WGMMA_TILE = (64, 8)


def numpy(repair: Repair) -> str:
    """How the file spells jax.numpy."""
    for fact in repair.facts:
        if fact.site.path == repair.view.fact.site.path and fact.api.startswith("jax.numpy."):
            prefix = function_prefix(repair.source(fact.site) or "")
            if prefix:
                return prefix
    return "jnp."


def _arguments(repair: Repair, site: Site) -> list[str] | None:
    """The positional arguments of a call, where it has no others."""
    node = parsed(repair.source(site) or "")
    if not isinstance(node, ast.Call) or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    return [ast.unparse(a) for a in node.args]


# -- operations ------------------------------------------------------------------------------------


def chained(repair: Repair) -> Iterator[Candidate]:
    """A selection for each case but the last."""
    arguments = _arguments(repair, repair.view.fact.site)
    if arguments is None or len(arguments) < 4:
        return
    which, *cases = arguments
    text = cases[-1]
    for i in range(len(cases) - 2, -1, -1):
        text = f"{numpy(repair)}where({which} == {i}, {cases[i]}, {text})"
    yield Candidate("Chain jnp.where", True, repair.replace(repair.view.fact.site, text))


def forwards(repair: Repair) -> Iterator[Candidate]:
    """The scan without `reverse`, where it goes over nothing and the direction makes no difference."""
    view = repair.view
    if view.value("xs") is not None:
        return
    edits = repair.remove_argument(view.fact.site, view.site("reverse"))
    if edits:
        yield Candidate("Remove reverse: there is nothing to scan, only a count", True, edits)


def widened(repair: Repair) -> Iterator[Candidate]:
    """The operation in a type that there is arithmetic for, and its result as narrow as before."""
    site = repair.violation.problem.at or repair.view.fact.site
    node, operands = parsed(repair.source(site) or ""), _operands_at(repair, site)
    if not isinstance(node, ast.BinOp) or len(operands) != 2:
        return
    dtype = next((x.dtype for x in operands if isinstance(x, Array)), None)
    if not isinstance(dtype, DType) or dtype.bits != 8:
        return
    module = numpy(repair)
    wide = f"{module}{'float32' if dtype.family == 'float' else 'int32'}"
    sides = [
        f"({ast.unparse(n)}).astype({wide})" if isinstance(x, Array) and x.shape != () else ast.unparse(n)
        for n, x in zip((node.left, node.right), operands, strict=True)
    ]
    sides = [s if parsed(s[1 : s.rindex(").")]) is None or not _is_simple(s) else _bare(s) for s in sides]
    symbol = ast.unparse(ast.BinOp(ast.Name("a"), node.op, ast.Name("b")))[2:-2]
    text = f"({sides[0]} {symbol} {sides[1]}).astype({module}{dtype.name})"
    yield Candidate(f"Compute in {wide.rpartition('.')[2]}", False, repair.replace(site, text))


def _is_simple(text: str) -> bool:
    """Whether what is cast needs no brackets."""
    node = parsed(text[1 : text.rindex(").")])
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))


def _bare(text: str) -> str:
    at = text.rindex(").")
    return text[1:at] + text[at + 1 :]


def _operands_at(repair: Repair, site: Site) -> list[object]:
    for operation in repair.view.fact.operations:
        if operation.site == site:
            return list(operation.operands.values())[:2]
    return list(repair.view.fact.operands.values())[:2] if site == repair.view.fact.site else []


def largest_position(repair: Repair) -> Iterator[Candidate]:
    """The smallest position that holds the maximum (or minimum) of a row."""
    fact = repair.view.fact
    name = {"jax.numpy.argmax": "max", "jax.numpy.argmin": "min"}.get(fact.api)
    arguments = _arguments(repair, fact.site)
    x = next(iter(fact.operands.values()), None)
    shape = repair.view.exact_shape(x.shape) if isinstance(x, Array) else None
    if name is None or arguments is None or len(arguments) != 1 or shape is None or len(shape) != 1:
        return
    layout = _strided(repair, shape, getattr(x, "dtype", None))
    if layout is None:
        return
    module, values = numpy(repair), arguments[0]
    iota = f"{repair.spelled('broadcasted_iota', _kernel_call(repair))}({module}int32, {shape}, 0, layout={layout})"
    text = f"{module}min({module}where({values} == {module}{name}({values}), {iota}, {shape[0]}))"
    yield Candidate(f"Take the smallest position of the {name}imum", False, repair.replace(fact.site, text))


def _kernel_call(repair: Repair) -> Site | None:
    launch = repair.view.fact.launch
    return launch.made.site if launch is not None and launch.made is not None else None


# -- layouts ---------------------------------------------------------------------------------------


def _strided(repair: Repair, shape: tuple[int, ...], dtype: object) -> str | None:
    """The layout in which arrays of plain buffers are loaded: `plgpu.Layout.WG_STRIDED((64, 64), 2)`."""
    vector = vector_of(shape, dtype)
    name = repair.spelled("Layout.WG_STRIDED", _kernel_call(repair))
    return f"{name}({shape}, {vector})" if vector is not None else None


def vector_of(shape: tuple[int, ...], dtype: object) -> int | None:
    """How many neighbours a thread holds of an array that is dealt out to 128 threads; None where it cannot be."""
    count, bits = 1, element_bits(dtype) if isinstance(dtype, DType) else None
    for n in shape:
        count *= n
    if not isinstance(bits, int) or count % THREADS:
        return None
    most = max(VECTOR_BITS // max(bits, 8), 1)
    return max(n for n in (8, 4, 2, 1) if n <= most and count % (THREADS * n) == 0)


def iota(repair: Repair) -> Iterator[Candidate]:
    """The layout of plain buffers, where the kernel has no others."""
    view = repair.view
    out = view.fact.result
    shape = view.exact_shape(out.shape) if isinstance(out, Array) else None
    layout = _strided(repair, shape, getattr(out, "dtype", None)) if shape else None
    if layout is None or not _is_plain(repair):
        return
    cast = repair.spelled("layout_cast", _kernel_call(repair))
    edits = repair.wrap(view.fact.site, f"{cast}(", f", {layout})")
    yield Candidate("Name the layout that plain buffers are loaded in", True, edits)


def _is_plain(repair: Repair) -> bool:
    """Whether the kernel names no layout, and has no buffers with transforms."""
    mine = [f for f in repair.facts if f.launch is not None and f.launch is repair.view.fact.launch]
    values = [x for f in mine for x in (*f.operands.values(), f.result)]
    return not any(
        (isinstance(x, Array) and isinstance(x.layout, LayoutName))
        or isinstance(x, LayoutName)
        or (isinstance(x, Ref) and x.type.transforms != ())
        for x in values
    )


def layout_arguments(repair: Repair) -> Iterator[Candidate]:
    """The nearest arguments that a layout can have."""
    view = repair.view
    name = view.value("new_layout") or view.value("layout")
    if not isinstance(name, LayoutName):
        return
    yield from _uncalled(repair, name)
    for value, wanted in _numbers(repair, name):
        edits = set_number(repair, value, wanted)
        if edits:
            yield Candidate(f"Use plgpu.Layout.{name.name} with {wanted}", False, edits)


def _uncalled(repair: Repair, name: LayoutName) -> Iterator[Candidate]:
    """A layout that takes no arguments, without the call."""
    site = repair.violation.problem.at
    node = parsed(repair.source(site or repair.view.fact.site) or "")
    if site is None and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        inner, site, after = node.func.value, repair.view.fact.site, f".{node.func.attr}()"
    else:
        inner, after = node, ""
    plain = isinstance(inner, ast.Call) and ast.unparse(inner.func).endswith(f"Layout.{name.name}")
    if plain and isinstance(inner, ast.Call) and "takes no arguments" in repair.violation.problem.message:
        yield Candidate("Take the arguments away", False, repair.replace(site, f"{ast.unparse(inner.func)}{after}"))


def _numbers(repair: Repair, name: LayoutName) -> Iterator[tuple[Int, int]]:
    """(a number among a layout's arguments, what it could be instead)."""
    given = dict(name.options)
    if name.name.startswith("TCGEN05_M64") and name.args and isinstance(name.args[0], Int):
        n = repair.view.exact(name.args[0])
        if n is not None:
            yield name.args[0], -(-n // 16) * 16
    warps = given.get("m_warps", name.args[1] if len(name.args) > 1 else None)
    if name.name.startswith("MMA") and isinstance(warps, Int):
        yield from ((warps, n) for n in (4, 2))
    vector = given.get("vec_size", name.args[1] if len(name.args) > 1 else None)
    shape = name.args[0] if name.args else None
    if name.name == "WG_STRIDED" and isinstance(vector, Int) and isinstance(shape, tuple):
        extents = repair.view.exact_shape(shape)  # pyright: ignore[reportArgumentType] - numbers of a layout
        x = repair.view.value("x") or repair.view.value("src")
        best = vector_of(extents, getattr(x, "dtype", None)) if extents else None
        if best is not None:
            yield vector, best


def layout_shape(repair: Repair) -> Iterator[Candidate]:
    """The layout made for the value's shape; the value rounded up to whole tiles."""
    fact = _named_at(repair)
    x = fact.operands.get("x", fact.operands.get("src")) if fact is not None else None
    shape = repair.view.exact_shape(x.shape) if isinstance(x, (Array, Ref)) else None
    layout = _layout_of(fact)
    if shape is None or layout is None or not isinstance(x, (Array, Ref)):
        return
    given = layout.args[0] if layout.args else None
    if layout.name == "WG_STRIDED" and isinstance(given, tuple):
        edits = set_shape(repair, given, shape)
        if edits:
            yield Candidate(f"Name the layout of {shape}", False, edits)
    elif layout.name == "WGMMA" and not layout.reduced and len(shape) == 2:
        new = rounded(shape, WGMMA_TILE)
        edits = set_shape(repair, x.shape, new)
        if edits and new != shape:
            yield Candidate(f"Work on {new} elements at a time", False, edits, "grow")


def _named_at(repair: Repair) -> CallFact | None:
    """The call that names the layout at fault."""
    site = repair.violation.problem.at
    found = repair.made_by(site) if site is not None else []
    return next((f for f in found if f.api in ("layout_cast", "load")), None)


def _layout_of(fact: CallFact | None) -> LayoutName | None:
    layout = (fact.operands.get("new_layout") or fact.operands.get("layout")) if fact is not None else None
    return layout if isinstance(layout, LayoutName) else None


# -- buffers that are loaded and stored ------------------------------------------------------------


def swizzled(repair: Repair) -> Iterator[Candidate]:
    """The swizzle that goes with a tiling; no transforms at all."""
    ref = reference(repair.view)
    types = _transformed(repair)
    if ref is None or not types:
        return
    groups = [_with_swizzle(repair, t) for t in types]
    edits = together(*(g for g in groups if g != ()))
    if edits:
        yield Candidate("Add the swizzle of the tile's width", True, edits)
    edits = together(*(drop_transforms(repair, t) for t in types))
    if edits:
        yield Candidate("Leave the transforms away", True, edits)


def _transformed(repair: Repair) -> list[RefType]:
    """Types of buffers with transforms that the kernel loads and stores."""
    found: dict[object, RefType] = {}
    for f in repair.facts:
        if f.launch is None or f.launch is not repair.view.fact.launch or f.api not in (*LOADS, *STORES):
            continue
        for x in f.operands.values():
            t = x.type if isinstance(x, Ref) else None
            if t is not None and t.made is not None and t.space == "smem" and t.transforms not in ((), None):
                found[t.made.site] = t
    return list(found.values())


def _with_swizzle(repair: Repair, t: RefType) -> Edits:
    transforms, bits = t.transforms, bits_of(t)
    if not isinstance(transforms, tuple) or any(isinstance(x, Swizzle) for x in transforms) or bits is None:
        return ()
    tiling = next((x.tiling for x in transforms if isinstance(x, Tiling)), None)
    tile = repair.view.exact_shape(tiling) if isinstance(tiling, tuple) else None
    width = tile[-1] * bits // 8 if tile else 0
    return set_transforms(repair, t, tile, width) if tile and width in SWIZZLES else None


def loaded_part(repair: Repair) -> Iterator[Candidate]:
    """The part loaded from memory, where a value that was just loaded is sliced."""
    site = repair.violation.problem.at
    found = subscript(repair.source(site) or "") if site is not None else None
    operation = next((o for o in repair.view.fact.operations if o.site == site), None)
    x = next((v for v in operation.operands.values() if isinstance(v, Array)), None) if operation else None
    if site is None or found is None or x is None or x.by is None or x.by.name not in LOADS:
        return
    if x.by.name == "load" and repair.view.version < WITHOUT_INDEX:
        return  # refused itself
    ref = x.by.operands.get("src", x.by.operands.get("source"))
    name = _loaded_name(repair, x.by.site)
    if not isinstance(ref, Ref) or ref.views or ref.type.transforms != () or name is None:
        return
    yield Candidate("Load the part", False, repair.replace(site, f"{name}[{', '.join(found[1])}]"))


def _loaded_name(repair: Repair, load: Site) -> str | None:
    text = repair.source(load) or ""
    node = parsed(text)
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
        return node.args[0].id
    return whole(text)


FIXES: dict[str, tuple[Make, ...]] = {
    "select-two": (chained,),
    "scan-forwards": (forwards,),
    "narrow-arithmetic": (widened,),
    "narrow-arithmetic-lane": (widened,),
    "iota-layout": (iota,),
    "layout-arguments": (layout_arguments,),
    "lane-tiled-access": (swizzled,),
}
#: Fixes that only some of a rule's violations have.
SOME: dict[str, tuple[Make, ...]] = {
    "unlowered-primitive": (largest_position,),
    "register-slice": (loaded_part,),
    "register-layout": (swizzled,),
    "layout-fits-shape": (layout_shape,),
}
