"""Random programs of the subset that the evaluator understands: readable Python that ends soon and often returns."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from hypothesis import strategies as st

PRELUDE = """\
import math
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from functools import cache, partial
from typing import NamedTuple

from kit import probe


class Mode(Enum):
    FAST = 1
    SLOW = 2


class Pair(NamedTuple):
    x: int
    y: int = 3


@dataclass(frozen=True)
class Config:
    tile: int = 4
    depth: int = 2
    flag: bool = False

    @property
    def size(self):
        return self.tile * self.depth

    def scaled(self, by=2):
        return replace(self, tile=self.tile * by)


class Counter:
    step = 1

    def __init__(self, start, limit=5):
        self.total = start
        self.limit = limit
        self.seen = []

    def add(self, n):
        if n > self.limit:
            self.seen.append(n)
            return self.total
        self.total += n * self.step
        return self.total

    @property
    def left(self):
        return self.limit - self.total


class Doubling(Counter):
    step = 2

    def add(self, n):
        return super().add(n) + 1


class Level(IntEnum):
    LOW = 1
    HIGH = 4


class Bag:
    def __init__(self, *items):
        self.items = list(items)

    def __getitem__(self, i):
        return self.items[i]

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        yield from self.items

    def __add__(self, other):
        if isinstance(other, Bag):
            return Bag(*self, *other)
        return NotImplemented

    def __radd__(self, n):
        return n + len(self)

    def __eq__(self, other):
        return isinstance(other, Bag) and self.items == other.items

    def __contains__(self, x):
        return x in self.items

    def __enter__(self):
        self.items.append(0)
        return self.items

    def __exit__(self, *args):
        self.items.pop()


@contextmanager
def scope(n):
    marks.append(n)
    try:
        yield n + 1
    finally:
        marks.pop()


marks = []


@cache
def table(n):
    return [n]


def steps(n, by=2):
    at = 0
    while at < n % 7:
        yield at
        at += by
    yield n


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def clip(v, low=0, *, high=9):
    if v < low:
        return low
    return high if v > high else v


def when(cond):
    def run(f):
        return f() if cond else None

    return run


def at(n):
    def run(f):
        return f(n)

    return run


def launch(body, *operands, scratch=None, **options):
    return body(*operands, **(scratch or {}), **options)


def gather(first, *rest, scale=1, **named):
    total = first
    for r in rest:
        total += r * scale
    return total + sum(named.values())

"""
PRELUDE_LINES = PRELUDE.count("\n")

Draw = Callable[[st.SearchStrategy[Any]], Any]


class Choices(Protocol):
    """Where a program's random choices come from."""

    def pick(self, options: Sequence[Any]) -> Any:
        """One of the options; the first is the simplest."""
        ...

    def number(self, low: int, high: int) -> int:
        """An integer within the bounds; small ones are the simplest."""
        ...


class Drawn:
    """Choices of hypothesis, which makes failing programs small."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    def pick(self, options: Sequence[Any]) -> Any:
        """One of the options."""
        return self.draw(st.sampled_from(options))

    def number(self, low: int, high: int) -> int:
        """An integer within the bounds."""
        return self.draw(st.integers(low, high))


class Seeded:
    """Choices of a seed: fast, the same at each run."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, options: Sequence[Any]) -> Any:
        """One of the options."""
        return self.random.choice(options)

    def number(self, low: int, high: int) -> int:
        """An integer within the bounds."""
        return self.random.randint(low, high)


class Writer:
    """Writes one program: `names` holds the variables in scope by kind."""

    def __init__(self, choices: Choices, size: int) -> None:
        self.pick = choices.pick
        self.number = choices.number
        self.left = size
        self.lines: list[str] = []
        self.indent = 0
        self.names: dict[str, list[str]] = {}
        self.fresh = 0
        self.loops = 0
        self.handled = 0
        self.functions = 0
        self.managed = 0

    # -- choices -------------------------------------------------------------------------------------------------------

    def chance(self, one_in: int) -> bool:
        """True once in so many times."""
        return self.number(0, one_in - 1) == one_in - 1

    def name(self, kind: str) -> str:
        """A variable in scope of this kind, or "" where there is none."""
        known = self.names.get(kind, [])
        return self.pick(known) if known else ""

    def new(self, kind: str) -> str:
        """A name to bind: a new one, or at times one of the same kind that is rebound."""
        if self.names.get(kind) and self.chance(2):
            return self.name(kind)
        self.fresh += 1
        name = f"{kind[0]}{self.fresh}"
        return name

    def bind(self, kind: str, name: str) -> str:
        """Makes a name known; returns it."""
        known = self.names.setdefault(kind, [])
        if name not in known:
            known.append(name)
        return name

    def write(self, line: str) -> None:
        """Writes one line."""
        self.lines.append("    " * self.indent + line)

    # -- integers ------------------------------------------------------------------------------------------------------

    def int(self, depth: int = 2) -> str:
        """An integer expression."""
        leaves = [self._constant, self._variable]
        inner = [
            self._arithmetic,
            self._division,
            self._either,
            self._call,
            self._element,
            self._attribute,
            self._and_or,
            self._iterated,
            self._quotient,
            self._bag,
        ]
        return self.pick(leaves if depth <= 0 else leaves + inner)(depth - 1)

    def _constant(self, depth: int) -> str:
        return str(self.number(-3, 8))

    def _variable(self, depth: int) -> str:
        return self.name("n") or "1"

    def _arithmetic(self, depth: int) -> str:
        op = self.pick("+-*")
        return f"({self.int(depth)} {op} {self.int(depth)})"

    def _division(self, depth: int) -> str:
        op, by = self.pick(("//", "%")), self.pick(("2", "3", "4", "8", "-3", "b"))
        return f"({self.int(depth)} {op} {by if by != 'b' else self._nonzero(depth)})"

    def _nonzero(self, depth: int) -> str:
        return f"({self.int(depth)} or 1)" if self.chance(2) else self.int(depth)

    def _either(self, depth: int) -> str:
        return f"({self.int(depth)} if {self.test(depth)} else {self.int(depth)})"

    def _and_or(self, depth: int) -> str:
        return f"({self.int(depth)} {self.pick(('and', 'or'))} {self.int(depth)})"

    def _call(self, depth: int) -> str:
        f, items = self.name("f"), self.name("list")
        forms = [
            f"min({self.int(depth)}, {self.int(depth)})",
            f"max({self.int(depth)}, {self.int(depth)})",
            f"abs({self.int(depth)})",
            f"clip({self.int(depth)}, high={self.int(0)})",
            f"gather({self.int(depth)}, {self.int(0)}, scale={self.int(0)}, k={self.int(0)})",
            f"fib({self.number(0, 6)})",
            f"probe({self.int(depth)}, {self.int(0)})",
        ]
        forms += [f"{f}({self.int(depth)})"] * 3 if f else []
        forms += [f"sum({items})", f"len({items})", f"gather(0, *{items})"] if items else []
        return self.pick(forms)

    def _element(self, depth: int) -> str:
        items, d, p, t = self.name("list"), self.name("dict"), self.name("pair"), self.name("tuple")
        forms = [f"({self.int(depth)}, {self.int(depth)})[{self.pick((0, 1, -1))}]"]
        forms += [f"{items}[{self.pick((0, -1, 1))}]", f"{items}[{self.int(0)} % len({items})]"] if items else []
        forms += [f"{d}['a']", f"{d}.get('b', {self.int(0)})", f"len({d})"] if d else []
        forms += [f"{p}.x", f"{p}[1]"] if p else []
        forms += [f"{t}[{self.pick((0, 1, -1))}]", f"len({t})"] if t else []
        return self.pick(forms)

    def _attribute(self, depth: int) -> str:
        c, k = self.name("config"), self.name("object")
        forms = [f"Config(tile={self.int(depth)}).size"]
        forms += [f"{c}.tile", f"{c}.size", f"{c}.scaled({self.int(0)}).tile"] if c else []
        forms += [f"getattr({c}, 'tile', 0)", f"getattr({c}, 'missing', {self.int(0)})"] if c else []
        forms += [f"{k}.total", f"{k}.left", f"{k}.add({self.int(depth)})", f"len({k}.seen)"] if k else []
        return self.pick(forms)

    def _iterated(self, depth: int) -> str:
        items, it = self.name("list"), self.name("iter")
        n = self.number(0, 5)
        forms = [
            f"sum(steps({n}))",
            f"max(steps({n}, by={self.number(1, 3)}))",
            f"sum(x * {self.int(0)} for x in steps({n}))",
            f"next(steps({n}))",
            f"len(f'{{{n}:03d}}-{{{n}!r}}')",
            f"table({n})[0]",
            f"sum(map(lambda v, w: v * w, ({self.int(0)}, 2), ({self.int(0)}, {self.int(0)})))",
            f"dict(zip('ab', ({self.int(0)}, {self.int(0)})))[{self.pick(('a', 'b'))!r}]",
            f"sum({{k: v for k, v in enumerate(({self.int(0)}, {self.int(0)}))}}.values())",
            f"divmod({self.int(0)}, {self.pick((2, 3, -4))})[{self.pick((0, 1))}]",
        ]
        forms += [f"next(iter({items}), {self.int(0)})", f"sum(map(lambda v: v + 1, {items}))"] if items else []
        forms += [f"next({it}, {self.int(0)})"] * 3 + [f"sum({it})", f"len(list({it}))"] if it else []
        return self.pick(forms)

    def _quotient(self, depth: int) -> str:
        n, by = self.int(depth), self.pick((1, 2, 4, 8))
        forms = [f"math.ceil({n} / {by})", f"math.floor({n} / {by})", f"int({n} * {by} / {by})", f"({n} / {by} > {by})"]
        return self.pick(forms)

    def _bag(self, depth: int) -> str:
        b, p = self.name("bag"), self.name("pair")
        forms = [f"({self.int(0)} + Level.{self.pick(('LOW', 'HIGH'))})", f"(0, {self.int(0)})[Level.LOW]"]
        forms += [f"{b}[0]", f"len({b})", f"sum({b})", f"({self.int(0)} + {b})", f"len({b} + {b})"] if b else []
        forms += [f"sum({p})", f"({p} + (1,))[2]", f"len({p})", f"{p}._replace(x={self.int(0)}).x"] if p else []
        return self.pick(forms)

    # -- conditions ----------------------------------------------------------------------------------------------------

    def test(self, depth: int = 2) -> str:
        """A condition."""
        leaves = [self._comparison, self._divisible, self._flag]
        inner = [self._chained, self._not, self._both, self._membership, self._walrus, self._none]
        return self.pick(leaves if depth <= 0 else leaves + inner)(depth - 1)

    def _comparison(self, depth: int) -> str:
        op = self.pick(("<", "<=", ">", ">=", "==", "!="))
        return f"{self.int(depth)} {op} {self.int(0)}"

    def _divisible(self, depth: int) -> str:
        return f"{self.int(depth)} % {self.pick((2, 3, 4))} {self.pick(('==', '!='))} 0"

    def _flag(self, depth: int) -> str:
        forms = [x for x in (self.name("bool"), self.name("n"), self.name("list")) if x]
        c, mode = self.name("config"), self.name("mode")
        forms += [f"{c}.flag"] if c else []
        forms += [f"{mode} {self.pick(('is', '=='))} Mode.FAST"] if mode else []
        b, p = self.name("bag"), self.name("pair")
        forms += [f"{b}", f"{b} == Bag({self.int(0)})", f"{self.int(0)} in {b}"] if b else []
        forms += [f"{p} == ({self.int(0)}, 3)", f"{p} < ({self.int(0)}, 2)"] if p else []
        forms += [f"{c} == Config({self.int(0)})"] if c else []
        return self.pick(forms or ["True"])

    def _chained(self, depth: int) -> str:
        return f"{self.int(0)} <= {self.int(depth)} < {self.int(0)}"

    def _not(self, depth: int) -> str:
        return f"not ({self.test(depth)})"

    def _both(self, depth: int) -> str:
        return f"({self.test(depth)} {self.pick(('and', 'or'))} {self.test(depth)})"

    def _membership(self, depth: int) -> str:
        items = self.name("list") or self.name("tuple") or f"({self.int(0)}, {self.int(0)})"
        return f"{self.int(depth)} {self.pick(('in', 'not in'))} {items}"

    def _walrus(self, depth: int) -> str:
        value = self.int(depth)
        name = self.new("n")
        self.names.setdefault("n?", []).append(name)
        return f"({name} := {value}) > {self.int(0)}"

    def _none(self, depth: int) -> str:
        name = self.name("maybe")
        return f"{name} is {self.pick(('', 'not '))}None" if name else "True"

    # -- statements ----------------------------------------------------------------------------------------------------

    def block(self, most: int = 3) -> None:
        """Some statements, indented; what they bind is known only inside."""
        self.indent += 1
        outer = {k: list(v) for k, v in self.names.items()}
        for _ in range(self.number(1, most)):
            self.statement()
        if self.loops and self.chance(5):
            self.write(self.pick(("break", "continue")))
        self.names = outer
        self.indent -= 1

    def statement(self) -> None:
        """One statement."""
        self.left -= 1
        simple = [self._assign, self._augment, self._unpack, self._container, self._mutate, self._probe, self._object]
        compound = [self._if, self._if, self._for, self._while, self._function, self._try, self._match, self._with]
        compound += [self._at_once, self._launch]
        rare = [self._raise, self._return, self._assert]
        deep = self.left <= 0 or self.indent > 4
        self.pick(simple if deep else simple + compound + rare)()

    def _assign(self) -> None:
        kind = self.pick(("n", "n", "n", "bool", "maybe", "mode"))
        value = {
            "n": self.int,
            "bool": self.test,
            "maybe": lambda: self.pick((f"None if {self.test(1)} else {self.int(0)}", "None")),
            "mode": lambda: f"Mode.FAST if {self.test(1)} else Mode.SLOW",
        }[kind]()
        self.write(f"{self.new_bound(kind)} = {value}")

    def new_bound(self, kind: str) -> str:
        """A name that is being bound."""
        return self.bind(kind, self.new(kind))

    def _augment(self) -> None:
        name, items = self.name("n"), self.name("list")
        if items and self.chance(3):
            self.write(f"{items} += [{self.int(1)}]")
        elif name:
            self.write(f"{name} {self.pick(('+=', '-=', '*='))} {self.int(1)}")
        else:
            self._assign()

    def _unpack(self) -> None:
        a, b = self.new("n"), self.new("n")
        source = self.name("tuple") or self.name("list")
        form = self.number(0, 4)
        if form == 0 or a == b:
            self.write(f"{a}, {b} = {self.int(1)}, {self.int(1)}")
        elif form == 1:
            rest = self.new("list")
            self.write(f"{a}, *{rest}, {b} = ({self.int(0)}, {self.int(0)}, {self.int(1)}, {self.int(0)})")
            self.bind("list", rest)
        elif form == 2:
            self.write(f"({a}, _), {b} = ({self.int(1)}, 0), {self.int(0)}")
        elif form == 3 and source:
            rest = self.new("list")
            self.write(f"{a}, *{rest} = {source}")
            self.bind("list", rest)
            b = a
        else:
            self.write(f"{a} = {b} = {self.int(1)}")
        self.bind("n", a)
        self.bind("n", b)

    def _container(self) -> None:
        kind = self.pick(("list", "tuple", "dict", "pair", "list", "bag", "iter"))
        old = self.name(kind)
        if old and self.chance(4):
            value = old  # an alias
        else:
            value = getattr(self, f"_new_{kind}")()
        self.write(f"{self.new_bound(kind)} = {value}")

    def _new_list(self) -> str:
        items = self.name("list")
        forms = [
            f"[{self.int(1)}, {self.int(1)}]",
            f"[{self.int(1)}]",
            f"[i * {self.int(0)} for i in range({self.number(0, 4)})]",
            f"[i + j for i in range(3) for j in ({self.int(0)}, 1) if i != j]",
            f"[i for i in ({self.int(0)}, {self.int(0)}, 3) if i > {self.int(0)}]",
            f"[{self.int(1)}] * {self.number(0, 3)}",
        ]
        forms += (
            [
                f"[*{items}, {self.int(1)}]",
                f"{items}[1:]",
                f"{items} + [{self.int(0)}]",
                f"list({items})",
                f"sorted({items})",
            ]
            if items
            else []
        )
        return self.pick(forms)

    def _new_tuple(self) -> str:
        items, t = self.name("list"), self.name("tuple")
        forms = [f"({self.int(1)}, {self.int(1)})"]
        forms += [f"tuple({items})", f"tuple(x + 1 for x in {items})"] if items else []
        forms += [f"{t} + ({self.int(1)},)"] if t else []
        return self.pick(forms)

    def _new_dict(self) -> str:
        d = self.name("dict")
        forms = [
            f"{{'a': {self.int(1)}}}",
            f"{{'a': {self.int(1)}, 'b': {self.int(0)}}}",
            f"dict(a={self.int(1)}, b=2)",
            f"{{k: v + {self.int(0)} for k, v in (('a', 1), ('b', {self.int(0)}))}}",
        ]
        forms += [f"{{**{d}, 'c': {self.int(1)}}}", f"dict({d})", f"{d} | {{'b': {self.int(0)}}}"] if d else []
        return self.pick(forms)

    def _new_pair(self) -> str:
        return self.pick((f"Pair({self.int(1)})", f"Pair({self.int(1)}, y={self.int(0)})"))

    def _new_bag(self) -> str:
        items = self.name("list")
        return self.pick([f"Bag({self.int(1)})", f"Bag({self.int(0)}, 2)", *([f"Bag(*{items})"] if items else [])])

    def _new_iter(self) -> str:
        items, b = self.name("list"), self.name("bag")
        forms = [f"iter(({self.int(1)}, {self.int(0)}, 3))", f"steps({self.number(0, 5)})"]
        forms += [f"reversed({items})", f"(x + 1 for x in {items})"] if items else []
        return self.pick([*forms, *([f"iter({b})"] if b else [])])

    def _with(self) -> None:
        b = self.name("bag")
        kind = self.pick(("n", "list")) if b else "n"
        manager = f"scope({self.int(0)})" if kind == "n" else b
        known = self.names.get(kind, [])
        name = self.new(kind)
        self.write(f"with {manager} as {name}:")
        fresh = name not in known
        self.bind(kind, name)
        loops, self.loops = self.loops, 0
        self.managed += 1
        self.block(2)
        self.managed -= 1
        self.loops = loops
        if fresh and kind == "list":
            self.names[kind].remove(name)

    def _mutate(self) -> None:
        items, d, k = self.name("list"), self.name("dict"), self.name("object")
        forms = [
            f"{items}.append({self.int(1)})",
            f"{items}.extend(({self.int(0)}, 1))",
            f"{items}[{self.pick((0, -1))}] = {self.int(1)}",
        ]
        forms = forms if items else []
        forms += [f"{items}.insert(0, {self.int(0)})", f"{items} and {items}.pop()"] if items else []
        if d:
            key = self.pick(("a", "b", "c"))
            forms += [
                f"{d}[{key!r}] = {self.int(1)}",
                f"{d}.update({key}={self.int(0)})",
                f"{d}[{key!r}] += {self.int(0)}",
            ]
            forms += [f"{d}.setdefault({key!r}, {self.int(0)})", f"{d}.pop({key!r}, None)", f"del {d}[{key!r}]"]
        bag, growing = self.name("bag"), self.name("list")
        forms += [f"{bag}.items.append({self.int(0)})", f"{bag}.items[0] = {self.int(1)}"] if bag else []
        forms += [f"for g in {growing}[:2]: {growing}.append(g)", f"del {growing}[0]"] if growing else []
        forms += [f"for g in {growing}: len({growing}) < 6 and {growing}.append(g + 1)"] if growing else []
        forms += [f"{k}.total = {self.int(1)}", f"{k}.add({self.int(1)})", f"{k}.limit -= {self.int(0)}"] if k else []
        if forms:
            self.write(self.pick(forms))
        else:
            self._container()

    def _probe(self) -> None:
        second = self.name("tuple") or self.int(1)
        self.write(f"probe({self.int()}, {second})")

    def _object(self) -> None:
        if self.chance(2):
            old = self.name("config")
            forms = [f"Config({self.int(1)}, flag={self.test(1)})", f"Config(depth={self.int(0)})"]
            forms += [f"{old}.scaled({self.int(0)})", f"replace({old}, depth={self.int(0)})"] if old else []
            value = self.pick(forms)
            self.write(f"{self.new_bound('config')} = {value}")
        else:
            cls = self.pick(("Counter", "Doubling"))
            value = self.int(1)
            self.write(f"{self.new_bound('object')} = {cls}({value})")

    def _if(self) -> None:
        self.write(f"if {self.test()}:")
        self.block()
        if self.chance(3):
            self.write(f"elif {self.test(1)}:")
            self.block()
        if self.chance(2):
            self.write("else:")
            self.block()

    def _for(self) -> None:
        items, d = self.name("list"), self.name("dict")
        i = self.new("n")
        forms = [
            f"{i} in range({self.number(0, 4)})",
            f"{i} in range({self.int(1)} % 4)",
            f"{i} in ({self.int(0)}, {self.int(0)})",
        ]
        forms += (
            [f"{i}, w in enumerate({items}[:3])", f"{i} in {items}[:3]", f"{i}, w in zip({items}[:3], range(3))"]
            if items
            else []
        )
        forms += [f"w, {i} in dict({d}).items()", f"{i} in list({d}.values())"] if d else []
        self.write(f"for {self.pick(forms)}:")
        known = i in self.names.get("n", [])
        self.bind("n", i)
        self.loops += 1
        self.block()
        self.loops -= 1
        if not known:
            self.names["n"].remove(i)
        self._maybe_else()

    def _maybe_else(self) -> None:
        if self.chance(4):
            self.write("else:")
            self.block(2)

    def _while(self) -> None:
        self.fresh += 1
        count = f"count{self.fresh}"
        self.write(f"{count} = 0")
        self.write(f"while {count} < {self.number(0, 3)}{self.pick(('', f' and {self.test(1)}'))}:")
        self.indent += 1
        self.write(f"{count} += 1")
        self.indent -= 1
        self.loops += 1
        self.block()
        self.loops -= 1
        self._maybe_else()

    def _function(self) -> None:
        if self.functions >= 2:
            return self._assign()
        if self.chance(3):
            old = self.name("f")
            value = self.pick((f"lambda v, w={self.int(0)}: {self.int(1)} + v * w", f"partial({old or 'clip'})"))
            self.write(f"{self.new_bound('f')} = {value}")
            return None
        self.fresh += 1
        name = f"f{self.fresh}"
        outer = {k: list(v) for k, v in self.names.items()}
        changed = self.name("n") if self.functions == 0 and self.chance(2) else ""
        changed = changed if changed not in self.parameters else ""
        self.write(f"def {name}(v, w={self.int(0)}):")
        loops, self.loops = self.loops, 0
        self.functions += 1
        self.indent += 1
        visible = outer.get("n", [])
        self.names = {**{k: list(v) for k, v in outer.items() if k in ("f", "config")}, "n": [*visible, "v", "w"]}
        if changed:
            self.write(f"nonlocal {changed}")
            self.write(f"{changed} += v")
        self.names["n"] = ["v", "w"] if not changed else ["v", "w", changed]
        self.closed = visible
        self.indent -= 1
        self.block()
        self.indent += 1
        reads = self.pick([*visible, "v"])
        self.write(f"return {self.pick(('v', 'w', f'v + {reads}', f'{reads} * w'))}")
        self.indent -= 1
        self.functions -= 1
        self.loops = loops
        self.names = outer
        self.bind("f", name)
        return None

    def _at_once(self) -> None:
        """A function that its decorator calls at once: its name holds what the decorator returns."""
        if self.functions >= 2:
            return self._assign()
        name, items = self.new("maybe"), self.name("list")
        condition, n = self.test(1), self.int(1)
        decorator, parameter = self.pick(((f"when({condition})", ""), (f"at({n})", "v"), (f"partial(at, {n})()", "v")))
        self.write(f"@{decorator}")
        self.write(f"def {name}({parameter}):")
        self.indent += 1
        if items and self.chance(2):
            self.write(f"{items}.append({parameter or self.int(0)})")
        self.write(f"probe({self.name('n') or 1}, {parameter or 0})")
        self.write(f"return {self.pick((parameter or '3', self.int(1), 'None'))}")
        self.indent -= 1
        self.bind("maybe", name)
        return None

    def _launch(self) -> None:
        """A body with `*refs` and `**scratch`, and a scratch dict that is built under a condition."""
        if self.functions >= 2:
            return self._assign()
        self.fresh += 1
        scratch, body = f"scratch{self.fresh}", f"body{self.fresh}"
        flag = self.name("bool") or self.test(1)
        count = self.number(1, 3)
        operands = ", ".join(self.int(1) for _ in range(count))
        self.write(f"{scratch} = dict(acc={self.int(1)})")
        self.write(f"if {flag}:")
        self.write(f"    {scratch}[{self.pick(('acc', 'bias'))!r}] = {self.int(0)}")
        if self.chance(2):
            self.write(f"{scratch} |= {{f'b{{i}}': i * {self.int(0)} for i in range({self.number(0, 2)})}}")
        takes = self.pick(("acc, bias=2, **others", "**others", "acc=1, **others"))
        self.write(f"def {body}(*refs, {takes}):")
        self.indent += 1
        self.write(self.pick(("first, *rest = refs", "*rest, first = refs", "first, rest = refs[0], list(refs[1:])")))
        self.write(f"probe(first, {self.pick(('len(rest)', 'len(others)', 'tuple(rest)'))})")
        value = self.pick(("first + sum(others.values())", "first + sum(rest)", "first * len(others)"))
        self.write(f"return {value}" + (" + bias + acc" if "bias" in takes else ""))
        self.indent -= 1
        self.write(f"{self.new_bound('n')} = launch({body}, {operands}, scratch={scratch})")
        return None

    def _try(self) -> None:
        kind = self.pick(("ValueError", "(ValueError, KeyError)", "Exception", "ZeroDivisionError", "IndexError"))
        self.write("try:")
        self.handled += 1
        self.block()
        self.handled -= 1
        form = self.number(0, 2)
        if form < 2:
            self.write(f"except {kind}:")
            self.block(2)
            if self.chance(4):
                self.write("else:")
                self.block(2)
        if form > 0:
            self.write("finally:")
            loops, self.loops = self.loops, 0
            self.indent += 1
            self.pick((self._assign, self._mutate, self._probe))()
            self.indent -= 1
            self.loops = loops

    def _match(self) -> None:
        subjects = [self.int(1), f"({self.int(0)}, {self.int(0)})"]
        subjects += [x for x in (self.name("pair"), self.name("dict"), self.name("list")) if x]
        self.write(f"match {self.pick(subjects)}:")
        self.indent += 1
        forms = ["0", "1 | 2", "(0, _)", "(1, n_m)", f"n_m if n_m > {self.int(0)}", "None", "int(n_m)", "(n_m, *_)"]
        forms += ["{'a': n_m}", "Pair(x=n_m)", "Pair(1, n_m)", "[n_m]"]
        for _ in range(self.number(1, 2)):
            self.write(f"case {self.pick(forms)}:")
            self.block(2)
        self.write("case _:")
        self.block(2)
        self.indent -= 1

    def _raise(self) -> None:
        if self.handled or self.chance(2):
            self.write(f"if {self.test(1)}:")
            self.indent += 1
            self.write(f"raise {self.pick(('ValueError', 'KeyError', 'RuntimeError'))}('refused')")
            self.indent -= 1
        else:
            self._assign()

    def _return(self) -> None:
        if self.managed:  # what a context manager that is a generator does then is not known
            return self._assign()
        self.write(f"if {self.test(1)}:")
        self.indent += 1
        self.write(f"return {self.int(1)}")
        self.indent -= 1
        return None

    def _assert(self) -> None:
        self.write(f"assert {self.test(1)}")

    # -- the whole -----------------------------------------------------------------------------------------------------

    def program(self) -> str:
        """A module with a function `main` of one to four integers."""
        self.parameters = ["a", "b", "c", "d"][: self.number(1, 4)]
        hint = self.pick((": int", ""))
        self.write(f"def main({', '.join(p + hint for p in self.parameters)}):")
        self.names["n"] = list(self.parameters)
        self.indent += 1
        while self.left > 0:
            self.statement()
        known = [n for kind in ("n", "bool", "list", "tuple", "dict", "pair", "config", "object", "maybe", "mode")
                 for n in self.names.get(kind, [])]  # fmt: skip
        self.write(f"return ({', '.join(known)},)")
        return PRELUDE + "\n".join(self.lines) + "\n"


@st.composite
def programs(draw: Draw, size: int = 12) -> tuple[str, list[str]]:
    """A program's text and the names of the parameters of its `main`."""
    w = Writer(Drawn(draw), draw(st.integers(1, size)))
    return w.program(), w.parameters


def seeded(seed: int, size: int = 12) -> tuple[str, list[str], dict[str, int]]:
    """The program of a seed, its parameters and one substitution."""
    choices = Seeded(seed)
    w = Writer(choices, choices.number(1, size))
    return w.program(), w.parameters, {n: choices.number(-4, 9) for n in w.parameters}


def bindings(names: list[str]) -> st.SearchStrategy[dict[str, int]]:
    """Integers for the parameters."""
    return st.fixed_dictionaries({n: st.integers(-4, 9) for n in names})
