"""The texts of a workspace: open buffers over the disk, parsed once for each state that they are in."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from ..source.module import Module, parse_module
from ..source.text import UndecodableFile, decode
from .imports import Resolver


class UnreadableFile(Exception):
    """A file's text cannot be had. The message is one clause, fit for a user: "no such file"."""


@dataclass(slots=True)
class _OnDisk:
    """What a file held when it was last read; it is read again when its stamp differs."""

    stamp: tuple[int, int, int]
    text: str = ""
    problem: str = ""


class WorkspaceFiles:
    """Where the evaluator's modules come from (`evaluate.program.Files`). Paths are absolute and normalised.

    Modules are found in the workspace's roots, their `src` folders, the importer's own folder and `site_paths` (the
    site-packages of the user's environment), and nowhere else; of site-packages JAX itself is never read.
    """

    def __init__(self, roots: Sequence[str], site_paths: Sequence[str] = ()) -> None:
        self._overlays: dict[str, str] = {}
        self._disk: dict[str, _OnDisk] = {}
        self._modules: dict[str, Module] = {}
        self._resolver = Resolver(roots, site_paths, self._is_file)

    def overlay(self, path: str, text: str | None) -> None:
        """Sets the text of an open buffer, which hides the file; None closes the buffer."""
        path = normal(path)
        if text is None:
            self._overlays.pop(path, None)
        else:
            self._overlays[path] = text

    def is_open(self, path: str) -> bool:
        """Whether an open buffer hides the file."""
        return normal(path) in self._overlays

    def content(self, path: str) -> str | None:
        """A file's current text; None where it cannot be read."""
        try:
            return self.read(path)
        except UnreadableFile:
            return None

    def read(self, path: str) -> str:
        """A file's current text. Raises `UnreadableFile`."""
        path = normal(path)
        overlay = self._overlays.get(path)
        return overlay if overlay is not None else self._read_disk(path)

    def find(self, name: str, level: int, importer: str) -> str | None:
        """Path of an imported module: its file, or the folder of a namespace package."""
        return self._resolver.find(name, level, normal(importer))

    def module(self, path: str) -> Module | None:
        """The parsed text of a file (a folder counts as an empty one); None where it cannot be read."""
        path = normal(path)
        text = self.content(path)
        if text is None:
            if not os.path.isdir(path):
                return None
            text = ""
        known = self._modules.get(path)
        if known is None or known.text.content != text:
            known = self._modules[path] = parse_module(path, text, known)
        return known

    def _is_file(self, path: str) -> bool:
        return path in self._overlays or os.path.isfile(path)

    def _read_disk(self, path: str) -> str:
        try:
            status = os.stat(path)
        except (OSError, ValueError) as error:
            raise UnreadableFile(_reason(error)) from error
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = self._disk.get(path)
        if known is None or known.stamp != stamp:
            known = self._disk[path] = _load(path, status, stamp)
        if known.problem:
            raise UnreadableFile(known.problem)
        return known.text


def _load(path: str, status: os.stat_result, stamp: tuple[int, int, int]) -> _OnDisk:
    if stat.S_ISDIR(status.st_mode):
        return _OnDisk(stamp, problem="is a folder")
    if not stat.S_ISREG(status.st_mode):  # reading a pipe would wait for whoever writes to it
        return _OnDisk(stamp, problem="is not a regular file")
    try:
        with open(path, "rb") as file:
            return _OnDisk(stamp, text=decode(file.read()))
    except OSError as error:
        return _OnDisk(stamp, problem=_reason(error))
    except UndecodableFile as error:
        return _OnDisk(stamp, problem=str(error))


def _reason(error: OSError | ValueError) -> str:
    """The operating system's reason in lower case: "no such file", "permission denied"."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    strerror = getattr(error, "strerror", None) or str(error)
    return strerror[:1].lower() + strerror[1:]


def normal(path: str) -> str:
    """A path as files are named here: absolute, without `.` and `..`; symbolic links are kept."""
    return os.path.normpath(os.path.join(os.getcwd(), path)) if not os.path.isabs(path) else os.path.normpath(path)
