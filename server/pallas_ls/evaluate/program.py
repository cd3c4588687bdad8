"""A program under analysis: modules, their units of evaluation, and what is kept from one edit to the next.

A *unit* is a chunk at module level, or an entry function with its parameters as symbols. A unit's memo holds the
global names that it read
with their versions; it is valid while its text and those versions are the same. A name's version is made of the text
and the reads of the
unit that wrote it, so equal versions mean equal values without comparing them.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable
from typing import Any, Protocol

from ..domain.context import Parametrised
from ..domain.python import MISSING, Call, Class, Opaque, Value
from ..source.module import Chunk, Module
from ..source.span import Site
from .attributes import Attributes
from .calls import Calls
from .classes import Classes
from .compile_stmt import Compiler
from .entries import Entries
from .frame import Frame, Function
from .imports import Imports
from .items import Items
from .machine import BudgetExceeded, Machine, Raised
from .memo import Memo, ModuleState
from .modules import ABSENT, ModuleEnv
from .reach import reachable
from .relevance import Relevance
from .scope import Scope, body_scope
from .summaries import Summaries
from .trail import Trail, put
from .ways import Way, Ways

#: Evaluated statements, calls and loop rounds that one unit may take.
BUDGET = 200_000


class Files(Protocol):
    """Where modules come from."""

    def find(self, name: str, level: int, importer: str) -> str | None:
        """Path of an imported module of the workspace, or None."""
        ...

    def module(self, path: str) -> Module | None:
        """The parsed text of a file, or None where it cannot be read."""
        ...


class Program:
    """All modules under analysis.

    Attributes:
      focus: what the names of the library's modules hold that files are evaluated for; "": all files are.
      extra: statements that are run in a module besides its own (examples of calls), as chunks.
      evaluated: statements evaluated since the last `reset_count`, by (path, chunk key).
    """

    def __init__(
        self,
        files: Files,
        library: Any,
        extra: Callable[[Module], list[Chunk]] = lambda module: [],
        budget: int = BUDGET,
        focus: str = "",
    ) -> None:
        self.files = files
        self.library = library
        self.budget = budget
        self.extra = extra
        self.attributes = Attributes(self)
        self.items = Items(self)
        self.calls = Calls(self)
        self.classes = Classes(self)
        self.entries = Entries(self)
        self.summaries = Summaries(self)
        self.ways = Ways(self)
        self.imports = Imports(self)
        self.relevance = Relevance(self, focus)
        self.nowhere = Site("", "", 0, 0)
        self.states: dict[str, ModuleState] = {}
        self.evaluated: dict[tuple[str, str], int] = {}
        self.revision = 0
        self.analysing: list[str] = []

    # -- running -----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Files may have changed: everything is checked again at its next use."""
        self.revision += 1

    def reset_count(self) -> None:
        """Starts to count evaluated statements anew."""
        self.evaluated = {}

    def load(self, m: Machine, name: str, level: int, importer: str) -> ModuleEnv | None:
        """The module that an import names, run; None where it is not of the workspace."""
        path = self.files.find(name, level, importer)
        if path is None:
            return None
        state = self.run(path, name)
        return state.env if state else None

    def run(self, path: str, name: str = "__main__") -> ModuleState | None:
        """Brings a module's global names up to date."""
        module = self.files.module(path)
        if module is None:
            return None
        state = self.states.get(path)
        if state is None:
            state = self.states[path] = ModuleState(ModuleEnv(path, name, self))
        if state.env.running or state.revision == self.revision:
            return state
        state.env.running = True
        try:
            self._run_chunks(state, module)
        finally:
            state.env.running = False
        state.revision = self.revision
        return state

    def _run_chunks(self, state: ModuleState, module: Module) -> None:
        env = state.env
        env.module = module
        for slots, key, value in state.initial.values():
            put(slots, key, value)
        state.initial.clear()
        env.vars.clear()
        env.versions.clear()
        env.vars["__name__"] = env.name if env.name else "__main__"
        env.vars["__file__"] = env.path
        old, state.chunks = state.chunks, {}
        owners = {member: chunk.key for chunk in module.chunks for member in chunk.members}
        for chunk in module.chunks:
            owner = owners.get(chunk.key)
            memo = old.get(chunk.key)
            if memo is None or memo.digest != chunk.digest or not self._valid(memo):
                memo = self._evaluate_chunk(state, chunk, owner)
            else:
                self._replay(state, memo)
            self._touch(state, memo, owner)
            state.chunks[chunk.key] = memo
        live = {id(c) for c in module.chunks}
        state.compiled = {k: v for k, v in state.compiled.items() if k in live}

    def _valid(self, memo: Memo) -> bool:
        for (path, name), version in memo.reads.items():
            state = self.states.get(path)
            if state is None or not (state.env.running or self.run(path, state.env.name)):
                return False
            if state.env.versions.get(name, ABSENT) != version:
                return False
        return True

    def _replay(self, state: ModuleState, memo: Memo) -> None:
        for name, value in memo.globals.items():
            put(state.env.vars, name, value)
            state.env.versions[name] = _digest(memo.version, name)
        self._mark_members(state, memo)
        for slots, key, value in memo.cells:
            state.initial.setdefault((id(slots), key), (slots, key, slots.get(key, MISSING)))
            put(slots, key, value)

    # -- chunks ------------------------------------------------------------------------------------

    def _evaluate_chunk(self, state: ModuleState, chunk: Chunk, owner: str | None) -> Memo:
        run = self._compiled(state, chunk, owner)
        env = state.env

        def body(m: Machine) -> Frame:
            if owner is None:
                fr = Frame(m, env, None, env.vars)
            else:
                holder = env.read(m, owner)
                cls = holder if isinstance(holder, Class) else Class(owner, (), {})
                fr = Frame(m, env, None, cls.slots)
                fr.owner = cls
                fr.members = owner
            run(fr)
            return fr

        memo = self._unit(chunk, body)
        for name in memo.globals:
            env.versions[name] = _digest(memo.version, name)
        self._mark_members(state, memo)
        for slots, key, old in memo.cells:
            state.initial.setdefault((id(slots), key), (slots, key, old))
        memo.cells = [(slots, key, slots.get(key, MISSING)) for slots, key, _ in memo.cells]
        return memo

    def _mark_members(self, state: ModuleState, memo: Memo) -> None:
        """Names that a member wrote into its class have versions of their own: `class Config.tile`."""
        for name in memo.members:
            state.env.versions[name] = _digest(memo.version, name)

    def _touch(self, state: ModuleState, memo: Memo, owner: str | None) -> None:
        """A class whose member was evaluated, and objects that a unit changed, are other values from then on."""
        names = [(state.env, owner.split(" ", 1)[1].split("#")[0])] if owner is not None else []
        changed = {id(slots) for slots, _, _ in memo.cells} - memo.own_class
        if changed:
            names += [
                (s.env, name)
                for s in self.states.values()
                for name, value in s.env.vars.items()
                if not changed.isdisjoint(reachable([value]))
            ]
        for env, name in names:
            if name in env.versions:
                env.versions[name] = _digest(env.versions[name], memo.version)

    def _compiled(self, state: ModuleState, chunk: Chunk, owner: str | None) -> Any:
        known = state.compiled.get(id(chunk))
        if known is not None:
            return known[1]
        compiler = Compiler(state.env.path, chunk)
        scope = Scope("module", frozenset())
        tree = list(chunk.tree)
        if owner is not None:
            scope = body_scope("class", tree, scope)
        run = compiler.block(tree, scope) if tree else (lambda fr: 0)
        state.compiled[id(chunk)] = (chunk, run)
        return run

    def _unit(
        self,
        chunk: Chunk,
        body: Callable[[Machine], Frame],
        entry: bool = False,
        origin: str = "",
        unit: tuple[str, str] | None = None,
    ) -> Memo:
        """Evaluates a unit in a machine of its own. `cells` holds the old values of foreign slots that it wrote."""
        m = Machine(self.budget, self)
        m.trail = m.base = trail = Trail()
        m.unit = unit
        stopped: str | None = None
        made: list[Function] = []
        fr: Frame | None = None
        try:
            fr = body(m)
            made = fr.made
        except Raised as r:
            stopped = r.name
            m.note_raised(r, m.path.guards)
        except BudgetExceeded:
            stopped = "the analysis of this part took too many steps"
            m.notes.append(stopped)
        if entry:
            self.look_into(m, m.kernels, m.made, set())
        for fact in m.facts_out:
            fact.facts.notes.release()
        for key, n in m.evaluated.items():
            self.evaluated[key] = self.evaluated.get(key, 0) + n
        reads = dict(m.reads)
        version = _digest(chunk.key, chunk.digest, *(f"{p}:{n}={v}" for (p, n), v in sorted(reads.items())))
        own = {id(env.vars): env for env in {e.path: e for e in m.global_writes.values()}.values()}
        foreign = self._foreign(reads) if len(trail.old) > len(m.global_writes) else set[int]()
        globals_: dict[str, Value] = {}
        cells: list[tuple[dict[str, Value], str, Value]] = []
        for slots, key, old in trail.old.values():
            if id(slots) in own:
                globals_[key] = slots.get(key, MISSING)
            elif id(slots) in foreign:
                cells.append((slots, key, old))
        members: list[str] = []
        own_class: frozenset[int] = frozenset()
        if fr is not None and fr.members:
            cls = fr.owner
            own_class = frozenset((id(cls.slots), id(cls.annotations), id(cls.options)))
            members = [
                f"{fr.members}.{key}" for slots, key, _ in cells if slots is cls.slots or slots is cls.annotations
            ]
        if entry:
            trail.undo()  # what an entry does to the module's objects is not seen by the others
        return Memo(
            digest=chunk.digest,
            reads=reads,
            version=version,
            globals=globals_,
            cells=cells,
            facts=m.facts_out,
            raises=m.raises,
            made=made,
            notes=m.notes,
            evaluated=m.evaluated,
            stopped=stopped,
            idle=[k for k in m.kernels if id(k) not in m.launched],
            uncalled=[f for f in m.made if id(f.code) not in m.called],
            used=m.launched | m.called,
            divisions=frozenset(m.divisions),
            host_calls=m.host_calls,
            failed=frozenset(m.failed),
            interrupted=frozenset(m.interrupted),
            parametrised=list(m.parametrised.values()),
            members=members,
            own_class=own_class,
            origin=origin,
            ways=m.ways,
            borrowed=m.borrowed,
        )

    def _foreign(self, reads: dict[tuple[str, str], str]) -> set[int]:
        """The slots of objects that the unit found under global names (and did not make itself)."""
        return reachable(s.env.vars.get(n) for (p, n) in reads for s in [self.states.get(p)] if s is not None)

    def look_into(self, m: Machine, kernels: list[Any], functions: list[Function], used: set[int]) -> None:
        """Kernels that nobody launches and functions that nobody calls are evaluated over symbols."""
        m.kernels, m.made = list(kernels), list(functions)
        seen = set(used)
        while m.kernels or m.made:
            while m.kernels:
                kernel = m.kernels.pop()
                if id(kernel) not in m.launched and id(kernel) not in seen:
                    seen.add(id(kernel))
                    self._guarded(m, "a kernel", lambda k=kernel: self.library.launch_idle(m, k))
            if m.made:
                f = m.made.pop()
                if f.up is not None and id(f.code) not in m.called and id(f.code) not in seen:
                    seen.add(id(f.code))
                    self._generic(m, f, f"{f.name}:")

    def _generic(self, m: Machine, f: Function, prefix: str) -> None:
        """Evaluates a function over symbols for its parameters."""
        self._guarded(m, f.name, lambda: self.calls.run(m, f, self.entries.arguments(m, f, prefix)))

    def _guarded(self, m: Machine, what: str, run: Callable[[], Any]) -> None:
        """What the program raises, and the end of the budget, end one evaluation and not the others."""
        try:
            run()
        except Raised as r:
            m.note_raised(r, m.path.guards)
        except BudgetExceeded:
            m.notes.append(f"{what}: the analysis took too many steps")

    # -- entries -----------------------------------------------------------------------------------

    def analyse(self, path: str) -> list[Memo]:
        """All units of a file, brought up to date: its chunks, then its entry functions. None where the file is beside
        the point."""
        self.analysing.append(path)
        try:
            return self._analyse(path)
        finally:
            self.analysing.pop()

    def _analyse(self, path: str) -> list[Memo]:
        module = self.files.module(path)
        if module is None or not (self.relevance.of_file(path) or self.extra(module)):
            return []
        state = self.run(path)
        if state is None or state.env.module is None:
            return []
        old, state.entries = state.entries, {}
        for chunk in self.relevance.callees_first(state.env.module):
            version = state.chunks[chunk.key].version
            for f in state.chunks[chunk.key].made:
                key = f"{chunk.key}:{f.code.site.start}"
                self._keep(state, old, key, chunk, lambda m, f=f, c=chunk: self._entry(m, f, c), version)
            for i, test in enumerate(state.chunks[chunk.key].parametrised):
                self._keep(state, old, f"{chunk.key}:rows {i}", chunk, self._rows(test, chunk), version)
        for chunk in self.extra(state.env.module):
            self._keep(state, old, chunk.key, chunk, lambda m, c=chunk: self._extra(m, state, c))
        used = set[int]().union(*(memo.used for memo in (*state.chunks.values(), *state.entries.values())))
        for chunk in state.env.module.chunks:
            memo = state.chunks[chunk.key]
            kernels = [k for k in memo.idle if id(k) not in used]
            functions = [f for f in memo.uncalled if id(f.code) not in used]
            if kernels or functions:
                key = f"{chunk.key}:idle {_digest(memo.version, str(len(kernels)), str(len(functions)))}"
                self._keep(state, old, key, chunk, lambda m, k=kernels, f=functions: self._idle(m, k, f, used))
        for key, memo in old.items():
            if state.entries.get(key) is not memo:
                self.ways.drop(memo.ways)
        state.analysed = self.revision
        return state.memos()

    def _rows(self, test: Parametrised, chunk: Chunk) -> Callable[[Machine], Frame]:
        """Calls a test with each of its rows of arguments."""

        def run(m: Machine) -> Frame:
            if _is_expected_to_fail(chunk):
                m.caught = ("BaseException",)
            me = _test_object(test)
            for row in test.rows:
                call = Call(row.site or self.nowhere, (*me, *row.args), dict(row.kwargs))
                path, launches, active = m.path, len(m.launches), len(m.active)
                self._guarded(m, "a parametrised test", lambda c=call: self.calls.apply(m, test.function, c))
                m.path = path
                del m.launches[launches:], m.active[active:]
            return self._no_frame(m)

        return run

    def _extra(self, m: Machine, state: ModuleState, chunk: Chunk) -> Frame:
        """A statement that is no part of the module's text, run in its namespace."""
        fr = Frame(m, state.env, None, {})
        Compiler(state.env.path, chunk).block(list(chunk.tree), Scope("module", frozenset()))(fr)
        return fr

    def _keep(
        self,
        state: ModuleState,
        old: dict[str, Memo],
        key: str,
        chunk: Chunk,
        body: Callable[[Machine], Frame],
        origin: str = "",
    ) -> None:
        """Brings the memo of an entry up to date. `origin` is the version of the unit that made what is evaluated."""
        memo = old.get(key)
        if memo is None or memo.origin != origin or not self._current(memo, chunk) or not self._lent(memo):
            memo = self._unit(chunk, body, True, origin, (state.env.path, key))
        state.entries[key] = memo

    def _current(self, memo: Memo, chunk: Chunk | None) -> bool:
        return chunk is not None and memo.digest == chunk.digest and self._valid(memo)

    def _lent(self, memo: Memo) -> bool:
        """Whether the launches that a unit passed over still stand elsewhere."""
        return all(map(self.stands, memo.borrowed))

    def bring(self, path: str) -> bool:
        """Brings a file's entries up to date, unless they are or are being so."""
        state = self.states.get(path)
        if path in self.analysing or state is None or state.analysed == self.revision:
            return False
        self.analyse(path)
        return True

    def stands(self, way: Way, m: Machine | None = None) -> bool:
        """Whether the unit that evaluated a launch is up to date and still has it. `m`: the evaluation under way."""
        if m is not None and m.unit == (way.path, way.entry):
            return way in m.ways
        state, module = self.states.get(way.path), self.files.module(way.path)
        memo = state.entries.get(way.entry) if state is not None else None
        if memo is None or module is None or way not in memo.ways:
            return False
        return self._current(memo, module.get(way.entry.rsplit(":", 1)[0]))

    def _idle(self, m: Machine, kernels: list[Any], functions: list[Function], used: set[int]) -> Frame:
        self.look_into(m, kernels, functions, used)
        return self._no_frame(m)

    def _no_frame(self, m: Machine) -> Frame:
        return Frame(m, ModuleEnv("", "", self), None, {})

    def _entry(self, m: Machine, f: Function, chunk: Chunk) -> Frame:
        if _is_expected_to_fail(chunk):
            m.caught = ("BaseException",)
        self._generic(m, f, "")
        return self._no_frame(m)


def _test_object(test: Parametrised) -> tuple[Value, ...]:
    """What a test that is a method gets first."""
    f = test.function
    owner = f.owner if isinstance(f, Function) else None
    return (Opaque("self", "", owner),) if isinstance(owner, Class) else ()


def _is_expected_to_fail(chunk: Chunk) -> bool:
    """Whether a test's decorators say that it fails, or that it never runs."""
    decorators = [d for node in chunk.tree for d in getattr(node, "decorator_list", ())]
    return any(re.search(r"\b(xfail|skip|expectedFailure)\b", ast.unparse(d)) for d in decorators)


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=12).hexdigest()
