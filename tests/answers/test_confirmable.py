"""What can be confirmed, with which arguments, and what is said where there are none."""

from __future__ import annotations

import pytest

from pallas_ls.answers.annotations import annotated_array

from .workbench import session

LAUNCH = """
def launch({parameters}):
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((128,), jnp.float32))(x)


def body(x, out):
    pass
"""


@pytest.mark.parametrize(
    ("annotation", "expression"),
    [
        ('BFloat16[Array, "64 128"]', "jax.ShapeDtypeStruct((64, 128), jax.numpy.bfloat16)"),
        ("jaxtyping.Float32[jax.Array, '64']", "jax.ShapeDtypeStruct((64,), jax.numpy.float32)"),
        ('''"Int8[Array, 'rows=64 #128']"''', "jax.ShapeDtypeStruct((64, 128), jax.numpy.int8)"),
        ('Float8e4m3fn[Array, "64 64"]', "jax.ShapeDtypeStruct((64, 64), jax.numpy.float8_e4m3fn)"),
        ('Bool[Array, ""]', "jax.ShapeDtypeStruct((), jax.numpy.bool)"),
        ('Float32[Array, "b 64"]', None),
        ('Float32[Array, "*batch 64"]', None),
        ('Float[Array, "64 64"]', None),
        ("jax.Array", None),
        ("tuple[int, str]", None),
        ("", None),
    ],
)
def test_an_annotation_gives_an_array_where_it_says_all_of_it(annotation: str, expression: str | None) -> None:
    array = annotated_array(annotation)
    assert (array.expression if array is not None and array.is_exact else None) == expression


def test_annotations_alone_are_arguments() -> None:
    (call,) = session(LAUNCH.format(parameters='x: Float32[Array, "64 64"], *, y: Int8[Array, "8"]')).kernels("k.py")
    assert (call.name, call.why) == ("launch as annotated", "")
    assert call.args == ("jax.ShapeDtypeStruct((64, 64), jax.numpy.float32)",)
    assert call.kwargs == {"y": "jax.ShapeDtypeStruct((8,), jax.numpy.int8)"}


def test_an_example_comes_before_annotations() -> None:
    text = "# pallas: example launch(x: bf16[8, 8])" + LAUNCH.format(parameters='x: Float32[Array, "64 64"]')
    (call,) = session(text).kernels("k.py")
    assert call.args == ("jax.ShapeDtypeStruct((8, 8), jax.numpy.bfloat16)",)


def test_says_what_is_not_known_and_how_to_give_it() -> None:
    text = LAUNCH.format(parameters='x: Float[Array, "64 n"], rows: int, scale, *, flag: bool')
    (call,) = session(text).kernels("k.py")
    assert call.why == (
        "launch cannot be called: no call of it with known arguments was found, and nothing else says what to pass for "
        "x (its annotation leaves n and the element type open), rows, scale and flag. Give arguments by a call in the "
        'file (under `if __name__ == "__main__":`, say), or by a comment over the function: '
        "`# pallas: example launch(x: bf16[64, 4096], rows=128, scale: bf16[4096, 4096], flag=True)`."
    )


def test_says_which_call_does_not_tell() -> None:
    text = LAUNCH.format(parameters="x, rows") + "\nlaunch(jnp.zeros((8, 8)), unknown_number())\n"
    assert (
        session(text)
        .kernels("k.py")[-1]
        .why.startswith(
            "launch cannot be called: an argument is not known, as it is called at k.py:14 (`launch(jnp.zeros((8, 8)), "
            "unknown_number())`). Give arguments"
        )
    )


def test_a_caller_in_another_file_gives_arguments() -> None:
    caller = "import jax.numpy as jnp\nfrom k import launch\n\n\ndef test_it():\n    launch(jnp.ones((16, 8)))\n"
    s = session(LAUNCH.format(parameters="x"), test_k=caller)
    assert s.kernels("k.py")[0].why
    (call,) = s.kernels("k.py", ["test_k.py"])
    assert call.args == ("jax.ShapeDtypeStruct((16, 8), jax.numpy.float32)",)
