"""Functions of `jax` that take functions: jit and its like call what they are given; and what has no effect on
shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..domain.array import Array, ShapeDtype
from ..domain.python import Builtin, Call, Value
from ..source.span import Site
from .convert import as_array
from .jax_tree import NotATree, map_tree
from .methods import Methods
from .registry import Registry
from .stdlib_functions import identity


@dataclass(frozen=True, slots=True, eq=False)
class Wrapped:
    """What `jax.jit`, `jax.checkpoint` or `jax.custom_vjp` make of a function: calling it calls the function."""

    name: str
    function: Value
    binds: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """What `.trace(...)` and `.lower(...)` return: "traced", "lowered" or "compiled"; `result` is what the function
    returned."""

    kind: str
    result: Value


def register(r: Registry) -> None:
    """Registers them."""
    _wrappers(r)
    _inspection(r)
    _harmless(r)
    r.calls[Wrapped] = lambda m, f, call: m.program.calls.apply(m, f.function, call)
    r.calls[Stage] = lambda m, f, call: f.result
    r.attribute(Wrapped)(_wrapped_attribute)
    r.attribute(Stage)(_STAGE.attribute)


_WRAPPERS = "jax.jit jax.pjit jax.checkpoint jax.remat jax.custom_vjp jax.custom_jvp jax.custom_batching.custom_vmap"


def _wrappers(r: Registry) -> None:
    for name in _WRAPPERS.split():
        r.raw(name)(_wrapper(name))


def _wrapper(name: str) -> Any:
    """The function wrapped, or a decorator where only options are given."""

    def model(m: Any, call: Call) -> Value:
        f = call.args[0] if call.args else call.kwargs.get("fun", call.kwargs.get("f"))
        if f is None:
            return Builtin(
                f"{name}(...)", lambda m, inner: Wrapped(name, inner.args[0]) if inner.args else m.unknown(name)
            )
        return Wrapped(name, f)

    return model


def _wrapped_attribute(m: Any, v: Wrapped, name: str, site: Site) -> Value:
    if name in ("__wrapped__", "fun"):
        return v.function
    if name in ("__name__", "__qualname__"):
        return m.program.attributes.get(m, v.function, name, site)
    return _WRAPPED.bind(v, name)


_WRAPPED = Methods("jax.jit.wrapped")


def _run(m: Any, call: Call) -> Value:
    """Calls the function in the first argument with the others; structs stand for arrays of their type."""
    wrapped, *args = call.args
    values = tuple(as_traced(m, a) for a in args)
    named = {k: as_traced(m, v) for k, v in call.kwargs.items()}
    inner = Call(call.site, values, named, call.arg_sites[1:], call.kwarg_sites, call.open)
    return m.program.calls.apply(m, wrapped.function, inner)


def as_traced(m: Any, v: Value) -> Value:
    """An argument as the traced function sees it: each ShapeDtypeStruct in it as an array."""
    try:
        return map_tree(m, lambda x: Array(x.shape, x.dtype) if isinstance(x, ShapeDtype) else x, v)
    except NotATree:
        return v


@_WRAPPED.raw("trace")
def trace(m: Any, call: Call) -> Value:
    """`jax.jit(f).trace(*args)`."""
    return Stage("traced", _run(m, call))


@_WRAPPED.raw("lower")
def lower(m: Any, call: Call) -> Value:
    """`jax.jit(f).lower(*args)`."""
    options = {"lowering_platforms", "_private_parameters"}
    kwargs = {k: v for k, v in call.kwargs.items() if k not in options}
    return Stage("lowered", _run(m, Call(call.site, call.args, kwargs, call.arg_sites, call.kwarg_sites, call.open)))


@_WRAPPED.raw("eval_shape")
def eval_shape_of(m: Any, call: Call) -> Value:
    """`jax.jit(f).eval_shape(*args)`."""
    return as_structs(m, _run(m, call))


@_WRAPPED.raw("defvjp defjvp defjvps def_vmap clear_cache")
def configured(m: Any, call: Call) -> Value:
    """What sets derivatives; as a decorator it returns the function."""
    return call.args[1] if len(call.args) == 2 else None


_STAGE = Methods("jax.stages.Stage")


@_STAGE.raw("lower compile")
def next_stage(m: Any, call: Call) -> Value:
    """`.lower(lowering_platforms=...)`, `.compile()`."""
    stage = call.args[0]
    return Stage("lowered" if stage.kind == "traced" else "compiled", stage.result)


def _inspection(r: Registry) -> None:
    @r.raw("jax.eval_shape")
    def eval_shape(m: Any, call: Call) -> Value:
        f, *args = call.args
        inner = Call(
            call.site, (Wrapped("jax.eval_shape", f), *args), call.kwargs, call.arg_sites, call.kwarg_sites, call.open
        )
        return as_structs(m, _run(m, inner))

    @r.raw("jax.make_jaxpr")
    def make_jaxpr(m: Any, call: Call) -> Value:
        f = call.args[0] if call.args else m.unknown("a function that is not known")

        def run(m: Any, inner: Call) -> Value:
            _run(
                m,
                Call(
                    inner.site,
                    (Wrapped("jax.make_jaxpr", f), *inner.args),
                    inner.kwargs,
                    (inner.site, *inner.arg_sites),
                    inner.kwarg_sites,
                ),
            )
            return m.unknown("a jaxpr", site=inner.site)

        return Builtin("jax.make_jaxpr(...)", run)

    @r.function("jax.typeof jax.core.get_aval", "x")
    def typeof(m: Any, call: Call, x: Value) -> Value:
        a = as_array(m, x)
        return ShapeDtype(a.shape, a.dtype)


def as_structs(m: Any, v: Value) -> Value:
    """Arrays as their types."""

    def struct(x: Value) -> Value:
        a = as_array(m, x)
        return ShapeDtype(a.shape, a.dtype)

    try:
        return m.lift(lambda tree: map_tree(m, struct, tree), v)
    except NotATree:
        return m.unknown("the types of a result of unknown structure", v)


def _harmless(r: Registry) -> None:
    @r.raw("jax.block_until_ready jax.lax.stop_gradient jax.lax.optimization_barrier")
    def same(m: Any, call: Call) -> Value:
        return call.args[0] if call.args else m.unknown("a call without arguments", site=call.site)

    @r.raw("jax.debug.print jax.debug.callback jax.config.update jax.clear_caches jax.debug.breakpoint")
    def nothing(m: Any, call: Call) -> Value:
        return None

    @r.raw(
        "jax.named_scope jax.default_matmul_precision jax.disable_jit jax.ensure_compile_time_eval "
        "jax.profiler.annotate_function"
    )
    def scope(m: Any, call: Call) -> Value:
        return Builtin("a scope", identity)

    @r.raw("jax.named_call")
    def named_call(m: Any, call: Call) -> Value:
        return call.args[0] if call.args else Builtin("jax.named_call(...)", identity)
