"""The words between host and agent."""

from __future__ import annotations

import ast
import base64
import contextlib
import json
import sys
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pallas_ls.confirm.protocol import (
    BadEvent,
    Call,
    Done,
    Failure,
    Frame,
    Level,
    Machine,
    NoJax,
    Progress,
    Raised,
    Request,
    Verdict,
    program,
    read_event,
)
from pallas_ls.domain.target import Semantics

AGENT = files("pallas_ls.confirm").joinpath("agent.py").read_text()


def sent(request: Request, *, local: bool = True) -> dict[str, object]:
    """The request as the agent decodes it from the program's last line."""
    last = ast.parse(program(request, "MARK", 5.0, local=local)).body[-1]
    assert isinstance(last, ast.Expr)
    assert isinstance(last.value, ast.Call)
    (encoded,) = last.value.args
    return json.loads(base64.b64decode(ast.literal_eval(encoded)))


def test_program_is_the_agent_and_the_request() -> None:
    request = Request(
        files={"a/b.py": "x = 'é\"\\n'"},
        target="a/b.py",
        calls=(Call("1", "f", ("x",), {"k": "1"}),),
        level=Level.COMPILE,
        arch="sm_100a",
        semantics=Semantics.LANE,
        roots=("/src",),
    )
    assert program(request, "MARK", 5.0, local=True).decode().startswith(AGENT)
    assert sent(request) == {
        "version": 1,
        "marker": "MARK",
        "timeout_s": 5.0,
        "level": "compile",
        "files": {"a/b.py": "x = 'é\"\\n'"},
        "target": "a/b.py",
        "roots": ["/src"],
        "mode": "calls",
        "calls": [{"id": "1", "expression": "f", "args": ["x"], "kwargs": {"k": "1"}}],
        "arch": "sm_100a",
        "semantics": "lane",
    }


def test_request_without_calls_imports_the_module() -> None:
    assert sent(Request({"k.py": ""}, "k.py"))["mode"] == "module"


def test_roots_are_not_sent_away() -> None:
    assert sent(Request({"k.py": ""}, "k.py", roots=("/src",)), local=False)["roots"] == []


@given(st.text())
def test_any_text_arrives_unchanged(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    assert sent(Request({"k.py": text}, "k.py"))["files"] == {"k.py": text}


def test_agent_is_one_file_for_any_python() -> None:
    tree = ast.parse(AGENT, feature_version=(3, 10))
    assert AGENT.isascii()
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


EVENTS = {
    '{"event": "hello", "host": "h", "python": "3.12", "executable": "/p"}': Machine("h", "3.12", "/p"),
    '{"event": "no_jax", "message": "m", "python": "3.12", "executable": "/p", "host": "h"}': NoJax("m", "3.12", "/p"),
    '{"event": "progress", "id": "a", "phase": "lower"}': Progress("a", "lower"),
    '{"event": "done"}': Done(),
    '{"event": "of a later version"}': None,
}


@pytest.mark.parametrize("line", EVENTS)
def test_reads_events(line: str) -> None:
    assert read_event(line.encode()) == EVENTS[line]


def test_reads_a_verdict_that_blames() -> None:
    frames = [{"file": "k.py", "line": 1, "function": "f"}, {"file": "t.py", "line": 2, "function": "g"}]
    error = {"type": "Crashed", "message": "m", "frames": frames}
    data = {"event": "verdict", "id": "a", "ok": False, "error": error, "failure": "crashed", "phase": "compile"}
    raised = Raised("Crashed", "m", (Frame("k.py", 1, "f"), Frame("t.py", 2, "g")))
    verdict = read_event(json.dumps(data).encode())
    assert verdict == Verdict("a", ok=False, error=raised, failure=Failure.CRASHED, phase="compile")
    assert raised.blamed == Frame("t.py", 2, "g")


BROKEN = ["", "{", "[]", "1", '{"event": "verdict"}', '{"event": "verdict", "id": 1, "ok": 1, "error": 3, "phase": ""}']


@pytest.mark.parametrize("line", BROKEN)
def test_broken_events_are_one_error(line: str) -> None:
    with pytest.raises(BadEvent):
        read_event(line.encode())


@given(st.binary())
def test_no_bytes_raise_anything_else(line: bytes) -> None:
    with contextlib.suppress(BadEvent):
        read_event(line)
