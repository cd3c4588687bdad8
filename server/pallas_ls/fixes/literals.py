"""Edits of numbers where they are defined."""

from __future__ import annotations

from ..domain.python import Int, Origin
from .candidate import Edits, Repair, together

#: Operations that are solved for an operand.
OPERATIONS = ("*", "//", "+", "-", "min", "max")


def set_shape(repair: Repair, old: object, new: tuple[int, ...]) -> Edits:
    """Edits that make a shape another one of the same rank, each extent where it is defined."""
    if not isinstance(old, tuple) or len(old) != len(new):
        return None
    out: list[Edits] = []
    for extent, value in zip(old, new, strict=True):
        if repair.view.exact(extent) == value:
            continue
        out.append(set_number(repair, extent, value) if isinstance(extent, Int) else None)
    return together(*out)


def set_number(repair: Repair, n: Int, value: int) -> Edits:
    """Edits that make an exact number another one: its literal, or the one behind a product, a quotient and so on.

    None where the number does not come from a single literal that can be solved for.
    """
    if not isinstance(n.dim, int) or n.origin is None:
        return None
    return _solve(repair, n.origin, n.dim, value)


def _solve(repair: Repair, o: Origin, old: int, new: int) -> Edits:
    if old == new:
        return ()
    if o.how == "literal":
        edits = repair.replace(o.site, str(new))
        return edits or None
    if o.how in ("len", "parameter", "shape"):
        return None
    values = [_value(repair, x) for x in o.inputs]
    if len(o.inputs) == 1 and values[0] in (old, None) and o.how not in OPERATIONS:
        return _solve(repair, o.inputs[0], old, new)
    if len(o.inputs) != 2:
        return None
    return _solve_binary(repair, o, _inferred(o.how, values, old), new)


def _inferred(how: str, values: list[int | None], result: int) -> list[int | None]:
    """The operand that is no literal, from the other one and the result."""
    left, right = values
    if left is None and right is not None:
        known = {"*": result // right if right else None, "+": result - right, "-": result + right}
        return [known.get(how), right]
    if right is None and left is not None:
        known = {"*": result // left if left else None, "+": result - left, "-": left - result}
        known["//"] = left // result if result and left % result == 0 else None
        return [left, known.get(how)]
    return values


def _solve_binary(repair: Repair, o: Origin, values: list[int | None], new: int) -> Edits:
    left, right = values
    if left is None or right is None:
        return None
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
    elif o.how in ("min", "max"):
        chosen = min(left, right) if o.how == "min" else max(left, right)
        options += [(x, old, new) for x, old in zip(o.inputs, (left, right), strict=True) if old == chosen]
    for origin, old, wanted in sorted(options, key=lambda option: _is_inside(option[0], o)):
        edits = _solve(repair, origin, old, wanted)
        if edits is not None:
            return edits
    return None


def _is_inside(o: Origin, operation: Origin) -> bool:
    """Whether a number is written in the operation itself: the 2 of `2 * BLOCK`, which is no name's value."""
    a, b = o.site, operation.site
    return (a.path, a.chunk) == (b.path, b.chunk) and b.start <= a.start and a.end <= b.end


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
    if left is None or right is None:
        return None
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
