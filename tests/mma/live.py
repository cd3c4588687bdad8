"""The installed JAX's verdict on the kernel that a case describes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
from jax.experimental.mosaic.gpu import core as mgpu_core
from jax.experimental.mosaic.gpu import utils
from jax.experimental.pallas import mosaic_gpu as plgpu

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.target import JaxVersion, Semantics
from pallas_ls.rules.mma.case import MmaCase, Operand, WgmmaCase

VERSION = JaxVersion.parse(jax.__version__)
_NAMES = {Semantics.LANE: "Lane", Semantics.WARPGROUP: "Warpgroup"}


def verdict(case: WgmmaCase | MmaCase) -> JaxError | None:
    """What JAX raises, or None: it lowers."""
    if isinstance(case, WgmmaCase):
        with _architecture((9, 0)):
            return _lower(_wgmma(case), lambda: _wgmma_scratch(case), case.semantics)
    if case.collective_axis is not None or case.acc.collective:
        jax.clear_caches()  # they do not tell tensor memory of two blocks from that of one
    with _architecture((10, 0)):
        return _tcgen05(case)


def _wgmma(case: WgmmaCase):
    def body(out, a, b, acc):
        plgpu.wgmma(acc, a.T if case.a.transposed else a, b.T if case.b.transposed else b)
        plgpu.wgmma_wait(0)

    return body


def _wgmma_scratch(case: WgmmaCase):
    return [_buffer(case.a), _buffer(case.b), plgpu.ACC(case.acc, getattr(jnp, case.acc_dtype))]


def _tcgen05(case: MmaCase) -> JaxError | None:
    def body(out, a, b, acc, *barrier):
        plgpu.tcgen05_mma(
            acc,
            a.T if case.a.transposed else a,
            b.T if case.b.transposed else b,
            *barrier,
            accumulate=False,
            collective_axis=case.collective_axis,
        )

    def scratch():
        out = [_buffer(x) for x in (case.a, case.b, case.acc)]
        if case.barrier is not None:
            many = {} if case.barrier == 1 else {"num_barriers": case.barrier}
            out.append(plgpu.Barrier(orders_tensor_core=case.orders, **many))
        return out

    return _lower(body, scratch, case.semantics, cluster=case.cluster, cluster_names=case.cluster_names)


def _buffer(x: Operand):
    dtype = getattr(jnp, x.dtype)
    if x.space == "tmem":
        more = {} if x.packed is None else {"packed": x.packed}
        return plgpu.TMEM(x.shape, dtype, collective=x.collective, **more)
    transforms = []
    if x.tiling is not None:
        transforms.append(plgpu.TilingTransform(x.tiling))
    if x.swizzle is not None:
        transforms.append(plgpu.SwizzleTransform(x.swizzle))
    return plgpu.SMEM(x.allocated, dtype, transforms=tuple(transforms))


def _lower(body, scratch, semantics: Semantics, **mesh) -> JaxError | None:
    lowering = getattr(plgpu.LoweringSemantics, _NAMES[semantics])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = plgpu.kernel(
                body,
                out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
                scratch_types=scratch(),
                compiler_params=plgpu.CompilerParams(lowering_semantics=lowering),
                **mesh,
            )
            jax.jit(call).trace().lower(lowering_platforms=("cuda",))
    except Exception as error:  # any refusal is the answer
        return JaxError(type(error).__name__, str(error))
    return None


@contextmanager
def _architecture(arch: tuple[int, int]) -> Iterator[None]:
    """JAX asks the device for its architecture; without one it says Hopper."""
    modules = [m for m in (utils, mgpu_core) if hasattr(m, "_infer_arch")]
    before = [m._infer_arch for m in modules]
    for m in modules:
        m._infer_arch = lambda: arch
    try:
        yield
    finally:
        for m, original in zip(modules, before, strict=True):
            m._infer_arch = original
