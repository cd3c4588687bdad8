"""A store by the threads themselves in place of an asynchronous one, for small values that no tile holds.

Measured on JAX 0.12 under Lane semantics: `plgpu.store` through `plgpu.cluster_ref` takes one-dimensional values to
buffers without transforms. Blocks then meet at a ClusterBarrier, at which each of them arrives by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..domain.array import Array, LayoutName, Splat
from ..domain.layout import Tiled
from ..domain.python import Partial
from ..domain.ref import Loaded, Ref
from ..domain.target import JaxVersion, Semantics
from ..rules.store_case import named_layout
from ..source.span import Span
from .arguments import kernel_of
from .candidate import Candidate, Edits, Repair, some, together

SINCE = JaxVersion(0, 12)
#: Threads of a warpgroup: each stores as many elements as any other.
THREADS = 128
#: What may be done with the barrier of a store that is replaced.
WAITS = ("async_store_smem", "barrier_wait")


def store(repair: Repair) -> Iterator[Candidate]:
    """`plgpu.store(plgpu.cluster_ref(ref, {axis: block}), x)` and an arrival at a ClusterBarrier."""
    axis = repair.view.value("cluster_dim")
    if not isinstance(axis, str) or not _is_small(repair) or not _is_only_waited_for(repair):
        return
    edits = together(_call(repair, axis), _barrier(repair, axis))
    if edits:
        title = "Store synchronously through plgpu.cluster_ref, with a ClusterBarrier at which all blocks arrive"
        yield Candidate(title, False, edits, "sync")


def _is_small(repair: Repair) -> bool:
    view = repair.view
    src, ref = view.value("src"), view.value("ref")
    if view.semantics is not Semantics.LANE or view.version < SINCE or view.value("atomic") is not None:
        return False
    if not isinstance(src, Array) or not isinstance(ref, Ref) or ref.views or ref.type.transforms != ():
        return False
    shape = view.exact_shape(ref.shape)
    if shape is None or len(shape) != 1:
        return False
    if isinstance(src.layout, LayoutName):
        layout = named_layout(view, src.layout)
        return isinstance(layout, Tiled) and layout.applies_to(shape)
    return isinstance(src.layout, (Splat, Loaded)) and shape[0] % THREADS == 0


def _is_only_waited_for(repair: Repair) -> bool:
    """The barrier is a single one that this store alone arrives at, in code that every block runs."""
    barrier = repair.view.value("barrier")
    made = barrier.type.made if isinstance(barrier, Ref) and not barrier.views else None
    if made is None or made.args:
        return False
    users = [f for f in repair.facts if any(_is_of(v, made.site) for v in f.operands.values())]
    stores = {f.site for f in users if f.api == "async_store_smem"}
    return stores == {repair.view.fact.site} and all(f.api in WAITS for f in users)


def _is_of(v: object, site: object) -> bool:
    return isinstance(v, Ref) and v.type.made is not None and v.type.made.site == site


def _call(repair: Repair, axis: str) -> Edits:
    """The call, where it is a statement of the kernel's body: not in a branch, a loop or a function in it."""
    span = repair.locate(repair.view.fact.site)
    indent = repair.line_before(span) if span is not None else "x"
    x, ref, barrier, block = (repair.source(repair.view.site(n)) for n in ("src", "ref", "barrier", "cluster_idx"))
    if span is None or indent.strip() or None in (x, ref, barrier, block) or not _runs_always(repair, span):
        return None
    remote = f'{repair.spelled("cluster_ref")}({ref}, {{"{axis}": {block}}})'
    end = repair.line_break(span.path)
    text = f"{repair.spelled('store')}({remote}, {x}){end}{indent}{repair.spelled('barrier_arrive')}({barrier})"
    return some(repair.replace(repair.view.fact.site, text))


def _runs_always(repair: Repair, call: Span) -> bool:
    text = repair.text(Span(call.path, 0, call.end))
    line = text.count("\n", 0, call.start) + 1
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    kernel = kernel_of(repair)
    body = kernel.body if kernel is not None else None
    while isinstance(body, Partial):
        body = body.function
    name = getattr(body, "name", None)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    return any(isinstance(s, ast.Expr) and s.lineno == line for f in functions for s in f.body)


def _barrier(repair: Repair, axis: str) -> Edits:
    barrier = repair.view.value("barrier")
    made = barrier.type.made if isinstance(barrier, Ref) else None
    if made is None:
        return None
    return some(
        repair.replace(made.site, f'{repair.spelled("ClusterBarrier", made.site)}(collective_axes=("{axis}",))')
    )
