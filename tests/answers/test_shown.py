"""Hovers, explanations, rows of facts, and what can be confirmed."""

from __future__ import annotations

from pallas_ls.domain.target import JaxVersion, Semantics, Target

from .workbench import line_of, said, session

STORE = """
ROWS = 64

def body(o_gmem, smem, barrier):
    tile = plgpu.layout_cast(jnp.zeros((ROWS, 64), jnp.float16), plgpu.Layout.WGMMA)
    plgpu.async_store_smem(tile, smem, barrier, cluster_idx=0, cluster_dim="c")

kernel = plgpu.kernel(
    body,
    out_type=jax.ShapeDtypeStruct((128,), jnp.float32),
    scratch_types=[
        plgpu.SMEM((ROWS, 64), jnp.float16, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))),
        plgpu.Barrier(),
    ],
    cluster=(2,),
    cluster_names=("c",),
)
"""


def hover(text: str, at: str) -> str:
    """The hover over the first occurrence of a text."""
    s = session(text)
    module = s.files.module("k.py")
    assert module is not None
    found = s.hover("k.py", module.text.content.index(at) + 1)
    assert found is not None
    return found.markdown


def test_a_call_shows_its_bytes_and_operands() -> None:
    shown = hover(STORE, "plgpu.async_store_smem")
    assert "**async_store_smem**: 8,192 B (8,192 = 64 x 128)" in shown
    assert "- `src`: `float16[64, 64] · 8,192 B · layout WGMMA`" in shown
    assert "- `ref`: `float16[64, 64] · 8,192 B · SMEM · tiling (8, 64), swizzle 128`" in shown
    assert "k.py:7 (`64`)" in shown  # where ROWS is defined


def test_an_operand_shows_itself() -> None:
    assert hover(STORE, "smem, barrier, cluster_idx").startswith(
        "`ref` of async_store_smem: `float16[64, 64] · 8,192 B"
    )


def test_a_size_that_is_no_multiple_shows_the_next_one() -> None:
    assert "96 % 128 = 96; next multiple 128" in hover(STORE.replace("(ROWS, 64)", "(3, 16)"), "plgpu.async_store_smem")


def test_a_symbolic_size_is_a_formula_with_what_is_known() -> None:
    text = STORE.replace("ROWS = 64", "def make(rows):").replace("\n\ndef body", "\n  def body")
    text = "def make(rows: int):\n    if rows % 8:\n        raise ValueError\n" + "\n".join(
        "    " + line for line in STORE.replace("ROWS = 64\n", "").replace("ROWS", "rows").splitlines()
    )
    shown = hover(text, "plgpu.async_store_smem")
    assert "`128*rows B, a multiple of 1024`" in shown


def test_facts_are_expressions_over_the_sources_names() -> None:
    s = session("""
def make(x, tile: int):
    m, k = x.shape
    def body(x_gmem, o_gmem, smem):
        pass
    return plgpu.kernel(body, out_type=x, scratch_types=[plgpu.SMEM((2, tile, k // 2), x.dtype)])(x)
""")
    row = next(r for r in s.facts("k.py") if r.api == "SMEM" and r.operand == "result")
    assert (row.shape, row.dtype, row.space) == ((2, "tile", "k//2"), "x.dtype", "smem")


def test_an_explanation_walks_back_to_the_literals() -> None:
    s = session(STORE.replace("jnp.zeros((ROWS, 64)", "jnp.zeros((ROWS * 2 // 2, 64)"))
    (step, *_) = s.explain("k.py", line_of(s, "plgpu.layout_cast"))
    text = repr(step)
    assert "64: computed (//)" in text
    assert "written" in text


def test_an_explanation_says_where_knowledge_was_lost() -> None:
    s = session("def body(o_gmem, smem):\n    plgpu.commit_smem()\n    plgpu.barrier_wait(smem)\n")
    assert "comes from the caller" in repr(s.explain("k.py", line_of(s, "barrier_wait")))


def test_the_summary_counts_sites_and_names_the_unknown_ones() -> None:
    s = session(STORE.replace("jnp.zeros((ROWS, 64), jnp.float16)", "load_from_somewhere()"))
    summary = s.check("k.py").summary
    assert summary.sites == summary.checked + len(summary.unknown)
    assert [u.api for u in summary.unknown] == ["async_store_smem"]


def test_what_can_be_confirmed_has_its_arguments() -> None:
    s = session(
        STORE + "\nif __name__ == '__main__':\n    jax.jit(kernel).trace().lower(lowering_platforms=('cuda',))\n"
    )
    (call,) = s.kernels("k.py")
    assert (call.expression, call.args, call.why) == ("kernel", (), "")


def test_a_function_is_confirmed_with_the_arguments_of_its_callers() -> None:
    s = session("""
def double(x, scale):
    def body(x_gmem, o_gmem):
        o_gmem[...] = x_gmem[...]
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

def test():
    double(jnp.zeros((128,), jnp.float32), scale=2)
""")
    call = next(k for k in s.kernels("k.py") if k.expression == "double")
    assert call.args == ("jax.ShapeDtypeStruct((128,), jax.numpy.float32)", "2")


def test_without_arguments_it_says_how_to_give_them() -> None:
    s = session("""
def double(x):
    def body(x_gmem, o_gmem):
        o_gmem[...] = x_gmem[...]
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
""")
    (call,) = s.kernels("k.py")
    assert "# pallas: example double(" in call.why


def test_directives_set_the_target() -> None:
    text = STORE.replace(
        "plgpu.layout_cast(jnp.zeros((ROWS, 64), jnp.float16), plgpu.Layout.WGMMA)",
        "jnp.zeros((ROWS, 64), jnp.float16)",
    )
    assert said(session(text)) == []  # a splat has any layout under Warpgroup semantics
    lane = ["plgpu.async_store_smem(tile, smem, barri | error async-store-layout"]
    assert said(session("# pallas: target lane\n" + text)) == lane
    assert said(session(text, Target(semantics=Semantics.LANE))) == lane
    assert said(session(text, Target(jax=JaxVersion(0, 10, 2)))) == lane
    assert said(session(text.replace("\nkernel =", "\n# pallas: target lane\nkernel ="))) == lane


def test_a_broken_line_keeps_the_findings_of_the_others() -> None:
    s = session(STORE.replace("jnp.zeros((ROWS, 64)", "jnp.zeros((ROWS, 32)"))
    before = said(s)
    assert before == ["plgpu.async_store_smem(tile, smem, barri | error async-store-shape"]
    files = s.files
    text = files.module("k.py").text.content  # pyright: ignore[reportOptionalMemberAccess]
    files.write("k.py", text + "\nother = plgpu.kernel(bod\n")  # pyright: ignore[reportAttributeAccessIssue]
    s.changed()
    assert said(s) == before
    assert len(s.check("k.py").syntax) == 1


def test_a_hover_speaks_of_the_caller_that_was_picked() -> None:
    s = session("""
def make(rows: int):
    def body(o_gmem, smem):
        plgpu.commit_smem()
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((8,), jnp.float32),
                        scratch_types=[plgpu.SMEM((rows, 64), jnp.float16)])()

def test():
    make(128)
""")
    module = s.files.module("k.py")
    assert module is not None
    offset = module.text.content.index("plgpu.SMEM") + 1
    general = s.hover("k.py", offset)
    assert general is not None and "float16[rows, 64]" in general.markdown
    s.pick("k.py", next(k for k in s.kernels("k.py") if k.expression == "make"))
    picked = s.hover("k.py", offset)
    assert picked is not None and "float16[128, 64] · 16,384 B" in picked.markdown
