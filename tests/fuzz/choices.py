"""A row of random choices that can be replayed and shrunk: what is generated from a simpler row is simpler.

Choice 0 is always the plainest one, so that a shrunk program shows only what matters.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

#: Attempts at shrinking; each costs an analysis and mostly a lowering.
ATTEMPTS = 400


class Choices:
    """Draws choices from a seed, or replays a row (and takes the plainest where the row has ended)."""

    def __init__(self, seed: int | None = None, row: Sequence[int] = ()) -> None:
        self._rng = random.Random(seed) if seed is not None else None
        self._row = row
        self.made: list[int] = []

    def below(self, count: int) -> int:
        """A number from 0 up to and without `count`."""
        at = len(self.made)
        if at < len(self._row):
            value = min(self._row[at], count - 1)
        else:
            value = self._rng.randrange(count) if self._rng is not None else 0
        self.made.append(value)
        return value

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; the first is the plainest."""
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        """True in so many cases of a hundred; False is the plainest."""
        return self.below(100) >= 100 - percent


def shrink(row: Sequence[int], interesting: Callable[[list[int]], bool], attempts: int = ATTEMPTS) -> list[int]:
    """A row that is as plain as can be found and still interesting."""
    best, left = list(row), attempts
    size = max(1, len(best) // 2)
    while size and left > 0:
        improved = False
        start = 0
        while start < len(best) and left > 0:
            for candidate in _candidates(best, start, size):
                if candidate != best and _key(candidate) < _key(best):
                    left -= 1
                    if interesting(candidate):
                        best, improved = candidate, True
                        break
            else:
                start += size
        if not improved:
            size //= 2
    return best


def _candidates(row: list[int], start: int, size: int) -> list[list[int]]:
    end = start + size
    out = [row[:start] + row[end:], row[:start] + [0] * len(row[start:end]) + row[end:]]
    if size == 1 and row[start] > 1:
        out += [[*row[:start], row[start] // 2, *row[end:]], [*row[:start], row[start] - 1, *row[end:]]]
    return out


def _key(row: list[int]) -> tuple[int, int]:
    return (sum(1 for x in row if x), sum(row)) if row else (0, 0)
