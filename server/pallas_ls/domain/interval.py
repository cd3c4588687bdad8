"""Arithmetic on inclusive spans of integers. A bound that is None is not known (endless)."""

from __future__ import annotations

from math import inf

Span = tuple[int | None, int | None]

ANY: Span = (None, None)


def add(a: Span, b: Span) -> Span:
    """The span of x + y."""
    (a_low, a_high), (b_low, b_high) = a, b
    low = None if a_low is None or b_low is None else a_low + b_low
    return low, None if a_high is None or b_high is None else a_high + b_high


def scale(a: Span, k: int) -> Span:
    """The span of k * x."""
    if k == 0:
        return 0, 0
    low, high = a if k > 0 else (a[1], a[0])
    return None if low is None else low * k, None if high is None else high * k


def mul(a: Span, b: Span) -> Span:
    """The span of x * y."""
    corners = [_times(x, y) for x in _ends(a) for y in _ends(b)]
    return _span(min(corners), max(corners))


def _ends(a: Span) -> tuple[int | float, int | float]:
    return -inf if a[0] is None else a[0], inf if a[1] is None else a[1]


def _span(low: int | float, high: int | float) -> Span:
    return None if isinstance(low, float) else low, None if isinstance(high, float) else high


def _times(x: int | float, y: int | float) -> int | float:
    """x * y where 0 * endless is 0, and no integer is turned into a float."""
    if x == 0 or y == 0:
        return 0
    if isinstance(x, float) or isinstance(y, float):
        return inf if (x > 0) == (y > 0) else -inf
    return x * y


def power(a: Span, p: int) -> Span:
    """The span of x ** p, p > 0."""
    low, high = a
    if p % 2 == 0 and not (low is not None and low >= 0):
        if high is not None and high <= 0:
            low, high = -high, None if low is None else -low
        else:
            low, high = 0, None if low is None or high is None else max(-low, high)
    return None if low is None else low**p, None if high is None else high**p


def floordiv(a: Span, by: Span) -> Span:
    """The span of x // y; nothing where y may be zero."""
    if by[1] is not None and by[1] < 0:
        return floordiv(scale(a, -1), scale(by, -1))
    if by[0] is None or by[0] <= 0:
        return ANY
    (low, high), (by_low, by_high) = a, (by[0], by[1])
    if low is not None:
        low = low // by_low if low < 0 else _quotient_of_endless(low, by_high, 0)
    if high is not None:
        high = high // by_low if high >= 0 else _quotient_of_endless(high, by_high, -1)
    return low, high


def _quotient_of_endless(x: int, by: int | None, limit: int) -> int:
    return limit if by is None else x // by


def mod(a: Span, by: Span) -> Span:
    """The span of x % y; nothing where y may be zero."""
    if by[1] is not None and by[1] < 0:
        return scale(mod(scale(a, -1), scale(by, -1)), -1)
    if by[0] is None or by[0] <= 0:
        return ANY
    high = None if by[1] is None else by[1] - 1
    if a[0] is not None and a[0] >= 0:
        high = tighter_high(high, a[1])
    return 0, high


def smallest(spans: list[Span]) -> Span:
    """The span of min(x, y, ...)."""
    return scale(largest([scale(s, -1) for s in spans]), -1)


def largest(spans: list[Span]) -> Span:
    """The span of max(x, y, ...)."""
    lows = [low for low, _ in spans if low is not None]
    highs = [high for _, high in spans if high is not None]
    return max(lows, default=None), max(highs) if len(highs) == len(spans) else None


def meet(a: Span, b: Span) -> Span:
    """Both hold; empty (low > high) where they exclude each other."""
    return tighter_low(a[0], b[0]), tighter_high(a[1], b[1])


def tighter_low(a: int | None, b: int | None) -> int | None:
    """The greater lower bound."""
    return b if a is None else a if b is None else max(a, b)


def tighter_high(a: int | None, b: int | None) -> int | None:
    """The lesser upper bound."""
    return b if a is None else a if b is None else min(a, b)


def is_empty(a: Span) -> bool:
    """No integer lies in it."""
    return a[0] is not None and a[1] is not None and a[0] > a[1]
