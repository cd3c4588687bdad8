"""jedi's process: what it answers, and what callers see when it does not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from pallas_ls.workspace.docs import Docs, Place
from pallas_ls.workspace.jedi_process import JediProcess, NoAnswer

WAIT = 120  #: seconds; far more than jedi takes on a busy machine
SILENT = "import sys\nfor line in sys.stdin: pass\n"
DEAF = "import threading\nthreading.Event().wait()\n"  # does not even read
#: Ends at the first question after its start, once; then echoes. It leaves a mark so that the second run knows.
CRASHES_ONCE = """
import json, pathlib, sys
mark = pathlib.Path(sys.argv[1])
sys.stdin.readline()
for line in sys.stdin:
    request = json.loads(line)
    if not mark.exists():
        mark.touch()
        sys.exit(3)
    print(json.dumps({"id": request["id"], "result": {"signature": request["name"], "docstring": ""}}), flush=True)
"""
COUNTS = """
import json, sys
sys.stdin.readline()
for count, line in enumerate(sys.stdin, 1):
    print(json.dumps({"id": json.loads(line)["id"], "result": {"signature": str(count), "docstring": ""}}), flush=True)
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A workspace and an environment with one package."""
    package = tmp_path / "site" / "lib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from lib.ops import store as store\n")
    (package / "ops.py").write_text(
        'def store(src, ref, *, atomic=None):\n    """Stores a value."""\n\n\n'
        'class Barrier:\n    """A barrier."""\n\n    def wait(self, phase: int = 0) -> None:\n        """Waits."""\n'
    )
    (tmp_path / "work").mkdir()
    return tmp_path


@pytest.fixture
def docs(library: Path) -> Iterator[Docs]:
    made = Docs(JediProcess(str(library / "work"), [str(library / "work"), str(library / "site")], timeout=WAIT))
    yield made
    made.close()


def scripted(tmp_path: Path, script: str, *arguments: str, timeout: float = WAIT) -> JediProcess:
    return JediProcess(str(tmp_path), [], [sys.executable, "-c", script, *arguments], timeout)


def test_documentation_of_a_name(docs: Docs) -> None:
    found = docs.documentation("lib.store").result(WAIT)
    assert found is not None
    assert (found.signature, found.docstring) == ("store(src, ref, *, atomic=None)", "Stores a value.")
    method = docs.documentation("lib.ops.Barrier.wait").result(WAIT)
    assert method is not None
    assert method.docstring == "Waits."
    assert docs.documentation("lib.nothing").result(WAIT) is None
    assert docs.known("lib.store") == found


def test_definition_through_a_re_export(docs: Docs, library: Path) -> None:
    text = "import lib\n\nlib.store(1, 2)\n"
    (found,) = docs.definition(str(library / "work" / "k.py"), text, 2, 5).result(WAIT)
    assert found == Place(str(library / "site" / "lib" / "ops.py"), 0, 4, "store")
    assert docs.definition(str(library / "work" / "k.py"), text, 1, 0).result(WAIT) == ()


def test_a_question_that_jedi_cannot_read_does_not_end_it(docs: Docs, library: Path) -> None:
    with pytest.raises(NoAnswer, match="ValueError"):
        docs.definition(str(library / "work" / "k.py"), "x\n", 99, 0).result(WAIT)
    assert docs.documentation("lib.store").result(WAIT) is not None


@pytest.mark.skipif(os.name == "nt", reason="the layout is another")
def test_nothing_of_the_workspace_is_started(library: Path) -> None:
    """Not its Python, not a module that hides jedi or this package, not what jedi would import by itself."""
    work = library / "work"
    trace = library / "ran"
    spy = f"import pathlib; pathlib.Path({str(trace)!r}).touch()\n"
    for name in ("jedi.py", "parso.py", "pallas_ls.py", "gi.py", "json.py", "sitecustomize.py"):
        (work / name).write_text(spy)
    python = work / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\ntouch {trace}\n")
    python.chmod(0o755)
    (work / ".venv" / "pyvenv.cfg").write_text("version = 3.12\n")
    docs = Docs(JediProcess(str(work), [str(work), str(library / "site")], timeout=WAIT))
    text = "import gi, lib\ngi.Repository\nlib.store\n"
    docs.definition(str(work / "k.py"), text, 1, 5).result(WAIT)
    assert docs.definition(str(work / "k.py"), text, 2, 5).result(WAIT)
    docs.close()
    assert not trace.exists()


@pytest.mark.parametrize("script", [SILENT, DEAF])
def test_a_process_that_never_answers_holds_nobody_up(tmp_path: Path, script: str) -> None:
    docs = Docs(scripted(tmp_path, script))
    text = "x = 1\n" * 500_000  # more than a pipe holds
    place = docs.definition("k.py", text, 0, 0)
    assert docs.known("lib.store") is None
    futures = [docs.documentation(f"lib.name{n}") for n in range(100)]
    assert not place.done() and not any(future.done() for future in futures)
    assert docs.documentation("lib.name1") is futures[1]
    place.cancel()
    with pytest.raises(CancelledError):
        place.result()
    docs.close()
    for future in futures:
        with pytest.raises(NoAnswer):
            future.result(WAIT)


def test_after_a_time_out_the_process_is_started_anew(tmp_path: Path) -> None:
    process = scripted(tmp_path, SILENT, timeout=0.05)
    for _ in range(2):
        with pytest.raises(NoAnswer, match=r"no answer within 0\.05 s"):
            process.submit("signature", name="x").result(WAIT)
    process.close()


def test_after_a_crash_the_next_question_is_answered(tmp_path: Path) -> None:
    docs = Docs(scripted(tmp_path, CRASHES_ONCE, str(tmp_path / "mark")))
    with pytest.raises(NoAnswer, match="failed: it ended"):
        docs.documentation("lib.store").result(WAIT)
    found = docs.documentation("lib.store").result(WAIT)
    assert found is not None and found.signature == "lib.store"
    docs.close()


def test_a_command_that_cannot_be_started(tmp_path: Path) -> None:
    process = JediProcess(str(tmp_path), [], [str(tmp_path / "nowhere")])
    with pytest.raises(NoAnswer, match="failed"):
        process.submit("signature", name="x").result(WAIT)
    process.close()


def test_a_process_that_prints_anything_else(tmp_path: Path) -> None:
    process = scripted(tmp_path, "import sys\nprint('hello', flush=True)\nsys.stdin.read()\n")
    with pytest.raises(NoAnswer, match="failed"):
        process.submit("signature", name="x").result(WAIT)
    process.close()


def test_answers_are_remembered_and_failures_are_not(tmp_path: Path) -> None:
    docs = Docs(scripted(tmp_path, COUNTS))
    first = docs.documentation("a").result(WAIT)
    second = docs.documentation("b").result(WAIT)
    assert first is not None and second is not None
    assert (first.signature, second.signature) == ("1", "2")
    assert docs.documentation("a").result(WAIT) is first
    docs.close()


def test_nothing_is_started_before_the_first_question(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    process = scripted(tmp_path, f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    process.close()
    assert not mark.exists()
    with pytest.raises(NoAnswer, match="closed"):
        process.submit("signature", name="x").result(WAIT)
