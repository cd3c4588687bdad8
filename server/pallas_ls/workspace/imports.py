"""Which file an import statement means."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

#: Packages that the library models, or that are nothing but compiled code behind an interface: never read as source.
NEVER_READ = frozenset({"jax", "jaxlib", "numpy", "scipy"})
#: Where the workspace is JAX's own repository, these are kernels like anybody's.
KERNELS_OF_JAX = "jax.experimental.pallas.ops"


class Resolver:
    """Finds modules in the roots, their `src` folders, the importer's folder and site-packages; nowhere else."""

    def __init__(self, roots: Sequence[str], site_paths: Sequence[str], is_file: Callable[[str], bool]) -> None:
        self.is_file = is_file
        named = [os.path.normpath(root) for root in roots]
        # A folder inside a package was opened: its modules import the package by its whole name.
        self.roots = tuple(dict.fromkeys([*named, *map(self._import_root, named)]))
        self.site_paths = tuple(dict.fromkeys(os.path.normpath(path) for path in site_paths))

    def find(self, name: str, level: int, importer: str) -> str | None:
        """The module's file, the folder of a namespace package, or None.

        `level` counts the dots of a relative import; `name` may then be empty (`from . import x`).
        """
        parts = name.split(".") if name else []
        if not all(part.isidentifier() for part in parts):
            return None
        if level:
            return self._relative(parts, level, importer)
        if not parts:
            return None
        if parts[0] in NEVER_READ:
            inside = f"{name}.".startswith(KERNELS_OF_JAX + ".")
            return self._locate(self.roots, parts) if inside else None
        return self._locate(tuple(dict.fromkeys(self._places(importer))), parts)

    def _relative(self, parts: list[str], level: int, importer: str) -> str | None:
        folder = os.path.dirname(importer)
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        if not self._allowed(folder, importer):
            return None
        if parts:
            return self._locate((folder,), parts)
        return self._regular(os.path.dirname(folder), os.path.basename(folder)) or self._namespace((folder,))

    def _allowed(self, folder: str, importer: str) -> bool:
        places = (*self.roots, *self.site_paths, os.path.dirname(importer))
        return any(folder == place or folder.startswith(place.rstrip(os.sep) + os.sep) for place in places)

    def _places(self, importer: str) -> Iterator[str]:
        """Folders to look in, in order: as Python would for a script, and for a module of a package."""
        own = os.path.dirname(importer)
        in_package = self.is_file(os.path.join(own, "__init__.py"))
        if in_package:
            above = self._import_root(own)
            if self._allowed(above, importer):
                yield above
        else:
            yield own
        for root in self.roots:
            yield root
            yield os.path.join(root, "src")
        yield from self.site_paths
        yield own

    def _import_root(self, folder: str) -> str:
        """The folder above the outermost package that holds `folder`."""
        while self.is_file(os.path.join(folder, "__init__.py")) and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
        return folder

    def _locate(self, places: Sequence[str], parts: Sequence[str]) -> str | None:
        """Descends part by part. A package or module anywhere comes before namespace packages, as in Python."""
        head, rest = parts[0], parts[1:]
        for place in places:
            file = self._regular(place, head)
            if file is None:
                continue
            if not rest:
                return file
            if os.path.basename(file) == "__init__.py" and (found := self._locate((os.path.dirname(file),), rest)):
                return found
        portions = tuple(path for place in places if os.path.isdir(path := os.path.join(place, head)))
        if not portions:
            return self._locate_unsaved(places, head, rest)
        return self._locate(portions, rest) if rest else self._namespace(portions)

    def _locate_unsaved(self, places: Sequence[str], head: str, rest: Sequence[str]) -> str | None:
        """A buffer may lie in a folder that does not exist yet."""
        if not rest:
            return None
        tails = (os.path.join(*rest) + ".py", os.path.join(*rest, "__init__.py"))
        paths = (os.path.join(place, head, tail) for place in places for tail in tails)
        return next((path for path in paths if self.is_file(path)), None)

    def _regular(self, place: str, name: str) -> str | None:
        package = os.path.join(place, name, "__init__.py")
        if self.is_file(package):
            return package
        module = os.path.join(place, name + ".py")
        return module if self.is_file(module) else None

    def _namespace(self, portions: Sequence[str]) -> str | None:
        """The first of the folders that holds Python files, directly: any folder at all would be a package else."""
        return next((path for path in portions if _holds_python(path)), None)


def _holds_python(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".py") for entry in entries)
    except OSError:
        return False
