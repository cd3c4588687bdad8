"""Arithmetic on residue classes: (g, r) stands for the integers r + g*k; (0, r) for r alone, (1, 0) for all."""

from __future__ import annotations

from math import gcd

Residue = tuple[int, int]

ANY: Residue = (1, 0)


def make(g: int, r: int) -> Residue:
    """The class in normal form: g >= 0 and, where g > 0, 0 <= r < g."""
    g = abs(g)
    return g, r % g if g else r


def add(a: Residue, b: Residue) -> Residue:
    """The class of x + y."""
    return make(gcd(a[0], b[0]), a[1] + b[1])


def mul(a: Residue, b: Residue) -> Residue:
    """The class of x * y."""
    (g, r), (h, s) = a, b
    return make(gcd(g * h, g * s, h * r), r * s)


def floordiv(a: Residue, by: int) -> Residue:
    """The class of x // by, by > 0."""
    g, r = a
    return make(g // by, r // by) if g % by == 0 else ANY


def mod(a: Residue, by: Residue) -> Residue:
    """The class of x % y, which differs from x by a multiple of y."""
    if by[0] == 0 and by[1] > 0 and a[0] % by[1] == 0:
        return 0, a[1] % by[1]
    return make(gcd(a[0], by[0], by[1]), a[1])


def join(a: Residue, b: Residue) -> Residue:
    """One of the two holds."""
    return make(gcd(a[0], b[0], a[1] - b[1]), a[1])


def meet(a: Residue, b: Residue) -> Residue | None:
    """Both hold (the Chinese remainder theorem); None where they exclude each other."""
    (g, r), (h, s) = a, b
    if g == 0 or h == 0:
        fixed, (h, s) = (r, b) if g == 0 else (s, a)
        fits = fixed == s if h == 0 else (fixed - s) % h == 0
        return (0, fixed) if fits else None
    common = gcd(g, h)
    if (s - r) % common:
        return None
    step = (s - r) // common * pow(g // common, -1, h // common)
    return make(g // common * h, r + g * step)


def divisor(a: Residue) -> int:
    """The largest integer that divides each member (0 where that is 0 alone)."""
    return gcd(a[0], a[1])


def next_up(a: Residue, low: int) -> int:
    """The least member that is at least `low`, g > 0."""
    return low + (a[1] - low) % a[0]


def next_down(a: Residue, high: int) -> int:
    """The greatest member that is at most `high`, g > 0."""
    return high - (high - a[1]) % a[0]
