"""Check a built vsix: what is in it, and that the bundled server answers an editor's first request.

    python tools/check_vsix.py pallas-ls-0.1.0.vsix [PYTHON ...]

The server is started as the extension starts it, by each PYTHON given (default: the one that runs this file).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any

REQUIRED = (
    "package.json",
    "readme.md",
    "LICENSE.txt",
    "dist/extension.js",
    "dist/THIRD-PARTY-LICENSES.txt",
    "bundled/run_server.py",
    "bundled/libs/pallas_ls/cli.py",
    "bundled/libs/pallas_ls/docs/rules/README.md",
    "bundled/libs/pygls/__init__.py",
    "bundled/libs/jedi/__init__.py",
)
COMPILED_SUFFIXES = {".so", ".pyd", ".dll", ".dylib", ".pyc"}
ALLOWED_ROOTS = {"package.json", "readme.md", "changelog.md", "LICENSE.txt", "NOTICE", "dist", "bundled"}
ANSWER_WITHIN_S = 60


class VsixError(Exception):
    """The vsix would not work; the message says why."""


def check_contents(names: list[str]) -> None:
    """Raises VsixError if something is missing, compiled, or does not belong to the extension."""
    inside = [name.removeprefix("extension/") for name in names if name.startswith("extension/")]
    if absent := [name for name in REQUIRED if name not in inside]:
        raise VsixError(f"missing: {', '.join(absent)}")
    if compiled := [name for name in inside if Path(name).suffix in COMPILED_SUFFIXES]:
        raise VsixError(f"compiled: {', '.join(compiled)}")
    if foreign := [name for name in inside if name.split("/")[0] not in ALLOWED_ROOTS]:
        raise VsixError(f"does not belong there: {', '.join(foreign)}")


def message(method: str, params: dict[str, Any] | None, identifier: int | None = None) -> bytes:
    """One LSP message; a notification where there is no identifier."""
    content: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if identifier is not None:
        content["id"] = identifier
    body = json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def messages(output: IO[bytes]) -> list[dict[str, Any]]:
    """All LSP messages until the output ends."""
    found: list[dict[str, Any]] = []
    while line := output.readline():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
            while output.readline().strip():
                pass
            found.append(json.loads(output.read(length)))
    return found


def check_server(extension: Path, python: str) -> str:
    """The name and version with which the bundled server answers `initialize`; VsixError if it does not."""
    launcher = extension / "bundled" / "run_server.py"
    command = [python, "-I", "-S", "-X", "utf8", str(launcher), "server"]
    options = {"settings": {}, "interpreter": python, "trusted": False}
    initialize = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
    requests = message("initialize", initialize, 1) + message("initialized", {})
    requests += message("shutdown", None, 2) + message("exit", None)
    with tempfile.TemporaryFile() as output:
        try:
            done = subprocess.run(
                command, input=requests, stdout=output, stderr=subprocess.PIPE, timeout=ANSWER_WITHIN_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise VsixError(f"{python}: the server did not end within {ANSWER_WITHIN_S} s") from error
        output.seek(0)
        answers = {answer.get("id"): answer for answer in messages(output)}
    if done.returncode != 0 or "result" not in answers.get(1, {}):
        raise VsixError(f"{python}: the server ended with status {done.returncode}:\n{done.stderr.decode()}")
    info = answers[1]["result"].get("serverInfo", {})
    return f"{info.get('name', 'a server')} {info.get('version', '')}".strip()


def main(vsix: Path, pythons: list[str]) -> int:
    try:
        with zipfile.ZipFile(vsix) as archive, tempfile.TemporaryDirectory() as folder:
            check_contents(archive.namelist())
            archive.extractall(folder)
            for python in pythons:
                print(f"{vsix}: {check_server(Path(folder) / 'extension', python)} answers with {python}")
    except (VsixError, OSError, zipfile.BadZipFile) as error:
        print(f"{vsix}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:] or [sys.executable]))
