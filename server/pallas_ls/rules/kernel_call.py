"""Rules about the call of `plgpu.kernel`: keywords by release, outputs, compiler parameters, what the body takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..domain.array import Array, ShapeDtype
from ..domain.finding import JaxError, Severity
from ..domain.python import Choice, DictCell, Int, ListCell, Opaque, Partial, Unknown, Value
from ..domain.ref import CompilerParams, Kernel, RefType
from ..domain.target import JaxVersion
from .mesh import CORE
from .rule import Answer, Note, Problem, Rule, Unsure
from .view import CallView

V0_11, V0_11_2, V0_12 = JaxVersion(0, 11), JaxVersion(0, 11, 2), JaxVersion(0, 12)

# -- keywords --------------------------------------------------------------------------------------

#: Old names of keywords, until 0.11.1.
RENAMED = {"out_shape": "out_type", "scratch_shapes": "scratch_types"}
#: Keywords of the mesh that `kernel` hands on.
MESH_KEYWORDS = ("kernel_name",)
#: Keywords that came later: the release that first has them, and the last measured one that does not.
_NEWER_KERNEL = {"debug": (V0_11_2, JaxVersion(0, 10, 2)), "cost_estimate": (V0_12, V0_11_2)}
_NEWER_PARAMS = {
    "profile_bounds_check": (V0_11_2, JaxVersion(0, 10, 2)),
    "skip_device_barrier": (V0_11_2, JaxVersion(0, 10, 2)),
    "is_multi_process": (V0_12, V0_11_2),
}


def renamed_keyword(v: CallView) -> Answer:
    """`out_shape=` or `scratch_shapes=`, which are `out_type` and `scratch_types` now."""
    name = next((n for n in (*_others(v), *v.fact.arg_sites) if n in RENAMED), None)
    if name is not None:
        text = f"{name} is called {RENAMED[name]} (since JAX 0.10; the old name is gone since 0.11.2)."
        return Problem(text, _unexpected("Mesh", name), v.site(name))
    if len(v.fact.excess) == 1 and v.fact.excess[0].startswith("positional"):
        text = "plgpu.kernel takes the body alone by position: give the output as out_type=."
        jax = "kernel() takes from 0 to 1 positional arguments but 2 were given"
        return Problem(text, JaxError("TypeError", jax))
    return None


def _others(v: CallView) -> dict[str, Value]:
    """Keywords that are none of `kernel`'s own: they go to the mesh."""
    found = v.value("mesh_kwargs")
    return found if isinstance(found, dict) else {}


def _unexpected(function: str, name: str) -> JaxError:
    return JaxError("TypeError", f"{function}.__init__() got an unexpected keyword argument '{name}'")


def unknown_keyword(v: CallView) -> Answer:
    """A keyword that no release of `plgpu.kernel` has, or that this one does not have yet."""
    for name in _others(v):
        if name not in RENAMED and name not in MESH_KEYWORDS:
            text = f"plgpu.kernel has no parameter {name!r}.{_close(name)}"
            return Problem(text, _unexpected("Mesh", name), v.site(name))
    return _too_new(v, _NEWER_KERNEL, "plgpu.kernel", "Mesh")


def _close(name: str) -> str:
    other = {"name": "kernel_name", "scratch": "scratch_types", "out": "out_type", "num_warps": "num_threads"}.get(name)
    return f" Is {other} meant?" if other else ""


def _too_new(v: CallView, newer: dict[str, tuple[JaxVersion, JaxVersion]], what: str, raises: str) -> Answer:
    for name, (first, without) in newer.items():
        if name in v.fact.arg_sites and v.version <= without:
            text = f"{what} has {name}= since JAX {first}; this is for {v.version}."
            return Problem(text, _unexpected(raises, name), v.site(name))
    return None


def unknown_parameter(v: CallView) -> Answer:
    """A keyword that `CompilerParams` does not have."""
    for name in v.fact.excess:
        if name.startswith("positional"):
            text = "plgpu.CompilerParams takes keywords only."
            return Problem(text, JaxError("TypeError", "CompilerParams.__init__() takes 1 positional argument but "))
        text = f"plgpu.CompilerParams has no parameter {name!r}.{_moved(name)}"
        return Problem(text, _unexpected("CompilerParams", name), v.site(name))
    return _too_new(v, _NEWER_PARAMS, "plgpu.CompilerParams", "CompilerParams")


def _moved(name: str) -> str:
    return " It belongs to plgpu.BlockSpec." if name == "delay_release" else ""


def profile_pair(v: CallView) -> Answer:
    """One of `profile_space` and `profile_dir` without the other."""
    space, folder = _truth(v.value("profile_space")), _truth(v.value("profile_dir"))
    if space is None or folder is None:
        return Unsure("profile_space or profile_dir is not known")
    if space == folder:
        return None
    given, missing = ("profile_space", "profile_dir") if space else ("profile_dir", "profile_space")
    what = "the folder for the traces" if space else "the number of events to make room for"
    jax = JaxError("ValueError", "Either both profile_space and profile_dir must be set, or neither.")
    return Problem(f"{given} is given without {missing}, {what}.", jax, v.site(given))


def _truth(v: Value) -> bool | None:
    if isinstance(v, Int):
        return bool(v.dim) if isinstance(v.dim, int) else None
    return bool(v) if isinstance(v, (str, bool)) or v is None else None


def dimension_semantics(v: CallView) -> Answer:
    """`CompilerParams(dimension_semantics=...)` for a kernel that has no pipeline of its own."""
    params = v.value("compiler_params")
    if not isinstance(params, CompilerParams) or isinstance(
        params.params.get("dimension_semantics"), (Unknown, Opaque)
    ):
        return Unsure("the compiler parameters are not known") if params is not None else None
    if params.params.get("dimension_semantics") is None:
        return None
    text = (
        "dimension_semantics belongs to pl.pallas_call's own pipeline; plgpu.kernel has none. Leave it away: every "
        "axis of grid is parallel, a sequential loop is plgpu.emit_pipeline or pl.loop in the body."
    )
    at = params.made.args.get("dimension_semantics") or v.site("compiler_params")
    jax = JaxError("NotImplementedError", "dimension_semantics= is not supported by the unpipelined lowering")
    return Problem(text, jax, at)


# -- outputs ---------------------------------------------------------------------------------------


def leaves(v: Value) -> Iterator[Value]:
    """The leaves of a pytree of types, as far as it is known."""
    if isinstance(v, (ListCell, DictCell)):
        yield from leaves(v.slots["items"])
    elif isinstance(v, dict):
        for item in v.values():
            yield from leaves(item[1] if type(item) is tuple and len(item) == 2 else item)
    elif type(v) is tuple:
        for x in v:
            yield from leaves(x)
    elif v is not None:
        yield v


def semaphore_output(v: CallView) -> Answer:
    """A semaphore as an output."""
    for t in leaves(v.value("out_type")):
        if isinstance(t, RefType) and t.kind == "semaphore":
            text = "A kernel cannot return a semaphore. Allocate it in scratch_types where only this kernel uses it"
            text += ", or with plgpu.alloc_semaphore before the kernels that share it." if v.version >= V0_12 else "."
            return Problem(text, _semaphore_error(v, t), v.site("out_type"))
    return None


def _semaphore_error(v: CallView, t: RefType) -> JaxError:
    if v.version >= V0_12:
        return JaxError("ValueError", "Kernels cannot return semaphores.")
    if t.made is None:
        return JaxError("ValueError", "Invalid out_shape type: <enum 'SemaphoreType'>")
    return JaxError("TypeError", "Cannot interpret 'semaphore' as a data type")


# -- the body's parameters -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Body:
    """A body's signature, with what `functools.partial` binds taken away."""

    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    keyword: tuple[str, ...]
    keyword_optional: tuple[str, ...]
    star: bool
    star_star: bool
    whole: bool = True  # nothing is bound: Python's counts are those of this signature

    @property
    def positional(self) -> tuple[str, ...]:
        return self.required + self.optional


def _body_of(f: Value) -> _Body | None:
    bound, named = 0, set[str]()
    while isinstance(f, Partial):
        bound += len(f.args)
        named |= set(f.kwargs)
        f = f.function
    code = getattr(f, "code", None)
    if code is None or getattr(f, "owner", None) is not None:
        return None
    parameters = list(code.parameters)
    positional = [p for p in parameters if p.kind in ("positional", "normal")][bound:]
    if any(p.name in named for p in positional[:-1]) and not _tail_only(positional, named):
        return None  # a keyword for a parameter in the middle: what follows can be given by keyword only
    free = [p for p in positional if p.name not in named]
    keywords = [p for p in parameters if p.kind == "keyword" and p.name not in named]
    name = code.name if getattr(f, "up", None) is None else f"…{code.name}"
    return _Body(
        name,
        tuple(p.name for p in free if not p.has_default),
        tuple(p.name for p in free if p.has_default),
        tuple(p.name for p in keywords if not p.has_default),
        tuple(p.name for p in keywords if p.has_default),
        any(p.kind == "*" for p in parameters),
        any(p.kind == "**" for p in parameters),
        not bound and len(free) == len(positional),
    )


def _tail_only(positional: list[Any], named: set[str]) -> bool:
    """Whether the parameters bound by keyword are the last ones."""
    first = next(i for i, p in enumerate(positional) if p.name in named)
    return all(p.name in named for p in positional[first:])


@dataclass(frozen=True, slots=True)
class _Given:
    """What a kernel gives its body: references by position, and scratch by name."""

    operands: int
    outputs: int
    scratch: int
    named: tuple[str, ...]
    dropped: RefType | None = None

    @property
    def positional(self) -> int:
        return self.operands + self.outputs + self.scratch

    def text(self) -> str:
        parts = [
            _number(self.operands, "operand"),
            _number(self.outputs, "output"),
            _number(self.scratch, "scratch reference"),
        ]
        named = [f"scratch {', '.join(self.named)} by name"] if self.named else []
        return ", ".join([p for p in parts if p] + named) or "nothing"


def _number(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n > 1 else ''}" if n else ""


def _given(v: CallView, kernel: Kernel) -> _Given | None:
    operands = v.value("operands")
    outputs = _output_count(kernel.out_type)
    scratch = _scratch(kernel.scratch)
    if type(operands) is not tuple or outputs is None or scratch is None:
        return None
    count, named, dropped = scratch
    return _Given(len(operands), outputs, count, named, dropped)


def _output_count(out: Value) -> int | None:
    """`plgpu.kernel` gives a reference for each element of a tuple or list, one for anything else."""
    items = out.slots["items"] if isinstance(out, ListCell) else out
    if type(items) is tuple:
        return len(items)
    return 1 if isinstance(out, (Array, ShapeDtype, RefType, DictCell)) else None


def _scratch(scratch: Value) -> tuple[int, tuple[str, ...], RefType | None] | None:
    """References by position, by name, and a type that stands alone and is passed over."""
    if isinstance(scratch, RefType):
        return 0, (), scratch
    items = scratch.slots["items"] if isinstance(scratch, (ListCell, DictCell)) else scratch
    if type(items) is tuple:
        return len(items), (), None
    if isinstance(items, dict) and all(isinstance(k, str) for k in items):
        return 0, tuple(items), None
    return None


def body_parameters(v: CallView) -> Answer:
    """A body that does not take what the kernel gives it."""
    kernel = v.value("kernel")
    if not isinstance(kernel, Kernel) or isinstance(kernel.body, Choice):
        return Unsure("the kernel is not known")
    body, given = _body_of(kernel.body), _given(v, kernel)
    if body is None or given is None:
        return Unsure("the body's parameters, or what it is given, are not known")
    said = _refused(body, given)
    if said is None:
        return None
    if given.dropped is not None:
        return _bare(v, given, said)
    takes = ", ".join([*body.positional, *(f"{k}=" for k in (*body.keyword, *body.keyword_optional))]) or "nothing"
    text = f"The kernel gives its body {given.text()}; {body.name.lstrip('…')} takes {takes}."
    return Problem(text, JaxError("TypeError", said), v.site("body"), _body_notes(v, kernel))


def _bare(v: CallView, given: _Given, said: str) -> Problem:
    text = (
        "scratch_types is one type, not a list or dict of types: JAX passes over it, and the body gets no reference. "
        "Write scratch_types=[...]."
    )
    return Problem(text, JaxError("TypeError", said), v.site("scratch_types") or v.site("scratch_shapes"))


def _body_notes(v: CallView, kernel: Kernel) -> tuple[Note, ...]:
    found = [(v.site(n), f"what {n} adds") for n in ("out_type", "scratch_types", "out_shape", "scratch_shapes")]
    return tuple(Note(site, text) for site, text in found if site is not None)


def _refused(b: _Body, g: _Given) -> str | None:
    """Python's own words, where a call with these references fails."""
    most = len(b.positional)
    takes_by_name = (*b.positional[g.positional :], *b.keyword, *b.keyword_optional)
    unknown = [n for n in g.named if n not in takes_by_name]
    if unknown and not b.star_star:
        if unknown[0] in b.positional:
            return f"{b.name}() got multiple values for argument '{unknown[0]}'"
        return f"{b.name}() got an unexpected keyword argument '{unknown[0]}'"
    if g.positional > most and not b.star:
        least = len(b.required)
        count = f"{most}" if least == most else f"from {least} to {most}"
        extra = " positional argument" + ("s" if most != 1 or least != most else "")
        if not b.whole:
            return f"{b.name}() takes …"
        if b.keyword and any(n in b.keyword for n in g.named):
            return f"{b.name}() takes {count}{extra} but …"
        return f"{b.name}() takes {count}{extra} but {g.positional} {'was' if g.positional == 1 else 'were'} given"
    missing = [n for n in b.required[g.positional :] if n not in g.named]
    if missing:
        return _missing(b.name, missing, "positional")
    absent = [n for n in b.keyword if n not in g.named]
    return _missing(b.name, absent, "keyword-only") if absent else None


def _missing(name: str, names: list[str], kind: str) -> str:
    quoted = [f"'{n}'" for n in names]
    listed = quoted[0]
    if len(quoted) == 2:
        listed = " and ".join(quoted)
    elif len(quoted) > 2:
        listed = f"{', '.join(quoted[:-1])}, and {quoted[-1]}"
    return f"{name}() missing {len(names)} required {kind} argument{'s' if len(names) > 1 else ''}: {listed}"


def bare_scratch(v: CallView) -> Answer:
    """A type that stands alone as scratch_types and that no parameter misses: it is never allocated."""
    kernel = v.value("kernel")
    if not isinstance(kernel, Kernel) or not isinstance(kernel.scratch, RefType):
        return None
    text = (
        "scratch_types is one type, not a list or dict of types: JAX passes over it without a word, and nothing is "
        "allocated. Write scratch_types=[...] and give the body a parameter for it, or leave it away."
    )
    return Problem(text, None, v.site("scratch_types") or v.site("scratch_shapes"))


_LOWERING = "jax/_src/pallas/mosaic_gpu/lowering.py, lower_unpipelined_jaxpr_to_module"

RULES = (
    Rule(
        "renamed-keyword",
        "plgpu.kernel takes out_type= and scratch_types=.",
        ("kernel",),
        4,
        renamed_keyword,
        f"{CORE}, kernel (its signature)",
        "`out_shape` and `scratch_shapes` became `out_type` and `scratch_types`. JAX 0.10 knows both names; since "
        "0.11.2 the old ones are unexpected keywords of the kernel's mesh, and the body alone is given by position.",
        since=V0_11_2,
    ),
    Rule(
        "kernel-keyword",
        "Keywords of plgpu.kernel are those of the release.",
        ("kernel",),
        5,
        unknown_keyword,
        f"{CORE}, kernel and Mesh (their signatures)",
        "What `plgpu.kernel` does not know it hands on to `plgpu.Mesh`, which refuses it: the message speaks of "
        "`Mesh.__init__()`.",
    ),
    Rule(
        "semaphore-output",
        "A kernel does not return semaphores.",
        ("kernel",),
        60,
        semaphore_output,
        f"{CORE}, _check_no_semaphore_outputs",
        "Semaphores live in memory that JAX manages. One that a single kernel uses is scratch; one that kernels share "
        "is made by `plgpu.alloc_semaphore` and passed as an operand.",
    ),
    Rule(
        "dimension-semantics",
        "A kernel has no dimension_semantics.",
        ("kernel",),
        70,
        dimension_semantics,
        _LOWERING,
        "`dimension_semantics` tells `pl.pallas_call` which grid axes are sequential. A `plgpu.kernel` is launched over"
        " its whole grid in parallel; what is sequential is a loop in its body.",
        since=V0_11,
    ),
    Rule(
        "compiler-params-keyword",
        "Keywords of plgpu.CompilerParams are those of the release.",
        ("CompilerParams",),
        5,
        unknown_parameter,
        f"{CORE}, CompilerParams (its signature)",
        "`plgpu.CompilerParams` is a dataclass whose fields grew from release to release.",
    ),
    Rule(
        "profile-pair",
        "profile_space and profile_dir are given together.",
        ("CompilerParams",),
        10,
        profile_pair,
        f"{CORE}, CompilerParams.__post_init__",
        "The profiler needs room for its events (`profile_space`, in events) and a folder for the traces.",
    ),
    Rule(
        "body-parameters",
        "The body takes what the kernel gives it.",
        ("kernel.body",),
        10,
        body_parameters,
        "jax/_src/pallas/primitives.py, run_scoped",
        "A kernel calls its body with a reference for each operand, then one for each output, then the scratch: by "
        "position where `scratch_types` is a list or tuple, by name where it is a dict. A single type that stands in "
        "no list is passed over.",
    ),
    Rule(
        "scratch-list",
        "scratch_types is a list, a tuple or a dict of types.",
        ("kernel.body",),
        800,
        bare_scratch,
        "none: JAX passes over a single type",
        "`scratch_types=plgpu.SMEM(...)` allocates nothing: JAX looks for a sequence or a mapping, finds neither, and "
        "says nothing.",
        severity=Severity.WARNING,
    ),
)
