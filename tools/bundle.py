"""Build `bundled/`: the launcher and the server with its dependencies, for the VS Code extension.

One vsix serves every platform and every Python from 3.11 on, so only pure Python may get in. pip is told so, and two
checks follow, for pip evaluates environment markers for the Python that runs it alone: no compiled file is there, and
each dependency is there that any supported Python or platform asks for (some are wanted on Windows alone).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from itertools import product
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = ROOT / "bundled"
LIBRARIES = BUNDLED / "libs"
LAUNCHER = ROOT / "client" / "launcher" / "run_server.py"

COMPILED_SUFFIXES = {".so", ".pyd", ".dll", ".dylib", ".a", ".lib", ".exe", ".pyc"}
PYTHON_VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
PLATFORMS = (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt"))
PURE = (
    "--only-binary=:all:",
    "--platform=any",
    "--implementation=py",
    "--abi=none",
    f"--python-version={PYTHON_VERSIONS[0]}",
)

# Stubs that jedi ships for packages that kernels do not use: 4,800 of 6,400 files. It does without where they lack;
# its stubs for the standard library stay.
UNUSED = ("jedi/third_party/typeshed/stubs", "jedi/third_party/django-stubs")


class BundleError(Exception):
    """The bundle would not run everywhere; the message says what is in the way."""


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)]
    subprocess.run(command, check=True, cwd=ROOT)


def install(*what: str | Path) -> None:
    """Install requirements or wheels and what they need into the bundle, pure wheels alone."""
    constraints = ROOT / "constraints.txt"
    pip("install", "--target", LIBRARIES, "--upgrade", "--no-compile", *PURE, "--constraint", constraints, *what)


def install_server() -> None:
    with tempfile.TemporaryDirectory() as folder:
        pip("wheel", "--no-deps", "--wheel-dir", folder, ROOT)
        install(*Path(folder).glob("*.whl"))


def environments() -> Iterator[dict[str, str]]:
    """The marker environments that the bundle has to serve."""
    for version, (sys_platform, platform_system, os_name) in product(PYTHON_VERSIONS, PLATFORMS):
        yield {
            "python_version": version,
            "python_full_version": f"{version}.0",
            "sys_platform": sys_platform,
            "platform_system": platform_system,
            "os_name": os_name,
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "extra": "",
        }


def is_needed(requirement: Requirement) -> bool:
    """Whether any supported environment asks for this requirement; extras are never asked for."""
    return requirement.marker is None or any(requirement.marker.evaluate(e) for e in environments())


def missing(libraries: Path) -> list[Requirement]:
    """What the bundled distributions need somewhere and the bundle lacks."""
    found: list[Distribution] = list(distributions(path=[str(libraries)]))
    names = {canonicalize_name(distribution.metadata["Name"]) for distribution in found}
    wanted = (Requirement(text) for distribution in found for text in distribution.requires or ())
    return [want for want in wanted if canonicalize_name(want.name) not in names and is_needed(want)]


def complete() -> None:
    """Add what only other Pythons or platforms need, until nothing is missing."""
    while gaps := missing(LIBRARIES):
        # Without its marker, or pip would pass it over here as well.
        install(*sorted({f"{gap.name}{gap.specifier}" for gap in gaps}))


def prune() -> None:
    """Drop what is unused, the command line scripts (made for this machine) and pip's records of its paths."""
    for name in ("bin", *UNUSED):
        shutil.rmtree(LIBRARIES / name, ignore_errors=True)
    for name in ("RECORD", "direct_url.json", "INSTALLER", "REQUESTED"):
        for file in LIBRARIES.glob(f"*.dist-info/{name}"):
            file.unlink()


def check_pure(folder: Path) -> None:
    """Raises BundleError if a compiled file is in the folder."""
    compiled = sorted(str(f.relative_to(folder)) for f in folder.rglob("*") if f.suffix.lower() in COMPILED_SUFFIXES)
    if compiled:
        raise BundleError(
            f"compiled files cannot be bundled, since the vsix serves every platform: {', '.join(compiled)}"
        )


def main() -> int:
    shutil.rmtree(BUNDLED, ignore_errors=True)
    LIBRARIES.mkdir(parents=True)
    try:
        install_server()
        complete()
        prune()
        check_pure(LIBRARIES)
    except BundleError as error:
        print(f"bundle: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"bundle: pip failed with status {error.returncode}; its message is above", file=sys.stderr)
        return 1
    shutil.copy(LAUNCHER, BUNDLED)
    size = sum(f.stat().st_size for f in BUNDLED.rglob("*") if f.is_file())
    print(f"bundled/: {len(list(distributions(path=[str(LIBRARIES)])))} packages, {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
