"""Editors with server processes, ended when the test is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest
import pytest_asyncio
from lsprotocol import types

from .editor import LIMIT, SCRIPTED, SERVER, Editor, everything


class Pipe:
    """A named pipe that whoever reads it waits at, until it is released."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer: TextIO | None = None
        os.mkfifo(path)

    async def reached(self) -> None:
        """Waits until somebody stands there."""
        self._writer = await asyncio.wait_for(asyncio.to_thread(self.path.open, "w"), LIMIT)

    def release(self) -> None:
        """Lets whoever stands there go on."""
        if self._writer is not None:
            self._writer.close()


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    made = Pipe(tmp_path / "pipe")
    yield made
    made.release()


StartEditor = Callable[..., Awaitable[Editor]]


@pytest_asyncio.fixture(loop_scope="session")
async def start_editor(tmp_path: Path) -> AsyncIterator[StartEditor]:
    """Starts an editor with a server of its own: `await start_editor(command, capabilities=, options=, ...)`."""
    started: list[Editor] = []

    async def start(
        command: list[str],
        capabilities: types.ClientCapabilities | None = None,
        options: dict[str, Any] | None = None,
        env: dict[str, str] | None = None,
        settings: dict[str, Any] | None = None,
    ) -> Editor:
        editor = Editor(tmp_path, settings)
        started.append(editor)
        await editor.start(command, env)
        await editor.initialize(capabilities, options)
        return editor

    yield start
    for editor in started:
        await editor.stop()


async def shared(command: list[str], folder: Path) -> AsyncIterator[Editor]:
    editor = Editor(folder)
    await editor.start(command)
    await editor.initialize(everything())
    yield editor
    await editor.stop()


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def shared_scripted(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    async for editor in shared(SCRIPTED, tmp_path_factory.mktemp("scripted")):
        yield editor


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def shared_real(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    async for editor in shared(SERVER, tmp_path_factory.mktemp("real")):
        yield editor


@pytest.fixture
def scripted(shared_scripted: Editor, request: pytest.FixtureRequest) -> Iterator[Editor]:
    """An editor with the scripted server and all capabilities, in a folder of its own; the server is shared."""
    yield from shared_scripted.in_folder(request.node.name)


@pytest.fixture
def editor(shared_real: Editor, request: pytest.FixtureRequest) -> Iterator[Editor]:
    """An editor with the real server and all capabilities, in a folder of its own; the server is shared."""
    yield from shared_real.in_folder(request.node.name)
