"""Kernels: `plgpu.kernel`, its call, `pl.run_scoped`, `pl.core_map`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..domain.array import Array
from ..domain.memory import Allocation
from ..domain.python import (
    Builtin,
    Call,
    Choice,
    DictCell,
    Entries,
    External,
    ListCell,
    Made,
    Opaque,
    Partial,
    Unknown,
    Value,
)
from ..domain.ref import CompilerParams, Kernel, Launch, RefType
from . import allocations
from .convert import INT32
from .plgpu_signatures import OLDER, SIGNATURES
from .recording import bind, record, record_call, recorded, snapshot
from .registry import Arguments, Registry, Signature, by_case
from .scratch import as_ref, described, gmem_ref, operand_refs, parameter_names, positional_count, result_of

_KERNEL = Signature.parse(SIGNATURES["kernel"])
_OLD_KERNEL = Signature.parse(OLDER["kernel"])
_MESH_KERNEL = (
    "body=None, out_type=(), *, mesh, scratch_types=(), compiler_params=None, interpret=False, cost_estimate=None, "
    "debug=False, name=None, metadata=None"
)
_CORE_MAP = (
    "mesh, *, compiler_params=None, interpret=False, debug=False, cost_estimate=None, name=None, metadata=None, "
    "scratch_shapes=()"
)
_RUN_SCOPED = "f, *types, collective_axes=(), **kw_types"
#: Keywords of plgpu.kernel up to 0.11.1, by their present names.
OLD_KEYWORDS = {"out_shape": "out_type", "scratch_shapes": "scratch_types"}


#: A kernel that is called in more cases than this (flags that decide what its operands are) is run in the first ones.
MAX_CASES = 4


def register(r: Registry, module: str) -> None:
    """Registers launching."""
    r.raw(f"{module}.kernel")(_kernel)
    r.calls[Kernel] = call_kernel
    r.raw("pallas.launch_idle")(_launch_idle)
    pl = "jax.experimental.pallas"
    for name, signature, model in (
        ("run_scoped", _RUN_SCOPED, _run_scoped),
        ("with_scoped", "*types, collective_axes=(), **kw_types", _with_scoped),
        ("core_map", _CORE_MAP, _core_map),
        ("kernel", _MESH_KERNEL, _mesh_kernel),
    ):
        r.names[f"{pl}.{name}"] = recorded(f"{pl}.{name}", f"pl.{name}", signature, model)
    r.names[f"{module}.warp_map"] = recorded(f"{module}.warp_map", "warp_map", SIGNATURES["warp_map"], _warp_map)


# -- plgpu.kernel ----------------------------------------------------------------------------------


def _kernel(m: Any, call: Call) -> Value:
    arguments = bind(_KERNEL, _OLD_KERNEL, call)

    def one(values: dict[str, Value]) -> Value:
        mine = replace(arguments, values=values)
        if values["body"] is None:
            rest = {k: v for k, v in call.kwargs.items() if k != "body"}
            return Partial(Builtin("plgpu.kernel", _kernel), (), rest, (), dict(call.kwarg_sites))
        return _make_kernel(m, call, mine)

    return by_case(m, arguments.values, one, lists=True)


def _make_kernel(m: Any, call: Call, a: Arguments) -> Value:
    v = dict(a.values)
    given = v["mesh_kwargs"] if isinstance(v["mesh_kwargs"], dict) else {}
    a = replace(a, sites={**a.sites, **{k: call.kwarg_sites[k] for k in given if k in call.kwarg_sites}})
    for old, new in OLD_KEYWORDS.items():
        if old in given or old in a.given:
            v[new] = given.get(old, v.get(old))
    v["out_type"] = described(m, v["out_type"])
    launch = Launch(
        _sequence(m, v["grid"]),
        _sequence(m, v["grid_names"]),
        _sequence(m, v["cluster"]),
        _sequence(m, v["cluster_names"]),
        v["num_threads"],
        v["thread_name"],
        semantics(m, v["compiler_params"]),
        False,
        Made(call.site, a.sites),
    )
    made = Made(call.site, a.sites)
    kernel = Kernel(
        v["body"], snapshot(v["out_type"]), snapshot(v["scratch_types"]), launch, made, m.chain, v["compiler_params"]
    )
    m.kernels.append(kernel)
    record_call(m, "kernel", call, replace(a, values=v), kernel)
    return kernel


def _sequence(m: Any, v: Value) -> Any:
    items = m.program.items.iterate(m, v)
    return tuple(items) if items is not None else m.unknown("a mesh that is not known", v)


def semantics(m: Any, params: Value) -> str | Unknown | None:
    """The lowering semantics that `CompilerParams` asks for."""
    if params is None:
        return None
    if not isinstance(params, CompilerParams):
        return Unknown("compiler parameters that are not known")
    given = params.params.get("lowering_semantics")
    if given is None:
        return None
    if isinstance(given, External) and given.name.rsplit(".", 1)[-1] in ("Lane", "Warpgroup"):
        return given.name.rsplit(".", 1)[-1].lower()
    return Unknown("lowering semantics that are not known")


def call_kernel(m: Any, f: Kernel, call: Call) -> Value:
    """`kernel(*operands)`: its body runs once over references to them."""
    m.launched.add(id(f))
    outer = m.chain
    m.chain = f.chain or outer  # what is wrong with a kernel is the fault of who configured it
    try:
        return _called(m, f, call)
    finally:
        m.chain = outer


def _called(m: Any, f: Kernel, call: Call) -> Value:
    if call.open:
        return _idle(m, f)
    names = parameter_names(f.body, len(call.args))
    operands = tuple(operand_refs(m, v, n) for v, n in zip(call.args, names, strict=True))
    result = result_of(m, f.out_type)
    record(m, "kernel()", call.site, {"kernel": f, **dict(zip(names, call.args, strict=True))}, result)
    given = {"kernel": f, "operands": call.args}
    record(m, "kernel.body", f.made.site, given, None, f.made.args)
    if m.count_case((f.made.site, call.site, m.chain, m.row)) <= MAX_CASES:
        values = (f.body, operands, f.out_type, f.scratch, f.launch)
        m.program.ways.launch(m, f.made.site.path, values, lambda: _launch(m, f, operands))
    return result


def _launch_idle(m: Any, call: Call) -> Value:
    """A kernel that nobody calls: what its parameters tell of its operands is their number."""
    f = call.args[0]
    m.launched.add(id(f))
    _idle(m, f)
    return None


def _idle(m: Any, f: Kernel) -> Value:
    """The result of a kernel whose operands are not known; its body runs with as much as its parameters tell."""
    total = positional_count(f.body)
    outs = _out_count(m, f.out_type)
    scratch = m.program.items.iterate(m, f.scratch) if not _is_dict(f.scratch) else []
    if total is None or outs is None or scratch is None or total < outs + len(scratch):
        return _with_unknown_operands(m, f, total)
    names = parameter_names(f.body, total - outs - len(scratch))
    unknown = Unknown("an operand of a kernel that is not called here")
    _launch(m, f, tuple(gmem_ref(unknown, unknown, n) for n in names))
    return result_of(m, f.out_type)


def _with_unknown_operands(m: Any, f: Kernel, total: int | None) -> Value:
    if total is not None:
        unknown = m.unknown("a reference whose place among the parameters is not known")
        _run_body(m, f, (unknown,) * total, {})
    else:
        _with_scratch(m, f, lambda args, kwargs, more: _run_open(m, f, kwargs, more), 0)
    return result_of(m, f.out_type)


def _run_open(m: Any, f: Kernel, scratch: dict[str, Value], more: Entries | None) -> Value:
    """Runs a body of which only the scratch buffers that it takes by keyword are known."""
    code = getattr(f.body, "code", None)
    keywords = [p.name for p in code.parameters if p.kind == "keyword"] if code is not None else []
    more = Entries("scratch buffers by name") if more is None else more
    defaults = {n: f.body.defaults[n] for n in keywords if n in f.body.defaults and n not in more.perhaps}
    m.launches.append(f.launch)
    outer, m.operations = m.operations, []
    try:
        return m.program.calls.apply(m, f.body, Call(f.made.site, (), {**defaults, **scratch}, open=True, more=more))
    finally:
        m.launches.pop()
        m.operations = outer


def _is_dict(v: Value) -> bool:
    return isinstance(v, DictCell)


def _out_count(m: Any, out: Value) -> int | None:
    if isinstance(out, (tuple, ListCell)):
        items = m.program.items.iterate(m, out)
        return None if items is None else len(items)
    return None if isinstance(out, (Unknown, Opaque)) else 1


def _launch(m: Any, f: Kernel, operands: tuple[Value, ...]) -> None:
    outs = f.out_type
    items = m.program.items.iterate(m, outs) if isinstance(outs, (tuple, ListCell)) else [outs]
    if items is None:
        return
    names = parameter_names(f.body, len(operands) + len(items))
    out_refs = tuple(as_ref(m, t, n) for t, n in zip(items, names[len(operands) :], strict=True))
    m.launches.append(f.launch)
    try:
        _with_scratch(
            m,
            f,
            lambda args, kwargs, more: _called_body(m, f, (*operands, *out_refs, *args), kwargs, more),
            len(names),
        )
    finally:
        m.launches.pop()


def _with_scratch(m: Any, kernel: Kernel, run: Any, before: int) -> Value:
    """Runs a body with references to its scratch buffers, once for each case of what the scratch is."""
    scratch = kernel.scratch
    content = scratch.slots["items"] if isinstance(scratch, (ListCell, DictCell)) else scratch

    def one(rows: Value) -> Value:
        record(m, "launch", kernel.made.site, {"scratch": rows}, None, kernel.made.args)
        if isinstance(rows, dict):
            types = {str(k): t for k, (_, t) in rows.items()}
            with _memory(m, kernel, allocations.by_name(types)):
                return run((), {k: as_ref(m, t, k) for k, t in types.items()}, None)
        if isinstance(rows, Entries):
            return _with_entries(m, kernel, rows, run)
        if type(rows) is tuple:
            names = parameter_names(kernel.body, before + len(rows))[before:]
            with _memory(m, kernel, allocations.by_place(names, rows)):
                return run(tuple(as_ref(m, t, n) for t, n in zip(rows, names, strict=True)), {}, None)
        if isinstance(rows, RefType):  # JAX passes over a type that stands in no list
            return run((), {}, None)
        return m.unknown("scratch types that are not known", rows)

    return m.lift(one, content) if isinstance(content, Choice) else one(content)


def _with_entries(m: Any, kernel: Kernel, rows: Entries, run: Any) -> Value:
    """Runs a body with references to scratch buffers of which some may not be there."""
    types = {str(k): t for k, (_, t) in rows.known.items()}
    refs = {k: as_ref(m, t, k) for k, t in types.items()}
    perhaps = {k: (c, key, as_ref(m, t, str(k))) for k, (c, key, t) in rows.perhaps.items()}
    numbered = {pieces: as_ref(m, t, "...".join(pieces)) for pieces, t in rows.numbered.items()}
    names = (*map(str, perhaps), *("...".join(pieces) for pieces in numbered))
    unknown = {name: Unknown("a buffer that may not be there, or several") for name in names}
    with _memory(m, kernel, allocations.by_name({**types, **unknown})):
        return run((), refs, replace(rows, known={}, perhaps=perhaps, numbered=numbered))


@contextmanager
def _memory(m: Any, kernel: Kernel, entries: tuple[Allocation, ...]) -> Iterator[None]:
    """Keeps what the kernel allocates while its body runs, and records it all at the end."""
    with allocations.scope(m, "kernel", kernel.made.site, entries, kernel.made) as scope:
        yield
    record(m, "kernel.memory", kernel.made.site, {"kernel": kernel, "scope": scope}, None, kernel.made.args)


def _called_body(
    m: Any,
    f: Kernel,
    args: tuple[Value, ...] | None,
    kwargs: dict[str, Value],
    more: Entries | None = None,
) -> Value:
    call = Call(f.made.site, args or (), kwargs, open=args is None, more=more)
    return m.program.calls.apply(m, f.body, call)


def _run_body(m: Any, f: Kernel, args: tuple[Value, ...] | None, kwargs: dict[str, Value]) -> Value:
    """Runs a body; args: None where their number is not known."""
    m.launches.append(f.launch)
    outer, m.operations = m.operations, []
    try:
        return _called_body(m, f, args, kwargs)
    finally:
        m.launches.pop()
        m.operations = outer


# -- pl.kernel: a body over a mesh -----------------------------------------------------------------


def _mesh_kernel(m: Any, call: Call, a: Arguments) -> Value:
    """`pl.kernel(body, out_type, mesh=plgpu.Mesh(...))`."""
    v = a.values
    if v["body"] is None:
        rest = {k: x for k, x in call.kwargs.items() if k != "body"}
        function = m.program.library.registry.names["jax.experimental.pallas.kernel"]
        return Partial(function, (), rest, (), dict(call.kwarg_sites))
    made = Made(call.site, a.sites)
    launch = replace(_mesh_launch(m, v["mesh"]), semantics=semantics(m, v["compiler_params"]), made=made)
    kernel = Kernel(
        v["body"], snapshot(v["out_type"]), snapshot(v["scratch_types"]), launch, made, m.chain, v["compiler_params"]
    )
    m.kernels.append(kernel)
    return kernel


def _mesh_launch(m: Any, mesh: Value) -> Launch:
    params = getattr(mesh, "params", None)
    if getattr(mesh, "kind", "") != "Mesh" or params is None:
        unknown = m.unknown("a mesh that is not known", mesh)
        return Launch(unknown, unknown, unknown, unknown, unknown, unknown)
    grid, names, cluster, cluster_names = (
        _sequence(m, params[k]) for k in ("grid", "grid_names", "cluster", "cluster_names")
    )
    return Launch(grid, names, cluster, cluster_names, params["num_threads"], params["thread_name"])


# -- run_scoped, core_map --------------------------------------------------------------------------


def _run_scoped(m: Any, call: Call, a: Arguments) -> Value:
    f, types, named = a.values["f"], a.values["types"], a.values["kw_types"]
    entries = allocations.of_call(f, types, named)
    if type(types) is tuple:
        refs = tuple(as_ref(m, e.type, e.name) for e in entries[: len(types)])
    else:
        refs = (m.unknown("a buffer of a type that is not known", types),) * (positional_count(f) or 0)
    kw_refs = {k: as_ref(m, t, k) for k, t in named.items()} if isinstance(named, dict) else {}
    with allocations.scope(m, "pl.run_scoped", call.site, entries, Made(call.site, a.sites)):
        return m.program.calls.call(m, f, refs, call.site, kw_refs)


def _with_scoped(m: Any, call: Call, a: Arguments) -> Value:
    """`@pl.with_scoped(*types)`: the function runs with the buffers after its own arguments."""
    types, named = a.values["types"], a.values["kw_types"]

    def decorate(_: Any, at: Call) -> Value:
        def run(inner: Any, use: Call) -> Value:
            buffers = types if type(types) is tuple else ()
            refs = tuple(as_ref(inner, t, f"ref{i}") for i, t in enumerate(buffers))
            kw_refs = {k: as_ref(inner, t, k) for k, t in named.items()} if isinstance(named, dict) else {}
            kwargs = {**use.kwargs, **kw_refs}
            entries = allocations.of_call(None, types, named)
            with allocations.scope(inner, "pl.run_scoped", use.site, entries, Made(call.site, a.sites)):
                return inner.program.calls.call(inner, at.args[0], (*use.args, *refs), use.site, kwargs)

        return Builtin("with_scoped", run)

    return Builtin("pl.with_scoped", decorate)


def _core_map(m: Any, call: Call, a: Arguments) -> Value:
    kind = getattr(a.values["mesh"], "kind", "")

    def run(inner: Any, at: Call) -> Value:
        if kind == "WarpMesh":
            return _in_warp(inner, at, at.args[0], ())
        return inner.program.calls.call(inner, at.args[0], (), at.site)

    return Builtin("core_map", run)


def _warp_map(m: Any, call: Call, a: Arguments) -> Value:
    """The body gets the warp's index (mosaic_gpu/helpers.py, warp_map)."""
    return _in_warp(m, call, a.values["f"], (Array((), INT32),))


def _in_warp(m: Any, call: Call, f: Value, args: tuple[Value, ...]) -> Value:
    launch = m.launch if m.launch is not None else Launch()
    m.launches.append(replace(launch, warp=True))
    try:
        return m.program.calls.call(m, f, args, call.site)
    finally:
        m.launches.pop()
