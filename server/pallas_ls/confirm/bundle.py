"""The workspace files that a target needs to be imported elsewhere: itself and, transitively, what it imports."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

#: Never sent: the machine's own are what the verdict is about, also where the workspace is JAX's repository.
INSTALLED = frozenset({"jax", "jaxlib", "numpy"})
MAX_FILES = 2_000
MAX_CHARACTERS = 16 << 20

Read = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files to send.

    Attributes:
      target: the target's name in `files`.
      files: text by import path (`pkg/tiles.py`), as `protocol.Request.files` takes them.
      origins: where each came from, by the same names: the paths that `read` was given.
      left_out: import paths that were found but no longer fitted in.
    """

    target: str
    files: Mapping[str, str]
    origins: Mapping[str, str]
    left_out: tuple[str, ...] = ()


def collect(path: str, text: str, roots: Sequence[str], read: Read) -> Bundle:
    """Follows the imports of the file `path`, whose text (saved or not) is `text`.

    `roots` are the folders that modules are imported from, in order (the target's own comes first by itself); `read`
    gives a file's text, or None where there is no such file. Paths have "/". Files that do not parse are sent all the
    same, with the imports that can be read in them.
    """
    root = import_root(path, text, roots, read)
    search = [root, *(r for r in roots if r != root)]
    target = posixpath.relpath(path, root)
    return Collector(search, read).run(target, path, text)


def import_root(path: str, text: str, roots: Sequence[str], read: Read) -> str:
    """The folder that the target's dotted name starts from: above its outermost package.

    A file in no regular package stands for itself, as a script does, unless it uses relative imports: then it is in a
    namespace package, below the nearest root.
    """
    folder = posixpath.dirname(path)
    if read(posixpath.join(folder, "__init__.py")) is None and any(node_level(n) for n in imports(text)):
        above = [root for root in roots if folder.startswith(root.rstrip("/") + "/")]
        return max(above, key=len, default=folder)
    while read(posixpath.join(folder, "__init__.py")) is not None and folder != posixpath.dirname(folder):
        folder = posixpath.dirname(folder)
    return folder


class Collector:
    """The walk over the imports; each module is looked for once."""

    def __init__(self, search: Sequence[str], read: Read) -> None:
        self.search = search
        self.read = read
        self.files: dict[str, str] = {}
        self.origins: dict[str, str] = {}
        self.left_out: list[str] = []
        self.characters = 0
        self.asked: set[str] = set()

    def run(self, target: str, path: str, text: str) -> Bundle:
        self.add(target, path, text)
        waiting = [(target, text)]
        waiting += self.found(list(parents(module_name(target))))
        while waiting:
            name, text = waiting.pop()
            waiting += self.found(list(imported(name, text)))
        return Bundle(target, self.files, self.origins, tuple(self.left_out))

    def found(self, modules: Sequence[str]) -> list[tuple[str, str]]:
        """Adds those of the modules that are files of the workspace and new; returns them with their texts."""
        new: list[tuple[str, str]] = []
        for module in modules:
            if module in self.asked or module.partition(".")[0] in INSTALLED:
                continue
            self.asked.add(module)
            hit = self.locate(module)
            if hit is not None and hit[0] not in self.files and self.add(*hit):
                new.append((hit[0], hit[2]))
        return new

    def locate(self, module: str) -> tuple[str, str, str] | None:
        """(import path, path, text) in the first root that has the module; a package wins over a file, as in Python."""
        stem = module.replace(".", "/")
        for root in self.search:
            for name in (stem + "/__init__.py", stem + ".py"):
                path = posixpath.join(root, name)
                text = self.read(path)
                if text is not None:
                    return name, path, text
        return None

    def add(self, name: str, path: str, text: str) -> bool:
        # The target alone is taken whatever its size.
        if self.files and (len(self.files) >= MAX_FILES or self.characters + len(text) > MAX_CHARACTERS):
            self.left_out.append(name)
            return False
        self.files[name] = text
        self.origins[name] = path
        self.characters += len(text)
        return True


def imported(name: str, text: str) -> Iterator[str]:
    """Dotted names of all modules that importing the file `name` may import, parents first."""
    package = module_name(name).split(".")
    if not name.endswith("/__init__.py"):
        package.pop()
    for node in imports(text):
        for module in named(node, package):
            yield from parents(module)
            yield module


def named(node: ast.Import | ast.ImportFrom, package: Sequence[str]) -> list[str]:
    """What one statement names; `from a import b` names `a` and, as b may be a module, `a.b`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    level = node.level
    if level > len(package):
        return []  # beyond the top: Python raises there
    base = [*package[: len(package) - level + 1]] if level else []
    base += node.module.split(".") if node.module else []
    start = [".".join(base)] if base else []
    return start + [".".join([*base, alias.name]) for alias in node.names if alias.name != "*"]


def parents(module: str) -> Iterator[str]:
    """`a`, `a.b` for `a.b.c`."""
    parts = module.split(".")
    for i in range(1, len(parts)):
        yield ".".join(parts[:i])


def module_name(name: str) -> str:
    """`pkg/tiles.py` is `pkg.tiles`, `pkg/__init__.py` is `pkg`."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports(text: str) -> list[ast.Import | ast.ImportFrom]:
    """All import statements of a text, wherever they stand; of one that does not parse, those on lines of their own."""
    try:
        trees = [ast.parse(text)]
    except (SyntaxError, ValueError):
        trees = [tree for line in text.splitlines() if (tree := import_line(line.strip()))]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


def import_line(line: str) -> ast.Module | None:
    if not line.startswith(("import ", "from ")):
        return None
    try:
        return ast.parse(line)
    except (SyntaxError, ValueError):
        return None


def node_level(node: ast.Import | ast.ImportFrom) -> int:
    """The dots of a relative import; 0 for an absolute one."""
    return node.level if isinstance(node, ast.ImportFrom) else 0
