"""What real Python does with a generated program."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .substitute import normal


@dataclass(slots=True)
class Reality:
    """One run.

    Attributes:
      value: what `main` returned, in the form of `normal`; raised: the exception's name instead.
      raised_at: lines of the text under which it was raised, innermost last.
      probes: (line of the call, first argument, second argument), in order.
    """

    value: Any = None
    raised: str | None = None
    raised_at: tuple[int, ...] = ()
    probes: list[tuple[int, Any, Any]] = field(default_factory=list[tuple[int, Any, Any]])


def run(text: str, binding: Mapping[str, int]) -> Reality:
    """Runs a program's `main` on integers."""
    out = Reality()

    def probe(x: Any, y: Any = None) -> Any:
        out.probes.append((sys._getframe(1).f_lineno, normal(x), normal(y)))
        return x

    def import_(name: str, *rest: Any) -> Any:
        if name == "kit":
            kit = types.ModuleType("kit")
            kit.probe = probe  # pyright: ignore[reportAttributeAccessIssue]
            return kit
        return __import__(name, *rest)

    module = types.ModuleType("generated")
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_}
    sys.modules["generated"] = module  # dataclasses looks the module up
    try:
        exec(compile(text, "<generated>", "exec"), module.__dict__)
        out.value = normal(module.__dict__["main"](**binding))
    except Exception as e:  # whatever the program raises is an outcome
        out.raised = type(e).__name__
        out.raised_at = _lines(e)
    finally:
        del sys.modules["generated"]
    return out


def _lines(e: Exception) -> tuple[int, ...]:
    lines: list[int] = []
    at = e.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == "<generated>":
            lines.append(at.tb_lineno)
        at = at.tb_next
    return tuple(lines)
