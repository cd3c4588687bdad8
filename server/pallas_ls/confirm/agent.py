"""The agent: one file that any Python 3.10 or newer with JAX runs from its standard input.

    python3 - < this file and, as its last line, run("<request, JSON in base64>")

It imports the user's kernels in a worker process of its own, lets JAX trace and lower (or compile, or interpret)
them, and answers with one JSON object a line, each behind the request's marker. A worker that crashes, hangs or prints
costs only the call at fault: the supervisor says so and a new worker goes on with the rest. `protocol.py` documents
requests and events.

Only the standard library and JAX; nothing here may import the package around it, and the text stays ASCII.
"""

# ruff: noqa: E402
from __future__ import annotations

import sys

# Started as `python3 -`, the current folder comes first on the path: a `json.py` or `jax.py` there must not be taken.
sys.path[:] = [entry for entry in sys.path if entry]

import base64
import contextlib
import ctypes
import faulthandler
import functools
import glob
import importlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import platform
import re
import select
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any, NamedTuple

Request = dict[str, Any]
Frame = dict[str, Any]  # file, line, function

MAX_MESSAGE = 20_000  # characters of an exception's text; some of JAX's quote a whole module
MAX_FRAMES = 50
STDERR_TAIL = 4_000  # bytes of the worker's last words kept for the message of a crash
STACK_FILE = "stack.txt"  # in the worker's folder: where faulthandler writes the Python stack of a crash or hang
SOURCES = "sources"  # in the worker's folder: the files of the request


# ---- events


class Wire:
    """Writes events to a file descriptor, a line each: `<marker> <JSON>`."""

    def __init__(self, fd: int, marker: str) -> None:
        self.fd = fd
        self.marker = marker

    def send(self, event: str, **fields: Any) -> None:
        # The newline in front ends whatever half line another writer left; the host skips the empty line.
        self.write(f"\n{self.marker} {json.dumps({'event': event, **fields})}\n")

    def write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(self.fd, data) :]


def take_stdout() -> int:
    """A private copy of standard output; from here on, what anybody prints there (C++ too) goes to standard error."""
    sys.stdout.flush()
    fd = os.dup(1)
    os.dup2(2, 1)
    return fd


# ---- the user's files


class UserFiles:
    """The request's files on disk and the folders of the user's own; knows which traceback frames are the user's."""

    def __init__(self, folder: str, request: Request) -> None:
        self.folder = os.path.realpath(folder)
        self.files = request["files"]
        self.roots = [os.path.realpath(root) for root in request.get("roots") or ()]
        self.installed: tuple[str, ...] = ()  # folders of JAX and the standard library, once JAX is imported
        self.names: dict[str, str | None] = {}  # what `name` answered: it is asked at every constructor
        self.constructions = Constructions(self)

    def write(self) -> None:
        for name, text in self.files.items():
            path = os.path.join(self.folder, *name.split("/"))
            if os.path.isabs(name) or ".." in name.split("/"):
                raise ValueError(f"not a relative path: {name!r}")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as out:
                out.write(text)

    def name(self, filename: str) -> str | None:
        """A traceback's file as the request names it, or absolute under a root; None where it is not the user's."""
        if filename not in self.names:
            no_file = filename.startswith("<")  # this program itself comes from "<stdin>"
            self.names[filename] = None if no_file else self.look_up(os.path.realpath(filename))
        return self.names[filename]

    def is_library(self, filename: str) -> bool:
        path = os.path.realpath(filename)
        return any(path.startswith(folder + os.sep) for folder in self.installed)

    def look_up(self, path: str) -> str | None:
        if path.startswith(self.folder + os.sep):
            return os.path.relpath(path, self.folder).replace(os.sep, "/")
        if "site-packages" in path or "dist-packages" in path or self.is_library(path):
            return None
        return path if any(path.startswith(root + os.sep) for root in self.roots) else None


class SentModules:
    """Imports the request's files; a package's other modules still come from the same package under the roots."""

    def __init__(self, user: UserFiles) -> None:
        self.user = user

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        del path, target
        parts = fullname.split(".")
        for name, is_package in (("/".join([*parts, "__init__.py"]), True), ("/".join(parts) + ".py", False)):
            if name in self.user.files:
                where = os.path.join(self.user.folder, *name.split("/"))
                folders = [os.path.join(root, *parts) for root in (self.user.folder, *self.user.roots)]
                existing = [folder for folder in folders if os.path.isdir(folder)]
                return importlib.util.spec_from_file_location(
                    fullname, where, submodule_search_locations=existing if is_package else None
                )
        return None


def import_target(user: UserFiles, target: str) -> ModuleType:
    """The target file as a module under its dotted name, whatever else has that name; never as `__main__`."""
    parts = target[: -len(".py")].split("/")
    if parts[-1] == "__init__" and len(parts) > 1:
        return importlib.import_module(".".join(parts[:-1]))
    name = ".".join(parts)
    parent = ".".join(parts[:-1])
    if parent:
        importlib.import_module(parent)
    spec = importlib.util.spec_from_file_location(name, os.path.join(user.folder, *target.split("/")))
    if spec is None or spec.loader is None:
        raise ImportError(f"not a Python file: {target}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# ---- errors


def chain(error: BaseException | None) -> list[BaseException]:
    """The exception, then what it came from, outermost first."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return seen


def user_frames(user: UserFiles, trace: TracebackType | None) -> list[Frame]:
    frames: list[Frame] = []
    for frame in traceback.StackSummary.extract(traceback.walk_tb(trace), lookup_lines=False):
        name = user.name(frame.filename)
        if name is not None:
            frames.append({"file": name, "line": frame.lineno, "function": frame.name})
    return frames[-MAX_FRAMES:]


def blamed_frames(user: UserFiles, error: BaseException) -> list[Frame]:
    """The user's frames, innermost last: the innermost is the place to blame.

    JAX lowers long after the user's body ran. The stack of the primitive then comes as a cause that JAX adds, and says
    more than where `lower()` was called; that of an operation of Mosaic's dialect, only as the operation's location.
    """
    links = chain(error)
    stacks = [link for link in links if type(link).__name__ == "JaxStackTraceBeforeTransformation"]
    traces = [link.__traceback__ for link in (*stacks, *links)]
    frames = next(filter(None, (user_frames(user, trace) for trace in traces)), [])
    if isinstance(error, SyntaxError) and error.filename and user.name(error.filename):
        return [*frames, {"file": user.name(error.filename), "line": error.lineno or 1, "function": "<module>"}]
    inner = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][::-1]
    made = user.constructions
    cause = operation_frame(user, inner) or made.scratch_frame(inner)
    if cause is None and not any(made.in_a_body(frame) for frame in frames):
        cause = made.kernel_frame(inner)
    return [*frames, cause] if cause else frames


def operation_frame(user: UserFiles, inner: Sequence[FrameType]) -> Frame | None:
    """The user's line of the innermost operation that was being lowered, by its MLIR location."""
    for frame in inner:
        location = getattr(frame.f_locals.get("op"), "location", None)
        for filename, line in re.findall(r'"([^"]+)":(\d+):\d+', str(location or "")):
            name = user.name(filename)
            if name:
                return {"file": name, "line": int(line), "function": ""}
    return None


class Kernel(NamedTuple):
    """A kernel's body (name, file as the request names it, its lines) and where `plgpu.kernel` was called on it."""

    name: str
    file: str
    lines: range
    made_at: Frame


class Constructions:
    """Remembers where the user made scratch types and kernels: JAX checks them later, from no line of the user's."""

    def __init__(self, user: UserFiles) -> None:
        self.user = user
        self.scratch: dict[int, tuple[Any, Frame]] = {}  # by id; the object is kept so that its id stays its own
        self.kernels: list[Kernel] = []

    def listen(self, jax: Any, plgpu: Any) -> None:
        kinds = {type(plgpu.SMEM((8,), jax.numpy.float32)), plgpu.Barrier, plgpu.ClusterBarrier, plgpu.ACC}
        for kind in kinds:
            self.listen_to_scratch(kind)
        original = plgpu.kernel

        @functools.wraps(original)
        def kernel(*args: Any, **kwargs: Any) -> Any:
            self.add_kernel(args[0] if args else kwargs.get("body"))
            return original(*args, **kwargs)

        plgpu.kernel = kernel

    def listen_to_scratch(self, kind: Any) -> None:
        original = kind.__init__

        @functools.wraps(original)
        def init(made: Any, *args: Any, **kwargs: Any) -> None:
            original(made, *args, **kwargs)
            made_at = self.caller()
            if made_at:
                self.scratch[id(made)] = (made, made_at)

        kind.__init__ = init

    def add_kernel(self, body: Any) -> None:
        code, made_at = body_code(body), self.caller()
        name = self.user.name(code.co_filename) if code else None
        if code and name and made_at:
            lines = range(code.co_firstlineno, 1 + max(line or 0 for _, _, line in code.co_lines()))
            self.kernels.append(Kernel(code.co_name, name, lines, made_at))

    def caller(self) -> Frame | None:
        """The innermost frame of the user's that is running."""
        frame = sys._getframe(2)
        while frame is not None:
            name = self.user.name(frame.f_code.co_filename)
            if name:
                return {"file": name, "line": frame.f_lineno, "function": frame.f_code.co_name}
            frame = frame.f_back
        return None

    def in_a_body(self, frame: Frame) -> bool:
        return any(kernel.file == frame["file"] and frame["line"] in kernel.lines for kernel in self.kernels)

    def scratch_frame(self, inner: Sequence[FrameType]) -> Frame | None:
        """Where the scratch type was made whose Ref JAX was about to make."""
        for frame in inner:
            if frame.f_code.co_name == "get_ref_aval":
                return self.scratch.get(id(frame.f_locals.get("self")), (None, None))[1]
        return None

    def kernel_frame(self, inner: Sequence[FrameType]) -> Frame | None:
        """Where the kernel was made that was being traced or lowered; None where that is not certain.

        JAX's frames tell the body while tracing, and no more than its name while lowering. Beyond a frame of the
        user's they belong to something else.
        """
        for frame in inner:
            if not self.user.is_library(frame.f_code.co_filename):
                return None
            code = body_code(frame.f_locals.get("body"))
            if code and self.user.name(code.co_filename):
                return self.made_at(code.co_name)
            info = getattr(getattr(frame.f_locals.get("jaxpr"), "debug_info", None), "func_src_info", None)
            if info and "mosaic_gpu" in info:
                return self.made_at(info.split(" at ")[0])
        return None

    def made_at(self, name: str) -> Frame | None:
        places = [kernel.made_at for kernel in self.kernels if kernel.name == name]
        return places[0] if places and all(place == places[0] for place in places) else None


def body_code(body: Any) -> CodeType | None:
    while isinstance(body, functools.partial):
        body = body.func
    return getattr(inspect.unwrap(body) if callable(body) else None, "__code__", None)


def told_in_text(user: UserFiles, text: str) -> dict[str, Any] | None:
    """The innermost exception of one that came through XLA, which knows it as text: errors of the interpreter."""
    heads = list(re.finditer(r"^(\w+(?:Error|Exception)): ", text, re.M))
    if "CpuCallback error" not in text or not heads:
        return None
    message = text[heads[-1].end() :].split("\n=== ", maxsplit=1)[0].strip()
    places = re.findall(r"(/\S+):(\d+):\d+ \((?:\S*\.)?(\w+)\)", message)
    named = [(user.name(filename), int(line), function) for filename, line, function in places]
    frames = [{"file": file, "line": line, "function": function} for file, line, function in named if file]
    return {"type": heads[-1][1], "message": message, "frames": frames[::-1]}  # the first place told is to blame


def described(user: UserFiles, error: BaseException) -> dict[str, Any]:
    plain = {"type": type(error).__name__, "message": str(error), "frames": blamed_frames(user, error)}
    told = told_in_text(user, str(error)) or plain
    message = told["message"].replace(user.folder + os.sep, "")  # the files are the user's, not copies of ours
    return {**told, "message": message[:MAX_MESSAGE]}


# ---- JAX


def has_gpu() -> bool:
    return bool(glob.glob("/dev/nvidia[0-9]*")) or os.path.exists("/dev/dxg")


def gpu_names() -> list[str]:
    """Names of the NVIDIA GPUs by what the driver writes in /proc: nothing is started, no GPU is touched."""
    names: list[str] = []
    for path in sorted(glob.glob("/proc/driver/nvidia/gpus/*/information")):
        with open(path, encoding="utf-8", errors="replace") as lines:
            names += [line.split(":", 1)[1].strip() for line in lines if line.startswith("Model:")]
    return names


def import_jax(level: str) -> Any:
    """JAX with its own settings for a confirmation, before anything of the user's can choose others."""
    os.environ["JAX_TRACEBACK_FILTERING"] = "off"  # filtered tracebacks lose the frames that the blame is made from
    os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
    if not (level == "compile" and has_gpu()):
        os.environ["JAX_PLATFORMS"] = "cpu"
    if level == "compile":
        os.environ["MOSAIC_GPU_DUMP_PTXAS"] = "1"  # prints what ptxas says of registers and spills
    if level == "compile" and not has_gpu():
        os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"  # the plugin else asks the driver that is not there
    return importlib.import_module("jax")


#: Where JAX keeps `_infer_arch`: `utils` since 0.11, `core` before.
ARCH_HOMES = ("jax.experimental.mosaic.gpu.utils", "jax.experimental.mosaic.gpu.core")


def optional_module(name: str) -> ModuleType | None:
    """The module, imported; None where this JAX has none of that name."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def current_arch() -> tuple[int, int] | None:
    """The (major, minor) compute capability that the lowering believes in; None where this JAX does not tell."""
    for home in map(optional_module, ARCH_HOMES):
        if home and hasattr(home, "_infer_arch"):
            return home._infer_arch()
    return None


def set_arch(jax: Any, arch: str) -> str | None:
    """Makes the lowering believe in an architecture; returns a note where this JAX has no place for it.

    JAX asks a private function; there is no public setting.
    """
    match = re.fullmatch(r"sm_(\d+)(\d)[af]?", arch)
    if not match:
        return f"the architecture {arch!r} is not of the form sm_90a: not set"
    capability = (int(match[1]), int(match[2]))
    homes = [home for home in map(optional_module, ARCH_HOMES) if home and hasattr(home, "_infer_arch")]
    for home in homes:
        vars(home)["_infer_arch"] = lambda: capability
    return None if homes else f"JAX {jax.__version__} has no way to set the architecture: not lowered for {arch}"


def set_semantics(semantics: str) -> None:
    """Gives every `plgpu.CompilerParams` these lowering semantics, whatever the kernel says."""
    plgpu = importlib.import_module("jax.experimental.pallas.mosaic_gpu")

    forced = {"lane": plgpu.LoweringSemantics.Lane, "warpgroup": plgpu.LoweringSemantics.Warpgroup}[semantics]
    original = plgpu.CompilerParams.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **{**kwargs, "lowering_semantics": forced})

    plgpu.CompilerParams.__init__ = init


class Lowerings:
    """Counts what JAX lowered, so that a module that lowers nothing is not called confirmed."""

    def __init__(self, jax: Any) -> None:
        self.count = 0
        original = jax.stages.Traced.lower

        def lower(traced: Any, *args: Any, **kwargs: Any) -> Any:
            lowered = original(traced, *args, **kwargs)
            self.count += 1
            return lowered

        jax.stages.Traced.lower = lower


def array_arguments(
    jax: Any, function: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[Callable[..., Any], list[Any]]:
    """(function of the arrays alone, arrays): every array leaf is traced, every other leaf is closed over."""
    np = importlib.import_module("numpy")

    leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
    traced = [isinstance(leaf, (jax.ShapeDtypeStruct, jax.Array, np.ndarray)) for leaf in leaves]

    def of_arrays(*arrays: Any) -> Any:
        given = iter(arrays)
        merged = [next(given) if is_array else leaf for leaf, is_array in zip(leaves, traced, strict=True)]
        args, kwargs = jax.tree_util.tree_unflatten(tree, merged)
        return function(*args, **kwargs)

    return of_arrays, [leaf for leaf, is_array in zip(leaves, traced, strict=True) if is_array]


# ---- levels: each takes (jax, function of arrays, arrays, job) and returns fields of the verdict


def lower(jax: Any, function: Callable[..., Any], arrays: list[Any], job: Job) -> dict[str, Any]:
    job.progress("trace")
    traced = jax.jit(function).trace(*arrays)
    job.progress("lower")
    traced.lower(lowering_platforms=("cuda",))
    return {"level": "lower"}


def random_values(jax: Any, array: Any) -> Any:
    """Concrete values for the interpreter: small floats, zeros for integers (indices stay in range)."""
    np = importlib.import_module("numpy")

    if not isinstance(array, jax.ShapeDtypeStruct):
        return array
    if jax.numpy.issubdtype(array.dtype, jax.numpy.floating):
        values = np.random.default_rng(0).uniform(-1, 1, array.shape)
        return jax.numpy.asarray(values, dtype=array.dtype)
    return jax.numpy.zeros(array.shape, array.dtype)


class RaceDetected(Exception):
    """Two threads of a kernel access the same memory with nothing between them, and one of them writes."""


def races_found(interpreter: Any) -> bool:
    try:
        return bool(interpreter.get_races().races_found)
    except AssertionError:  # no kernel was interpreted: there is no state to ask
        return False


def interpret(jax: Any, function: Callable[..., Any], arrays: list[Any], job: Job) -> dict[str, Any]:
    plgpu = importlib.import_module("jax.experimental.pallas.mosaic_gpu")
    force = getattr(plgpu, "force_gpu_interpret_mode", None)
    params = getattr(plgpu, "InterpretGPUParams", None)
    if force is None or params is None:
        job.notes.append(f"lowered, not interpreted: JAX {jax.__version__} has no GPU interpreter")
        return lower(jax, function, arrays, job)
    raises = {"on_race": "raise"} if "on_race" in inspect.signature(params).parameters else {}  # since 0.12
    interpreter = optional_module("jax._src.pallas.mosaic_gpu.interpret.interpret_pallas_call")
    job.progress("interpret")
    try:
        with force(params(detect_races=True, **raises)):
            jax.block_until_ready(jax.jit(function)(*[random_values(jax, array) for array in arrays]))
        if interpreter and not raises and races_found(interpreter):
            raise RaceDetected("JAX's interpreter detected a race and printed what it knows of it")
    finally:
        if interpreter:
            interpreter.reset_gpu_interpret_mode_state()
    return {"level": "interpret"}


#: GPUs that can be described to the compiler where there is none, by compute capability: (name, multiprocessors).
#: Both have 64 K registers and 227 KiB of shared memory for a block; the rest only has to be plausible.
GPUS = {(9, 0): ("NVIDIA H100 80GB HBM3", 132), (10, 0): ("NVIDIA B200", 148)}
TARGET_CONFIG = """
platform_name: "CUDA"
device_description_str: "%(name)s"
dnn_version_info { major: 9 minor: 7 }
gpu_device_info {
  cuda_compute_capability { major: %(major)d minor: %(minor)d feature_extension: ACCELERATED_FEATURES }
  core_count: %(cores)d
  threads_per_warp: 32
  threads_per_block_limit: 1024
  threads_per_core_limit: 2048
  registers_per_block_limit: 65536
  registers_per_core_limit: 65536
  shared_memory_per_block: 49152
  shared_memory_per_block_optin: 232448
  shared_memory_per_core: 233472
  fpus_per_core: 128
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  clock_rate_ghz: 1.9
  memory_bandwidth: 3350000000000
  l2_cache_size: 52428800
  device_memory_size: 80000000000
}
"""


def installed(name: str) -> ModuleType | Any | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError:  # its parent package is not there
        return None


def compiler_folders() -> list[str]:
    """Folders that hold ptxas and libdevice, NVIDIA's packages from PyPI first."""
    packages = installed("nvidia")
    homes = packages.submodule_search_locations if packages else []
    folders = [os.path.join(home, name) for home in homes for name in ("cu13", "cuda_nvcc")]
    folders += [os.environ.get("CUDA_ROOT", ""), "/usr/local/cuda"]
    return [f for f in folders if os.path.exists(f + "/bin/ptxas") and os.path.isdir(f + "/nvvm/libdevice")]


def missing_packages(jax: Any) -> list[str]:
    """What pip would have to install for compilation without a GPU."""
    cuda = "12" if installed("jax_plugins.xla_cuda12") else "13"
    needs = {
        f"jax-cuda{cuda}-pjrt=={jax.__version__}": installed("jax_plugins.xla_cuda" + cuda),
        f"jax-cuda{cuda}-plugin=={jax.__version__}": installed(f"jax_cuda{cuda}_plugin"),
        "nvidia-cuda-nvcc nvidia-nvvm": compiler_folders(),
    }
    return [packages for packages, found in needs.items() if not found]


def absent_gpu(jax: Any, arch: tuple[int, int] | None) -> tuple[Any, str]:
    """(a sharding on a described GPU to compile for, ""); (None, the reason) where that cannot be."""
    missing = missing_packages(jax)
    if missing:
        return None, "JAX sees no GPU here, and to compile without one: pip install --no-deps " + " ".join(missing)
    if arch not in GPUS:
        return None, "JAX sees no GPU here, and only sm_90a and sm_100a can be compiled for without one"
    folder = compiler_folders()[0]
    os.environ["MOSAIC_GPU_CUDA_ROOT"] = folder
    os.environ["PATH"] = os.path.join(folder, "bin") + os.pathsep + os.environ.get("PATH", "")
    topologies = importlib.import_module("jax.experimental.topologies")

    name, cores = GPUS[arch]
    config = TARGET_CONFIG % {"name": name, "cores": cores, "major": arch[0], "minor": arch[1]}
    described = topologies.get_topology_desc("", "cuda", target_config=config, topology="1x1x1")
    return jax.sharding.SingleDeviceSharding(described.devices[0]), ""


@contextlib.contextmanager
def native_output(path: str) -> Iterator[None]:
    """Standard output of the process into a file, C and C++ included."""
    sys.stdout.flush()
    saved = os.dup(1)
    with open(path, "wb") as out:
        os.dup2(out.fileno(), 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(saved, 1)
        os.close(saved)


def ptxas_facts(text: str) -> dict[str, Any]:
    """What `ptxas -v` said: registers a thread (the largest kernel's), spilled bytes (all kernels'), remarks."""
    kernels: list[dict[str, Any]] = []
    for part in text.split("Compiling entry function ")[1:]:
        head = re.match(r"'(.*?)' for '(.*?)'", part)
        spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", part)
        registers = re.search(r"Used (\d+) registers", part)
        kernels.append(
            {
                "name": head[1] if head else None,
                "arch": head[2] if head else None,
                "registers": int(registers[1]) if registers else None,
                "spill_bytes": int(spills[1]) if spills else None,
            }
        )
    remarks = [line.split(":", 1)[1].strip() for line in text.splitlines() if re.search(r"\(C\d+\)", line)]
    known = [k for k in kernels if k["registers"] is not None and k["spill_bytes"] is not None]
    return {
        "registers": max((k["registers"] for k in known), default=None),
        "spill_bytes": sum(k["spill_bytes"] for k in known) if known else None,
        "kernels": kernels,
        "remarks": sorted(set(remarks)),
    }


def compile_(jax: Any, function: Callable[..., Any], arrays: list[Any], job: Job) -> dict[str, Any]:
    sharding = None
    if jax.devices()[0].platform != "gpu":
        sharding, reason = absent_gpu(jax, current_arch())
        if sharding is None:
            job.notes.append("lowered, not compiled: " + reason)
            return lower(jax, function, arrays, job)
        arrays = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=sharding) for a in arrays]
    job.progress("trace")
    traced = jax.jit(function, **({"out_shardings": sharding} if sharding else {})).trace(*arrays)
    job.progress("lower")
    lowered = traced.lower(lowering_platforms=("cuda",))
    job.progress("compile")
    report = os.path.join(job.folder, "ptxas.txt")
    with native_output(report):
        lowered.compile()
    with open(report, encoding="utf-8", errors="replace") as text:
        return {"level": "compile", **ptxas_facts(text.read())}


LEVELS = {"lower": lower, "compile": compile_, "interpret": interpret}


# ---- the worker


class Job:
    """One confirmation in progress: its id and phase, and what is worth saying beside the verdict."""

    def __init__(self, ident: str, folder: str, wire: Wire, notes: Sequence[str]) -> None:
        self.ident = ident
        self.folder = folder
        self.wire = wire
        self.notes = list(notes)
        self.phase = "import"
        self.started = time.monotonic()

    def progress(self, phase: str) -> None:
        self.phase = phase
        self.wire.send("progress", id=self.ident, phase=phase)

    def verdict(self, *, error: dict[str, Any] | None = None, **facts: Any) -> None:
        seconds = round(time.monotonic() - self.started, 3)
        head = {"id": self.ident, "ok": error is None, "error": error, "phase": self.phase, "seconds": seconds}
        self.wire.send("verdict", **{**head, "notes": self.notes, **facts})


def identifiers(request: Request) -> list[str]:
    return [MODULE] if request.get("mode") == "module" else [call["id"] for call in request["calls"]]


MODULE = "module"  # the verdict's id where importing the target is the whole confirmation


def this_python() -> dict[str, Any]:
    return {"host": platform.node(), "python": platform.python_version(), "executable": sys.executable}


def machine(jax: Any) -> dict[str, Any]:
    """Who answers, for the `started` event."""
    devices = jax.devices()
    return {
        **this_python(),
        "jax": jax.__version__,
        "platform": devices[0].platform,
        "devices": [device.device_kind for device in devices],
        "gpus": gpu_names(),
    }


class Satisfiable(Exception):
    """Raised where JAX would assign layouts: what it was asked about has some."""


class Counted:
    """A visitor of operations that takes no more than the first few."""

    def __init__(self, visit: Callable[[Any], None], most: float) -> None:
        self.visit = visit
        self.most = most
        self.seen: list[Any] = []

    def __call__(self, op: Any) -> None:
        if len(self.seen) < self.most:
            self.seen.append(op)
            self.visit(op)


class LayoutConflicts:
    """Finds the line at fault where JAX finds no layouts for a kernel, of which it names no operation.

    JAX is asked again about the first n operations of the kernel, in the order of the program, for the smallest n that
    has no layouts. It infers them in a private function; a JAX without it leaves the line unknown.
    """

    REFUSED = "Failed to infer a possible set of layouts. This should only happen"
    SECONDS = 10.0  # for the whole search; asking once about a whole kernel takes far less than a second
    NOTE = (
        "JAX names no operation; this is the first line with which it finds no layouts, so the cause may be an earlier "
        "one that the value or the buffer comes from"
    )

    def __init__(self) -> None:
        self.home = optional_module("jax.experimental.mosaic.gpu.layout_inference")
        names = ("infer_layout", "traverse_op", "assign_layouts")
        if self.home is None or not all(hasattr(self.home, name) for name in names):
            return
        original = self.home.infer_layout

        @functools.wraps(original)
        def infer_layout(module: Any, **options: Any) -> None:
            try:
                original(module, **options)
            except ValueError as error:
                op = None  # `operation_frame` looks for this name
                if str(error).startswith(self.REFUSED):
                    op = self.first_conflict(lambda: original(module, **options))
                if op is not None:
                    vars(error)["pallas_ls_note"] = self.NOTE
                raise

        vars(self.home)["infer_layout"] = infer_layout
        package = optional_module("jax.experimental.mosaic.gpu")
        if package is not None and getattr(package, "infer_layout", None) is original:
            vars(package)["infer_layout"] = infer_layout  # called by this name up to 0.10

    def first_conflict(self, infer: Callable[[], None]) -> Any:
        """The operation with which the kernel stops having layouts; None where that is not found (in time)."""
        deadline = time.monotonic() + self.SECONDS
        refused, visited = self.ask(infer, float("inf"))
        low, high = 0, len(visited)  # the first `low` have layouts, the first `high` have none
        while refused and high - low > 1 and time.monotonic() < deadline:
            middle = (low + high) // 2
            if self.ask(infer, middle)[0]:
                high = middle
            else:
                low = middle
        return visited[high - 1] if refused and high - low == 1 else None

    def ask(self, infer: Callable[[], None], most: float) -> tuple[bool, list[Any]]:
        """Whether JAX refuses the first `most` operations, and which it looked at."""
        assert self.home is not None
        names = vars(self.home)
        traverse, assign = names["traverse_op"], names["assign_layouts"]
        counts: list[Counted] = []

        def traverse_some(op: Any, visit: Any) -> None:
            if not isinstance(visit, Counted):  # not from the traversal itself, which calls this for what is nested
                seen = sum(len(c.seen) for c in counts)
                counts.append(visit := Counted(visit, most - seen))
            traverse(op, visit)

        def stop(_layouts: Any) -> None:
            raise Satisfiable

        names["traverse_op"], names["assign_layouts"] = traverse_some, stop
        refused = False
        try:
            infer()
        except ValueError as error:
            refused = str(error).startswith("Failed to infer a possible set of layouts")
        except Exception:  # a part of a kernel may be one that JAX has no rule for; it is not refused for its layouts
            refused = False
        finally:
            names["traverse_op"], names["assign_layouts"] = traverse, assign
        return refused, [op for c in counts for op in c.seen]


def notes_of(error: BaseException) -> list[str]:
    """What was found out about an error besides."""
    return [note for link in chain(error) if (note := getattr(link, "pallas_ls_note", None))]


class SharedMemory:
    """Bytes of dynamic shared memory that the lowering reserves for a block: the largest since `reset`, or None.

    JAX computes them in a private function that is listened to; a JAX without it leaves them unknown.
    """

    def __init__(self) -> None:
        self.bytes: int | None = None
        home = optional_module("jax.experimental.mosaic.gpu.core")
        original = getattr(home, "_smem_tree_size", None)
        if home is None or original is None:
            return

        def smem_tree_size(*args: Any, **kwargs: Any) -> int:
            size = original(*args, **kwargs)
            self.bytes = max(self.bytes or 0, int(size))
            return size

        vars(home)["_smem_tree_size"] = smem_tree_size

    def reset(self) -> None:
        self.bytes = None


def evaluate(expression: str, namespace: dict[str, Any]) -> Any:
    return eval(compile(expression, "<call>", "eval"), namespace)


class Worker:
    """Runs in its own process: imports the target once, then answers one call after the other."""

    def __init__(self, request: Request, idents: Sequence[str], folder: str, wire: Wire) -> None:
        self.request = request
        self.idents = idents
        self.folder = folder
        self.wire = wire
        self.user = UserFiles(os.path.join(folder, SOURCES), request)
        self.notes: list[str] = []

    def run(self) -> None:
        try:
            self.jax = import_jax(self.request["level"])
        except ImportError as error:
            self.wire.send("no_jax", message=str(error), **this_python())
            return
        self.wire.send("started", **machine(self.jax))
        libraries = (self.jax, sys.modules["jaxlib"], contextlib)
        self.user.installed = tuple(os.path.realpath(os.path.dirname(str(lib.__file__))) for lib in libraries)
        self.lowerings = Lowerings(self.jax)
        self.memory = SharedMemory()
        self.layouts = LayoutConflicts()
        plgpu = optional_module("jax.experimental.pallas.mosaic_gpu")
        if plgpu is not None:
            self.user.constructions.listen(self.jax, plgpu)
        self.aim()
        module = self.import_target()
        if module is not None and self.request.get("mode") != "module":
            namespace = {"jax": self.jax, "jnp": self.jax.numpy, "np": sys.modules["numpy"], **vars(module)}
            for call in self.request["calls"]:
                if call["id"] in self.idents:
                    self.answer(call, namespace)

    def aim(self) -> None:
        """Architecture and semantics as requested; a GPU that is really there speaks for itself."""
        arch, semantics = self.request.get("arch"), self.request.get("semantics")
        on_gpu = self.jax.devices()[0].platform == "gpu"
        note = set_arch(self.jax, arch) if arch and not on_gpu else None
        self.notes += [note] if note else []
        if semantics:
            set_semantics(semantics)

    def import_target(self) -> ModuleType | None:
        sys.meta_path.insert(0, SentModules(self.user))
        sys.path[:0] = [self.user.folder, *self.user.roots]
        jobs = [Job(ident, self.folder, self.wire, self.notes) for ident in self.idents]
        jobs[0].progress("import")
        try:
            module = import_target(self.user, self.request["target"])
        except BaseException as error:
            for job in jobs:
                job.notes += notes_of(error)
                job.verdict(error=described(self.user, error), arch=self.arch())
            return None
        if self.request.get("mode") == "module":
            if not self.lowerings.count:
                jobs[0].notes.append("the module lowers nothing when it is imported")
            if self.request["level"] != "lower":
                jobs[0].notes.append(f"the module was only imported: name its kernels to {self.request['level']} them")
            jobs[0].verdict(level="lower", lowered=self.lowerings.count, arch=self.arch(), smem_bytes=self.memory.bytes)
        return module

    def answer(self, call: dict[str, Any], namespace: dict[str, Any]) -> None:
        job = Job(call["id"], self.folder, self.wire, self.notes)
        self.memory.reset()
        try:
            job.progress("arguments")
            function = evaluate(call["expression"], namespace)
            args = [evaluate(text, namespace) for text in call.get("args") or ()]
            kwargs = {name: evaluate(text, namespace) for name, text in (call.get("kwargs") or {}).items()}
            of_arrays, arrays = array_arguments(self.jax, function, args, kwargs)
            facts = LEVELS[self.request["level"]](self.jax, of_arrays, arrays, job)
        except BaseException as error:
            job.notes += notes_of(error)
            job.verdict(error=described(self.user, error), arch=self.arch())
        else:
            job.verdict(**facts, arch=self.arch(), smem_bytes=self.memory.bytes)

    def arch(self) -> str | None:
        arch = current_arch()
        return f"sm_{arch[0]}{arch[1]}{'a' if arch >= (9, 0) else ''}" if arch else None


# ---- the supervisor


def die_with_parent() -> None:
    """Linux: the kernel kills this process when the supervisor goes, however it goes."""
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def watch_stack(folder: str) -> None:
    """The Python stack goes to a file on a fatal signal, and on SIGUSR1 when the supervisor asks where this hangs."""
    # Stays open: the handlers write to it at any time.
    out = os.open(os.path.join(folder, STACK_FILE), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    faulthandler.enable(file=out)
    faulthandler.register(signal.SIGUSR1, file=out, all_threads=True)


def start_worker(request: Request, idents: list[str], folder: str) -> tuple[int, int, int]:
    """Forks a worker; returns (process id, file descriptor of its events, file descriptor of what it prints)."""
    events_out, events_in = os.pipe()
    printed_out, printed_in = os.pipe()
    pid = os.fork()
    if pid:
        os.close(events_in)
        os.close(printed_in)
        return pid, events_out, printed_out
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        die_with_parent()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(printed_in, 1)
        os.dup2(printed_in, 2)
        watch_stack(folder)
        wire = Wire(events_in, WORKER)
        Worker(request, idents, folder, wire).run()
        wire.send("finished")
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(1)  # no exit handlers of the user's or JAX's; the code is not looked at after `finished`


WORKER = "worker"  # the marker between worker and supervisor, on a pipe of their own


class HungUp(Exception):
    """Nobody reads our standard output any more."""


FAILURES = {"Crashed": "crashed", "TimedOut": "timed_out"}  # error type: failure


class Supervisor:
    """Starts workers until every call has its verdict or the time is over; forwards what they say and print."""

    def __init__(self, request: Request, wire: Wire, folder: str) -> None:
        self.request = request
        self.wire = wire
        self.folder = folder
        self.pending = identifiers(request)
        self.deadline = time.monotonic() + request["timeout_s"]
        self.started = False
        self.worker = 0
        self.begin()

    def begin(self) -> None:
        """What is known of a worker that starts."""
        self.current = self.pending[0] if self.pending else MODULE
        self.phase = "start"
        self.finished = False
        self.tail = b""

    def run(self) -> None:
        while self.pending:
            self.begin()
            status = self.one_worker()
            if self.finished:
                break
            if status is None:
                self.give_up_all("TimedOut", f"no answer within {self.request['timeout_s']:g} s")
            elif self.phase in ("start", "import"):
                self.give_up_all("Crashed", self.how_it_ended(status))
            else:
                self.give_up(self.current, "Crashed", self.how_it_ended(status), self.user_stack())
        self.wire.send("done")

    def one_worker(self) -> int | None:
        """Runs one worker to its end; returns its wait status, None where its time was over."""
        self.worker, events, printed = start_worker(self.request, list(self.pending), self.folder)
        try:
            in_time = self.listen(events, printed)
            if not in_time:
                self.ask_for_stack()
        finally:
            status = self.end_worker()
            os.close(events)
        self.last_words(printed)
        os.close(printed)
        return status if in_time else None

    def end_worker(self) -> int:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.worker, signal.SIGKILL)
        return os.waitpid(self.worker, 0)[1]

    def listen(self, events: int, printed: int) -> bool:
        """Forwards until the worker closes its events (True) or the deadline passes (False)."""
        buffer = b""
        sources = [events, printed]
        while True:
            left = self.deadline - time.monotonic()
            if left <= 0:
                return False
            ready = self.wait(left, *sources)
            if printed in ready and not self.forward(printed):
                sources.remove(printed)  # closed by the worker: it would be ready for ever
            if events in ready:
                data = os.read(events, 65536)
                *lines, buffer = (buffer + data).split(b"\n")
                for line in lines:
                    self.heard(line)
                if not data or self.finished:
                    return True

    def wait(self, seconds: float, *descriptors: int) -> list[int]:
        """Those of the descriptors with something to read; raises HungUp once our own standard output has no reader."""
        poll = select.poll()
        for fd in descriptors:
            poll.register(fd, select.POLLIN)
        poll.register(self.wire.fd, 0)  # errors and hang-ups are always reported
        ready = [fd for fd, _ in poll.poll(max(1, int(seconds * 1000)))]
        if self.wire.fd in ready:
            raise HungUp
        return ready

    def forward(self, printed: int) -> bool:
        """Hands on some of what the worker printed; False at its end."""
        data = os.read(printed, 65536)
        self.tail = (self.tail + data)[-STDERR_TAIL:]
        if data:
            os.write(2, data)
        return bool(data)

    def last_words(self, printed: int) -> None:
        """What a worker that is gone had printed: no more than a pipe holds, should a child of its go on printing."""
        for _ in range(16):
            if printed not in self.wait(0, printed) or not self.forward(printed):
                return

    def heard(self, line: bytes) -> None:
        if not line.startswith(WORKER.encode() + b" "):
            return
        event = json.loads(line.split(b" ", 1)[1])
        kind = event.pop("event")
        if kind == "finished":
            self.finished = True
            return
        if kind == "progress":
            self.current, self.phase = event["id"], event["phase"]
        if kind == "verdict":
            self.pending.remove(event["id"])
            self.phase, self.current = "next", (self.pending or [MODULE])[0]
        if kind != "started" or not self.started:
            self.wire.send(kind, **event)
        self.started = self.started or kind == "started"

    def ask_for_stack(self) -> None:
        """Before a hanging worker is killed: up to half a second for its Python stack."""
        os.kill(self.worker, signal.SIGUSR1)
        until = time.monotonic() + 0.5
        while time.monotonic() < until and not self.stack_text().endswith("\n"):
            self.wait(0.02)

    def stack_text(self) -> str:
        with contextlib.suppress(OSError), open(os.path.join(self.folder, STACK_FILE), errors="replace") as text:
            return text.read()
        return ""

    def user_stack(self) -> list[Frame]:
        """The user's frames in the stack that faulthandler wrote, innermost last; of the first thread that has any."""
        user = UserFiles(os.path.join(self.folder, SOURCES), self.request)
        for thread in self.stack_text().split("hread 0x"):
            found = re.findall(r'File "(.*)", line (\d+) in (.*)', thread)
            named = [(user.name(filename), int(line), function) for filename, line, function in found]
            frames = [{"file": file, "line": line, "function": name} for file, line, name in named if file]
            if frames:
                return frames[::-1][-MAX_FRAMES:]
        return []

    def how_it_ended(self, status: int) -> str:
        if os.WIFSIGNALED(status):
            how = "JAX's process was killed by " + signal.Signals(os.WTERMSIG(status)).name
        else:
            how = f"JAX's process ended by itself, with exit code {os.WEXITSTATUS(status)}"
        last = self.tail.decode(errors="replace").strip().splitlines()[-3:]
        return how + (": " + "\n".join(last) if last else "")

    def give_up_all(self, kind: str, message: str) -> None:
        frames = self.user_stack()
        for ident in list(self.pending):
            reached = ident == self.current or self.phase in ("start", "import")
            self.give_up(ident, kind, message if reached else "not reached: " + message, frames if reached else [])

    def give_up(self, ident: str, kind: str, message: str, frames: list[Frame]) -> None:
        self.pending.remove(ident)
        error = {"type": kind, "message": message, "frames": frames}
        self.wire.send("verdict", id=ident, ok=False, error=error, failure=FAILURES[kind], phase=self.phase)


def supervise(request: Request, wire: Wire, folder: str) -> None:
    supervisor = Supervisor(request, wire, folder)

    def stop(_signal: int, _frame: Any) -> None:
        raise HungUp

    signal.signal(signal.SIGTERM, stop)
    with contextlib.suppress(HungUp, BrokenPipeError):
        supervisor.run()


def run(encoded: str) -> None:
    """Answers one request (JSON in base64). The last line of the program that the host sends calls this."""
    request = json.loads(base64.b64decode(encoded))
    wire = Wire(take_stdout(), request["marker"])
    wire.send("hello", **this_python())
    folder = tempfile.mkdtemp(prefix="pallas-ls-")
    try:
        UserFiles(os.path.join(folder, SOURCES), request).write()
        if hasattr(os, "fork"):
            supervise(request, wire, folder)
        else:  # Windows: no second process; the host sees a crash or hang by itself
            Worker(request, identifiers(request), folder, wire).run()
            wire.send("done")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
