"""Random choices with faults: everything is drawn sound, but for the chosen points, where something odd is put."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import TypeVar

from tests.fuzz.choices import Choices

T = TypeVar("T")


class Draw(Choices):
    """Choices of a seed, with faults at given points.

    A point is a place of the generator that could put something odd. Drawing with no fault counts them; drawing again
    from the same seed makes the same choices, and the odd ones at the points that were named.
    """

    def __init__(self, seed: int, faults: Collection[int] = ()) -> None:
        super().__init__(seed)
        self.faults = faults
        self.points = 0
        self._odd = random.Random(~seed)

    def odd(self, sound: T, *others: T) -> T:
        """The sound one, or another at a point that was chosen for a fault."""
        at = self.points
        self.points += 1
        return self._odd.choice(others) if at in self.faults else sound

    def rarely(self, sound: T, *others: T) -> T:
        """As `odd`, but one time in five only: for what every kernel has."""
        return self.odd(sound, *others) if self.chance(20) else sound
