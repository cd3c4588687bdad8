"""What JAX sees where a literate kernel makes its calls, recorded while the installed JAX traces and lowers it."""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
from jax.core import ShapedArray
from jax.experimental import pallas as pl
from jax.experimental.mosaic.gpu import core as mosaic_core
from jax.experimental.mosaic.gpu import utils as mosaic_utils
from jax.experimental.pallas import mosaic_gpu as plgpu

from .literate import Snippet

FILE = "<kernel>"
_SPACES = ("gmem", "smem", "tmem", "regs")


@dataclass(frozen=True, slots=True)
class Memory:
    """An array, a reference or the type of a buffer, as JAX has it; barriers have no bits."""

    shape: tuple[int, ...]
    dtype: str
    bits: int | None = None
    space: str | None = None
    tiling: tuple[int, ...] | None = None
    swizzle: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """One operand of one call (or a variable, where `api` is "probe"), and the names of the frames around it."""

    line: int
    api: str
    operand: str
    value: Any
    names: Mapping[str, Any] = field(repr=False)


def trace(snippet: Snippet, call: str) -> list[Seen]:
    """What is seen while `call` is traced and lowered for CUDA."""
    out: list[Seen] = []
    modules = _Modules(snippet.helpers, out)
    main = modules.run("generated", snippet.text, FILE)
    try:
        with _architecture(snippet.target), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            jax.clear_caches()  # what has been traced before is not traced again
            jax.jit(lambda: eval(call, main.__dict__)).trace().lower(lowering_platforms=("cuda",))
    finally:
        modules.forget()
    return out


@contextlib.contextmanager
def _architecture(arch: tuple[int, int]) -> Iterator[None]:
    modules = [m for m in (mosaic_utils, mosaic_core) if hasattr(m, "_infer_arch")]
    before = [m._infer_arch for m in modules]
    for m in modules:
        m._infer_arch = lambda: arch
    try:
        yield
    finally:
        for m, original in zip(modules, before, strict=True):
            m._infer_arch = original


class _Modules:
    """Modules in memory, that see recording twins of `pl` and `plgpu`."""

    def __init__(self, helpers: Mapping[str, str], out: list[Seen]) -> None:
        self.helpers, self.out = helpers, out
        self.twins = {"pallas": _twin(pl, "pl.", out), "mosaic_gpu": _twin(plgpu, "", out)}
        self.made: list[str] = []

    def run(self, name: str, text: str, file: str) -> types.ModuleType:
        """Runs a module."""
        module = types.ModuleType(name)
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
        sys.modules[name] = module  # dataclasses looks the module up
        self.made.append(name)
        exec(compile(text, file, "exec"), module.__dict__)
        return module

    def forget(self) -> None:
        """Takes the modules away."""
        for name in self.made:
            del sys.modules[name]

    def _import(self, name: str, *rest: Any) -> Any:
        names = rest[2] if len(rest) > 2 and rest[2] else ()
        if name == "kit":
            return types.SimpleNamespace(probe=self._probe)
        if name in ("jax.experimental", "jax.experimental.pallas") and names[0] in self.twins:
            return types.SimpleNamespace(**{names[0]: self.twins[names[0]]})
        if name in self.helpers:
            return sys.modules.get(name) or self.run(name, self.helpers[name], f"<{name}>")
        return __import__(name, *rest)

    def _probe(self, x: Any, name: str) -> Any:
        frame = sys._getframe(1)
        self.out.append(Seen(frame.f_lineno, "probe", name, memory(x), _names(frame)))
        return x


def _twin(module: Any, prefix: str, out: list[Seen]) -> types.SimpleNamespace:
    return types.SimpleNamespace(
        **{n: _recording(prefix + n, v, out) if _called(v) else v for n, v in vars(module).items() if n[0] != "_"}
    )


def _called(v: Any) -> bool:
    """Functions, and what constructs a type of memory."""
    return inspect.isfunction(v) or v in (
        *(plgpu.SMEM, plgpu.TMEM, plgpu.GMEM, plgpu.ACC, plgpu.Barrier, plgpu.ClusterBarrier, plgpu.RefUnion),
        plgpu.BlockSpec,
    )


class _Recording:
    """A function that records its operands and its result where the kernel's own text calls it."""

    def __init__(self, api: str, f: Any, out: list[Seen]) -> None:
        self.api, self.f, self.out = api, f, out
        functools.update_wrapper(self, f, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename != FILE:
            frame = frame.f_back  # a partial, or a decorator of JAX's
        line, names = frame.f_lineno, _names(frame)
        args, kwargs = bare(args), bare(kwargs)
        given = self._operands(args, kwargs)
        result = self.f(*args, **kwargs)
        rows = [x for name, v in (*given.items(), ("result", result)) for x in leaves(name, v)]
        self.out.extend(Seen(line, self.api, name, m, names) for name, m in rows)
        return result

    def _operands(self, args: Any, kwargs: Any) -> dict[str, Any]:
        try:
            return dict(inspect.signature(self.f).bind_partial(*args, **kwargs).arguments)
        except (TypeError, ValueError):
            return {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.f, name)

    def __eq__(self, other: object) -> bool:
        return self.f == bare(other)

    def __hash__(self) -> int:
        return hash(self.f)

    def __instancecheck__(self, v: object) -> bool:
        return isinstance(v, self.f)


def _recording(api: str, f: Callable[..., Any], out: list[Seen]) -> Any:
    return _Recording(api, f, out)


def bare(v: Any) -> Any:
    """A value with JAX's own functions in the place of recording ones."""
    if isinstance(v, _Recording):
        return v.f
    if type(v) in (tuple, list):
        return type(v)(bare(x) for x in v)
    return {k: bare(x) for k, x in v.items()} if type(v) is dict else v


def _names(frame: types.FrameType | None) -> dict[str, Any]:
    """What the names of the running frames of the kernel's text hold, inner frames first."""
    chain: list[dict[str, Any]] = []
    while frame is not None:
        if frame.f_code.co_filename == FILE:
            chain.append({**frame.f_globals, **frame.f_locals} if not chain else dict(frame.f_locals))
        frame = frame.f_back
    return {n: v for names in reversed(chain) for n, v in names.items()}


def leaves(name: str, v: Any) -> Iterator[tuple[str, Memory]]:
    """What has a shape in an operand, by path."""
    if isinstance(v, (tuple, list)):
        for i, x in enumerate(v):
            yield from leaves(f"{name}[{i}]", x)
    elif isinstance(v, dict):
        for key, x in v.items():
            yield from leaves(f"{name}[{key!r}]", x)
    elif isinstance(found := memory(v), Memory):
        yield name, found


def memory(v: Any) -> Any:
    """A value of JAX as `Memory`; other values as they are."""
    if isinstance(v, (plgpu.Barrier, plgpu.ClusterBarrier)):
        n = v.num_barriers
        return Memory(n if isinstance(n, tuple) else (n,), "barrier")
    if isinstance(v, pl.BlockSpec):
        shape = tuple(1 if x is None else x for x in v.block_shape or ())
        return Memory(shape, "?", None, None, *_view(getattr(v, "transforms", ())))
    if isinstance(v, (type, str, _Recording)) or not hasattr(v, "shape") or not hasattr(v, "dtype"):
        return v
    name = str(v.dtype) if "barrier" in str(v.dtype) or "semaphore" in str(v.dtype) else jax.numpy.dtype(v.dtype).name
    bits = jax.dtypes.itemsize_bits(v.dtype) if name not in ("barrier", "cluster_barrier", "semaphore") else None
    return Memory(tuple(v.shape), name, bits, _space(v), *_view(getattr(v, "transforms", ())))


def _space(v: Any) -> str | None:
    """Where a reference or a type of a buffer lies; None for values."""
    if isinstance(v, plgpu.ACC):
        return "regs"
    base = getattr(v, "ref", v)  # below the views
    holder = getattr(base, "aval", base)
    if isinstance(holder, ShapedArray):
        return None
    space = str(getattr(holder, "memory_space", None))
    return space if space in _SPACES else None


def _view(transforms: Any) -> tuple[tuple[int, ...] | None, int | None]:
    """The tiling and the swizzle among the transforms of a buffer or reference."""
    tilings = [t.tiling for t in transforms if hasattr(t, "tiling")]
    swizzles = [t.swizzle for t in transforms if hasattr(t, "swizzle")]
    return (tuple(tilings[0]) if tilings else None), (swizzles[0] if swizzles else None)
