"""How the project comes about: from the workspace's folders, the settings of editor and project, and the environment.

It is worked out in the analysis thread, which reads many small files for it, and worked out again when any of them
changes.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from lsprotocol import types

from ..workspace.docs import Docs
from ..workspace.jedi_process import JediProcess
from ..workspace.project import Project, open_project
from ..workspace.settings import Layer
from .analysis import Ground
from .core import PallasServer
from .paths import path_of
from .settings import SECTION, EditorSettings, merged, read_settings, section

logger = logging.getLogger(__name__)


def initialized(server: PallasServer, params: types.InitializedParams) -> None:
    """With what the client said so far, then with what it answers."""
    del params
    configure(server, server.options.settings)
    server.background(_ask_client(server))
    server.background(_register(server))


def configure(server: PallasServer, values: Mapping[str, Any]) -> None:
    """Takes settings over, in the shape of the section `pallas`, and looks at the project anew."""
    server.values = values
    server.settings = read_settings(values)
    reopen(server)


def reopen(server: PallasServer) -> None:
    """Looks at the project anew; everything open is analysed again."""
    server.background(_reopen(server))


def changed(server: PallasServer, params: types.DidChangeConfigurationParams) -> None:
    """`workspace/didChangeConfiguration`. A client that can be asked is: what it sends along may be old or empty."""
    if server.abilities.configuration:
        server.background(_ask_client(server))
    elif (values := section(params.settings)) is not None:
        configure(server, values)


async def _ask_client(server: PallasServer) -> None:
    if not server.abilities.configuration:
        return
    items = [types.ConfigurationItem(section=SECTION)]
    answer = await server.workspace_configuration_async(types.ConfigurationParams(items))
    values = section(answer[0]) if answer else None
    settings = merged(server.options.settings, values or {})
    if settings != dict(server.values):
        configure(server, settings)


async def _reopen(server: PallasServer) -> None:
    settings, options = server.settings, server.options
    folders = workspace_folders(server)
    job = server.worker.submit(lambda: _open(server, folders, settings, options.interpreter), key="open the project")
    project = await server.result(job)
    if project is None:
        return  # a later change of the settings has taken its place
    server.project = project
    _renew_docs(server, project)
    server.ready.set()
    _log(server, project)
    server.check_all()
    server.refresh_diagnostics()


def _open(server: PallasServer, folders: list[str], settings: EditorSettings, interpreter: str) -> Project:
    """In the analysis thread."""
    # What the client chose for the workspace knows more than the setting that it was made from.
    python = interpreter or settings.interpreter
    layers = [settings.layer, *([Layer({"python": python})] if python else [])]
    project = open_project(folders[0] if folders else os.getcwd(), *layers)
    roots = tuple(dict.fromkeys([project.root, *folders]))
    ground = Ground(roots, project.environment.site_paths, project.target, project.settings)
    if ground != server.analysis.ground:
        server.analysis.stand_on(ground)
    return project


def _renew_docs(server: PallasServer, project: Project) -> None:
    """jedi looks where the analysis does; a process that looks elsewhere is ended."""
    place = (project.root, project.environment.site_paths)
    if server.docs is None or server.docs_place != place:
        if server.docs is not None:
            server.docs.close()
        server.docs_place = place
        server.docs = Docs(JediProcess(project.root, (project.root, *project.environment.site_paths)))


def _log(server: PallasServer, project: Project) -> None:
    python = project.environment.interpreter
    jax = project.environment.jax or "not installed"
    server.log_once(f"environment: {python.path} ({python.origin}), JAX {jax}; root: {project.root}")
    if project.rules.note:
        server.log_once(project.rules.note, logging.WARNING)
    problems = dict.fromkeys((*project.problems, *server.settings.problems))
    for problem in problems:
        server.log_once(str(problem), logging.WARNING)


def workspace_folders(server: PallasServer) -> list[str]:
    """The paths of the client's folders, the first one first."""
    workspace = server.workspace
    uris = list(workspace.folders) or ([workspace.root_uri] if workspace.root_uri else [])
    return [path_of(uri) for uri in uris if uri.startswith("file:")]


WATCHED = ("**/*.py", "**/pyproject.toml")


async def _register(server: PallasServer) -> None:
    """Asks the client to tell of files and settings that change, where it takes such requests."""
    registrations: list[types.Registration] = []
    if server.abilities.watches_files:
        watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        registrations.append(types.Registration("pallas-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if server.abilities.watches_configuration and server.abilities.configuration:
        section = types.DidChangeConfigurationRegistrationOptions(section="pallas")
        registrations.append(types.Registration("pallas-settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
    if registrations:
        await server.client_register_capability_async(types.RegistrationParams(registrations))
