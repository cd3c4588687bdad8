"""Launches that tell nothing new are passed over, and evaluated as soon as the one that they repeat is gone."""

from __future__ import annotations

from ..answers.workbench import Texts, kernel, said, session

FACTORY = """
def launch(x, tile, deep):
    def body(x_ref, o_ref, buffer, barrier):
        if deep:
            plgpu.commit_smem()
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(0, tile)], buffer, barrier)
        plgpu.barrier_wait(barrier)
    out = jax.ShapeDtypeStruct((tile,), jnp.float32)
    scratch = [plgpu.SMEM((tile,), jnp.float32), plgpu.Barrier()]
    return plgpu.kernel(body, out_type=out, scratch_types=scratch)(x)
"""
API = "\ndef api(y, block, deep):\n    return launch(y, block, deep)\n"


def bodies(text: str) -> dict[str, int]:
    """How often the kernel's copy was seen in each entry, by its function."""
    s = session(text)
    memos = s.program.analyse("k.py")
    state = s.program.states["k.py"]
    assert len(memos) == len(state.memos())
    return {
        key.split(" ", 1)[1].split(":")[0]: sum(f.api == "copy_gmem_to_smem" for f in memo.facts)
        for key, memo in state.entries.items()
        if key.startswith("def ")
    }


def test_a_caller_that_knows_no_more_is_passed_over() -> None:
    assert bodies(FACTORY + API) == {"launch": 1, "api": 0}
    assert bodies(API + FACTORY) == {"launch": 1, "api": 0}


def test_a_caller_that_checks_something_else_is_passed_over() -> None:
    check = "\ndef api(y, block, deep, other):\n    if other > 3:\n        raise ValueError\n"
    assert bodies(FACTORY + check + "    return launch(y, block, deep)\n")["api"] == 0


def test_a_caller_that_gives_numbers_is_not() -> None:
    for arguments in ("y, 64, deep", "y, block, True", "y, 2 * block, deep", "y, block, block"):
        found = bodies(FACTORY + API.replace("launch(y, block, deep)", f"launch({arguments})"))
        assert found == {"launch": 1, "api": 1}, arguments


def test_what_a_caller_gets_wrong_is_still_found() -> None:
    call = "\ndef bad():\n    return launch(jnp.zeros((64,), jnp.float32), 7, False)\n"
    assert said(session(FACTORY + API + call)) == [
        "plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(0 | hint tma-row",
        "return launch(jnp.zeros((64,), jnp.float | error tma-row",
    ]


def test_callers_of_a_caller_borrow_from_it() -> None:
    outer = "\ndef half(y, block):\n    return launch(y, 2 * block, True)\n\ndef top(z, b):\n    return half(z, b)\n"
    assert bodies(FACTORY + outer) == {"launch": 1, "half": 1, "top": 0}


def test_who_borrowed_is_evaluated_when_the_lender_is_gone() -> None:
    made = """
def make(tile):
    def body(x_ref, o_ref, buffer, barrier):
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(0, tile)], buffer, barrier)
        plgpu.barrier_wait(barrier)
    out = jax.ShapeDtypeStruct((tile,), jnp.float32)
    scratch = [plgpu.SMEM((tile,), jnp.float32), plgpu.Barrier()]
    return plgpu.kernel(body, out_type=out, scratch_types=scratch)
"""
    first, second = "\ndef first(x, n):\n    return make(n)(x)\n", "\ndef second(x, n):\n    return make(n)(x)\n"
    s = session(made + first + second)
    assert isinstance(s.files, Texts)

    def copies() -> int:
        return sum(f.api == "copy_gmem_to_smem" for memo in s.program.analyse("k.py") for f in memo.facts)

    before = copies()
    s.files.write(
        "k.py",
        kernel(made + first.replace("make(n)(x)", "x") + second),
    )
    s.changed()
    assert before >= 1
    assert copies() >= 1


def test_ways_of_an_earlier_text_are_forgotten() -> None:
    s = session(FACTORY + API)
    assert isinstance(s.files, Texts)
    s.check("k.py")
    count = len(s.program.ways.found)
    for tile in range(1, 6):
        s.files.write("k.py", kernel(FACTORY.replace("pl.ds(0, tile)", f"pl.ds({tile}, tile)") + API))
        s.changed()
        s.check("k.py")
    assert count > 0
    assert len(s.program.ways.found) == count
