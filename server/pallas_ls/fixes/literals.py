"""Edits of numbers where they are defined."""

from __future__ import annotations

from ..domain.finding import Edit
from ..domain.python import Int, Origin
from .candidate import Repair


def set_number(repair: Repair, n: Int, value: int) -> tuple[Edit, ...] | None:
    """Edits that make an exact number another one: its literal, or the one literal behind a product, a quotient or a
    difference.

    None where the number does not come from a single literal that can be solved for.
    """
    if not isinstance(n.dim, int) or n.origin is None:
        return None
    return _solve(repair, n.origin, n.dim, value)


def _solve(repair: Repair, o: Origin, old: int, new: int) -> tuple[Edit, ...] | None:
    if old == new:
        return ()
    if o.how == "literal":
        edits = repair.replace(o.site, str(new))
        return edits or None
    if o.how in ("len", "parameter", "shape"):
        return None
    values = [_value(repair, x) for x in o.inputs]
    if len(o.inputs) == 1 and values[0] == old:
        return _solve(repair, o.inputs[0], old, new)
    if len(o.inputs) != 2 or None in values:
        return None
    return _solve_binary(repair, o, values, new)


def _solve_binary(repair: Repair, o: Origin, values: list[int | None], new: int) -> tuple[Edit, ...] | None:
    left, right = values
    assert left is not None and right is not None
    options: list[tuple[Origin, int, int]] = []
    if o.how == "*":
        if right and new % right == 0:
            options.append((o.inputs[0], left, new // right))
        if left and new % left == 0:
            options.append((o.inputs[1], right, new // left))
    elif o.how == "//" and right:
        options.append((o.inputs[0], left, new * right))
    elif o.how == "+":
        options += [(o.inputs[0], left, new - right), (o.inputs[1], right, new - left)]
    elif o.how == "-":
        options.append((o.inputs[0], left, new + right))
    for origin, old, wanted in options:
        edits = _solve(repair, origin, old, wanted)
        if edits is not None:
            return edits
    return None


def _value(repair: Repair, o: Origin) -> int | None:
    """The value behind an origin, where it is a literal or an operation on such."""
    if o.how == "literal":
        text = repair.source(o.site)
        try:
            return int(text.replace("_", ""), 0) if text is not None else None
        except ValueError:
            return None
    values = [_value(repair, x) for x in o.inputs]
    if None in values or not values:
        return None
    if len(values) == 1:
        return values[0]
    left, right = values[0], values[1]
    assert left is not None and right is not None
    match o.how:
        case "*":
            return left * right
        case "+":
            return left + right
        case "-":
            return left - right
        case "//":
            return left // right if right else None
        case "min":
            return min(left, right)
        case "max":
            return max(left, right)
        case _:
            return None
