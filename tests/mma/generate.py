"""Random multiplications whose kernels JAX can trace: transforms divide the buffers, and their rows fit the swizzle."""

from __future__ import annotations

import random

from pallas_ls.domain.dtype import DTYPES
from pallas_ls.domain.target import JaxVersion, Semantics
from pallas_ls.rules.mma.case import MmaCase, Operand, Shape, WgmmaCase

TYPES = ("float16", "bfloat16", "float32", "int8", "uint8", "float8_e4m3fn", "float8_e5m2", "int16", "int32")
COMMON = ("float16", "bfloat16")
ACCUMULATORS = ("float32", "float32", "float32", "float16", "bfloat16", "int32")
DEPTHS = (8, 16, 32, 48, 64, 64, 64, 96, 128, 128, 128, 256)


#: Bytes of shared memory: more is another refusal.
ROOM = 200_000


def wgmma_case(rng: random.Random, version: JaxVersion) -> WgmmaCase:
    """One `wgmma`; about half are what one would write, the others odd in one way or several."""
    while True:
        case = _wgmma_case(rng, version)
        if _bytes(case.a) + _bytes(case.b) <= ROOM:
            return case


def mma_case(rng: random.Random, version: JaxVersion) -> MmaCase:
    """One `tcgen05_mma`."""
    while True:
        case = _mma_case(rng, version)
        if _bytes(case.a) + _bytes(case.b) <= ROOM:
            return case


def _bytes(x: Operand) -> int:
    return x.shape[0] * x.shape[1] * x.bits // 8


def _wgmma_case(rng: random.Random, version: JaxVersion) -> WgmmaCase:
    dtype = rng.choice(TYPES) if rng.random() < 0.4 else rng.choice(COMMON)
    other = rng.choice(TYPES) if rng.random() < 0.05 else dtype
    m = rng.choice((64, 64, 64, 128, 128, 192, 96, 32))
    n, k = rng.choice((8, 16, 24, 64, 64, 64, 128, 128, 128, 192, 256, 256, 264, 12)), rng.choice(DEPTHS)
    acc = rng.choice(ACCUMULATORS) if rng.random() < 0.3 else ("int32" if dtype.endswith("int8") else "float32")
    swizzle = rng.choice((32, 64, 128))
    a = smem(rng, (m, k), dtype, swizzle, rng.random() < 0.15)
    b = smem(rng, (k, n), other, swizzle, rng.random() < 0.5)
    if rng.random() < 0.03:
        m += 64
    return WgmmaCase((m, n), acc, a, b, rng.choice(list(Semantics)), version)


def _mma_case(rng: random.Random, version: JaxVersion) -> MmaCase:
    dtype = rng.choice(TYPES) if rng.random() < 0.4 else rng.choice(COMMON)
    other = rng.choice(TYPES) if rng.random() < 0.05 else dtype
    collective = rng.random() < 0.25
    m, n = rng.choice((64, 128, 128)), rng.choice((8, 16, 24, 32, 64, 64, 128, 128, 256, 384, 512))
    k = rng.choice(DEPTHS)
    acc_dtype = rng.choice(ACCUMULATORS) if rng.random() < 0.3 else ("int32" if dtype.endswith("int8") else "float32")
    swizzle = rng.choice((32, 64, 128))
    columns = n * 2 if collective and rng.random() < 0.9 else n
    if columns > 512:
        collective, columns = False, n
    if m == 64 and columns % 16:
        m = 128
    together = collective if rng.random() < 0.9 else not collective
    acc = tmem(rng, (m, columns), acc_dtype, rng.random() < 0.1, together)
    if rng.random() < 0.2 and (m == 128 or k % 16 == 0) and k * DTYPES[dtype].bits // 32 + columns <= 512:
        a = tmem(rng, (m, k), dtype, rng.random() < 0.8, together)
    else:
        a = smem(rng, (m, k), dtype, swizzle, rng.random() < 0.15)
    b = smem(rng, (k, n), other, swizzle, rng.random() < 0.5)
    odd = rng.random() < 0.2
    names, cluster = rng.choice(((("c",), (4,)), (("c", "d"), (2, 2)))) if odd else (("c",), (2,))
    axis = rng.choice(names) if collective else None
    barrier = rng.choice((None, 1, 1, 1, 2)) if rng.random() < 0.3 else 1
    orders = rng.random() < 0.95
    return MmaCase(acc, a, b, rng.choice(list(Semantics)), version, axis, names, cluster, barrier, orders)


def tmem(rng: random.Random, shape: Shape, dtype: str, packed: bool, collective: bool) -> Operand:
    """A matrix in tensor memory."""
    narrow = DTYPES[dtype].bits < 32
    return Operand(shape, dtype, "tmem", packed=packed if narrow else None, collective=collective)


def smem(rng: random.Random, shape: Shape, dtype: str, swizzle: int, transposed: bool) -> Operand:
    """A matrix in shared memory, with transforms that its allocation accepts."""
    bits = DTYPES[dtype].bits
    plain = Operand(shape, dtype, transposed=transposed)
    if rng.random() < 0.2:
        return plain
    if rng.random() < 0.1:
        swizzle = rng.choice((32, 64, 128))
    row, rows = 8 * swizzle // bits, rng.choice((8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 16, 4))
    lines, columns = plain.allocated
    if lines % rows or columns % row:
        return plain
    kept = rng.random() < 0.95
    return Operand(shape, dtype, "smem", (rows, row), swizzle if kept else None, transposed)
