"""The settings: `[tool.pallas-ls]` of pyproject.toml, the editor's, those of the command line; later ones win."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from pathspec import GitIgnoreSpec

from ..confirm.ways import Remote, read_remotes
from ..domain.target import JaxVersion, Semantics

TABLE = "tool.pallas-ls"


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """What is wrong with a setting. Its text is one line.

    Attributes:
      where: the file, "the editor's settings" or "the command line".
      key: the full key, "" where the file as a whole cannot be read.
    """

    where: str
    key: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.where, self.key, self.message) if part)


@dataclass(frozen=True, slots=True)
class Example:
    """Arguments that a kernel is called with, for owners who want no comments for tools in their code.

    Attributes:
      module: a file relative to the settings' root ("kernels/matmul.py") or a dotted module name.
      function: the function in it; arguments: as in the comment: "a: bf16[4096, 4096], tile_m=128".
    """

    module: str
    function: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person has set; None or empty where nothing is.

    Attributes:
      root: folder that paths and patterns are relative to.
      jax_version: whose rules apply; else that of the environment.
      arch: GPU architecture ("sm_90a").
      python: the interpreter whose environment is looked at.
      select, ignore: rule ids to report, not to report.
      per_file_ignores: (pattern as in .gitignore, rule ids).
      exclude: patterns, as in .gitignore, of files that are not walked.
      remotes: machines to confirm on, by name.
    """

    root: str = ""
    jax_version: JaxVersion | None = None
    semantics: Semantics | None = None
    arch: str | None = None
    python: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    remotes: Mapping[str, Remote] = field(default_factory=dict[str, Remote])

    def examples_of(self, path: str) -> list[tuple[str, str]]:
        """(function, arguments) of the examples for a file."""
        try:
            relative = PurePath(path).relative_to(self.root).as_posix()
        except ValueError:
            return []
        dotted = relative.removesuffix(".py").replace("/", ".")
        return [(e.function, e.arguments) for e in self.examples if e.module in (relative, dotted)]

    def rule_ids(self) -> Iterable[str]:
        """All ids that are mentioned."""
        yield from self.select
        yield from self.ignore
        for _, ids in self.per_file_ignores:
            yield from ids


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of settings, as read: values by field of `Settings`, and what was wrong."""

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    problems: tuple[SettingProblem, ...] = ()
    root: str | None = None


class _Wrong(Exception):
    """A value is not what its key needs; the message says what it must be."""


def read_layer(data: Mapping[str, Any], where: str, prefix: str = "", foreign: frozenset[str] = frozenset()) -> Layer:
    """Reads a table of settings; keys in `foreign` are somebody else's. Never raises.

    Keys may be written as in pyproject.toml (`jax-version`) or as editors do (`jaxVersion`); None means: not set.
    """
    values: dict[str, Any] = {}
    problems: list[SettingProblem] = []
    for key, value in data.items():
        name = _kebab(key)
        full = f"{prefix}.{key}" if prefix else key
        if value is None or key in foreign or name in foreign:
            continue
        reader = READERS.get(name)
        if reader is None:
            problems.append(SettingProblem(where, full, f"unknown key{suggestion(name, READERS)}"))
            continue
        try:
            values[FIELDS.get(name, name.replace("-", "_"))] = reader(value)
        except _Wrong as wrong:
            problems.append(SettingProblem(where, full, str(wrong)))
    return Layer(values, tuple(problems))


def read_pyproject(folder: str) -> Layer:
    """The settings that hold in a folder: of the nearest pyproject.toml upwards that has a table of ours."""
    for place in _upwards(os.path.abspath(folder)):
        file = os.path.join(place, "pyproject.toml")
        if not os.path.isfile(file):
            continue
        try:
            with open(file, "rb") as stream:
                data = tomllib.load(stream)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error).splitlines()[0]
            return Layer(problems=(SettingProblem(file, "", f"cannot be read: {reason}"),), root=place)
        tool = data.get("tool")
        table = tool.get("pallas-ls") if isinstance(tool, dict) else None
        if isinstance(table, dict):
            return replace(read_layer(table, file, TABLE), root=place)
        if table is not None:
            return Layer(problems=(SettingProblem(file, TABLE, "must be a table"),), root=place)
    return Layer()


def combine(root: str, *layers: Layer) -> tuple[Settings, tuple[SettingProblem, ...]]:
    """One `Settings` of several layers: of each key, the last one's value. `root`: where no layer has one."""
    values: dict[str, Any] = {}
    for layer in layers:
        values.update(layer.values)
    found = next((layer.root for layer in layers if layer.root), root)
    return Settings(root=found, **values), tuple(problem for layer in layers for problem in layer.problems)


def unknown_ids(ids: Iterable[str], known: Iterable[str]) -> list[str]:
    """For each id that is no rule, a clause that says so: "there is no rule 'bytez' (did you mean 'bytes'?)"."""
    rules = list(known)
    return [f"there is no rule {name!r}{suggestion(name, rules)}" for name in dict.fromkeys(ids) if name not in rules]


def suggestion(name: str, known: Iterable[str]) -> str:
    """ " (did you mean …?)", where something known is close."""
    close = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _upwards(folder: str) -> Iterable[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _kebab(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "-" + match[1].lower(), key).replace("_", "-")


# -- values ------------------------------------------------------------------------------------------------------------


def _kind(value: object) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), type(value).__name__)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise _Wrong(f"must be {what}, not {_kind(value)}")
    return value


def jax_version(value: object) -> JaxVersion:
    text = _text(value, 'a version such as "0.11.2"')
    try:
        return JaxVersion.parse(text)
    except ValueError as error:
        raise _Wrong(f'must be a version such as "0.11.2", not {text!r}') from error


def semantics(value: object) -> Semantics:
    text = _text(value, '"lane" or "warpgroup"')
    try:
        return Semantics(text.lower())
    except ValueError as error:
        raise _Wrong(f'must be "lane" or "warpgroup", not {text!r}') from error


def architecture(value: object) -> str:
    text = _text(value, 'a GPU architecture such as "sm_90a"')
    if not re.fullmatch(r"sm_\d{2,3}[af]?", text):
        raise _Wrong(f'must be a GPU architecture such as "sm_90a" or "sm_100a", not {text!r}')
    return text


def _interpreter(value: object) -> str:
    return _text(value, "the path of a Python interpreter")


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise _Wrong(f"must be a list of {what}, not {_kind(value)}")
    wrong = next((item for item in value if not isinstance(item, str)), None)
    if wrong is not None:
        raise _Wrong(f"must be a list of {what}; {wrong!r} is {_kind(wrong)}")
    return tuple(item.strip() for item in value)


def _ids(value: object) -> tuple[str, ...]:
    return _texts(value, "rule ids")


def _patterns(value: object) -> tuple[str, ...]:
    patterns = _texts(value, "patterns as in .gitignore")
    for pattern in patterns:
        _check_pattern(pattern)
    return patterns


def _check_pattern(pattern: str) -> None:
    try:
        GitIgnoreSpec.from_lines([pattern])
    except ValueError as error:
        raise _Wrong(f"{pattern!r} is no pattern as in .gitignore") from error


def _per_file(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, Mapping):
        raise _Wrong(f'must be a table such as {{"tests/*.py" = ["unused-ignore"]}}, not {_kind(value)}')
    read: list[tuple[str, tuple[str, ...]]] = []
    for pattern, ids in value.items():
        _check_pattern(str(pattern))
        try:
            read.append((str(pattern), _ids(ids)))
        except _Wrong as wrong:
            raise _Wrong(f"{pattern!r} {wrong}") from wrong
    return tuple(read)


def _examples(value: object) -> tuple[Example, ...]:
    shape = '{"kernels/matmul.py::matmul" = "a: bf16[4096, 4096], tile_m=128"}'
    if not isinstance(value, Mapping):
        raise _Wrong(f"must be a table such as {shape}, not {_kind(value)}")
    read: list[Example] = []
    for key, arguments in value.items():
        module, _, function = str(key).rpartition("::") if "::" in str(key) else str(key).rpartition(".")
        if not module or not function.replace(".", "_").isidentifier():
            raise _Wrong(f"{key!r} must name a function, as in {shape}")
        texts = [arguments] if isinstance(arguments, str) else arguments
        try:
            read.extend(Example(module, function, text) for text in _texts(texts, "arguments as strings"))
        except _Wrong as wrong:
            raise _Wrong(f"{key!r} {wrong}") from wrong
    return tuple(read)


def _remotes(value: object) -> Mapping[str, Remote]:
    remotes = read_remotes(value)
    if remotes.problems:
        raise _Wrong(remotes.problems[0].removeprefix("pallas.remotes").lstrip(": ."))
    return remotes.by_name


READERS: Mapping[str, Callable[[object], Any]] = {
    "jax-version": jax_version,
    "semantics": semantics,
    "target": architecture,
    "python": _interpreter,
    "select": _ids,
    "ignore": _ids,
    "per-file-ignores": _per_file,
    "exclude": _patterns,
    "examples": _examples,
    "remotes": _remotes,
}
#: Keys whose field of `Settings` has another name.
FIELDS: Mapping[str, str] = {"target": "arch"}
