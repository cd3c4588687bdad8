"""Rows of `pallas-ls facts`: shapes as numbers and as expressions over the names that the source has at the call."""

from __future__ import annotations

from pallas_ls.answers.report import FactRow

from .workbench import session


def rows(text: str) -> dict[tuple[str, str], FactRow]:
    """The rows of a module by function and operand."""
    return {(r.api, r.operand): r for r in session(text).facts("k.py")}


def test_an_unknown_number_goes_by_the_variable_that_holds_it() -> None:
    found = rows("""
import math
def make(x, tile_size):
    m, n = x.shape
    tile = math.gcd(tile_size, n)
    rest = tile_size // tile
    def body(x_ref, o_ref, smem):
        y = plgpu.load(x_ref.at[pl.ds(0, rest), pl.ds(0, tile)])
    return plgpu.kernel(body, out_type=x, scratch_types=[plgpu.SMEM((rest, 2 * tile), x.dtype)])(x)
""")
    assert found["load", "result"].shape == ("rest", "tile")
    assert found["load", "src"].shape == ("rest", "tile")
    assert found["SMEM", "result"].shape == ("rest", None)


def test_a_variable_bound_again_gives_no_name() -> None:
    found = rows("""
def make(x, tile, k):
    a = tile // k
    t = plgpu.SMEM((a, 4), x.dtype)
    a = k
    return plgpu.BlockSpec((tile // k, 4))
""")
    assert found["SMEM", "result"].shape == ("a", 4)
    assert found["BlockSpec", "result"].shape == ("tile//k", 4)


def test_cases_that_one_name_stands_for_are_one_shape() -> None:
    found = rows("""
def make(wide: bool, tile: int):
    rows = 2 * tile if wide else tile
    return plgpu.SMEM((rows, 64), jnp.float16), plgpu.Barrier(num_barriers=4 if wide else 2)
""")
    assert found["SMEM", "result"].shape == ("rows", 64)
    assert found["Barrier", "result"].alternatives == ((4,), (2,))


def test_a_caller_speaks_where_the_function_itself_knows_nothing() -> None:
    found = rows("""
def copy(src, dst, barrier):
    plgpu.copy_gmem_to_smem(src, dst, barrier)

def make(x, rows: int):
    m, n = x.shape
    def body(x_ref, o_ref, smem, barrier):
        copy(x_ref.at[pl.ds(0, rows), pl.ds(0, 64)], smem, barrier)
    scratch = [plgpu.SMEM((rows, 64), x.dtype), plgpu.Barrier()]
    return plgpu.kernel(body, out_type=x, scratch_types=scratch)(x)

def bench():
    make(jnp.zeros((4096, 4096), jnp.float16), 128)
""")
    for operand in ("src", "dst"):
        assert found["copy_gmem_to_smem", operand].shape == ("rows", 64)
    assert found["copy_gmem_to_smem", "barrier"].shape == ()


def test_an_example_says_nothing_of_a_function_for_all_callers() -> None:
    found = rows("""
def make(x):
    return plgpu.SMEM(x.shape, x.dtype)

def bench():
    make(jnp.zeros((4096, 4096), jnp.float16))
""")
    assert found["SMEM", "result"].shape is None


def test_a_pipeline_with_a_compute_context_gives_its_body_the_barriers() -> None:
    found = rows("""
def make(x):
    def body(x_ref, o_ref):
        def compute(run):
            run(jnp.zeros((64, 64), jnp.float32))
        def step(_, a_smem, consumed, carry):
            plgpu.barrier_arrive(consumed)
            plgpu.commit_smem()
            return carry + plgpu.load(a_smem)
        plgpu.emit_pipeline_warp_specialized(
            step, grid=(4,), memory_registers=40, wg_axis="wg", num_compute_wgs=2, manual_consumed_barriers=True,
            compute_context=compute, in_specs=[plgpu.BlockSpec((64, 64), lambda i: (i, 0))])(x_ref)
    return plgpu.kernel(body, out_type=x, num_threads=3, thread_name="wg")(x)
""")
    assert found["barrier_arrive", "barrier"].shape == ()
    assert found["load", "src"].shape == (64, 64)


def test_objects_of_plgpu_are_dataclasses() -> None:
    found = rows("""
import dataclasses
def make(n: int):
    b = plgpu.Barrier(num_barriers=n)
    b = dataclasses.replace(b, num_arrivals=b.num_arrivals + 1, num_barriers=2 * n)
    def body(o_ref, bars, sems):
        plgpu.barrier_wait(bars.at[0])
        pl.semaphore_signal(sems.at[0])
    out = jax.ShapeDtypeStruct((8,), jnp.float32)
    return plgpu.kernel(body, out_type=out, scratch_types=[b, plgpu.SemaphoreType.REGULAR((4,))])()
""")
    assert found["barrier_wait", "barrier"].shape == ()
    assert found["ref.at", "self"].alternatives == (("2*n",), (4,)) or found["ref.at", "self"].shape
    assert found["pl.semaphore_signal", "sem_or_view"].shape == ()


def test_a_pallas_call_shows_its_body_blocks() -> None:
    found = rows("""
def make(x, tile: int):
    m, n = x.shape
    def body(x_ref, o_ref):
        plgpu.store(o_ref, plgpu.load(x_ref))
    spec = pl.BlockSpec((tile, n), lambda i: (i, 0))
    return pl.pallas_call(body, jax.ShapeDtypeStruct((m, n), x.dtype), grid=(m // tile,), in_specs=[spec],
                          out_specs=spec, compiler_params=plgpu.CompilerParams())(x)
""")
    assert found["load", "src"].shape == ("tile", "n")
    assert found["store", "dst"].shape == ("tile", "n")


def test_a_call_implies_what_is_not_known_of_its_operands() -> None:
    found = rows("""
def make(x, h, tile_m: int, tile_k: int, n: int):
    def body(h_ref, o_ref, smem, b_smem, barrier, acc, unknown):
        plgpu.copy_gmem_to_smem(h_ref.at[pl.program_id(0)], smem, barrier)
        plgpu.wgmma(acc, smem, something(b_smem))
    scratch = [plgpu.SMEM((tile_m, tile_k), jnp.bfloat16), plgpu.SMEM((tile_k, n), jnp.bfloat16),
               plgpu.Barrier(), plgpu.ACC((tile_m, n)), plgpu.SMEM((1,), jnp.float32)]
    return plgpu.kernel(body, out_type=x, scratch_types=scratch)(h)
""")
    assert found["copy_gmem_to_smem", "src"].shape == ("tile_m", "tile_k")
    assert found["wgmma", "b"].shape == ("tile_k", "n")
    assert found["wgmma", "b"].dtype is None


def test_a_copy_to_several_blocks_implies_nothing() -> None:
    found = rows("""
def make(x, h, tile_m: int):
    def body(h_ref, o_ref, smem, barrier):
        plgpu.copy_gmem_to_smem(h_ref.at[pl.program_id(0)], smem, barrier, collective_axes="c", leader_tracked=part)
    return plgpu.kernel(body, out_type=x, scratch_types=[plgpu.SMEM((tile_m, 64), jnp.int8), plgpu.Barrier()])(h)
""")
    assert found["copy_gmem_to_smem", "src"].shape is None
    assert found["copy_gmem_to_smem", "dst"].shape == ("tile_m", 64)


def test_buffers_of_an_unknown_number() -> None:
    found = rows("""
def add(scratch, name, n, buffer):
    for i in range(n):
        scratch[f"{name}{i}"] = buffer

def make(x, n: int, tile: int):
    scratch = {"barrier": plgpu.Barrier(num_barriers=2)}
    add(scratch, "k", n, plgpu.SMEM((tile, 64), jnp.bfloat16))
    scratch |= {f"s{i}": plgpu.SMEM((tile,), jnp.float32) for i in range(n)}
    def body(x_ref, o_ref, **buffers):
        k = [buffers[f"k{i}"] for i in range(n)]
        for i in range(n):
            plgpu.copy_gmem_to_smem(x_ref.at[i], k[i], buffers["barrier"].at[0])
        for a, b in zip(k, tuple(buffers[f"s{i}"] for i in range(n))):
            y = plgpu.load(a)
            plgpu.store(b, y)
    return plgpu.kernel(body, out_type=x, scratch_types=scratch)(x)
""")
    assert found["copy_gmem_to_smem", "dst"].shape == ("tile", 64)
    assert found["copy_gmem_to_smem", "barrier"].shape == ()
    assert found["load", "src"].shape == ("tile", 64)
    assert found["store", "dst"].shape == ("tile",)


def test_buffers_that_differ_from_round_to_round_are_not_taken_for_each_other() -> None:
    found = rows("""
def make(x, n: int):
    scratch = {f"k{i}": plgpu.SMEM((i + 1, 64), jnp.bfloat16) for i in range(n)}
    def body(x_ref, o_ref, **buffers):
        plgpu.load(buffers["k1"])
        rows = [plgpu.SMEM((i,), jnp.int8) for i in range(n)]
        plgpu.store(rows[0], 1)
    return plgpu.kernel(body, out_type=x, scratch_types=scratch)(x)
""")
    assert found["load", "src"].shape is None
    assert found["store", "dst"].shape is None


def test_buffers_under_more_flags_than_can_be_told_apart() -> None:
    found = rows("""
def make(x, tile: int, a: bool, b: bool, c: bool, d: bool, e: bool):
    scratch = dict(always=plgpu.SMEM((tile, 64), jnp.bfloat16))
    if a:
        scratch["a"] = plgpu.SMEM((tile, 1), jnp.float32)
    if b:
        scratch["b"] = plgpu.SMEM((tile, 2), jnp.float32)
    if c:
        scratch.update(c=plgpu.SMEM((tile, 3), jnp.float32))
    if d:
        scratch["d"] = plgpu.SMEM((tile, 4), jnp.float32)
    if e:
        scratch["e"] = plgpu.SMEM((tile, 5), jnp.float32)
    def body(x_ref, o_ref, *, always, a=None, b=None, **others):
        plgpu.load(always)
        if b is not None:
            plgpu.store(b, 0)
        if d:
            plgpu.copy_smem_to_gmem(others["d"], o_ref)
        if others.get("e") is not None:
            plgpu.barrier_wait(others.get("e"))
    return plgpu.kernel(body, out_type=x, scratch_types=scratch)(x)
""")
    assert found["load", "src"].shape == ("tile", 64)
    assert found["store", "dst"].shape == ("tile", 2)
    assert found["copy_smem_to_gmem", "src"].shape == ("tile", 4)
    assert found["barrier_wait", "barrier"].shape == ("tile", 5)


def test_a_tuple_of_an_annotated_length() -> None:
    found = rows("""
def tile(shape: tuple[int, int], other: tuple[int, ...]):
    return plgpu.SMEM(shape, jnp.float32), plgpu.ACC(other)
""")
    assert found["SMEM", "result"].shape == ("shape[0]", "shape[1]")
    assert found["ACC", "result"].shape is None


def test_what_callers_give_to_a_function_is_no_answer_for_all_of_them() -> None:
    found = rows("""
def run(body, **options):
    return plgpu.kernel(body, **options)

def make(x, tile: int):
    return run(lambda x_ref, o_ref, smem: None, out_type=x, scratch_types=[plgpu.SMEM((tile, 64), jnp.int8)])
""")
    assert ("kernel", "scratch_types[0]") not in found
    assert found["SMEM", "result"].shape == ("tile", 64)
