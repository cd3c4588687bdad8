"""What host and agent say to each other, as plain data.

The host writes one program to the agent's standard input: the text of `agent.py` and a last line `run("...")` with
the request as JSON in base64. One stream, no arguments: it passes unchanged through shells, ssh, srun, `docker run -i`.

The request's JSON:
    version: 1; marker: str; level: "lower" | "compile" | "interpret"; timeout_s: seconds for all calls together;
    files: {relative path with "/": text}; target: one of the paths; roots: [folders to import from besides];
    mode: "module" | "calls"; calls: [{id, expression, args: [expression], kwargs: {name: expression}}];
    arch: "sm_90a" | null; semantics: "lane" | "warpgroup" | null.

The agent answers with lines `<marker> <JSON object>`; all else on its standard output is somebody's print. Events:
    hello    host, python, executable: the agent runs
    started  + jax, platform, devices, gpus: JAX is imported
    no_jax   message, python, executable: there is no JAX in that Python
    progress id, phase: "import" | "arguments" | "trace" | "lower" | "compile" | "interpret"
    verdict  exactly one for each call (id "module" in module mode): the fields of `Verdict`
    done     the last one
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib.resources import files
from typing import Any

from ..domain.target import Semantics

VERSION = 1
MODULE = "module"  #: the id of the verdict of a request without calls


class Level(Enum):
    """How far JAX goes with a kernel."""

    LOWER = "lower"
    COMPILE = "compile"
    INTERPRET = "interpret"


class Failure(Enum):
    """Why there is no verdict of JAX's."""

    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    UNREACHABLE = "unreachable"
    NO_JAX = "no_jax"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Call:
    """One kernel to confirm: Python expressions, evaluated in the target's namespace and `jax`, `jnp`, `np`.

    Attributes:
      id: any string, unique in the request; its verdict carries it.
      expression: gives the callable: `matmul`, `functools.partial(matmul, config=Config(tile=128))`.
      args, kwargs: give its arguments. Arrays and `jax.ShapeDtypeStruct`s in them are traced, all else is static.
    """

    id: str
    expression: str
    args: tuple[str, ...] = ()
    kwargs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """What to confirm.

    Attributes:
      files: texts by import path with "/": the target and the workspace modules that it needs (see `bundle`).
      target: the one of `files` that is imported.
      calls: the kernels; none: importing the target, which lowers by itself, is the confirmation.
      arch: "sm_90a", "sm_100a"; None leaves JAX's own choice (sm_90 on a CPU).
      semantics: forced upon every `CompilerParams`; None leaves them alone.
      roots: folders on this machine that the target may import from besides; ignored by a remote way.
    """

    files: Mapping[str, str]
    target: str
    calls: tuple[Call, ...] = ()
    level: Level = Level.LOWER
    arch: str | None = None
    semantics: Semantics | None = None
    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of the user's code: `file` as `Request.files` names it (absolute under a root), `line` 1-based."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception, or ("Crashed", "TimedOut") the end of the process; the blamed place is the last frame."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()

    @property
    def blamed(self) -> Frame | None:
        """The innermost frame in the user's files; None where none of them took part."""
        return self.frames[-1] if self.frames else None


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """One GPU kernel, as ptxas reports it: registers a thread, bytes spilled."""

    name: str
    arch: str
    registers: int | None
    spill_bytes: int | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """JAX's answer to one call.

    Attributes:
      ok: nothing was raised, up to and including `level`.
      error: what was raised, while `phase`.
      failure: CRASHED or TIMED_OUT where the process ended instead of raising.
      level: how far it came; below the request's level where `notes` say why (nothing to compile with, say).
      seconds: for this call, without the import of JAX.
      arch: that was lowered for.
      lowered: how many lowerings the import made (module mode).
      smem_bytes: dynamic shared memory a block, of the largest kernel.
      registers, spill_bytes, kernels, remarks: ptxas's, when compiled: the most a thread, the sum, each, warnings.
    """

    id: str
    ok: bool
    error: Raised | None = None
    failure: Failure | None = None
    phase: str = ""
    level: Level | None = None
    seconds: float | None = None
    arch: str | None = None
    lowered: int | None = None
    smem_bytes: int | None = None
    registers: int | None = None
    spill_bytes: int | None = None
    kernels: tuple[CompiledKernel, ...] = ()
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Machine:
    """Who answered; `jax` and what follows are empty until JAX is imported there."""

    host: str
    python: str
    executable: str
    jax: str = ""
    platform: str = ""
    devices: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """The call `id` has entered `phase`."""

    id: str
    phase: str


@dataclass(frozen=True, slots=True)
class NoJax:
    """That Python has no JAX."""

    message: str
    python: str
    executable: str


@dataclass(frozen=True, slots=True)
class Done:
    """The agent has nothing more to say."""


Event = Machine | Progress | Verdict | NoJax | Done


class BadEvent(ValueError):
    """A line behind the right marker that is no event of this version."""


def program(request: Request, marker: str, timeout: float, *, local: bool) -> bytes:
    """The agent with its request, to be written to a Python's standard input. `timeout` in seconds."""
    agent = files("pallas_ls.confirm").joinpath("agent.py").read_text(encoding="utf-8")
    message = {
        "version": VERSION,
        "marker": marker,
        "timeout_s": timeout,
        "level": request.level.value,
        "files": dict(request.files),
        "target": request.target,
        "roots": list(request.roots) if local else [],
        "mode": "calls" if request.calls else "module",
        "calls": [
            {"id": c.id, "expression": c.expression, "args": list(c.args), "kwargs": dict(c.kwargs)}
            for c in request.calls
        ],
        "arch": request.arch,
        "semantics": request.semantics.value if request.semantics else None,
    }
    encoded = base64.b64encode(json.dumps(message).encode()).decode()
    return f'{agent}\n\nrun("{encoded}")\n'.encode()


def read_event(line: bytes) -> Event | None:
    """The event of one line without its marker; None for a kind that this version does not know. Raises BadEvent."""
    try:
        data = json.loads(line)
        read = READERS.get(data["event"])
        return read(data) if read else None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadEvent(f"the agent's answer cannot be read: {line[:200]!r}") from error


def read_machine(data: dict[str, Any]) -> Machine:
    return Machine(
        host=str(data["host"]),
        python=str(data["python"]),
        executable=str(data["executable"]),
        jax=str(data.get("jax") or ""),
        platform=str(data.get("platform") or ""),
        devices=texts(data.get("devices")),
        gpus=texts(data.get("gpus")),
    )


def read_verdict(data: dict[str, Any]) -> Verdict:
    return Verdict(
        id=str(data["id"]),
        ok=bool(data["ok"]),
        error=read_raised(data["error"]) if data.get("error") else None,
        failure=Failure(data["failure"]) if data.get("failure") else None,
        phase=str(data["phase"]),
        level=Level(data["level"]) if data.get("level") else None,
        seconds=data.get("seconds"),
        arch=data.get("arch"),
        lowered=data.get("lowered"),
        smem_bytes=data.get("smem_bytes"),
        registers=data.get("registers"),
        spill_bytes=data.get("spill_bytes"),
        kernels=tuple(CompiledKernel(**kernel) for kernel in data.get("kernels") or ()),
        remarks=texts(data.get("remarks")),
        notes=texts(data.get("notes")),
    )


def read_raised(data: dict[str, Any]) -> Raised:
    frames = tuple(Frame(str(f["file"]), int(f["line"]), str(f["function"])) for f in data["frames"])
    return Raised(str(data["type"]), str(data["message"]), frames)


def texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value or ())


READERS = {
    "hello": read_machine,
    "started": read_machine,
    "no_jax": lambda data: NoJax(str(data["message"]), str(data["python"]), str(data["executable"])),
    "progress": lambda data: Progress(str(data["id"]), str(data["phase"])),
    "verdict": read_verdict,
    "done": lambda data: Done(),
}
