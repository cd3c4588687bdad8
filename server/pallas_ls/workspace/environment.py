"""The user's Python environment, read from its files: nothing of it is imported or started."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata

from packaging.version import InvalidVersion, Version

from ..domain.target import MEASURED, NEWEST, JaxVersion

#: Names of a workspace's own virtual environment, in the order in which they are looked for.
OWN = (".venv", "venv", ".env", "env")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python executable, and why it was chosen ("the setting `python`", "VIRTUAL_ENV")."""

    path: str
    origin: str


@dataclass(frozen=True, slots=True)
class Environment:
    """What an interpreter's environment holds.

    Attributes:
      site_paths: its site-packages, then folders that .pth files add (editable installations).
      jax: JAX's version as its metadata writes it; None where there is no JAX.
    """

    interpreter: Interpreter
    site_paths: tuple[str, ...]
    jax: str | None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The measured version whose rules apply; `note` says so where it is not the one that is installed."""

    version: JaxVersion
    note: str = ""


def find_interpreter(folder: str, setting: str | None = None, environ: Mapping[str, str] | None = None) -> Interpreter:
    """The interpreter of a workspace folder: the setting, the active environment, the folder's own, else this one.

    A setting is taken as it is, relative to the folder; it may also name an environment's folder.
    """
    environ = os.environ if environ is None else environ
    if setting:
        path = os.path.join(folder, os.path.expanduser(setting))
        return Interpreter(_executable(path) or path, "the setting `python`")
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if python := _executable(environ.get(variable, "")):
            return Interpreter(python, variable)
    for name in OWN:
        if python := _executable(os.path.join(folder, name)):
            return Interpreter(python, f"{name} of the workspace")
    return Interpreter(sys.executable, "the Python that runs pallas-ls")


def inspect(interpreter: Interpreter) -> Environment:
    """Looks at the files of an interpreter's environment."""
    found = {os.path.realpath(path): path for path in reversed(list(_site_paths(interpreter.path)))}
    site_paths = tuple(reversed(found.values()))  # lib64 is a link to lib
    return Environment(interpreter, site_paths, _jax_version(site_paths))


def rule_set(version: JaxVersion | None, installed: str | None = None) -> RuleSet:
    """The rule set for a version.

    A version of a measured series (0.11.0 of 0.11.2's) gets that series' rules, for series differ in the default
    semantics; any other the newest that is not newer.
    """
    if version is None:
        return RuleSet(NEWEST, f"no JAX found: the rules of {NEWEST} apply")
    if version in MEASURED and not _is_prerelease(installed):
        return RuleSet(version)
    shown = installed or str(version)
    series = [m for m in MEASURED if (m.major, m.minor) == (version.major, version.minor)]
    older = [m for m in MEASURED if m <= version]
    if series or older:
        chosen = (series or older)[-1]
        return RuleSet(chosen, f"JAX {shown} has not been measured: the rules of {chosen} apply")
    return RuleSet(MEASURED[0], f"JAX {shown} is older than what has been measured: the rules of {MEASURED[0]} apply")


def rules_for(environment: Environment) -> RuleSet:
    """The rule set for an environment's JAX."""
    python = environment.interpreter
    if environment.jax is None:
        return RuleSet(NEWEST, f"no JAX in {python.path} ({python.origin}): the rules of {NEWEST} apply")
    try:
        return rule_set(JaxVersion.parse(environment.jax), environment.jax)
    except ValueError:
        return RuleSet(NEWEST, f"JAX's version {environment.jax!r} cannot be read: the rules of {NEWEST} apply")


def _is_prerelease(installed: str | None) -> bool:
    return bool(installed and re.search(r"[a-z]", installed.partition("+")[0]))


def _executable(prefix: str) -> str | None:
    """The Python of an environment's folder; a path of an executable is returned as it is."""
    if not prefix or os.path.isfile(prefix):
        return prefix or None
    names = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")
    return next((path for name in names if os.path.isfile(path := os.path.join(prefix, *name.split("/")))), None)


def _site_paths(python: str) -> Iterator[str]:
    for path in _site_packages(python):
        yield path
        yield from _added(path)


def _site_packages(python: str) -> Iterator[str]:
    """site-packages of an executable: those of its prefix, and of the installation behind it where those count."""
    prefix = _prefix(python)
    config = _pyvenv(prefix)
    if config is None:
        real = os.path.realpath(python)
        version = _version_in(os.path.basename(real))
        yield from _under(prefix, version)
        yield from _under(_prefix(real), version)
        yield from _debian(version)
        yield from _user(version)
        return
    version = _version_in(config.get("version_info", config.get("version", "")))
    yield from _under(prefix, version)
    if config.get("include-system-site-packages", "").lower() == "true" and (home := config.get("home")):
        yield from _under(os.path.dirname(home), version)
        yield from _debian(version)
        yield from _user(version)


def _prefix(python: str) -> str:
    """The folder of an installation: above `bin` or `Scripts`; on Windows outside a venv, the executable's own."""
    folder = os.path.dirname(os.path.abspath(python))
    return os.path.dirname(folder) if os.path.basename(folder).lower() in ("bin", "scripts") else folder


def _pyvenv(prefix: str) -> dict[str, str] | None:
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            pairs = (line.partition("=") for line in file if "=" in line)
            return {key.strip().lower(): value.strip() for key, _, value in pairs}
    except OSError:
        return None


def _version_in(text: str) -> str | None:
    """ "3.12" of "python3.12" or "3.12.1.final.0"."""
    match = re.search(r"(\d+)\.(\d+)", text)
    return f"{match[1]}.{match[2]}" if match else None


def _under(prefix: str, version: str | None) -> Iterator[str]:
    for lib in ("lib", "lib64"):
        for name in _pythons(os.path.join(prefix, lib), version):
            yield from _existing(os.path.join(prefix, lib, name), "site-packages", "dist-packages")
    yield from _existing(os.path.join(prefix, "Lib"), "site-packages")


def _pythons(lib: str, version: str | None) -> list[str]:
    """Names such as python3.12 (and 3.13's free-threaded python3.13t), the newest first."""
    try:
        names = [name for name in os.listdir(lib) if re.fullmatch(r"python3\.\d+t?", name)]
    except OSError:
        return []
    wanted = [name for name in names if version and name.rstrip("t") == f"python{version}"]
    return sorted(wanted or names, key=lambda name: int(name.rstrip("t")[8:]), reverse=True)


def _debian(version: str | None) -> Iterator[str]:
    if version and os.path.exists("/usr/lib/python3"):
        yield from _existing(f"/usr/local/lib/python{version}", "dist-packages")
        yield from _existing("/usr/lib/python3", "dist-packages")


def _user(version: str | None) -> Iterator[str]:
    if version:
        yield from _existing(os.path.expanduser(f"~/.local/lib/python{version}"), "site-packages")


def _existing(folder: str, *names: str) -> Iterator[str]:
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            yield path


def _added(site: str) -> Iterator[str]:
    """Folders that .pth files name. Their `import` lines are code, which is never run."""
    try:
        names = sorted(name for name in os.listdir(site) if name.endswith(".pth"))
    except OSError:
        return
    for name in names:
        try:
            with open(os.path.join(site, name), encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file]
        except OSError:
            continue
        for line in lines:
            if line and not line.startswith(("#", "import ", "import\t")) and "\0" not in line:
                path = os.path.normpath(os.path.join(site, line))
                if os.path.isdir(path):
                    yield path


def _jax_version(site_paths: tuple[str, ...]) -> str | None:
    """The version in the first folder that has JAX's metadata; of several there (a broken upgrade), the highest."""
    for path in site_paths:
        found = [d.metadata["Version"] for d in metadata.distributions(name="jax", path=[path])]
        versions = [version for version in found if version]
        if versions:
            return max(versions, key=_ordering)
    return None


def _ordering(version: str) -> Version:
    try:
        return Version(version)
    except InvalidVersion:
        return Version("0")
