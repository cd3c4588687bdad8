"""The literate kernels in `kernels/`: what we say of them, and that it is what JAX sees."""

from __future__ import annotations

import functools
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

import jax
import pytest

from pallas_ls.answers.factrows import rows_of_site
from pallas_ls.answers.report import FactRow
from pallas_ls.answers.session import Session
from pallas_ls.domain.fact import CallFact
from pallas_ls.domain.finding import Severity
from pallas_ls.domain.python import Bool, Int, Opaque
from pallas_ls.domain.target import JaxVersion, Target
from pallas_ls.source.module import parse_module

from .harness import show
from .literate import Expectation, Snippet, snippets
from .traced import Memory, Seen, bare, trace
from .workbench import Texts, program

SNIPPETS = snippets()
_FACT = re.compile(
    r"^(?P<dtype>[\w.?]+)\[(?P<dims>.*)\](?: (?P<space>gmem|smem|tmem|regs|sem))?(?: tiling \((?P<tiling>[^)]*)\))?"
    r"(?: swizzle (?P<swizzle>\S+))?(?: (?P<bytes>.+) bytes)?$"
)


def needed(snippet: Snippet) -> str:
    """What is too old for the snippet, or "". Up to 0.10 a barrier by itself was a buffer of one."""
    has = {"python": sys.version_info[:2], "jax": jax.__version_info__}
    needs = {"jax": (0, 11), **snippet.needs}
    return next((f"needs {what} {release}" for what, release in needs.items() if has[what] < release), "")


@functools.cache
def observed(name: str, call: str) -> list[Seen]:
    """What JAX sees in one call."""
    return trace(SNIPPETS[name], call)


# -- ours ---------------------------------------------------------------------------------


class Ours:
    """What the evaluator says of a snippet: facts of its functions over symbols, or of a call."""

    def __init__(self, snippet: Snippet, call: str = "") -> None:
        caller = f"\ndef traced():\n    {call}\n" if call else ""
        self.text = snippet.text + caller
        self.program, self.files = program({"main": self.text, **snippet.helpers}, budget=400_000)
        memos = self.program.analyse("main.py")
        assert not (stopped := [m.stopped for m in memos if m.stopped]), stopped
        self.facts = [f for m in memos for f in m.facts if f.site.path == "main.py" and bool(f.chain) >= bool(call)]

    def lines(self, f: CallFact) -> tuple[int, int]:
        """First and last line of a call."""
        span = self.files.modules["main.py"].span(f.site)
        return self.text.count("\n", 0, span.start) + 1, self.text.count("\n", 0, span.end) + 1

    def of(self, e: Expectation) -> str:
        """What is known of what an expectation speaks of, in its form."""
        if not e.api:
            found = [f for f in self.facts if f.api == "probe" and self.lines(f)[0] == e.line]
            found = [f for f in found if f.operands["y"] == e.name]
            return self._text(e, found, "x")
        near = [f for f in self.facts if f.api == e.api and self.lines(f)[0] <= e.line]
        last = max((self.lines(f)[0] for f in near), default=0)
        return self._text(e, [f for f in near if self.lines(f)[0] == last], e.name)

    def _text(self, e: Expectation, facts: list[CallFact], operand: str) -> str:
        values = [(f, f.operands.get(operand)) for f in facts]
        if not any(isinstance(v, (Int, Bool, Opaque)) for _, v in values):
            rows = [r for r in rows_of_site("", 0, 0, facts) if r.operand == operand] if facts else []
            if rows:
                return written(rows[0], " bytes" in e.fact)
        simple = [Int(f.facts.simplify(v.dim)) if isinstance(v, Int) else v for f, v in values]
        return " | ".join(dict.fromkeys(show(v) for v in simple)) or "nothing"


def written(row: FactRow, with_bytes: bool) -> str:
    """A row in the form of expectations, cases parted by " | "."""
    shapes = row.alternatives or (row.shape,)
    tail = f" {row.space}" if row.space else ""
    tail += f" tiling ({', '.join(map(str, row.tiling))})" if row.tiling else ""
    tail += f" swizzle {row.swizzle}" if row.swizzle else ""
    tail += f" {row.bytes} bytes" if with_bytes else ""
    return " | ".join(f"{row.dtype or '?'}[{_listed(s)}]{tail}" for s in shapes)


def _listed(shape: tuple[int | str | None, ...] | None) -> str:
    return "..." if shape is None else ", ".join("?" if e is None else str(e) for e in shape)


@pytest.mark.parametrize("name", SNIPPETS)
def test_what_is_said_beside_the_lines(name: str) -> None:
    snippet = SNIPPETS[name]
    assert snippet.expected, "a kernel without expectations tests nothing"
    if "python" in snippet.needs and needed(snippet):
        pytest.skip(needed(snippet))
    ours = Ours(snippet)
    wrong = [f"{snippet.line(e.line)}\n    {e.fact}\n is {found}" for e in snippet.expected
             if (found := ours.of(e)) != e.fact]  # fmt: skip
    assert not wrong, "\n".join(wrong)


# -- JAX's ----------------------------------------------------------------------------------

HELPERS: dict[str, Any] = {
    "min": min, "max": max, "len": len, "prod": math.prod, "bits": lambda d: jax.numpy.dtype(d).itemsize * 8,
    "itemsize": lambda d: jax.numpy.dtype(d).itemsize,
}  # fmt: skip


def value(text: str, names: Mapping[str, Any]) -> Any:
    """An expression over the source's names."""
    return bare(eval(text, {**names, **HELPERS, "inf": math.inf}))


def holds(fact: str, seen: Seen) -> bool:
    """Whether one of the cases of a fact is what JAX saw."""
    return any(_holds_in(case, seen) for case in fact.split(" | "))


def _holds_in(case: str, seen: Seen) -> bool:
    try:
        return _holds(case, seen)
    except AttributeError:  # a case that is not this one
        return False


def _holds(fact: str, seen: Seen) -> bool:
    form, m = _FACT.match(fact), seen.value
    if not isinstance(m, Memory):
        return plain(value(fact, {**seen.names, **_DTYPES})) == plain(m)
    if form is None:
        return False
    dims = tuple(value(f"({form['dims']},)", seen.names)) if form["dims"] else ()
    sizes = math.prod(dims) * m.bits // 8 if m.bits and form["bytes"] else None
    return (
        dims == m.shape
        and (form["dtype"] in ("?", m.dtype) or _dtype(form["dtype"], seen) == m.dtype)
        and (form["space"] or m.space) == m.space
        and (value(f"({form['tiling']},)", seen.names) if form["tiling"] else None) == m.tiling
        and (value(form["swizzle"], seen.names) if form["swizzle"] else None) == m.swizzle
        and (value(form["bytes"], seen.names) if form["bytes"] else None) == sizes
    )


def _dtype(text: str, seen: Seen) -> str:
    try:
        return jax.numpy.dtype(value(text, seen.names)).name
    except (NameError, TypeError):
        return ""


_DTYPES = {n: jax.numpy.dtype(n) for n in ("bfloat16", "float16", "float32", "int32", "int8", "float8_e4m3fn")}


def plain(v: Any) -> Any:
    """Lists as tuples and element types by name, so that values compare."""
    if isinstance(v, (tuple, list)):
        return tuple(plain(x) for x in v)
    try:
        return v if isinstance(v, (int, float, str, bool, type(None), dict)) else jax.numpy.dtype(v).name
    except TypeError:
        return v


CALLS = [pytest.param(n, call, id=f"{n}-{i}") for n, s in SNIPPETS.items() for i, call in enumerate(s.calls)]


@pytest.mark.parametrize("name", SNIPPETS)
def test_each_kernel_is_traced(name: str) -> None:
    assert SNIPPETS[name].calls


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_what_is_said_is_what_jax_sees(name: str, call: str) -> None:
    snippet = SNIPPETS[name]
    if missing := needed(snippet):
        pytest.skip(missing)
    found = observed(name, call)
    checked = 0
    for e in snippet.expected:
        rows = _of(snippet, e, found)
        checked += len(rows)
        wrong = [r for r in rows if not holds(e.fact, r)]
        assert not wrong, f"{snippet.line(e.line)}\n    {e.fact}\n JAX: {wrong[0]}"
    assert checked, "JAX came by none of the lines"


@pytest.mark.parametrize("name", SNIPPETS)
def test_jax_comes_by_each_line(name: str) -> None:
    snippet = SNIPPETS[name]
    if missing := needed(snippet):
        pytest.skip(missing)
    found = [s for call in snippet.calls for s in observed(name, call)]
    passed_by = [
        snippet.line(e.line) for e in snippet.expected if not e.api.startswith("ref.") and not _of(snippet, e, found)
    ]
    assert not passed_by


def _of(snippet: Snippet, e: Expectation, found: list[Seen]) -> list[Seen]:
    at, api = (snippet.call_line(e), e.api) if e.api else (e.line, "probe")
    return [s for s in found if (s.line, s.api, s.operand) == (at, api, e.name)]


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_in_each_call_the_numbers_are_those_of_jax(name: str, call: str) -> None:
    """Every operand whose shape is known in numbers, of every function that JAX was seen to run on that line."""
    snippet = SNIPPETS[name]
    if missing := needed(snippet):
        pytest.skip(missing)
    truth: dict[tuple[int, str, str], set[tuple[int, ...]]] = {}
    for s in observed(name, call):
        if isinstance(s.value, Memory) and s.api != "probe":
            truth.setdefault((s.line, s.api, s.operand), set()).add(s.value.shape)
    ours = Ours(snippet, call)
    assert ours.facts, "no facts of the call"
    for f in ours.facts:
        first, last = ours.lines(f)
        for r in rows_of_site("", 0, 0, [f]):
            shapes = [x for line in range(first, last + 1) for x in truth.get((line, f.api, r.operand), ())]
            if shapes and r.shape is not None and all(isinstance(e, int) for e in r.shape):
                assert r.shape in shapes, f"{snippet.line(first)}\n{f.api} {r.operand} = {r.shape}, JAX: {shapes}"


@pytest.mark.parametrize("name", SNIPPETS)
def test_nothing_is_reported(name: str) -> None:
    """All of them lower, alone and with the calls that are traced."""
    snippet = SNIPPETS[name]
    if missing := needed(snippet):
        pytest.skip(missing)
    callers = "".join(f"\ndef traced{i}():\n    {call}\n" for i, call in enumerate(snippet.calls))
    texts = Texts({"main": snippet.text + callers, **snippet.helpers})
    arch = f"sm_{snippet.target[0]}{snippet.target[1]}a"
    report = Session(texts, Target(JaxVersion.parse(jax.__version__), arch=arch)).check("main.py")
    assert not [f for f in report.findings if f.severity is Severity.ERROR]
    assert not report.syntax and parse_module("main.py", snippet.text).errors == ()
