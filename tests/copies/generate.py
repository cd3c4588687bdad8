"""Random kernels of one copy each, sound or near the edge of what JAX takes."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace

BITS = {
    "float32": 32,
    "bfloat16": 16,
    "float16": 16,
    "int8": 8,
    "int32": 32,
    "uint32": 32,
    "int4": 4,
    "bool": 1,
    "float8_e4m3fn": 8,
    "int16": 16,
}
OPERATIONS = ("add", "min", "max", "umin", "umax", "smin", "smax", "inc", "dec", "and", "or", "xor")
_EXTENTS = (1, 2, 4, 8, 16, 24, 32, 64, 96, 100, 128, 256, 264)
_ROWS = (4, 8, 16, 20, 32, 64, 96, 100, 128, 256, 264, 320, 512, 1024)
#: Bytes of a buffer, below what shared memory holds.
_MOST = 160 * 1024


@dataclass(frozen=True, slots=True)
class Spec:
    """One copy.

    Attributes:
      kind: "load" (GMEM to SMEM), "store" (SMEM to GMEM) or "prefetch".
      gmem: shape of the operand; index: texts, an entry a dimension ("" where it is copied whole).
      slots: texts of further indices of what the first one leaves.
      buffer: shape of the scratch buffer; smem_index: texts of its indices; transposed: through `.T`.
    """

    kind: str
    semantics: str
    dtype: str
    gmem: tuple[int, ...]
    index: tuple[str, ...]
    further: tuple[str, ...]
    buffer: tuple[int, ...]
    smem_index: tuple[str, ...] = ()
    smem_view: str = ""
    tiling: tuple[int, ...] | None = None
    swizzle: int | None = None
    smem_dtype: str = ""
    cluster: tuple[int, ...] = ()
    collective: tuple[str, ...] = ()
    leader: str = ""
    oob: str = ""
    reduction: str = ""
    barrier: str = "plgpu.Barrier()"
    barrier_view: str = "bar"
    uses: tuple[str, ...] = field(default=())


def spec(seed: int) -> Spec:
    """The copy of a seed."""
    r = random.Random(seed)
    made = _sound(r)
    for _ in range(r.choice((0, 0, 0, 1, 1, 2))):
        made = r.choice(_FAULTS)(r, made)
    return made


def _sound(r: random.Random) -> Spec:
    dtype = r.choice((*BITS, "float32", "bfloat16", "bfloat16", "float16"))
    rank = r.choice((1, 2, 2, 2, 2, 3, 3, 4, 5, 6))
    last = r.choice(_ROWS)
    shape = (*(r.choice(_EXTENTS[:5] if rank > 2 else _EXTENTS) for _ in range(rank - 1)), last)
    while math.prod(shape) * BITS[dtype] // 8 > _MOST:
        shape = (*(max(1, n // 2) for n in shape[:-1]), shape[-1] if rank > 1 else shape[-1] // 2)
    gmem, index = _larger(r, shape)
    tiling, swizzle = _transforms(r, shape, BITS[dtype])
    kind = r.choice(("load", "load", "load", "load", "store", "store", "prefetch"))
    made = Spec(kind, r.choice(("Lane", "Warpgroup")), dtype, gmem, index, (), shape, (), "", tiling, swizzle)
    if r.random() < 0.3:
        made = _in_stages(r, made)
    if r.random() < 0.15:
        made = replace(made, oob=r.choice(("ZEROS", "UNDEFINED", "PROMISE_IN_BOUNDS")))
    if kind != "store" and r.random() < 0.3:
        made = _collective(r, made)
    if kind == "store" and r.random() < 0.3:
        made = replace(made, reduction=r.choice(OPERATIONS))
    return made


def _larger(r: random.Random, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """An operand of which the shape is a part."""
    gmem: list[int] = []
    index: list[str] = []
    for n in shape:
        how = r.choice(("whole", "whole", "static", "grid", "dynamic"))
        if r.random() < 0.12:
            gmem.append(r.choice((1, 2, 5, 8)))
            index.append(r.choice(("0", "i", "i + 1")))
        if how == "whole":
            gmem.append(n)
            index.append("")
            continue
        blocks = r.choice((2, 3))
        gmem.append(n * blocks + r.choice((0, 0, 0, 0, 4, 8)))
        start = {"static": f"{n}", "grid": f"i * {n}", "dynamic": "i"}[how]
        index.append(f"pl.ds({start}, {n})" if r.random() < 0.8 else f"{n}:{2 * n}")
    return tuple(gmem), tuple(index)


def _transforms(r: random.Random, shape: tuple[int, ...], bits: int) -> tuple[tuple[int, ...] | None, int | None]:
    """Transforms that the buffer can have, or none."""
    if r.random() < 0.45:
        return None, None
    rows = r.choice((8, 8, 8, 1, 4, 16, 64))
    choices = [s for s in (128, 64, 32) if shape[-1] % (8 * s // bits) == 0]
    swizzle = r.choice(choices) if choices else None
    columns = 8 * swizzle // bits if swizzle else r.choice((4, 8, 32))
    tiling = (columns,) if len(shape) == 1 else (rows, columns)
    if any(n % t for n, t in zip(shape[-len(tiling) :], tiling, strict=True)):
        return None, None
    return tiling, swizzle if r.random() < 0.85 else None


def _in_stages(r: random.Random, s: Spec) -> Spec:
    """The buffer is one of several, or a part of a larger one."""
    if r.random() < 0.6 or not s.buffer:
        stages = r.choice((2, 3))
        view = r.choice(("1", "i", "0"))
        return replace(s, buffer=(stages, *s.buffer), smem_index=(view, *("" for _ in s.buffer)))
    axis = r.randrange(len(s.buffer))
    n = s.buffer[axis]
    buffer = tuple(2 * m if k == axis else m for k, m in enumerate(s.buffer))
    start = r.choice((f"{n}", f"i * {n}", "0"))
    return replace(
        s, buffer=buffer, smem_index=tuple(f"pl.ds({start}, {n})" if k == axis else "" for k in range(len(buffer)))
    )


def _collective(r: random.Random, s: Spec) -> Spec:
    cluster, axes = r.choice(
        (
            ((2,), ("c",)),
            ((2,), ("c",)),
            ((4,), ("c",)),
            ((2, 2), ("c",)),
            ((2, 2), ("d",)),
            ((2, 2), ("c", "d")),
            ((1,), ("c",)),
        )
    )
    made = replace(s, cluster=cluster, collective=axes)
    if r.random() < 0.4:
        leader = r.choice(("REPLICATED", "PARTITIONED(0)", "PARTITIONED(1)"))
        made = replace(made, leader=leader)
    return made


# -- faults ----------------------------------------------------------------------------------------


def _other_extent(r: random.Random, s: Spec) -> Spec:
    axis = r.randrange(len(s.buffer))
    n = r.choice((s.buffer[axis] + 4, max(1, s.buffer[axis] // 2), s.buffer[axis] * 2))
    return replace(s, buffer=tuple(n if k == axis else m for k, m in enumerate(s.buffer)))


def _other_gmem(r: random.Random, s: Spec) -> Spec:
    axis = r.randrange(len(s.gmem))
    n = s.gmem[axis] + r.choice((1, 2, 4, 8, 12))
    return replace(s, gmem=tuple(n if k == axis else m for k, m in enumerate(s.gmem)))


def _strided(r: random.Random, s: Spec) -> Spec:
    axis = r.randrange(len(s.gmem))
    n = s.buffer[-1]
    text = r.choice((f"pl.ds(0, {n}, 2)", f"pl.ds(i, {n}, 2)", f"0:{2 * n}:2"))
    gmem = tuple(3 * n if k == axis else m for k, m in enumerate(s.gmem))
    return replace(s, gmem=gmem, index=tuple(text if k == axis else t for k, t in enumerate(s.index)))


def _further(r: random.Random, s: Spec) -> Spec:
    """A slice of a slice."""
    kept = [k for k, t in enumerate(s.index) if t == "" or ":" in t or "ds" in t]
    if not kept:
        return s
    at = r.randrange(len(kept))
    text = r.choice(("0:8", "pl.ds(i, 8)", "0", "i", "pl.ds(8, 8)", "pl.ds(0, 4, 2)"))
    further = tuple(text if k == at else "" for k in range(len(kept)))
    buffer = list(s.buffer)
    lead = len(buffer) - len(kept)
    if lead >= 0 and lead + at < len(buffer):
        if text in ("0", "i"):
            del buffer[lead + at]
        else:
            buffer[lead + at] = 4 if "4" in text else 8
    return replace(s, further=further, buffer=tuple(buffer) or (8,), tiling=None, swizzle=None, smem_index=())


def _smem_part(r: random.Random, s: Spec) -> Spec:
    axis = r.randrange(len(s.buffer))
    n = s.buffer[axis]
    extra = r.choice((4, n, 8, 64))
    start = r.choice(("4", "8", "0", "i", "i * 4"))
    buffer = tuple(m + extra if k == axis else m for k, m in enumerate(s.buffer))
    index = tuple(f"pl.ds({start}, {n})" if k == axis else "" for k in range(len(buffer)))
    return replace(s, buffer=buffer, smem_index=index)


def _transposed(r: random.Random, s: Spec) -> Spec:
    if len(s.buffer) != 2 or s.smem_index:
        return s
    return replace(s, smem_view=".T", buffer=s.buffer[::-1])


def _no_tiling(r: random.Random, s: Spec) -> Spec:
    return replace(s, tiling=None, swizzle=s.swizzle)


def _odd_tiling(r: random.Random, s: Spec) -> Spec:
    rank = r.choice((1, 2, 3))
    inner = s.buffer[-rank:]
    if len(inner) < rank:
        return s
    return replace(s, tiling=tuple(r.choice([d for d in range(1, n + 1) if n % d == 0]) for n in inner), swizzle=None)


def _dtype(r: random.Random, s: Spec) -> Spec:
    return replace(s, smem_dtype=r.choice(list(BITS)))


def _barrier(r: random.Random, s: Spec) -> Spec:
    text, view = r.choice(
        (
            ("plgpu.Barrier(num_barriers=2)", "bar"),
            ("plgpu.Barrier(num_barriers=2)", "bar.at[1]"),
            ("plgpu.Barrier(num_barriers=2)", "bar.at[i]"),
            ("plgpu.Barrier(num_barriers=(2, 2))", "bar.at[0]"),
            ("plgpu.Barrier(num_barriers=(2, 2))", "bar.at[0, i]"),
            ("plgpu.Barrier(orders_tensor_core=True)", "bar"),
            ("plgpu.ClusterBarrier(collective_axes=('c',))", "bar"),
            ("plgpu.SMEM((8,), jnp.int32)", "bar"),
            ("plgpu.Barrier(num_barriers=1)", "bar"),
        )
    )  # fmt: skip
    cluster = s.cluster or ((2,) if "Cluster" in text else ())
    return replace(s, barrier=text, barrier_view=view, cluster=cluster)


def _swapped(r: random.Random, s: Spec) -> Spec:
    return replace(
        s, kind={"load": "swapped load", "store": "swapped store", "prefetch": "prefetch smem"}.get(s.kind, s.kind)
    )


def _axis(r: random.Random, s: Spec) -> Spec:
    return replace(s, collective=(r.choice(("g", "x", "c", "d")),))


def _leader(r: random.Random, s: Spec) -> Spec:
    return replace(s, leader=r.choice(("REPLICATED", "PARTITIONED(0)")), kind="load" if s.kind == "store" else s.kind)


def _used(r: random.Random, s: Spec) -> Spec:
    return s


_FAULTS = (
    _other_extent,
    _other_gmem,
    _other_gmem,
    _strided,
    _further,
    _smem_part,
    _smem_part,
    _transposed,
    _no_tiling,
    _odd_tiling,
    _odd_tiling,
    _dtype,
    _barrier,
    _swapped,
    _axis,
    _leader,
)


# -- text ------------------------------------------------------------------------------------------

_HEAD = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def body(x_gmem, o_gmem, buf, bar):
    i = jax.lax.axis_index("g")
"""


def text(s: Spec) -> str:
    """The kernel file of a copy."""
    gmem_name = "o_gmem" if s.kind in ("store", "swapped store") else "x_gmem"
    gmem = _indexed(_indexed(gmem_name, s.index), s.further)
    smem = _indexed("buf", s.smem_index) + s.smem_view
    options = _options(s)
    call = {
        "load": f"plgpu.copy_gmem_to_smem({gmem}, {smem}, {s.barrier_view}{options})",
        "swapped load": f"plgpu.copy_gmem_to_smem({smem}, {gmem}, {s.barrier_view}{options})",
        "store": f"plgpu.copy_smem_to_gmem({smem}, {gmem}{options})",
        "swapped store": f"plgpu.copy_smem_to_gmem({gmem}, {smem}{options})",
        "prefetch": f"plgpu.async_prefetch({gmem}{options})",
        "prefetch smem": f"plgpu.async_prefetch({smem}{options})",
    }[s.kind]
    lines = [_HEAD + f"    {call}", *_after(s), "", "", "kernel = plgpu.kernel("]
    lines += ["    body,", f"    out_type=jax.ShapeDtypeStruct({_tuple(s.gmem)}, jnp.{_name(s.dtype)}),"]
    lines += [f"    scratch_types=[{_buffer(s)}, {s.barrier}],", '    grid=(2,),\n    grid_names=("g",),']
    if s.cluster:
        names = ("c", "d")[: len(s.cluster)]
        lines += [f"    cluster={_tuple(s.cluster)},", f"    cluster_names={_tuple(names)},"]
    lines += [
        f"    compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.{s.semantics}),",
        ")",
    ]
    lines += ["", 'if __name__ == "__main__":', f"    x = jax.ShapeDtypeStruct({_tuple(s.gmem)}, jnp.{_name(s.dtype)})"]
    return "\n".join([*lines, '    jax.jit(kernel).trace(x).lower(lowering_platforms=("cuda",))', ""])


def _after(s: Spec) -> list[str]:
    if s.kind == "load" and "SMEM" not in s.barrier:
        return [f"    plgpu.barrier_wait({s.barrier_view})"]
    return ["    plgpu.wait_smem_to_gmem(0)"] if s.kind == "store" else []


def _options(s: Spec) -> str:
    out = ""
    if s.collective and "store" not in s.kind:
        out += f", collective_axes={_tuple(s.collective) if len(s.collective) > 1 else repr(s.collective[0])}"
    if s.leader and "store" not in s.kind:
        out += f", leader_tracked=plgpu.CopyPartition.{s.leader}"
    if s.oob and "load" in s.kind:
        out += f", oob_mode=plgpu.OOBFillMode.{s.oob}"
    if s.reduction and "store" in s.kind:
        out += f', reduction_op="{s.reduction}"'
    return out


def _buffer(s: Spec) -> str:
    dtype = f"jnp.{_name(s.smem_dtype or s.dtype)}"
    transforms = [f"plgpu.TilingTransform({_tuple(s.tiling)})"] if s.tiling else []
    transforms += [f"plgpu.SwizzleTransform({s.swizzle})"] if s.swizzle else []
    given = f", transforms={_tuple(transforms, str)}" if transforms else ""
    return f"plgpu.SMEM({_tuple(s.buffer)}, {dtype}{given})"


def _indexed(name: str, index: tuple[str, ...]) -> str:
    return f"{name}.at[{', '.join(t or ':' for t in index)}]" if any(index) else name


def _tuple(items: object, show: object = repr) -> str:
    texts = [show(x) for x in items]  # pyright: ignore
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def _name(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype
