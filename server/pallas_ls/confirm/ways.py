"""The ways to reach a Python with JAX, and the setting `pallas.remotes` that names those on other machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Local:
    """A Python on this machine, the user's environment.

    Attributes:
      python: its executable.
      folder: the working folder of the user's code, the workspace; None keeps the caller's.
    """

    python: str
    folder: str | None = None

    @property
    def name(self) -> str:
        return "this machine"


@dataclass(frozen=True, slots=True)
class Remote:
    """A Python behind a command.

    Attributes:
      name: what the user calls it.
      prefix: the command that the Python's is appended to: ("ssh", "gpubox"), ("srun", "--gres=gpu:1"), ... It must
        hand on standard input and output (docker: `run -i`, kubectl: `exec -i`); there is no terminal to ask for a
        password on.
      python: the Python there, one word.
    """

    name: str
    prefix: tuple[str, ...]
    python: str = "python3"


Way = Local | Remote


def command(way: Way) -> list[str]:
    """The argument vector that starts a Python there which reads its program from standard input."""
    prefix = way.prefix if isinstance(way, Remote) else ()
    return [*prefix, way.python, "-"]


@dataclass(frozen=True, slots=True)
class Remotes:
    """`pallas.remotes` as read: the usable ones by name, and one sentence for each entry that is not."""

    by_name: Mapping[str, Remote]
    problems: tuple[str, ...]


def read_remotes(setting: object) -> Remotes:
    """Reads `{name: [prefix...] | {"prefix": [...], "python": "..."}}`. Never raises."""
    if setting is None:
        return Remotes({}, ())
    if not isinstance(setting, Mapping):
        return Remotes({}, ('pallas.remotes must be an object such as {"gpubox": ["ssh", "gpubox"]}',))
    read = [read_remote(str(name), value) for name, value in setting.items()]
    return Remotes(
        {remote.name: remote for remote in read if isinstance(remote, Remote)},
        tuple(problem for problem in read if isinstance(problem, str)),
    )


def read_remote(name: str, value: object) -> Remote | str:
    """One entry of the setting, or what is wrong with it."""
    fields: Mapping[object, object] = value if isinstance(value, Mapping) else {"prefix": value}
    unknown = sorted(str(key) for key in fields if key not in ("prefix", "python"))
    if unknown:
        return f"pallas.remotes.{name}: unknown key {unknown[0]!r} (known: prefix, python)"
    prefix = words(fields.get("prefix"))
    if not prefix:
        return f'pallas.remotes.{name}: the prefix must be a list of words such as ["ssh", "gpubox"]'
    python = fields.get("python", "python3")
    if not isinstance(python, str) or not python.strip() or python.startswith("-"):
        return f'pallas.remotes.{name}: python must be a command such as "python3"'
    return Remote(name, prefix, python)


def words(value: object) -> tuple[str, ...]:
    """The list as a tuple of non-empty strings without NUL; empty where it is none."""
    if not isinstance(value, (list, tuple)):
        return ()
    found = tuple(word for word in value if isinstance(word, str) and word and "\0" not in word)
    return found if len(found) == len(value) else ()
