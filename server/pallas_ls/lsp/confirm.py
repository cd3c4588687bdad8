"""The command `pallas.confirm` [{uri, line, way?, remote?}]: asks the user's own JAX, in a thread, with progress.

`way` is "lower" (the default), "compile" or "interpret" on this machine, or "remote" with the name of one of
`pallas.remotes`. The command answers as soon as JAX has been asked; the verdict comes as a diagnostic, a message and
a text in the log.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ..answers.report import KernelCall
from ..confirm.bundle import Bundle, collect
from ..confirm.host import Outcome
from ..confirm.host import confirm as ask_jax
from ..confirm.protocol import Call, Event, Level, Machine, Progress, Request
from ..confirm.ways import Local, Remote, Way
from ..workspace.callers import possible_callers
from .arguments import failed, read_place
from .contexts import calls_at
from .core import PallasServer
from .documents import Document
from .paths import is_file
from .verdicts import Asked, diagnostics, full_text, sentence

logger = logging.getLogger(__name__)

CONFIRM = "pallas.confirm"
UNTRUSTED = "confirming runs the file's code, so the workspace must be trusted first"
HOW = (
    "annotate the parameters, call it somewhere with known shapes, or write a comment such as "
    "`# pallas: example f(a: bf16[4096, 4096])` above it"
)

#: What the progress says while JAX is in a phase of the agent's protocol.
DOING = {
    "import": "importing",
    "arguments": "making the arguments of",
    "trace": "tracing",
    "lower": "lowering",
    "compile": "compiling",
    "interpret": "interpreting",
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """One confirmation: what is asked, of whom, and of which version of the document."""

    document: Document
    request: Request
    way: Way
    asked: Asked


@dataclass(frozen=True, slots=True)
class Manner:
    """Of whom and how far."""

    way: Way
    level: Level


async def confirm(server: PallasServer, *arguments: Any) -> None:
    """The command. Its errors are for the user: editors show them."""
    place = read_place(CONFIRM, arguments)
    await server.ready.wait()
    manner = _manner(server, arguments[0])
    document = server.documents.get(place.uri)
    if document is None or not is_file(document.path):
        raise failed("open the file in the editor, and save it once, before confirming it")
    plan = await server.ask(
        place.uri, lambda doc: _plan(server, doc, manner, lambda c: _at_line(server, c, doc, place.line))
    )
    if plan is None:
        raise failed(f"this file is not analysed: {document.refused}")
    start(server, plan)


async def confirm_saved(server: PallasServer, uri: str) -> None:
    """All kernels of a file that was saved, where the user wants that; nothing where there is none to call."""
    if not (server.options.trusted and server.settings.confirm_on_save):
        return
    await server.ready.wait()
    try:
        manner = _manner(server, {})
        plan = await server.ask(uri, lambda doc: _plan(server, doc, manner, _all_callable))
    except JsonRpcException as error:
        logger.info("not confirmed at the save: %s", error.message)
        return
    if plan is not None:
        start(server, plan, quiet=True)


# -- what to ask -------------------------------------------------------------------------------------------------------


def _manner(server: PallasServer, argument: Mapping[str, Any]) -> Manner:
    if not server.options.trusted:
        raise failed(UNTRUSTED)
    way = argument.get("way") or "lower"
    if way == "remote":
        return Manner(_remote(server, argument.get("remote")), Level.COMPILE)
    if way not in (level.value for level in Level):
        raise failed(f"{way!r} is no way to confirm: lower, compile, interpret or remote")
    return Manner(Local(server.project.environment.interpreter.path, server.project.root), Level(way))


def _remote(server: PallasServer, name: object) -> Remote:
    remotes = server.project.settings.remotes
    remote = remotes.get(name) if isinstance(name, str) else None
    if remote is None:
        known = ", ".join(sorted(remotes)) or "none is configured"
        raise failed(f"the setting pallas.remotes has no machine {name!r} ({known})")
    return remote


Choose = Callable[[list[KernelCall]], tuple[KernelCall, ...]]


def _plan(server: PallasServer, document: Document, manner: Manner, choose: Choose) -> Plan:
    """In the analysis thread: it reads the kernels and the files that they import."""
    settings = server.analysis.ground.settings
    kernels = _kernels(server, document.path)
    if not any(not k.why for k in kernels):
        callers = possible_callers(document.path, settings.root, settings.exclude, server.analysis.files)
        kernels = _kernels(server, document.path, callers)
    calls = {str(number): call for number, call in enumerate(choose(kernels), 1)}
    bundle = _bundle(server, document)
    request = Request(
        files=bundle.files,
        target=bundle.target,
        calls=tuple(Call(id_, c.expression, c.args, c.kwargs) for id_, c in calls.items() if c.expression),
        level=manner.level,
        arch=settings.arch,
        semantics=settings.semantics,
        roots=server.analysis.ground.roots,
    )
    origins = {name: origin.replace("/", os.sep) for name, origin in bundle.origins.items()}
    return Plan(document, request, manner.way, Asked(calls, origins, manner.way.name, isinstance(manner.way, Local)))


def _kernels(server: PallasServer, path: str, callers: Iterable[str] = ()) -> list[KernelCall]:
    return [k for k in server.analysis.session.kernels(path, callers) if k.span.path == path]


def _bundle(server: PallasServer, document: Document) -> Bundle:
    roots = [root.replace(os.sep, "/") for root in server.analysis.ground.roots]
    read = server.analysis.files.content
    return collect(
        document.path.replace(os.sep, "/"), document.text.content, roots, lambda path: read(path.replace("/", os.sep))
    )


def _at_line(server: PallasServer, kernels: list[KernelCall], document: Document, line: int) -> tuple[KernelCall, ...]:
    """What is to be called for the cursor's line. Raises the error that tells what is missing."""
    calls = calls_at(kernels, document.text, document.path, line, server.picked.get(document.path))
    if calls.meant:
        return _by_calls_or_import(calls.meant)
    if calls.calls:
        raise failed(calls.calls[0].why)
    where = sorted({document.text.line_of(kernel.span.start) + 1 for kernel in kernels})
    if not where:
        raise failed("no kernel is known in this file: nothing calls plgpu.kernel or pl.pallas_call here")
    raise failed(f"no kernel at line {line + 1}; there are some at {', '.join(map(str, where))}")


def _all_callable(kernels: list[KernelCall]) -> tuple[KernelCall, ...]:
    callable_ = tuple(call for call in kernels if not call.why)
    if not callable_:
        raise failed(f"no kernel here can be called: {HOW}")
    return _by_calls_or_import(callable_)


def _by_calls_or_import(calls: tuple[KernelCall, ...]) -> tuple[KernelCall, ...]:
    """Importing the file asks JAX about all that it lowers by itself: then calls would add nothing."""
    imports = tuple(call for call in calls if not call.expression)
    return imports[:1] or calls


# -- asking ------------------------------------------------------------------------------------------------------------


def start(server: PallasServer, plan: Plan, quiet: bool = False) -> None:
    """Begins a confirmation and ends the one before of the same file. `quiet`: no message when JAX accepts."""
    path = plan.document.path
    if running := server.confirmations.get(path):
        running.set()
    cancel = server.confirmations[path] = threading.Event()
    server.background(_run(server, plan, cancel, quiet))


async def _run(server: PallasServer, plan: Plan, cancel: threading.Event, quiet: bool) -> None:
    clear(server, plan.document.path)
    report = await _begin(server, plan, cancel)
    timeout = server.settings.confirm_timeout
    try:
        outcome = await asyncio.wrap_future(
            in_thread(partial(ask_jax, plan.request, plan.way, timeout=timeout, on_event=report, cancel=cancel))
        )
    finally:
        report(None)
        if server.confirmations.get(plan.document.path) is cancel:
            del server.confirmations[plan.document.path]
    await _tell(server, plan, outcome, quiet)


async def _tell(server: PallasServer, plan: Plan, outcome: Outcome, quiet: bool) -> None:
    logger.info("%s", full_text(plan.asked, outcome))
    render, analysis = server.render, server.analysis
    # The texts as the analysis has them now: a verdict for lines that have changed since is told, but not drawn.
    found = await asyncio.wrap_future(
        server.worker.submit(lambda: diagnostics(plan.asked, outcome, analysis.text, render.range))
    )
    if server.documents.at(plan.document.path) is plan.document:
        for path, made in found.items():
            if server.board.put_verdict(path, made):
                server.publish(path)
        server.verdicts[plan.document.path] = set(found)
        server.refresh_diagnostics()
    kind, text = sentence(plan.asked, outcome)
    if not (quiet and kind == types.MessageType.Info):
        server.tell(kind, text)


def clear(server: PallasServer, path: str) -> None:
    """Takes back what was drawn of the last verdict about a file, or in it: it changed, closed or is asked anew."""
    touched = server.verdicts.pop(path, set()) | {path}
    for each in touched:
        if server.board.put_verdict(each, ()):
            server.publish(each)


# -- progress ----------------------------------------------------------------------------------------------------------


async def _begin(server: PallasServer, plan: Plan, cancel: threading.Event) -> Callable[[Event | None], None]:
    """Shows progress where the client can. The result takes events from any thread, and None for the end."""
    if not server.abilities.progress:
        return lambda event: None
    token = str(uuid.uuid4())
    progress = server.work_done_progress
    await progress.create_async(token)
    names = ", ".join(call.name for call in plan.asked.calls.values())
    title = f"JAX on {plan.asked.where}: {names if len(names) <= 60 else f'{len(plan.asked.calls)} kernels'}"
    progress.begin(token, types.WorkDoneProgressBegin(title=title, cancellable=True))
    progress.tokens[token].add_done_callback(lambda _: cancel.set())

    def report(event: Event | None) -> None:
        if event is None:
            progress.tokens.pop(token, None)
            progress.end(token, types.WorkDoneProgressEnd())
        elif text := _phase(plan.asked, event):
            server.on_loop(progress.report, token, types.WorkDoneProgressReport(message=text, cancellable=True))

    return report


def _phase(asked: Asked, event: Event) -> str:
    if isinstance(event, Progress):
        return f"{DOING.get(event.phase, event.phase)} {asked.name(event.id)}"
    return f"JAX {event.jax}" if isinstance(event, Machine) and event.jax else ""


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Runs work in a thread of its own, which does not keep the process alive."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="confirm").start()
    return future
