"""tools/bundle.py and tools/check_vsix.py: what may get into the extension, and what must."""

from __future__ import annotations

import importlib.util
import json
import sys
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def tool(name: str) -> ModuleType:
    """A script of tools/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bundle = tool("bundle")
check_vsix = tool("check_vsix")


def distribution(libraries: Path, name: str, *requires: str) -> None:
    """Records an installed distribution as pip does."""
    folder = libraries / f"{name.replace('-', '_')}-1.0.dist-info"
    folder.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {text}" for text in requires)]
    (folder / "METADATA").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("requirement", "needed"),
    [
        ("attrs", True),
        ('colorama; platform_system == "Windows"', True),
        ('importlib-metadata; python_version < "3.12"', True),
        ('exceptiongroup; python_version < "3.11"', False),
        ('websockets; extra == "ws"', False),
        ('greenlet; platform_python_implementation == "PyPy"', False),
    ],
)
def test_needed_is_what_any_supported_python_or_platform_asks_for(requirement: str, needed: bool):
    assert bundle.is_needed(Requirement(requirement)) is needed


def test_missing_is_what_is_asked_for_and_not_there(tmp_path: Path):
    distribution(tmp_path, "click", 'colorama>=0.4; platform_system == "Windows"', "typing_extensions")
    distribution(tmp_path, "typing-extensions")
    assert [str(want.name) for want in bundle.missing(tmp_path)] == ["colorama"]


def test_a_compiled_file_is_refused_by_name(tmp_path: Path):
    (tmp_path / "fast").mkdir()
    (tmp_path / "fast" / "_speedups.cpython-312-x86_64-linux-gnu.so").touch()
    with pytest.raises(bundle.BundleError, match=r"fast/_speedups"):
        bundle.check_pure(tmp_path)


def test_pure_files_are_let_in(tmp_path: Path):
    for name in ("module.py", "py.typed", "stub.pyi"):
        (tmp_path / name).touch()
    bundle.check_pure(tmp_path)


COMPLETE = [f"extension/{name}" for name in check_vsix.REQUIRED]


def test_a_complete_vsix_is_accepted():
    check_vsix.check_contents([*COMPLETE, "extension/bundled/libs/x/y.py", "[Content_Types].xml"])


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (COMPLETE[1:], "missing: package.json"),
        ([*COMPLETE, "extension/bundled/libs/a.pyd"], "compiled: bundled/libs/a.pyd"),
        ([*COMPLETE, "extension/tests/test_x.py"], "does not belong there: tests/test_x.py"),
    ],
)
def test_a_wrong_vsix_is_refused_with_the_reason(names: list[str], complaint: str):
    with pytest.raises(check_vsix.VsixError, match=complaint):
        check_vsix.check_contents(names)


def test_messages_are_read_as_they_are_written():
    stream = BytesIO(check_vsix.message("initialize", {"name": "Größe"}, 1) + check_vsix.message("exit", None))
    assert check_vsix.messages(stream) == [
        {"jsonrpc": "2.0", "method": "initialize", "params": {"name": "Größe"}, "id": 1},
        {"jsonrpc": "2.0", "method": "exit", "params": None},
    ]


SERVER = """
import sys
body = {body!r}
sys.stdin.buffer.read()
sys.stdout.write("Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
sys.exit({status})
"""


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    (tmp_path / "bundled").mkdir()
    return tmp_path


def serve(extension: Path, answer: object, status: int = 0) -> None:
    """Puts a server in place that gives one answer and ends."""
    (extension / "bundled" / "run_server.py").write_text(SERVER.format(body=json.dumps(answer), status=status))


def test_a_server_that_answers_is_named(extension: Path):
    serve(extension, {"id": 1, "result": {"capabilities": {}, "serverInfo": {"name": "pallas-ls", "version": "1.2"}}})
    assert check_vsix.check_server(extension, sys.executable) == "pallas-ls 1.2"


@pytest.mark.parametrize(
    ("answer", "status"), [({"id": 1, "error": {"code": -32603}}, 0), ({"id": 1, "result": {}}, 1), ({"id": 9}, 0)]
)
def test_a_server_that_fails_is_refused(extension: Path, answer: object, status: int):
    serve(extension, answer, status)
    with pytest.raises(check_vsix.VsixError, match="ended with status"):
        check_vsix.check_server(extension, sys.executable)
