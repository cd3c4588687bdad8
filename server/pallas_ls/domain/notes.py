"""What was worked out about a path: answers, bindings that satisfy it, and the paths that branch off.

Nothing here is a fact of its own: without it all answers are the same, but later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from . import cond as conds
from .cond import Cond
from .dim import Dim, Expr
from .witness import IntCond, Witness, first_witnesses, of_integers, towards

if TYPE_CHECKING:
    from .facts import Facts

_KEPT = 8  # bindings of a path
_ENOUGH = 4  # so many that still fit are not added to by changing those that do not
_ASKED = 2  # bindings that are changed to look for a counterexample


class Numbers:
    """What was worked out about the facts on integers. Paths that differ in other facts only share it."""

    __slots__ = ("_older", "_pool", "_sure", "answers", "simpler")

    def __init__(self, older: Numbers | None = None) -> None:
        self.answers: dict[Cond, bool | None] = {}
        self.simpler: dict[Expr, Dim] = {}
        self._pool: tuple[list[Witness], int] | None = None  # and how many facts on integers the bindings satisfy
        while older is not None and not older.answers and older._pool is None:
            older = older._older
        self._older = older
        # What is always or never true stays so when more is learnt. One dict of it serves several facts in a row.
        self._sure: dict[Cond, bool] = older.sure() if older is not None else {}

    def sure(self) -> dict[Cond, bool]:
        """What is always or never true, for facts that grow out of these."""
        found = {c: a for c, a in self.answers.items() if a is not None and c not in self._sure}
        return {**self._sure, **found} if found else self._sure

    def answer(self, c: Cond) -> tuple[bool | None] | None:
        """What was answered before, in a tuple; None where the question is new."""
        if c in self.answers:
            return (self.answers[c],)
        if c in self._sure:
            return (self._sure[c],)
        return None

    def release(self) -> None:
        """Lets go of what these facts grew out of."""
        if self._pool is None:
            self._pool = self._nearest_pool()
        self._older = None

    def witnesses(self, integers: Sequence[IntCond]) -> list[Witness]:
        """Bindings that satisfy all facts on integers, as far as some were found."""
        pool = self._pool if self._pool is not None else self._nearest_pool()
        if pool is None:
            pool = list(first_witnesses()), 0
        found, checked = pool
        if checked < len(integers):
            found, checked = _adapted(found, integers, checked), len(integers)
        self._pool = found, checked
        return found

    def _nearest_pool(self) -> tuple[list[Witness], int] | None:
        older = self._older
        while older is not None:
            if older._pool is not None:
                return list(older._pool[0]), older._pool[1]
            older = older._older
        return None

    def look_for(self, c: IntCond, integers: Sequence[IntCond]) -> bool:
        """Whether a binding that satisfies the facts and `c` was found; it is kept."""
        pool = self.witnesses(integers)
        for w in pool[:_ASKED]:
            new = towards(w, c, integers)
            if new is not None:
                pool.insert(0, new)
                del pool[_KEPT:]
                return True
        return False


class Notes:
    """The notes of one set of facts.

    Attributes:
      learnt: the facts that it became when more was learnt.
      answers: to questions that are not about integers alone.
    """

    __slots__ = ("answers", "learnt", "numbers")

    def __init__(self, numbers: Numbers | None = None) -> None:
        self.learnt: dict[Cond, Facts] = {}
        self.answers: dict[Cond, bool | None] = {}
        self.numbers = Numbers() if numbers is None else numbers

    def release(self) -> None:
        """Lets go of other facts' notes, which no more questions are asked of than of these."""
        self.learnt = {}
        self.numbers.release()


def _adapted(pool: Iterable[Witness], integers: Sequence[IntCond], checked: int) -> list[Witness]:
    """The bindings that satisfy all; where only few do, others are changed so that they do too."""
    kept: list[Witness] = []
    unfit: list[tuple[Witness, int]] = []
    for w in pool:
        at = next((i for i in range(checked, len(integers)) if not w.holds(integers[i])), None)
        if at is None:
            kept.append(w)
        else:
            unfit.append((w, at))
    for w, at in unfit:
        if len(kept) >= _ENOUGH:
            break
        changed = _repaired(w, integers, at)
        if changed is not None:
            kept.append(changed)
    return kept


def _repaired(w: Witness, integers: Sequence[IntCond], at: int) -> Witness | None:
    out: Witness | None = w
    for i in range(at, len(integers)):
        if out is not None and not out.holds(integers[i]):
            out = towards(out, integers[i], integers[:i])
    return out


def witnessed(pool: Iterable[Witness], c: IntCond) -> tuple[bool, bool]:
    """Whether some binding makes the condition true, and whether some makes it false."""
    holds = fails = False
    for w in pool:
        answer = w.holds(c)
        if answer is True:
            holds = True
        elif answer is False:
            fails = True
        if holds and fails:
            break
    return holds, fails


def with_integers(known: tuple[IntCond, ...], c: Cond) -> tuple[IntCond, ...]:
    """The facts on integers, and `c` if it is one."""
    return (*known, c) if of_integers(c) else known  # pyright: ignore[reportReturnType]


def opposite(c: IntCond) -> IntCond | None:
    """The negation of a condition on integers, where that is one as well."""
    n = conds.negate(c)
    return n if of_integers(n) else None  # pyright: ignore[reportReturnType]
