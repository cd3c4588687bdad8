"""Which files can have to do with a GPU kernel: all others need no evaluation.

A chunk is relevant where it mentions a name that leads to Mosaic GPU: an import of it, of something relevant in
another module of the workspace, or what a relevant chunk binds. A class is relevant as a whole. A file without such a
chunk calls no kernel (TPU kernels, plain JAX, a web server), and costs its parse. Words, not values, decide: this may
say yes too often, and never no where an evaluation would find a call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..source.module import Chunk, Module

#: Files that cannot reach Pallas' Mosaic GPU backend hold no kernels, and nothing that configures one.
MOSAIC_GPU = "mosaic_gpu"
#: A text that may name something: a type in quotes, a parameter of a test.
_WORDS = re.compile(r"[\w., \[\]|]{1,80}")


@dataclass(frozen=True, slots=True)
class Import:
    """`from module import name as bound` (name "*": all of it), or `import module as bound` (name "")."""

    module: str
    level: int
    name: str
    bound: str


@dataclass(frozen=True, slots=True)
class Words:
    """What a chunk speaks of.

    Attributes:
      chunk: the chunk itself, kept so that its identity stays its own.
      mentions: names that it reads, imports in its functions and words of its texts included; binds: names that it
        may bind in its module or change the content of.
      imports: of the chunk, wherever they stand.
    """

    chunk: Chunk
    mentions: frozenset[str]
    binds: frozenset[str]
    imports: tuple[Import, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Of one module: names that lead to what matters; `any`: a chunk speaks of one; `whole`: every name may."""

    names: frozenset[str] = frozenset()
    any: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Where an import leads: the files of its module and of a submodule of that name; `focused`: to what matters."""

    written: Import
    module: str | None
    inner: str | None
    focused: bool = False


@dataclass(slots=True)
class Relevance:
    """The relevant files of a program, worked out anew for each of its revisions.

    Attributes:
      focus: what the full name of an import of the library's holds that makes it relevant; "": everything is.
    """

    program: Any
    focus: str
    words: dict[int, Words] = field(default_factory=dict[int, Words])
    found: dict[str, Found] = field(default_factory=dict[str, Found])
    sources: dict[str, list[Source]] = field(default_factory=dict[str, list[Source]])
    revision: int = -1

    def of_file(self, path: str) -> bool:
        """Whether any part of a file may lead to what matters."""
        if not self.focus:
            return True
        if self.revision != self.program.revision:
            self.revision = self.program.revision
            self.found.clear()
            self.sources.clear()
        if path not in self.found:
            self._settle(path)
        return self.found[path].any

    def callees_first(self, module: Module) -> list[Chunk]:
        """The chunks of a module, each after those of the functions that it mentions, as far as there is no circle."""
        functions = {c.key.split(" ", 1)[1].split("#")[0]: c for c in module.chunks if c.key.startswith("def ")}
        out: dict[str, Chunk] = {}
        open_: set[str] = set()

        def visit(chunk: Chunk) -> None:
            if chunk.key in out or chunk.key in open_:
                return
            open_.add(chunk.key)
            for name in sorted(self._words(chunk).mentions & functions.keys()):
                visit(functions[name])
            out[chunk.key] = chunk

        for chunk in module.chunks:
            visit(chunk)
        return list(out.values())

    def _settle(self, path: str) -> None:
        """Works out a file and all that it imports, in rounds: imports may go in circles."""
        new: dict[str, Module] = {}
        waiting = [path]
        while waiting:
            at = waiting.pop()
            if at in self.found:
                continue
            self.found[at] = Found()
            module = self.program.files.module(at)
            if module is not None:
                new[at] = module
                self.sources[at] = [self._source(i, at) for w in map(self._words, module.chunks) for i in w.imports]
                waiting += [p for s in self.sources[at] for p in (s.module, s.inner) if p is not None]
        grows = True
        while grows:
            grows = False
            for at, module in new.items():
                now = self._search(module)
                grows = grows or now != self.found[at]
                self.found[at] = now

    def _source(self, i: Import, importer: str) -> Source:
        files = self.program.files
        if i.level == 0 and self.program.library.has_module(i.module):
            return Source(i, None, None, self.focus in f"{i.module}.{i.name}")
        inner = f"{i.module}.{i.name}" if i.module else i.name
        whole = i.name in ("", "*")
        return Source(
            i, files.find(i.module, i.level, importer), None if whole else files.find(inner, i.level, importer)
        )

    def _search(self, module: Module) -> Found:
        words = [self._words(chunk) for chunk in module.chunks]
        imported = {i.bound for w in words for i in w.imports}
        names = {s.written.bound for s in self.sources[module.path] if self._matters(s)}
        if "*" in names:
            return Found(any=True, whole=True)
        classes = {member: chunk.key for chunk in module.chunks for member in chunk.members}
        waiting, chunks = list(words), set[str]()
        grows = True
        while grows:
            found = [w for w in waiting if not w.mentions.isdisjoint(names)]
            keys = {classes.get(w.chunk.key, w.chunk.key) for w in found}
            grows = not keys <= chunks
            chunks |= keys
            mine = [w for w in waiting if classes.get(w.chunk.key, w.chunk.key) in chunks]
            names |= {n for w in mine for n in w.binds - imported}
            waiting = [w for w in waiting if classes.get(w.chunk.key, w.chunk.key) not in chunks]
        return Found(frozenset(names), bool(chunks))

    def _matters(self, source: Source) -> bool:
        if source.focused or (source.inner is not None and self.found[source.inner].any):
            return True
        if source.module is None:
            return False
        found = self.found[source.module]
        name = source.written.name
        return found.whole or (found.any if name in ("", "*") else name in found.names)

    def _words(self, chunk: Chunk) -> Words:
        known = self.words.get(id(chunk))
        if known is None:
            known = self.words[id(chunk)] = words_of(chunk)
        return known


def words_of(chunk: Chunk) -> Words:
    """What a chunk speaks of, from its text alone."""
    mentions: set[str] = set()
    imports: list[Import] = []
    for node in (n for statement in chunk.tree for n in ast.walk(statement)):
        match node:
            case ast.Name():
                mentions.add(node.id)
            case ast.arg():
                mentions.add(node.arg)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                mentions.add(node.name)
            case ast.Constant(value=str() as text) if _WORDS.fullmatch(text):
                mentions.update(re.findall(r"\w+", text))
            case ast.Import():
                imports += [Import(a.name, 0, "", a.asname or a.name.split(".", 1)[0]) for a in node.names]
            case ast.ImportFrom():
                imports += [Import(node.module or "", node.level, a.name, a.asname or a.name) for a in node.names]
            case _:
                pass
    imported = {i.bound for i in imports}
    binds = {n for statement in chunk.tree for n in _changed(statement)} - imported
    return Words(chunk, frozenset(mentions | imported), frozenset(binds), tuple(imports))


def _changed(statement: ast.stmt) -> Iterator[str]:
    """Names of the module that a statement may bind, or change the content of: what it stores to, what it calls a
    method of, what it gives to a call. A function's body runs with its chunk where a decorator or a call asks for it.
    """
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
        for d in statement.decorator_list:
            yield from (n.id for n in ast.walk(d) if isinstance(n, ast.Name))
        for inner in statement.body:
            yield from _stored(inner, calls=False)
    elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from _stored(statement, calls=True)


def _stored(statement: ast.stmt, calls: bool) -> Iterator[str]:
    """Roots of what is stored to or called a method of; `calls`: and of the arguments of calls."""
    for n in ast.walk(statement):
        if isinstance(n, ast.Name) and calls and not isinstance(n.ctx, ast.Load):
            yield n.id
        elif isinstance(n, (ast.Attribute, ast.Subscript)) and not isinstance(n.ctx, ast.Load):
            yield from _root(n)
        elif isinstance(n, ast.Call):
            yield from _root(n.func) if isinstance(n.func, ast.Attribute) else ()
            for a in (*n.args, *(k.value for k in n.keywords)) if calls else ():
                yield from _root(a)
        elif isinstance(n, ast.Global):
            yield from n.names


def _root(e: ast.expr) -> Iterator[str]:
    while isinstance(e, (ast.Attribute, ast.Subscript, ast.Starred)):
        e = e.value
    if isinstance(e, ast.Name):
        yield e.id
