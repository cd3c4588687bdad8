"""tools/find_python.sh: which Python is chosen on machines that have several, broken ones or none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "find_python.sh"
TOOLS = ("sh", "awk", "head", "sort", "tr", "cat")

# Answers the script's question as a Python of another version would.
STAND_IN = """#!/bin/sh
echo "{rank} $0"
"""
RANKS = {"3.13": 1, "3.12": 2, "3.14": 3, "3.15": 4, "3.11": 5}


class Machine:
    """A PATH with the few programs that the script needs, to which Pythons are added."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            program = shutil.which(tool)
            assert program is not None
            (self.bin / tool).symlink_to(program)

    def add(self, file: Path, script: str) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script)
        file.chmod(0o755)
        return file

    def python(self, name: str, version: str) -> Path:
        return self.add(self.bin / name, STAND_IN.format(rank=RANKS[version]))

    def find(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", str(SCRIPT)],
            env={"PATH": str(self.bin), "HOME": str(self.home), **environment},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("present", "chosen"),
    [
        (["3.11", "3.12", "3.13", "3.14"], "3.13"),
        (["3.11", "3.12", "3.14"], "3.12"),
        (["3.11", "3.14"], "3.14"),
        (["3.11", "3.15"], "3.15"),
        (["3.11"], "3.11"),
    ],
)
def test_the_best_version_wins(machine: Machine, present: list[str], chosen: str):
    for version in present:
        machine.python(f"python{version}", version)
    assert machine.find().stdout.strip() == str(machine.bin / f"python{chosen}")


def test_a_shim_that_fails_is_passed_over(machine: Machine):
    machine.add(machine.bin / "python3.13", "#!/bin/sh\necho 'pyenv: command not found' >&2; exit 127\n")
    python = machine.add(machine.home / ".pyenv/versions/3.12.1/bin/python3", STAND_IN.format(rank=2))
    assert machine.find().stdout.strip() == str(python)


def test_uv_is_asked_where_it_is(machine: Machine):
    python = machine.add(machine.home / "uv/python3.12", STAND_IN.format(rank=2))
    machine.add(machine.bin / "uv", f'#!/bin/sh\n[ "$4" = 3.12 ] && echo {python}\n')
    assert machine.find().stdout.strip() == str(python)


def test_a_path_with_spaces(machine: Machine):
    python = machine.add(machine.home / "my pythons/python3.13", STAND_IN.format(rank=1))
    found = machine.find(PATH=f"{machine.bin}{os.pathsep}{python.parent}")
    assert found.stdout.strip() == str(python)


def test_python_given_by_the_user_decides_alone(machine: Machine):
    machine.python("python3.13", "3.13")
    mine = machine.python("mine", "3.11")
    assert machine.find(PYTHON="mine").stdout.strip() == str(mine)


def test_a_given_python_that_does_not_do_is_refused(machine: Machine):
    machine.python("python3.13", "3.13")
    found = machine.find(PYTHON="python2")
    assert found.returncode == 1
    assert found.stdout == ""
    assert "PYTHON=python2 cannot be used: needs Python 3.11 or newer" in found.stderr


def test_without_any_python_it_says_what_is_missing(machine: Machine):
    found = machine.find()
    assert found.returncode == 1
    assert found.stdout == ""
    assert found.stderr.startswith("needs Python 3.11 or newer: none was found")


def test_a_real_python_answers_with_its_own_path():
    found = subprocess.run(
        ["sh", str(SCRIPT)], env={**os.environ, "PYTHON": sys.executable}, capture_output=True, text=True, check=False
    )
    assert found.stdout.strip() == sys.executable
