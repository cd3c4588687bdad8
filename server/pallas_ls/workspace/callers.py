"""Which files of a workspace import a module: where its functions may be called from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .files import WorkspaceFiles, normal
from .walk import NoPython, python_files

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+([^\n(]+|\([^)]*\))|import[ \t]+([^\n]+))", re.MULTILINE
)
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class _Seen:
    """The names in a file's import statements, as long as its stamp is the same."""

    stamp: tuple[int, int]
    names: frozenset[str]


class Callers:
    """An index of import statements. A file is read again when it changed on the disk, an open one at each question."""

    def __init__(self, files: WorkspaceFiles, roots: Sequence[str], exclude: Sequence[str] = ()) -> None:
        self.files = files
        self.roots = tuple(dict.fromkeys(map(normal, roots)))
        self.exclude = exclude
        self._seen: dict[str, _Seen] = {}

    def of(self, path: str, most: int) -> list[str]:
        """Files whose imports name the module, the nearest first."""
        path = normal(path)
        stem = _module_name(path)
        found = [p for p in dict.fromkeys(self._listed()) if p != path and stem in self._names(p)]
        return sorted(found, key=lambda p: (-len(os.path.commonpath([p, path])), p))[:most]

    def _listed(self) -> Iterator[str]:
        for root in self.roots:
            try:
                yield from python_files(root, self.exclude)
            except (NoPython, OSError):
                continue

    def _names(self, path: str) -> frozenset[str]:
        if self.files.is_open(path):
            return imported_names(self.files.content(path) or "")
        try:
            status = os.stat(path)
        except OSError:
            return frozenset()
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._seen.get(path)
        if known is None or known.stamp != stamp:
            known = self._seen[path] = _Seen(stamp, imported_names(self.files.content(path) or ""))
        return known.names


def _module_name(path: str) -> str:
    """The last part of the name that a file is imported by."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return os.path.basename(os.path.dirname(path)) if stem == "__init__" else stem


def imported_names(text: str) -> frozenset[str]:
    """All names in a text's import statements: of modules, of their members and aliases."""
    parts = (part for found in _IMPORT.finditer(text) for part in found.groups() if part)
    return frozenset(name for part in parts for name in _NAME.findall(part))
