"""From the PATHs of a command to the files that are looked at, each with its project."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..source.text import UndecodableFile, decode
from ..workspace.files import normal
from ..workspace.project import Project, is_root, open_project
from ..workspace.settings import Layer, unknown_ids
from ..workspace.walk import NoPython, python_files
from .problem import Refused, shown

STDIN = "-"
STDIN_NAME = "stdin.py"


@dataclass(frozen=True, slots=True)
class Job:
    """Files of one project that are analysed together, in one session.

    Attributes:
      overlays: (path, text) of what comes from standard input.
      named: those of `files` that the user named one by one.
    """

    project: Project
    files: tuple[str, ...]
    named: frozenset[str] = frozenset()
    overlays: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Inputs:
    """All jobs of a command, and one line for each PATH that is of no use."""

    jobs: list[Job] = field(default_factory=list[Job])
    problems: list[str] = field(default_factory=list[str])

    @property
    def files(self) -> list[str]:
        """All files, in the order in which they were named or found."""
        return [file for job in self.jobs for file in job.files]


class Projects:
    """The projects of folders; each is opened once."""

    def __init__(self, above: Layer, rule_ids: Iterable[str]) -> None:
        self.above = above
        self.rule_ids = list(rule_ids)
        self._by_folder: dict[str, Project] = {}

    def of_folder(self, folder: str) -> Project:
        """The project of a folder. Raises `Refused` where its configuration is broken."""
        known = self._by_folder.get(folder)
        if known is None:
            inside = any(folder.startswith(top.rstrip(os.sep) + os.sep) for top in self._by_folder)
            above = inside and not is_root(folder)  # also where nothing marks a root: that is the folder named first
            known = self.of_folder(os.path.dirname(folder)) if above else self._open(folder)
            self._by_folder[folder] = known
        return known

    def _open(self, folder: str) -> Project:
        project = open_project(folder, self.above)
        same = next((p for p in self._by_folder.values() if p == project), None)
        if same is not None:
            return same
        if project.problems:
            raise Refused("; ".join(str(problem) for problem in project.problems))
        unknown = unknown_ids(project.settings.rule_ids(), self.rule_ids)
        if unknown:
            raise Refused(f"{_origin(project, self.above)}: {'; '.join(unknown)}")
        return project


def _origin(project: Project, above: Layer) -> str:
    """Where the rule ids of a project's settings were written."""
    if {"select", "ignore"} & set(above.values):
        return "--select, --ignore or the configuration"
    return os.path.join(project.settings.root, "pyproject.toml")


def gather(paths: Sequence[str], projects: Projects, stdin_name: str | None = None) -> Inputs:
    """The files below the PATHs, by project and folder. Raises `Refused`."""
    inputs = Inputs()
    found: dict[str, None] = {}
    named: set[str] = set()
    for path in dict.fromkeys(paths or (".",)):
        if path == STDIN:
            inputs.jobs.append(_standard_input(projects, stdin_name))
        elif os.path.isdir(path):
            _walk(path, projects, inputs, found)
        elif problem := _unusable(path):
            inputs.problems.append(f"{path}: {problem}")
        else:
            found[normal(path)] = None
            named.add(normal(path))
    inputs.jobs += _jobs(found, frozenset(named), projects)
    return inputs


def _unusable(path: str) -> str:
    """Why a path cannot be analysed, "" where it can be tried."""
    if not os.path.lexists(path):
        return "no such file or folder"
    if not os.path.exists(path):
        return "is a link to nothing"
    return "" if os.path.isfile(path) else "is not a regular file"


def _walk(path: str, projects: Projects, inputs: Inputs, found: dict[str, None]) -> None:
    settings = projects.of_folder(normal(path)).settings
    try:
        found.update(dict.fromkeys(python_files(path, settings.exclude, settings.root)))
    except NoPython as error:
        inputs.problems.append(f"{path}: {error}")
    except OSError as error:
        inputs.problems.append(f"{path}: {error.strerror or error}")


def _jobs(files: Iterable[str], named: frozenset[str], projects: Projects) -> list[Job]:
    """A job a project, the files of a folder side by side: they import each other more than others."""
    found: dict[int, tuple[Project, list[str]]] = {}
    for file in files:
        project = projects.of_folder(os.path.dirname(file))
        found.setdefault(id(project), (project, []))[1].append(file)
    return [Job(project, tuple(inside), named.intersection(inside)) for project, inside in found.values()]


def _standard_input(projects: Projects, name: str | None) -> Job:
    try:
        text = decode(sys.stdin.buffer.read())
    except UndecodableFile as error:
        raise Refused(f"standard input: {error}") from error
    path = normal(name or STDIN_NAME)
    return Job(projects.of_folder(os.path.dirname(path)), (path,), frozenset([path]), ((path, text),))


def one_file(path: str, projects: Projects) -> Job:
    """The job of a single file. Raises `Refused`."""
    problem = "is a folder; name a file in it" if os.path.isdir(path) else _unusable(path)
    if problem:
        raise Refused(f"{shown(path)}: {problem}")
    file = normal(path)
    return Job(projects.of_folder(os.path.dirname(file)), (file,), frozenset([file]))
