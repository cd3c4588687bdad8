"""Between URIs, which the protocol names documents by, and the paths that the analysis knows."""

from __future__ import annotations

import ntpath
import os
import re
from pathlib import PurePosixPath, PureWindowsPath
from types import ModuleType
from urllib.parse import quote, unquote, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:(/|$)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # two letters at least: one is a drive
_NO_FILE = re.compile(rf"(?:[A-Za-z]:)?[\\/]({_SCHEME.pattern})[\\/]([^\\/]*)$")


def path_of(uri: str, system: ModuleType = os.path) -> str:
    """The path that the analysis knows a document by. `system`: `ntpath` or `posixpath`.

    On Windows a drive letter is put in lower case, as VS Code does: `file:///C:/a.py` and `file:///c%3A/a.py` are
    one file. A document that is no file (`untitled:`, a notebook's cell) gets a path in a folder that does not
    exist: it can import from the workspace, and nothing lies beside it.
    """
    parts = urlsplit(uri)
    if parts.scheme != "file":
        scheme, _, rest = uri.partition(":")
        return system.abspath(system.join(system.sep, f"{scheme}:", quote(rest, safe="")))
    path = unquote(parts.path)
    if parts.netloc and parts.netloc != "localhost":
        path = f"//{parts.netloc}{path}"
    elif system is ntpath and _DRIVE.match(path):
        path = path[1].lower() + path[2:]
    return system.normpath(path)


def uri_of(path: str, system: ModuleType = os.path) -> str:
    """The URI of a path, `path_of` turned round."""
    if match := _NO_FILE.match(path):
        return match[1] + unquote(match[2])
    return (PureWindowsPath(path) if system is ntpath else PurePosixPath(path)).as_uri()


def is_file(path: str) -> bool:
    """Whether the path is one of the file system, and stands for no other URI."""
    return not _NO_FILE.match(path)
