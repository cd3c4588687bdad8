"""`pallas-ls confirm FILE[:LINE | ::NAME]`: JAX's own verdict, from the user's environment or another machine."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from rich.console import Console
from rich.status import Status

from ..answers.report import KernelCall
from ..confirm.bundle import Bundle, collect
from ..confirm.host import Outcome
from ..confirm.host import confirm as ask_jax
from ..confirm.protocol import MODULE, Call, Event, Level, Machine, Progress, Raised, Request, Verdict
from ..confirm.ways import Local, Way
from ..source.span import Span
from ..source.text import Text
from ..workspace.callers import possible_callers
from ..workspace.files import UnreadableFile, WorkspaceFiles
from ..workspace.project import Project
from ..workspace.settings import Layer, suggestion
from .analysis import open_session, reportable
from .inputs import Job, Projects, one_file
from .problem import COULD_NOT_RUN, FOUND_ERRORS, FOUND_NOTHING, Refused, complain, shown

NO_KERNEL = "no kernel here: nothing calls plgpu.kernel or pl.pallas_call"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says.

    Attributes:
      remote: name of a machine of the setting `remotes`; None: this one.
      level: how far JAX goes; None: to lowering here, to compiling elsewhere.
      timeout: seconds for all kernels together.
    """

    layer: Layer
    remote: str | None = None
    level: str | None = None
    timeout: float = 120.0
    verbose: bool = False


def confirm(place: str, options: Options) -> int:
    """Confirms and prints the verdicts; the exit code: 0 JAX accepts all, 1 it refuses some, 2 there is no verdict."""
    path, line, name = split_place(place)
    job = one_file(path, Projects(options.layer, reportable()))
    session, files = open_session(job)
    text = _text(job, files)
    settings = job.project.settings
    callers = possible_callers(job.files[0], settings.root, settings.exclude, files)
    kernels = [k for k in session.kernels(job.files[0], callers) if k.span.path == job.files[0]]
    chosen = chosen_kernels(kernels, files, text, line, name)
    calls = callable_kernels(chosen)
    for kernel in chosen:
        if kernel.why:
            complain(f"not confirmed: {kernel.why}")
    bundle = _bundle(job, files, text)
    for left in bundle.left_out:
        complain(f"{left} is not sent: the files that {shown(job.files[0])} imports are too many")
    way = _way(options, job.project)
    asked = {str(number): kernel for number, kernel in enumerate(calls, 1)}
    outcome = _ask(_request(bundle, asked, job.project, options), way, options, asked)
    sys.stdout.write("\n".join(outcome_lines(outcome, asked, bundle, files)) + "\n")
    if options.verbose and outcome.stderr:
        sys.stderr.write(outcome.stderr)
    return _exit_code(outcome)


# -- what to ask -------------------------------------------------------------------------------------------------------


def split_place(place: str) -> tuple[str, int | None, str]:
    """FILE, FILE:LINE (from 1) or FILE::NAME. Raises `Refused`."""
    path, separator, name = place.partition("::")
    if separator:
        if not name.isidentifier():
            raise Refused(f"{name!r} in {place!r} is no name of a function")
        return path, None, name
    match = re.fullmatch(r"(.+?):(\d+)(?::\d+)?", place)
    if match is None or os.path.exists(place):
        return place, None, ""
    return match[1], int(match[2]), ""


def chosen_kernels(
    kernels: Sequence[KernelCall], files: WorkspaceFiles, text: Text, line: int | None, name: str
) -> list[KernelCall]:
    """Those that a line or name means; all without either. Raises `Refused` where there is none."""
    if not kernels:
        raise Refused(NO_KERNEL)
    if line is not None:
        found = [kernel for kernel in kernels if _stands_on(kernel, text, line - 1)]
        where = ", ".join(sorted({str(text.line_of(k.span.start) + 1) for k in kernels}, key=int))
        problem = f"no kernel at line {line}; there are some at {where}"
    elif name:
        names = [_names(kernel, files) for kernel in kernels]
        found = [kernel for kernel, own in zip(kernels, names, strict=True) if name in own]
        known = sorted(set[str]().union(*names))
        problem = f"no kernel {name!r}{suggestion(name, known)}; known: {', '.join(known)}"
    else:
        return list(kernels)
    if not found:
        raise Refused(problem)
    return found


def _stands_on(kernel: KernelCall, text: Text, line: int) -> bool:
    spans = (span for span in (kernel.span, *kernel.covers) if span.path == kernel.span.path)
    return any(text.line_of(span.start) <= line <= text.line_of(max(span.start, span.end - 1)) for span in spans)


def _names(kernel: KernelCall, files: WorkspaceFiles) -> set[str]:
    """The kernel's own name, and those of the functions that run in it."""
    names = {kernel.expression or kernel.name.partition(" ")[0]}
    for span in kernel.covers:
        code = (files.content(span.path) or "")[span.start : span.end]
        names |= set(re.findall(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", code, re.MULTILINE)[:1])
    return names


def callable_kernels(chosen: Sequence[KernelCall]) -> list[KernelCall]:
    """Those with arguments; one that importing the file confirms stands for all. Raises `Refused` if there is none."""
    possible = [kernel for kernel in chosen if not kernel.why]
    if not possible:
        raise Refused(" ".join(dict.fromkeys(kernel.why for kernel in chosen)))
    imports = [kernel for kernel in possible if not kernel.expression]
    return imports[:1] or possible


def _text(job: Job, files: WorkspaceFiles) -> Text:
    try:
        return Text(files.read(job.files[0]))
    except UnreadableFile as error:
        raise Refused(f"{shown(job.files[0])}: {error}") from error


def _roots(project: Project) -> list[str]:
    folders = (project.root, os.path.join(project.root, "src"))
    return [folder for folder in folders if os.path.isdir(folder)]


def _bundle(job: Job, files: WorkspaceFiles, text: Text) -> Bundle:
    """The file and what it imports of the project; paths with "/" there."""
    roots = [root.replace(os.sep, "/") for root in _roots(job.project)]
    path = job.files[0].replace(os.sep, "/")
    return collect(path, text.content, roots, lambda name: files.content(name.replace("/", os.sep)))


def _way(options: Options, project: Project) -> Way:
    if options.remote is None:
        return Local(project.environment.interpreter.path, project.root)
    remotes = project.settings.remotes
    if options.remote not in remotes:
        known = ", ".join(sorted(remotes)) or 'none is set: [tool.pallas-ls.remotes] gpubox = ["ssh", "gpubox"]'
        raise Refused(f"no remote {options.remote!r}{suggestion(options.remote, remotes)}; known: {known}")
    return remotes[options.remote]


def _request(bundle: Bundle, asked: Mapping[str, KernelCall], project: Project, options: Options) -> Request:
    level = Level(options.level) if options.level else Level.COMPILE if options.remote else Level.LOWER
    calls = (Call(id, k.expression, k.args, k.kwargs) for id, k in asked.items() if k.expression)
    return Request(
        files=bundle.files,
        target=bundle.target,
        calls=tuple(calls),
        level=level,
        arch=project.settings.arch,
        semantics=project.settings.semantics,
        roots=tuple(_roots(project)),
    )


def _ask(request: Request, way: Way, options: Options, asked: Mapping[str, KernelCall]) -> Outcome:
    console = Console(file=sys.stderr)
    status = console.status(f"asking JAX on {way.name}") if console.is_terminal else None
    shown_status: AbstractContextManager[object] = status or nullcontext()

    def on_event(event: Event) -> None:
        if status is not None and (words := _progress(event, asked)):
            _update(status, words)

    with shown_status:
        return ask_jax(request, way, timeout=options.timeout, on_event=on_event)


def _update(status: Status, words: str) -> None:
    status.update(words)


def _progress(event: Event, asked: Mapping[str, KernelCall]) -> str:
    if isinstance(event, Progress):
        return f"{_name(event.id, asked)}: {event.phase}"
    return f"JAX {event.jax} on {event.host}" if isinstance(event, Machine) and event.jax else ""


# -- what was answered -------------------------------------------------------------------------------------------------


def outcome_lines(
    outcome: Outcome, asked: Mapping[str, KernelCall], bundle: Bundle, files: WorkspaceFiles
) -> Iterator[str]:
    """The verdict of each kernel, why there is none, and who answered."""
    for verdict in outcome.verdicts:
        if verdict.failure is None:
            yield from verdict_lines(verdict, asked, bundle, files)
    if outcome.failure is not None:
        yield f"no verdict: {outcome.message}"
    if outcome.machine is not None and outcome.machine.jax:
        yield machine_line(outcome.machine)


def verdict_lines(
    verdict: Verdict, asked: Mapping[str, KernelCall], bundle: Bundle, files: WorkspaceFiles
) -> Iterator[str]:
    """ "matmul: lowers (0.12 s, sm_90a)", or where and what JAX raises."""
    if verdict.error is None:
        yield f"{_name(verdict.id, asked)}: {_accepted(verdict)}"
    else:
        yield from _refused(verdict, verdict.error, asked, bundle, files)
    for note in (*verdict.notes, *verdict.remarks):
        yield f"  note: {note}"


def _accepted(verdict: Verdict) -> str:
    words = {Level.COMPILE: "compiles", Level.INTERPRET: "runs in the interpreter"}
    done = words.get(verdict.level, "lowers") if verdict.level else "lowers"
    details = (
        f"{verdict.seconds:.2f} s" if verdict.seconds is not None else "",
        verdict.arch or "",
        f"{verdict.smem_bytes} B shared memory a block" if verdict.smem_bytes is not None else "",
        f"{verdict.registers} registers a thread" if verdict.registers is not None else "",
        f"{verdict.spill_bytes} B spilled" if verdict.spill_bytes else "",
    )
    return f"{done} ({', '.join(filter(None, details))})"


def _refused(
    verdict: Verdict, error: Raised, asked: Mapping[str, KernelCall], bundle: Bundle, files: WorkspaceFiles
) -> Iterator[str]:
    message = error.message.strip() or "(no message)"
    yield f"{_name(verdict.id, asked)}: JAX raises {error.type}: {message} (phase: {verdict.phase})"
    blamed = error.blamed
    if blamed is not None:
        path = bundle.origins.get(blamed.file, blamed.file).replace("/", os.sep)
        source = Text(files.content(path) or "").line_text(blamed.line - 1).strip()
        yield f"  at {shown(path)}:{blamed.line}: {source}"
    elif span := _span(verdict.id, asked):
        line = Text(files.content(span.path) or "").line_of(span.start)
        yield f"  in the kernel at {shown(span.path)}:{line + 1}"


def machine_line(machine: Machine) -> str:
    """Who answered: "JAX 0.12.0.1 on gpubox (Python 3.12.1, NVIDIA H100)"."""
    devices = ", ".join(machine.gpus) or "no GPU"
    return f"JAX {machine.jax} on {machine.host} (Python {machine.python.split()[0]}, {devices})"


def _name(id: str, asked: Mapping[str, KernelCall]) -> str:
    return asked[id].name if id in asked else "the file"


def _span(id: str, asked: Mapping[str, KernelCall]) -> Span | None:
    kernel = asked.get(id) or (next(iter(asked.values()), None) if id == MODULE else None)
    return kernel.span if kernel else None


def _exit_code(outcome: Outcome) -> int:
    if outcome.failure is not None:
        return COULD_NOT_RUN
    return FOUND_NOTHING if all(verdict.ok for verdict in outcome.verdicts) else FOUND_ERRORS
