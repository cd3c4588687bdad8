"""The installed JAX's verdicts, a JSON line each: a script that imports nothing of the project, for any release to run.

Reads lines of `{"text": ...}`; its first line says the version and where JAX is installed. It may be aborted by what
it lowers: whoever started it starts it anew.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["JAX_TRACEBACK_FILTERING"] = "off"

import jax
from jax.experimental.mosaic.gpu import core as mosaic_core
from jax.experimental.mosaic.gpu import utils as mosaic_utils

#: JAX keeps what it traced: its caches are emptied after so many kernels.
KEEP = 100
#: The line that says that a kernel is meant for Blackwell; JAX asks the machine, which has no GPU.
BLACKWELL = "# pallas: target sm_100a"
_ARCH: Any = mosaic_utils if hasattr(mosaic_utils, "_infer_arch") else mosaic_core
_OWN_ARCH = _ARCH._infer_arch
_CALLED = "<kernel>"


class _Lowerings:
    """How many functions have been lowered."""

    count = 0


def _count_lowerings() -> None:
    lower = jax.stages.Traced.lower

    def counted(*args: Any, **kwargs: Any) -> Any:
        done = lower(*args, **kwargs)
        _Lowerings.count += 1
        return done

    jax.stages.Traced.lower = counted


def verdict(text: str) -> dict[str, Any]:
    """What JAX says of a text: how many functions it lowered, or what it raised and where."""
    _Lowerings.count = 0
    _ARCH._infer_arch = (lambda: (10, 0)) if BLACKWELL in text else _OWN_ARCH
    try:
        exec(compile(text, _CALLED, "exec"), {"__name__": "__main__", "__file__": "kernel.py"})
    except Exception as error:  # any refusal is the answer
        return _refusal(error)
    return {"lowered": _Lowerings.count}


def _refusal(error: Exception) -> dict[str, Any]:
    where = {"file": "", "function": "", "line": 0}
    own = 0
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = frame.f_code.co_filename.replace(os.sep, "/")
        if path == _CALLED:
            own = line
        elif "/jax/" in path:
            name = frame.f_code.co_qualname.replace(".<locals>", "")
            where = {"file": "jax/" + path.rpartition("/jax/")[2], "function": name, "line": line}
    if isinstance(error, (SyntaxError, NameError)) and not where["file"]:
        where["file"] = "kernel"
    return {"type": type(error).__name__, "message": str(error)[:2000], "at": own, **where}


def main() -> None:
    """Answers until the input ends."""
    warnings.simplefilter("ignore")
    _count_lowerings()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what kernels print is no answer
    print(json.dumps({"version": jax.__version__, "home": os.path.dirname(jax.__file__)}), file=answers, flush=True)
    for count, line in enumerate(sys.stdin):
        print(json.dumps(verdict(json.loads(line)["text"])), file=answers, flush=True)
        if count % KEEP == KEEP - 1:
            jax.clear_caches()


if __name__ == "__main__":
    main()
