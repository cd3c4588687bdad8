"""After any series of edits the state is that of a fresh analysis; no more is evaluated than an edit reaches."""

from __future__ import annotations

import os
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pallas_ls.evaluate.memo import Memo
from pallas_ls.evaluate.program import Program

from .snapshot import snapshot
from .workbench import program

EXAMPLES = int(os.environ.get("PALLAS_LS_EXAMPLES", "1"))

#: Statements of the module under edit: {i}, {j} number names, {c} is a constant.
STATEMENTS = (
    "N{i} = {c}",
    "N{i} = N{j} + {c}",
    "L{i} = [{c}, N{j}]",
    "L{i}.append({c})",
    "L{i} += [N{j}]",
    "A{i} = L{j}",
    "A{i}.append({c})",
    "D{i} = {{'k': {c}}}",
    "D{i}['k'] = N{j}",
    "P{i} = (L{j}, {c})",
    "if N{i} > {c}:\n    N{j} = {c}\nelse:\n    L{j} = [{c}]",
    "for n in range({c}):\n    probe(n, N{i})",
    "def f{i}(x, y={c}):\n    probe(x + N{j}, y)\n    return x * {c}",
    "def f{i}(x):\n    L{j}.append(x)\n    return L{j}",
    "def f{i}(x):\n    if x % {c}:\n        raise ValueError(x)\n    return f{j}(x)",
    "def f{i}(x, y=N{j}):\n    def inner(z):\n        return z + y + {c}\n    return inner",
    "N{i} = f{j}({c})",
    "class C{i}:\n    a = {c}\n    b = a + N{j}\n"
    "    def m(self, x):\n        probe(self.b, x)\n        return self.a + x",
    "class C{i}(C{j}):\n    b = {c}\n    def own(self, x):\n        return self.m(x) + {c}",
    "@dataclass(frozen=True)\nclass C{i}:\n    a: int = {c}\n    b: int = 2\n"
    "    @property\n    def size(self):\n        return self.a * self.b",
    "class C{i}(Enum):\n    a = {c}\n    b = N{j}",
    "O{i} = C{j}()",
    "O{i}.b = {c}",
    "N{i} = C{j}.a",
    "N{i} = O{j}.b",
    "N{i} = O{j}.m({c})",
    "def g{i}(c: C{j}):\n    probe(c.a, c.b)",
    "import other",
    "from other import G{i}, helper",
    "N{i} = other.G{j}",
    "N{i} = helper({c})",
    "G{i}.append({c})",
    "counter{i} = make({c})",
    "N{i} = counter{j}()",
    "class C{i}(NamedTuple):\n    a: int = {c}\n    b: int = 2\n"
    "    def m(self, x):\n        return self._replace(a=x).a + self.b",
    "def f{i}(*refs, **scratch):\n    first, *rest = refs\n    probe(first, len(rest))\n"
    "    return sum(scratch.values()) + N{j}",
    "N{i} = f{j}(*L{j}, **D{j})",
    "D{i} |= {{f'k{{n}}': n * {c} for n in range(N{j})}}",
    "F{i} = partial(f{j}, {c}, y=N{j})",
    "N{i} = F{j}()",
    "O{i} = replace(O{j}, b={c})",
    "def at{i}(n):\n    def run(f):\n        return f(n + {c})\n    return run",
    "@at{j}(N{i})\ndef N{j}(x):\n    probe(x, {c})\n    return x + {c}",
    "if (N{i} := {c}) > 2:\n    L{j} = [N{i}]",
    "match N{j}:\n    case 1 | 2:\n        N{i} = {c}\n    case n if n > {c}:\n        N{i} = n\n"
    "    case _:\n        pass",
    "def g{i}(n):\n    for k in range({c}):\n        yield k + N{j}",
    "L{i} = [x * {c} for x in g{j}(2)]",
    "try:\n    N{i} = f{j}({c})\nexcept ValueError:\n    N{i} = {c}\nfinally:\n    L{j} = [1]",
    "@contextmanager\ndef scope{i}(n):\n    L{j}.append(n)\n    yield n + {c}",
    "with scope{j}(N{i}) as N{j}:\n    probe(N{j}, {c})",
    "*L{i}, N{j} = [N{i}, {c}, N{j}]",
    "(N{i}, _), N{j} = ({c}, 0), N{i}",
    "L{i} = list(map(lambda x: x + N{j}, L{j}))",
    "def make(n):\n    seen = [n]\n"
    "    def count():\n        seen.append({c})\n        return len(seen)\n    return count",
)
OTHERS = (
    "G{i} = {c}",
    "G{i} = [{c}]",
    "def helper(x):\n    return x + {c}",
    "def helper(x):\n    G{i}.append(x)\n    return G{i}[0]",
)
HEAD = [
    *("from contextlib import contextmanager", "from dataclasses import dataclass, replace", "from enum import Enum"),
    *("from functools import partial", "from typing import NamedTuple", "from kit import probe"),
]

Draw = Callable[[st.SearchStrategy[Any]], Any]


def statement(draw: Draw, forms: tuple[str, ...]) -> str:
    """One random statement."""
    small = st.integers(0, 1)
    return draw(st.sampled_from(forms)).format(i=draw(small), j=draw(small), c=draw(st.integers(1, 4)))


def edit(draw: Draw, statements: list[str], forms: tuple[str, ...]) -> None:
    """One random edit, in place."""
    at = draw(st.integers(0, max(0, len(statements) - 1)))
    kind = draw(
        st.sampled_from(("constant", "insert", "delete", "duplicate", "move", "break", "mend", "blank", "rename"))
    )
    if kind == "insert" or not statements:
        statements.insert(at, statement(draw, forms))
    elif kind == "constant":
        statements[at] = _with_constant(statements[at], str(draw(st.integers(1, 4))))
    elif kind == "rename":
        statements[at] = statements[at].replace("0", "1", 1)
    elif kind == "delete":
        del statements[at]
    elif kind == "duplicate":
        statements.insert(draw(st.integers(0, len(statements))), statements[at])
    elif kind == "move":
        statements.insert(draw(st.integers(0, len(statements) - 1)), statements.pop(at))
    elif kind == "break":
        statements[at] += draw(st.sampled_from((" (", " +", " = =")))
    elif kind == "mend":
        statements[at] = statements[at].removesuffix(" (").removesuffix(" +").removesuffix(" = =")
    else:
        statements.insert(at, "")


def _with_constant(text: str, digit: str) -> str:
    """The text with its last free-standing number changed."""
    words = text.split(" ")
    for i in range(len(words) - 1, -1, -1):
        if words[i].isdigit():
            return " ".join([*words[:i], digit, *words[i + 1 :]])
    return text


@settings(max_examples=80 * EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_edits_lead_where_a_fresh_analysis_does(data: st.DataObject) -> None:
    """The same global names, facts, raises and notes, at the same places; nothing evaluated beyond the edit's reach."""
    draw: Draw = data.draw
    main = HEAD + [statement(draw, STATEMENTS) for _ in range(draw(st.integers(2, 10)))]
    other = [statement(draw, OTHERS) for _ in range(draw(st.integers(1, 3)))]
    p, files = program({"main": "\n".join(main), "other": "\n".join(other)})
    snapshot(p, files)
    for _ in range(draw(st.integers(1, 5))):
        before = Units(p)
        if draw(st.integers(0, 3)) == 0:
            edit(draw, other, OTHERS)
        else:
            edit(draw, main, STATEMENTS)
        files.put("main", "\n".join(main))
        files.put("other", "\n".join(other))
        p.refresh()
        fresh, fresh_files = program({"main": "\n".join(main), "other": "\n".join(other)})
        context = "\n".join(main) + "\n--- other\n" + "\n".join(other)
        assert difference(snapshot(p, files), snapshot(fresh, fresh_files)) is None, context
        assert not (found := Units(p).beyond(before)), f"{found} evaluated for nothing\n{context}"


def difference(kept: Any, fresh: Any) -> Any:
    """The first pair of parts that differ; None where there is none."""
    if type(kept) is type(fresh) is dict and list(kept) == list(fresh):
        return next((d for k in kept if (d := difference(kept[k], fresh[k])) is not None), None)
    if type(kept) is type(fresh) and isinstance(kept, (list, tuple)) and len(kept) == len(fresh):
        return next((d for a, b in zip(kept, fresh, strict=True) if (d := difference(a, b)) is not None), None)
    return None if kept == fresh else (kept, fresh)


class Units:
    """The units of a program at one moment: chunks and entries, with their memos."""

    def __init__(self, p: Program) -> None:
        self.chunks = {
            path: [(c.key, c.digest) for c in s.env.module.chunks] if s.env.module else []
            for path, s in p.states.items()
        }
        self.memos: dict[tuple[str, str], tuple[str, Memo]] = {}
        self.order: list[tuple[str, str]] = []
        for path in sorted(p.states, reverse=True):  # "other" runs first
            s = p.states[path]
            for key, memo in s.chunks.items():
                self._add((path, key), key, memo)
            for key, memo in s.entries.items():
                self._add((path, f"entry {key}"), key.rsplit(":", 1)[0], memo)

    def _add(self, name: tuple[str, str], chunk: str, memo: Memo) -> None:
        self.memos[name] = (chunk, memo)
        self.order.append(name)

    def beyond(self, before: Units) -> list[tuple[str, str]]:
        """Units that were evaluated since, though neither their text nor what they read has changed."""
        edited = self._edited(before)
        dirty = {
            n for name in before.order if (name[0], before.memos[name][0]) in edited for n in before._written(name)
        }
        found: list[tuple[str, str]] = []
        for name in self.order:
            chunk, memo = self.memos[name]
            old = before.memos.get(name)
            reads = set(memo.reads) | (set(old[1].reads) if old else set())
            made_anew = self.memos[name[0], chunk][1] is not before.memos.get((name[0], chunk), (None, None))[1]
            if (name[0], chunk) in edited or reads & dirty or old is None or (name[1] != chunk and made_anew):
                dirty |= self._written(name) | (before._written(name) if old else set())
            elif old[1] is not memo:
                found.append(name)
        return found

    def _edited(self, before: Units) -> set[tuple[str, str]]:
        """Keys of chunks that are new, gone, changed or moved."""
        out: set[tuple[str, str]] = set()
        for path in self.chunks.keys() | before.chunks.keys():
            old, new = before.chunks.get(path, []), self.chunks.get(path, [])
            blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
            kept_old = {i for b in blocks for i in range(b.a, b.a + b.size)}
            kept_new = {i for b in blocks for i in range(b.b, b.b + b.size)}
            out |= {(path, key) for i, (key, _) in enumerate(old) if i not in kept_old}
            out |= {(path, key) for i, (key, _) in enumerate(new) if i not in kept_new}
        return out

    def _written(self, name: tuple[str, str]) -> set[tuple[str, str]]:
        """Names that a unit writes, or whose objects it changes."""
        path, (chunk, memo) = name[0], self.memos[name]
        names = {(path, n) for n in (*memo.globals, *memo.members)}
        if chunk.startswith("class ") and "." in chunk:
            names.add((path, chunk.split(".")[0].removeprefix("class ").split("#")[0]))
        return names | (set(memo.reads) if memo.cells else set())


# -- single edits --------------------------------------------------------------------------------

MODULE = """\
from kit import probe

TILE = 64
STEPS = 4


def scale(n):
    return n * TILE


def first(m):
    probe(m, 1)
    return m + 1


def second(m):
    probe(scale(m), 2)
    return m + 2


class Plan:
    depth = 2
    width = 8
    area = depth * width

    def one(self):
        probe(self.depth, 3)

    def two(self):
        probe(self.width, 4)
"""


@pytest.mark.parametrize(
    ("old", "new", "evaluated"),
    [
        ("m + 1", "m + 9", {"def first"}),
        ("probe(m, 1)", "probe(m, 7)", {"def first"}),
        ("STEPS = 4", "STEPS = 5", {"STEPS ="}),
        ("TILE = 64", "TILE = 32", {"TILE =", "def scale", "def second"}),
        ("n * TILE", "n + TILE", {"def scale", "def second"}),
        ("width = 8", "width = 16", {"class Plan.width =", "class Plan.area =", "class Plan.def two"}),
        ("probe(self.depth, 3)", "probe(self.depth, 5)", {"class Plan.def one"}),
        ("\n\nclass", "\n\n\n\nclass", set()),
    ],
)
def test_only_what_reads_the_edited_statement_is_evaluated(old: str, new: str, evaluated: set[str]) -> None:
    """Statements are counted by the chunk that they stand in, once more for each evaluation."""
    p, files = program({"main": MODULE})
    p.analyse("main.py")
    files.put("main", MODULE.replace(old, new))
    p.refresh()
    p.reset_count()
    p.analyse("main.py")
    assert {key for _, key in p.evaluated} == evaluated


def test_an_edit_of_an_imported_module_reaches_its_readers_only() -> None:
    """Names of another module are read one by one."""
    p, files = program(
        {"main": "from other import A\nimport other\nX = A\nY = other.B\nZ = 1\n", "other": "A = 1\nB = 2\n"}
    )
    p.analyse("main.py")
    files.put("other", "A = 1\nB = 3\n")
    p.refresh()
    p.reset_count()
    p.analyse("main.py")
    assert p.evaluated == {("other.py", "B ="): 1, ("main.py", "Y ="): 1}


def test_a_function_is_evaluated_once_for_an_edit() -> None:
    """One pass over the statements of the edited function, nested ones included."""
    text = "def main(a):\n    x = a + 1\n    if a > 2:\n        x = x * 2\n    return x\n"
    p, files = program({"main": text})
    p.analyse("main.py")
    files.put("main", text.replace("* 2", "* 3"))
    p.refresh()
    p.reset_count()
    p.analyse("main.py")
    assert p.evaluated == {("main.py", "def main"): 5}


def test_loops_of_unknown_length_are_evaluated_once_where_nothing_in_them_changes() -> None:
    """A nest of two, with what each round binds anew; a sum that grows costs its loop a second pass."""
    text = (
        "def main(a):\n    for i in range(a):\n        for j in range(a):\n            k = i * a + j\n"
        "            probe(k)\n    t = 0\n    for i in range(a):\n        t += i\n    return t\n"
    )
    p, _ = program({"main": "from kit import probe\n" + text})
    p.analyse("main.py")
    assert p.evaluated["main.py", "def main"] == 1 + 4 + 1 + 1 + 2 + 1
    (memo,) = [m for m in p.analyse("main.py") if m.facts]
    assert len(memo.facts) == 1
