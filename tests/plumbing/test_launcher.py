"""The launcher of the bundled server: what it puts on sys.path, and what it keeps away."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "client" / "launcher" / "run_server.py"
AS_THE_EXTENSION_DOES = ("-I", "-S", "-X", "utf8")

# Stands for the server: says what it was started with and what it sees.
PROBE = """
import json, os, sys

def main():
    import shadowed
    names = ["pytest", "users_module"]
    found = [name for name in names if __import__("importlib.util").util.find_spec(name)]
    print(json.dumps({"arguments": sys.argv[1:], "shadowed": shadowed.__file__, "found": found,
                      "environment": dict(os.environ)}))
    return 7
"""

WORKER = """
import multiprocessing, sys

def work(queue):
    import shadowed
    queue.put([shadowed.__file__, sys.flags.isolated, sys.flags.no_site])

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    print(*queue.get(), *sys.argv[1:])
    process.join()
"""


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle with stand-ins for the server and for one dependency; beside it the user's own module of that name."""
    libraries = tmp_path / "bundled" / "libs"
    package = libraries / "pallas_ls"
    package.mkdir(parents=True)
    shutil.copy(LAUNCHER, tmp_path / "bundled")
    (package / "__init__.py").write_text("")
    (package / "cli.py").write_text(PROBE)
    (package / "worker.py").write_text(WORKER)
    (libraries / "shadowed.py").write_text("")
    users = tmp_path / "users"
    users.mkdir()
    (users / "shadowed.py").write_text("raise SystemExit('the user module was imported')")
    (users / "users_module.py").write_text("")
    return tmp_path


Finished = subprocess.CompletedProcess[str]


def start(bundle: Path, *arguments: str, flags: tuple[str, ...] = AS_THE_EXTENSION_DOES) -> Finished:
    """Runs the launcher in the user's folder, which is also on PYTHONPATH."""
    return subprocess.run(
        [sys.executable, *flags, str(bundle / "bundled" / "run_server.py"), *arguments],
        cwd=bundle / "users",
        env={**os.environ, "PYTHONPATH": str(bundle / "users")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def report(done: Finished) -> dict[str, Any]:
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_the_bundled_packages_are_used_and_the_users_are_not_seen(bundle: Path):
    seen = report(start(bundle, "server"))
    assert seen["shadowed"] == str(bundle / "bundled" / "libs" / "shadowed.py")
    assert seen["found"] == []


def test_arguments_and_exit_status_are_handed_on(bundle: Path):
    done = start(bundle, "server", "--tcp", "4000")
    assert report(done)["arguments"] == ["server", "--tcp", "4000"]
    assert done.returncode == 7


def test_the_environment_of_child_processes_is_the_users(bundle: Path):
    environment = report(start(bundle, "server"))["environment"]
    assert environment["PYTHONPATH"] == str(bundle / "users")


def test_without_the_flags_the_bundled_packages_still_win(bundle: Path):
    seen = report(start(bundle, "server", flags=()))
    assert seen["shadowed"] == str(bundle / "bundled" / "libs" / "shadowed.py")


def test_a_process_of_our_own_sees_the_same_packages(bundle: Path):
    done = start(bundle, "-m", "pallas_ls.worker", "argument")
    assert done.stdout.split() == [str(bundle / "bundled" / "libs" / "shadowed.py"), "1", "1", "argument"], done.stderr


def test_a_failing_server_shows_its_traceback_on_stderr(bundle: Path):
    (bundle / "bundled" / "libs" / "pallas_ls" / "cli.py").write_text("raise ImportError('broken bundle')")
    done = start(bundle, "server")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "ImportError: broken bundle" in done.stderr


# Runs the file that it is given as Python 3.10 would.
AS_OLDER_PYTHON = """
import runpy, sys
sys.version_info = (3, 10, 2)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_python_that_is_too_old_is_told_so(bundle: Path):
    command = [sys.executable, "-c", AS_OLDER_PYTHON, str(bundle / "bundled" / "run_server.py"), "server"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr == f"pallas-ls needs Python 3.11 or newer; {sys.executable} is Python 3.10.\n"
