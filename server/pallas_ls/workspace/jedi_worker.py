"""jedi in a process of its own: one JSON object a line comes in, one goes out.

First line: {"folder": workspace, "sys_path": [...]}. Then requests and their answers, matched by `id`:
    {"id", "kind": "signature", "name": "jax.numpy.sum"}
        -> {"id", "result": {"signature", "docstring"} | null}
    {"id", "kind": "definition", "path", "text", "line", "column"}
        -> {"id", "result": [{"path", "line", "column", "name"}]}
Lines and columns count from 0, columns in characters. What jedi cannot answer is {"id", "error": text}.

jedi reads the workspace and never runs it: it starts no Python (the environment is this process) and loads no compiled
module but the standard library's.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

import jedi
from jedi.api.environment import InterpreterEnvironment


class StandardLibrary(InterpreterEnvironment):
    """This process, from which jedi may load compiled modules of the standard library alone."""

    def get_sys_path(self) -> list[str]:
        """Folders of this Python that are no site-packages."""
        names = ("site-packages", "dist-packages")
        inside = (sys.prefix, sys.base_prefix)
        return [p for p in sys.path if p.startswith(inside) and os.path.basename(p) not in names and p.endswith(TAILS)]


#: How the standard library's folders end: pythonX.Y, lib-dynload, pythonXY.zip; Lib and DLLs on Windows.
TAILS = (f"python{sys.version_info.major}.{sys.version_info.minor}", "lib-dynload", ".zip", "Lib", "DLLs")

#: Re-exports that are followed for one name.
HOPS = 8


class Worker:
    """Answers requests about one workspace."""

    def __init__(self, folder: str, sys_path: list[str]) -> None:
        jedi.settings.auto_import_modules = []  # it would import these from anywhere
        self.environment = StandardLibrary()
        self.project = jedi.Project(
            folder,
            sys_path=[*sys_path, *self.environment.get_sys_path()],
            smart_sys_path=False,
            load_unsafe_extensions=False,
        )

    def answer(self, request: dict[str, Any]) -> Any:
        if request["kind"] == "signature":
            return self.signature(request["name"])
        return self.definition(request["path"], request["text"], request["line"], request["column"])

    def signature(self, name: str) -> dict[str, str] | None:
        """Signature and docstring of a dotted name; where its module ends is found by trying."""
        parts = name.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            expression = ".".join(parts[cut:])
            text = f"from {'.'.join(parts[:cut])} import {parts[cut]}\n{expression}"
            found = self.script(text, None).infer(2, len(expression))
            if found:
                return documentation(found[0])
        return None

    def definition(self, path: str, text: str, line: int, column: int) -> list[dict[str, Any]]:
        names = [followed(n) for n in self.script(text, path).goto(line + 1, column, follow_imports=True)]
        return [
            {"path": str(n.module_path), "line": n.line - 1, "column": n.column, "name": n.name}
            for n in names
            if n.module_path is not None and n.line is not None
        ]

    def script(self, text: str, path: str | None) -> jedi.Script:
        return jedi.Script(text, path=path, project=self.project, environment=self.environment)


def followed(name: Any) -> Any:
    """Through re-exports (`from .reductions import sum as sum`), at which jedi stops, to the definition itself."""
    for _ in range(HOPS):
        further = [n for n in name.goto(follow_imports=True) if n.line is not None]
        if not further or (further[0].module_path, further[0].line) == (name.module_path, name.line):
            break
        name = further[0]
    return name


def documentation(name: Any) -> dict[str, str]:
    signatures = name.get_signatures()
    return {
        "signature": signatures[0].to_string() if signatures else name.description,
        "docstring": name.docstring(raw=True),
    }


def serve(requests: TextIO, answers: TextIO) -> None:
    """Until the input ends."""
    start = json.loads(requests.readline())
    worker = Worker(start["folder"], start["sys_path"])
    for line in requests:
        request = json.loads(line)
        try:
            answer = {"id": request["id"], "result": worker.answer(request)}
        except Exception as error:  # jedi raises many kinds on odd code; the next request may well succeed
            answer = {"id": request["id"], "error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever is printed must not mix with the answers
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    serve(requests, answers)


if __name__ == "__main__":
    main()
