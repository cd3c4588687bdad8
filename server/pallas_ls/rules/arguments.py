"""Rules about operands: references that are none, memory spaces."""

from __future__ import annotations

from ..domain.array import Array
from ..domain.finding import JaxError
from ..domain.python import Int, Value
from ..domain.ref import Ref, RefType
from .rule import Answer, Problem, Rule, Unsure
from .view import CallView, is_known, show_array, type_name

#: Functions whose signature is checked here.
CALLS = ("async_store_smem",)


def reference(name: str):
    """A check that an operand is a reference."""

    def check(v: CallView) -> Answer:
        x = v.value(name)
        if isinstance(x, Ref):
            return None
        if not is_known(x):
            return Unsure(f"{name} is not known")
        if not isinstance(x, (Array, Int, float, bool, RefType, tuple)) and x is not None:
            return Unsure(f"{name} is not known")
        if isinstance(x, Array) and not isinstance(x.shape, tuple):
            return Unsure(f"{name} may be a reference")
        text = (
            f"{name} must be a reference (a scratch buffer or a view of one); this is {type_name(x)}. `ref[...]` "
            "reads it, `ref.at[...]` is a view."
        )
        return Problem(text, _not_a_ref(v, x), v.site(name))

    return check


def _not_a_ref(v: CallView, x: Value) -> JaxError:
    if isinstance(x, (Array, Int, float, bool)):
        return JaxError("ValueError", f"Can only call `{v.fact.api}` on a `Ref`: {_jax_value(v, x)}.")
    shown = f"'{x}' of type '<class '{type(x).__name__}'>'" if x is None else f"of type {type_name(x)}"
    return JaxError("TypeError", f"Argument {shown} is not a valid JAX type")


def _jax_value(v: CallView, x: Value) -> str:
    if isinstance(x, Array):
        return f"JitTracer({show_array(x.shape, x.dtype).replace(' ', '')})"
    return str(x.dim) if isinstance(x, Int) else str(x)


#: What JAX says of a reference where it wants a value.
_CONVERTED = (
    "Triggering __jax_array__() during abstractification is no longer supported. To avoid this error, either "
    "explicitly convert your object using jax.numpy.array(), or register your object as a pytree."
)


def values(v: CallView) -> Answer:
    """What is sent, and where to, are values."""
    for name in ("src", "cluster_idx"):
        x = v.value(name)
        if isinstance(x, Ref):
            shown = x.name or "the reference"
            text = f"{name} must be a value; this is {type_name(x)}. Load it first: plgpu.load({shown}, layout=...)."
            return Problem(text, JaxError("ValueError", _CONVERTED), v.site(name))
        if name in v.fact.arg_sites and (x is None or isinstance(x, (str, RefType)) or type(x) is tuple):
            jax = JaxError("TypeError", "Error interpreting argument to async_store_smem as a JAX value.")
            return Problem(f"{name} must be a value; this is {type_name(x)}.", jax, v.site(name))
    return None


def smem_reference(name: str, what: str):
    """A check that a reference is in shared memory."""

    def check(v: CallView) -> Answer:
        x = v.value(name)
        if not isinstance(x, Ref):
            return Unsure(f"{name} is not known")
        if x.type.kind == "union" or x.type.space == "smem":
            return None
        space = x.type.space
        shown = show_array(x.type.shape, x.type.dtype).replace(" ", "")
        make = "plgpu.SMEM(...)" if name == "ref" else "plgpu.Barrier()"
        text = (
            f"{name} must be {what} in shared memory ({make} in scratch_types); {x.name or 'this'} is in "
            f"{space.upper()}."
        )
        jax = JaxError("ValueError", f"{name} must be a SMEM reference, got Ref<{space}>{{{shown}}}")
        return Problem(text, jax, v.site(name))

    return check


PRIMITIVES = "jax/_src/pallas/mosaic_gpu/primitives.py"
_REF_TEXT = (
    "The buffer and the barrier are passed as references, the way the kernel's body receives them from "
    "`scratch_types`, or as views of them "
    "(`ref.at[...]`). `ref[...]` loads the buffer: it gives an array."
)
_SPACE_TEXT = (
    "An `async_store_smem` writes registers to the shared memory of another block of the cluster and signals a "
    "barrier there. Both the buffer and "
    "the barrier are allocated in shared memory: `plgpu.SMEM(...)` and `plgpu.Barrier(...)`."
)

RULES = (
    Rule(
        "not-a-reference",
        "Buffers and barriers are passed as references, not as values.",
        CALLS,
        60,
        lambda v: _first(reference("ref")(v), lambda: reference("barrier")(v)),
        "jax/_src/state/primitives.py, get_ref_and_transforms",
        _REF_TEXT,
    ),
    Rule(
        "not-a-value",
        "What is sent is a value, not a reference.",
        CALLS,
        65,
        values,
        "jax/_src/core.py, the conversion of a primitive's operands",
        "The store sends registers: a value that was computed or loaded. A buffer is loaded first, in a layout that "
        "can be stored: `plgpu.load(ref, layout=plgpu.Layout.WGMMA)`. The receiving block's index is an integer.",
    ),
    Rule(
        "async-store-memory-space",
        "An asynchronous store goes to shared memory.",
        CALLS,
        70,
        smem_reference("ref", "a buffer"),
        f"{PRIMITIVES}, _check_ref",
        _SPACE_TEXT,
    ),
    Rule(
        "barrier-memory-space",
        "The barrier of an asynchronous store is a barrier in shared memory.",
        CALLS,
        80,
        smem_reference("barrier", "a barrier"),
        f"{PRIMITIVES}, _check_ref",
        _SPACE_TEXT,
    ),
)


def _first(a: Answer, b) -> Answer:
    return a if isinstance(a, Problem) else (b() if a is None else (x if isinstance(x := b(), Problem) else a))
