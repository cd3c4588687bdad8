"""A project: the folder that settings and imports are relative to, its settings, its environment and its target."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ..domain.target import Target
from . import environment
from .environment import Environment, RuleSet
from .files import WorkspaceFiles, normal
from .settings import Layer, SettingProblem, Settings, combine, read_pyproject

#: What marks the root of a project, looked for upwards.
MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg", ".jj")


@dataclass(frozen=True, slots=True)
class Project:
    """What the analysis of a folder's files needs to know.

    Attributes:
      root: modules are imported from here (and from its `src`).
      rules: whose rules apply, and a note where that is not simply the installed version.
      problems: of the settings.
    """

    root: str
    settings: Settings
    environment: Environment
    rules: RuleSet
    problems: tuple[SettingProblem, ...] = ()

    @property
    def target(self) -> Target:
        """What the answers are for."""
        return Target(self.rules.version, self.settings.semantics, self.settings.arch)

    def files(self) -> WorkspaceFiles:
        """The project's files, for a session of its own."""
        return WorkspaceFiles((self.root,), self.environment.site_paths)


def open_project(folder: str, *above: Layer, environ: Mapping[str, str] | None = None) -> Project:
    """The project of a folder. `above`: layers that win over pyproject.toml (the editor's, the command line's)."""
    layer = read_pyproject(folder)
    root = project_root(folder)
    settings, problems = combine(layer.root or root, layer, *above)
    found = environment.inspect(environment.find_interpreter(settings.root, settings.python, environ))
    version = settings.jax_version
    rules = environment.rule_set(version) if version else environment.rules_for(found)
    return Project(root, settings, found, rules, problems)


def project_root(folder: str) -> str:
    """The nearest folder upwards that looks like a project's root; else the folder itself."""
    folder = normal(folder)
    place = folder
    while True:
        if is_root(place):
            return place
        parent = os.path.dirname(place)
        if parent == place:
            return folder
        place = parent


def is_root(folder: str) -> bool:
    """Whether something in the folder marks it as a project's root."""
    return any(os.path.exists(os.path.join(folder, marker)) for marker in MARKERS)
