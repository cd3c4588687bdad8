"""The Python files of a folder, as a person would list them: without what git ignores, virtualenvs and caches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pathspec import GitIgnoreSpec

#: Folders that never hold a person's own kernels.
SKIPPED = frozenset(
    {
        ".git", ".hg", ".svn", ".jj", "__pycache__", "__pypackages__", "node_modules", "site-packages",
        ".tox", ".nox", ".eggs", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".ipynb_checkpoints",
    }
)  # fmt: skip
#: A folder that holds one of these is a Python installation.
INSTALLATION = ("pyvenv.cfg", "conda-meta")


class NoPython(Exception):
    """A folder holds no Python file that may be read. The message is one line, fit for a user."""


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The patterns of one file, relative to the folder that it stands in."""

    folder: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """True: ignored; False: explicitly kept (`!`); None: not mentioned."""
        relative = os.path.relpath(path, self.folder).replace(os.sep, "/")
        if relative == ".." or relative.startswith("../"):
            return None
        return self.spec.check_file(relative + "/" if is_folder else relative).include


def python_files(folder: str, exclude: Sequence[str] = (), root: str | None = None) -> list[str]:
    """Absolute paths of the Python files below a folder, sorted within each folder.

    `exclude` are patterns as in .gitignore, relative to `root` (else to the folder). The folder itself is walked even
    where something ignores it: it was asked for. Raises `NoPython`, and `OSError` if the folder cannot be listed.
    """
    folder = os.path.abspath(folder)
    own = _Patterns(os.path.abspath(root or folder), GitIgnoreSpec.from_lines(exclude))
    files = list(_walk(folder, _above(folder), own))
    if not files:
        raise NoPython(_nothing_found(folder))
    return files


def is_excluded(path: str, exclude: Sequence[str], root: str) -> bool:
    """Whether `exclude` names the file or one of the folders that it lies in."""
    return _Patterns(root, GitIgnoreSpec.from_lines(exclude)).verdict(path, False) is True


def _nothing_found(folder: str) -> str:
    unfiltered = next(_walk(folder, (), _Patterns(folder, GitIgnoreSpec([])), gitignore=False), None)
    return "no Python files in this folder" if unfiltered is None else "all Python files in this folder are ignored"


def _walk(folder: str, ignores: tuple[_Patterns, ...], exclude: _Patterns, gitignore: bool = True) -> Iterator[str]:
    if gitignore:
        ignores = (*ignores, *_patterns(folder))
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    folders: list[str] = []
    for entry in listed:
        is_folder = entry.is_dir(follow_symlinks=False)  # links to folders may lead in circles
        wanted = _is_walked(entry) if is_folder else entry.name.endswith(".py") and entry.is_file()
        if wanted and not _ignored(entry.path, is_folder, ignores) and not exclude.verdict(entry.path, is_folder):
            if is_folder:
                folders.append(entry.path)
            else:
                yield entry.path
    for path in folders:
        if os.access(path, os.R_OK | os.X_OK):
            yield from _walk(path, ignores, exclude, gitignore)


def _is_walked(entry: os.DirEntry[str]) -> bool:
    return entry.name not in SKIPPED and not any(
        os.path.exists(os.path.join(entry.path, sign)) for sign in INSTALLATION
    )


def _ignored(path: str, is_folder: bool, ignores: tuple[_Patterns, ...]) -> bool:
    """As git decides: the innermost file that mentions the path."""
    verdicts = (patterns.verdict(path, is_folder) for patterns in reversed(ignores))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _above(folder: str) -> tuple[_Patterns, ...]:
    """The patterns of the repository that hold for a folder from above; none where they ignore the folder itself."""
    chain = [folder]
    while not os.path.exists(os.path.join(chain[0], ".git")):
        parent = os.path.dirname(chain[0])
        if parent == chain[0]:
            return ()  # in no repository: a .gitignore above means nothing
        chain.insert(0, parent)
    found: tuple[_Patterns, ...] = _exclude_file(chain[0])
    for place, inner in pairwise(chain):
        found = (*found, *_patterns(place))
        if _ignored(inner, True, found):
            return ()
    return found


def _exclude_file(repository: str) -> tuple[_Patterns, ...]:
    return _patterns(repository, os.path.join(repository, ".git", "info", "exclude"))


def _patterns(folder: str, file: str | None = None) -> tuple[_Patterns, ...]:
    try:
        with open(file or os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as lines:
            return (_Patterns(folder, GitIgnoreSpec.from_lines(_valid(lines.read().splitlines()))),)
    except OSError:
        return ()


def _valid(lines: list[str]) -> Iterator[str]:
    """The lines that are patterns; git passes over the others too."""
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        yield line
