"""What the installed JAX says of a whole file: run as a script in this process, with a second module beside it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax

#: Name of the file under test; the others are modules that it imports.
MAIN = "main"
#: JAX keeps what it traced: its caches are emptied after so many files.
KEEP = 100

_count = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """What JAX raised: exception class, first line of its text, and the last line of the file that it came through."""

    type: str
    message: str
    line: int
    text: str


def run(texts: Mapping[str, str]) -> Refusal | None:
    """Runs the main module; None where everything in it lowers."""
    _forget()
    others = [name for name in texts if name != MAIN]
    for name in others:
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__file__ = f"{name}.py"
    main = ModuleType("__main__")
    saved = sys.modules["__main__"]
    sys.modules["__main__"] = main  # dataclasses look their module up
    try:
        for name in others:
            exec(compile(texts[name], f"<{name}>", "exec"), sys.modules[name].__dict__)
        exec(compile(texts[MAIN], f"<{MAIN}>", "exec"), main.__dict__)
    except Exception as error:  # any refusal is the answer
        return _refusal(error)
    finally:
        sys.modules["__main__"] = saved
        for name in others:
            del sys.modules[name]
    return None


def _forget() -> None:
    global _count  # noqa: PLW0603 - JAX's caches are global as well
    _count += 1
    if _count % KEEP == 0:
        jax.clear_caches()


def _refusal(error: Exception) -> Refusal:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno or 0 for f in frames if f.filename == f"<{MAIN}>"]
    text = str(error)
    first = text.strip().splitlines()[0] if text.strip() else ""
    return Refusal(type(error).__name__, first, lines[-1] if lines else 0, text)
