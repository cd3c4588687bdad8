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
