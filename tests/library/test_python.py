"""Builtins and the standard library: each expression gives what Python gives."""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import math
import operator
from typing import Any

import pytest

from pallas_ls.domain.python import DictCell, Int, ListCell, Opaque, Range, SetCell, Unknown

from .snippets import evaluated

IMPORTS = "import collections, copy, functools, itertools, math, operator\n"
NAMES = {m.__name__: m for m in (collections, copy, functools, itertools, math, operator)}

EXPRESSIONS = """
len([1, 2, 3]), len((1,)), len({'a': 1}), len('abc'), len(range(3, 10, 2)), len({1, 1, 2})
list(range(5)), list(range(2, 8, 3)), list(range(5, 0, -2))
min(3, 1, 2), max([4, 9, 2]), min(2.5, 1), max('a', 'b'), min([], default=7), max((), default=None)
sum([1, 2, 3]), sum((0.5, 1)), sum([[1], [2]], []), sum(x * x for x in range(4))
abs(-3), abs(2.5), divmod(17, 5), divmod(-7, 2), pow(2, 10), pow(3, 4, 5), round(2.5), round(2.675, 2)
round(7)
any([0, None, 3]), any([]), all([1, 'a']), all([1, 0]), all(())
list(zip([1, 2], 'ab')), list(zip((1, 2, 3), (4, 5))), list(enumerate('ab')), list(enumerate([7], 5))
list(map(lambda x: x + 1, [1, 2])), list(map(lambda a, b: a * b, (1, 2), (3, 4)))
list(filter(None, [0, 1, 2]))
list(filter(lambda x: x > 1, [1, 2, 3])), list(reversed([1, 2, 3])), sorted([3, 1, 2])
sorted('bca', reverse=True)
sorted([(1, 'b'), (0, 'c')], key=lambda t: t[1]), sorted({'x': 1, 'a': 2})
int('12'), int(3.9), int(True), int('ff', 16), float('1.5'), float(3), bool([]), bool('x'), str(12), str(1.5)
str(None)
list('ab'), tuple([1, 2]), dict(a=1, b=2), dict([('k', 1)]), dict({'a': 1}, b=3), sorted(set([1, 2, 1]))
sorted({2, 1, 2}), dict.fromkeys('ab', 0)
isinstance(1, int), isinstance(True, int), isinstance(1.0, int), isinstance('a', (int, str))
isinstance(None, int), isinstance([], list)
isinstance((1,), tuple), isinstance({}, dict), isinstance({}, list), isinstance(1, float)
isinstance(range(3), range)
getattr('abc', 'nothing', 5), hasattr('abc', 'upper'), hasattr(3, 'nothing'), callable(len), callable(3)
callable(lambda: 1)
'a,b,c'.split(','), '-'.join(['a', 'b']), ' x '.strip(), 'abc'.upper(), 'AbC'.lower(), 'abc'.startswith('ab')
'abc'.endswith(('c', 'd'))
'abc'.replace('b', 'x'), 'a.b.c'.rsplit('.', 1), 'abc'.find('c'), '7'.zfill(3), 'x={}'.format(3)
'abc'.removeprefix('a'), 'ab'.index('b')
(5).bit_length(), (2.0).is_integer(), (1, 2, 1).count(1), (1, 2, 3).index(2), [1, 2, 1].count(1)
[3, 4].index(4)
{'a': 1}.get('a'), {'a': 1}.get('b', 9), list({'a': 1, 'b': 2}.items()), list({'a': 1}.keys())
list({'a': 1}.values())
math.prod((2, 3, 4)), math.prod([]), math.prod([2], start=5), math.ceil(2.1), math.floor(2.9), math.ceil(4)
math.sqrt(16), math.log2(8)
math.gcd(12, 18), math.lcm(4, 6), math.isqrt(17), math.inf, math.pi, math.exp(0), math.log(8, 2)
math.pow(2, 3), math.isfinite(1.0)
functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]), functools.reduce(operator.add, [], 5)
functools.partial(pow, 2)(5)
functools.partial(dict, a=1)(b=2), functools.cache(lambda x: x + 1)(1)
functools.lru_cache(maxsize=None)(lambda x: x)(3)
list(itertools.product((1, 2), 'ab')), list(itertools.product((0, 1), repeat=2))
list(itertools.chain([1], (2, 3)))
list(itertools.chain.from_iterable([[1], [2, 3]])), list(itertools.accumulate([1, 2, 3]))
list(itertools.accumulate((2, 3), operator.mul))
list(itertools.combinations((1, 2, 3), 2)), list(itertools.permutations((1, 2)))
list(itertools.pairwise([1, 2, 3]))
list(itertools.repeat(7, 3)), list(itertools.zip_longest((1, 2), (3,), fillvalue=0))
list(itertools.islice([1, 2, 3, 4], 1, 3))
list(itertools.starmap(pow, [(2, 3), (3, 2)])), list(itertools.takewhile(lambda x: x < 3, [1, 2, 3, 1]))
list(itertools.dropwhile(lambda x: x < 3, [1, 3, 1]))
operator.mul(3, 4), operator.floordiv(7, 2), operator.itemgetter(1)([5, 6]), operator.itemgetter(0, 2)('abc')
operator.eq(1, 1), operator.not_(0)
copy.copy([1, 2]), copy.deepcopy({'a': [1]}), list(collections.OrderedDict(a=1).items()), next(iter([4, 5]))
next(iter(()), 3)
""".strip().splitlines()

PROGRAMS = {
    "lists change in place": """
v = [1]
v.append(2)
v.extend((3, 4))
v.insert(0, 9)
w = v.pop()
u = v.pop(0)
v.reverse()
r = (v, w, u)
""",
    "lists sort and clear": """
v = [3, 1, 2]
v.sort()
w = v.copy()
v.clear()
x = [1, 2, 1]
x.remove(1)
r = (v, w, x)
""",
    "dicts change in place": """
d = {}
d.setdefault('a', 1)
d.update(b=2)
d.update({'c': 3}, d=4)
p = d.pop('a')
q = d.pop('z', None)
r = (d, p, q)
""",
    "sets change in place": """
s = {1}
s.add(2)
s.update([3])
s.discard(1)
r = (sorted(s), sorted(s.union({9})), sorted(s.intersection({2})), s.issubset({2, 3, 4}))
""",
    "iterators move on": """
it = iter([1, 2, 3])
a = next(it)
b = next(it)
r = (a, b, list(it))
""",
    "partials nest": """
def f(a, b, *, c=0):
  return (a, b, c)
r = functools.partial(functools.partial(f, 1), c=5)(2)
""",
    "wraps keeps the wrapper": """
def d(f):
  @functools.wraps(f)
  def g(x):
    return f(x) + 1
  return g
@d
def h(x):
  return x * 2
r = h(3)
""",
    "namedtuples have fields": """
P = collections.namedtuple('P', 'm n')
p = P(1, n=2)
r = (p.m, p.n, p[0], len(p))
""",
    "a copy is another list": """
a = [1]
b = copy.copy(a)
b.append(2)
c = list(a)
c.append(3)
r = (a, b, c)
""",
}


def plain(v: Any) -> Any:
    """What a value stands for, as a Python object."""
    assert not isinstance(v, (Unknown, Opaque)), v
    if isinstance(v, Int):
        return v.dim
    if isinstance(v, tuple):
        return tuple(plain(x) for x in v)
    if isinstance(v, ListCell):
        return [plain(x) for x in v.slots["items"]]
    if isinstance(v, SetCell):
        return {plain(x) for x in v.slots["items"]}
    if isinstance(v, DictCell):
        return {plain(k): plain(x) for k, x in v.slots["items"].values()}
    return range(v.start.dim, v.stop.dim, v.step.dim) if isinstance(v, Range) else v  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression(text: str) -> None:
    assert plain(evaluated(f"{IMPORTS}r = ({text})")["r"]) == eval(text, dict(NAMES))


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_program(text: str) -> None:
    names: dict[str, Any] = {}
    exec(IMPORTS + text, names)
    assert plain(evaluated(IMPORTS + text)["r"]) == names["r"]


def test_what_is_not_known_spreads_no_further() -> None:
    v = evaluated("import os\nn = os.environ.get('N', 1)\nr = [1, n]\nr.append(3)\ns = (len(r), r[0], sum(r))")
    size, first, total = v["s"]
    assert (size, first) == (Int(3), Int(1))
    assert isinstance(total, Unknown)
