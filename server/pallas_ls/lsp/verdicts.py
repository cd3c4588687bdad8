"""JAX's verdicts as the user meets them: diagnostics at the blamed lines, one sentence, and the whole for the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lsprotocol import types

from ..answers.report import KernelCall
from ..confirm.host import Outcome
from ..confirm.protocol import MODULE, Failure, Frame, Raised, Verdict
from ..source.span import Span
from ..source.text import Text

SOURCE = "pallas confirm"
#: Characters of JAX's message in the sentence that pops up; the log has all of it.
SHORT = 300
#: What to do where the Python that was asked has no JAX.
NO_JAX = (
    "Set `pallas.interpreter` to a Python with JAX (or `python` in [tool.pallas-ls] of pyproject.toml), "
    "or start the editor with that environment activated"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked.

    Attributes:
      calls: by the id that the request gave them.
      origins: the path of each file of the request by its name there.
      where: the machine, as the user calls it; local: whether it is this one.
    """

    calls: Mapping[str, KernelCall]
    origins: Mapping[str, str]
    where: str
    local: bool = True

    def name(self, id_: str) -> str:
        return self.calls[id_].name if id_ in self.calls else "the file"

    def span(self, id_: str) -> Span | None:
        """Where to put a verdict that blames no line: on the kernel or its call."""
        call = self.calls.get(id_) or (next(iter(self.calls.values()), None) if id_ == MODULE else None)
        return call.span if call else None


def diagnostics(
    asked: Asked,
    outcome: Outcome,
    text: Callable[[str], Text | None],
    range_of: Callable[[Span], types.Range],
) -> dict[str, list[types.Diagnostic]]:
    """An error for each call that JAX refuses, by the path of the blamed file. Crashes blame nobody."""
    found: dict[str, list[types.Diagnostic]] = {}
    for verdict in outcome.verdicts:
        if verdict.error is None or verdict.failure:
            continue
        span = _blamed(asked, verdict, text)
        if span is None:
            continue
        made = types.Diagnostic(
            range=range_of(span),
            severity=types.DiagnosticSeverity.Error,
            source=SOURCE,
            message=f"{asked.name(verdict.id)}: JAX raised {_raised(verdict.error)}",
        )
        if made not in found.setdefault(span.path, []):
            found[span.path].append(made)
    return found


def _blamed(asked: Asked, verdict: Verdict, text: Callable[[str], Text | None]) -> Span | None:
    frame = verdict.error.blamed if verdict.error else None
    span = _line(asked, frame, text) if frame else None
    return span or asked.span(verdict.id)


def _line(asked: Asked, frame: Frame, text: Callable[[str], Text | None]) -> Span | None:
    """The code of a frame's line."""
    path = asked.origins.get(frame.file, frame.file)
    content = text(path)
    if content is None or not 0 < frame.line <= content.line_count:
        return None
    line = content.line_text(frame.line - 1)
    start = content.line_start(frame.line - 1) + len(line) - len(line.lstrip())
    return Span(path, start, content.line_start(frame.line - 1) + len(line.rstrip()))


def _raised(error: Raised, most: int | None = None) -> str:
    text = error.message.strip()
    if most is not None and len(text) > most:
        text = text[:most].rstrip() + " …"
    return f"{error.type}: {text}" if text else f"a bare {error.type}"


def sentence(asked: Asked, outcome: Outcome) -> tuple[types.MessageType, str]:
    """What the user is told when it is over."""
    refused = [v for v in outcome.verdicts if v.error and not v.failure]
    if refused:
        first = refused[0]
        assert first.error
        more = f" ({len(refused)} of {len(outcome.verdicts)} calls are refused)" if len(outcome.verdicts) > 1 else ""
        what = f"JAX refuses {asked.name(first.id)}: {_raised(first.error, SHORT)}{more}"
        return types.MessageType.Warning, f"Pallas: {what}"
    if outcome.failure is Failure.CANCELLED:
        return types.MessageType.Info, "Pallas: the confirmation was cancelled"
    if outcome.failure:
        advice = f". {NO_JAX}" if outcome.failure is Failure.NO_JAX and asked.local else ""
        return types.MessageType.Error, f"Pallas: no verdict: {outcome.message}{advice}"
    return types.MessageType.Info, f"Pallas: {_accepted(asked, outcome)}"


def _accepted(asked: Asked, outcome: Outcome) -> str:
    verb = {"compile": "compiles", "interpret": "runs in the interpreter"}
    jax = f"JAX {outcome.machine.jax} on {asked.where}" if outcome.machine else asked.where
    if len(outcome.verdicts) != 1:
        return f"all {len(outcome.verdicts)} calls lower ({jax})"
    verdict = outcome.verdicts[0]
    if verdict.id == MODULE and verdict.lowered is not None:
        if verdict.lowered == 0:
            return f"importing the file lowered no kernel ({jax})"
        return f"the file lowers: {verdict.lowered} kernel{'s' * (verdict.lowered != 1)} ({jax})"
    level = verdict.level.value if verdict.level else "lower"
    return f"{asked.name(verdict.id)} {verb.get(level, 'lowers')} ({jax})"


def full_text(asked: Asked, outcome: Outcome) -> str:
    """Everything that came back, for the log."""
    lines = [sentence(asked, outcome)[1]]
    if machine := outcome.machine:
        gpus = f", {', '.join(machine.gpus)}" if machine.gpus else ""
        lines.append(f"  {machine.host}: {machine.executable}, Python {machine.python}, JAX {machine.jax}{gpus}")
    for verdict in outcome.verdicts:
        lines += _described(asked, verdict)
    if outcome.stderr.strip():
        lines.append("  standard error:")
        lines += [f"    {line}" for line in outcome.stderr.strip().splitlines()]
    return "\n".join(lines)


def _described(asked: Asked, verdict: Verdict) -> list[str]:
    seconds = f" in {verdict.seconds:.2f} s" if verdict.seconds is not None else ""
    state = "ok" if verdict.ok else f"failed while {verdict.phase or 'starting'}"
    lines = [f"  {asked.name(verdict.id)}: {state}{seconds}{f' for {verdict.arch}' if verdict.arch else ''}"]
    numbers = {
        "shared memory": verdict.smem_bytes,
        "registers a thread": verdict.registers,
        "bytes spilled": verdict.spill_bytes,
    }
    lines += [f"    {name}: {number}" for name, number in numbers.items() if number is not None]
    lines += [f"    {note}" for note in (*verdict.notes, *verdict.remarks)]
    if verdict.error:
        lines += [f"    {line}" for line in _raised(verdict.error).splitlines()]
        lines += [f"    at {frame.file}:{frame.line} in {frame.function}" for frame in verdict.error.frames]
    return lines
