"""Files of a workspace that may call the functions of a file: those that import a module of its name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from .files import WorkspaceFiles
from .walk import NoPython, python_files

#: Files that are read for the name, and those of them that are then analysed.
MOST_READ = 3_000
MOST_FOUND = 30


def possible_callers(path: str, root: str, exclude: Sequence[str], files: WorkspaceFiles) -> Iterator[str]:
    """Paths of other files below `root` that mention the module in an import, nearest folders first."""
    stem = os.path.splitext(os.path.basename(path))[0]
    if stem == "__init__":
        stem = os.path.basename(os.path.dirname(path))
    imported = re.compile(rf"^[ \t]*(?:from|import)\b[^\n]*\b{re.escape(stem)}\b", re.MULTILINE)
    try:
        every = python_files(root, exclude, root)
    except (NoPython, OSError):
        return
    near = sorted((p for p in every if p != path), key=lambda p: -len(os.path.commonpath([p, path])))
    found = 0
    for other in near[:MOST_READ]:
        if found < MOST_FOUND and imported.search(files.content(other) or ""):
            found += 1
            yield other
