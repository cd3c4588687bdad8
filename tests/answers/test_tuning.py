"""Tuning loops: one word on how many of their calls JAX refuses, where a handler takes that."""

from __future__ import annotations

from .test_contexts import FACTORY, X
from .workbench import said, session

CALL = f"make({X}, rows)"
LINE = f"{CALL}"[:40]


def messages(text: str) -> list[str]:
    """What is said of tuning loops."""
    return [f.message for f in session(FACTORY + text).check("k.py").findings if f.code == "tuning-loop"]


def test_calls_that_are_refused_are_counted_once_each() -> None:
    loop = f"""
import itertools

def tune():
    for rows, times in itertools.product((36, 64, 128), (1, 2)):
        try:
            {CALL}
        except AssertionError:
            continue
"""
    s = session(FACTORY + loop)
    assert said(s) == [f"{LINE} | information tuning-loop"]
    (finding,) = s.check("k.py").findings
    assert finding.message == (
        "JAX refuses 2 of the 6 calls made here, and the handler takes it (2 by tiling-divides: "
        "A tiling divides the dimensions that it cuts). In 4 nothing was found that JAX refuses."
    )
    assert [r.message.startswith("tiling-divides: ") for r in finding.related] == [True]


def test_a_handler_that_may_raise_again_changes_nothing() -> None:
    loop = f"""
import other

def tune():
    for rows in (36, 64, 100):
        try:
            best = other.measure({CALL})
        except Exception as e:
            if "exceeds" in e.args[0]:
                continue
            raise
        print(best)
"""
    assert [m.split(" (")[0] for m in messages(loop)] == [
        "JAX refuses 2 of the 3 calls made here, and the handler takes it"
    ]


def test_errors_of_the_program_are_told_apart() -> None:
    text = f"""
def checked(rows):
    if rows > 64:
        raise ValueError(rows)
    {CALL}

def tune():
    for rows in (36, 64, 128, 256):
        try:
            checked(rows)
        except (AssertionError, ValueError):
            pass
"""
    (message,) = messages(text)
    assert message.startswith("JAX refuses 1 of the 4 calls made here")
    assert message.endswith("2 raise an error of the program's own, or may. In 1 nothing was found that JAX refuses.")


def test_nothing_is_said_where_a_test_expects_it_or_one_call_is_tried() -> None:
    expected = f"""
import pytest

def test_refused():
    for rows in (36, 100):
        with pytest.raises(AssertionError):
            {CALL}

def once(rows=36):
    try:
        {CALL}
    except AssertionError:
        pass
"""
    assert messages(expected) == []


def test_a_handler_that_does_not_take_it_leaves_the_error() -> None:
    loop = f"""
def tune():
    for rows in (36, 64):
        try:
            {CALL}
        except KeyError:
            pass
"""
    assert messages(loop) == []
    assert f"{LINE} | error tiling-divides" in said(session(FACTORY + loop))


def test_many_configurations_are_looked_at_within_the_budget() -> None:
    loop = f"""
import itertools

def tune():
    for rows, a, b in itertools.product((36, 64, 100, 128), range(10), range(10)):
        try:
            {CALL}
        except AssertionError:
            pass
"""
    s = session(FACTORY + loop)
    (finding,) = s.check("k.py").findings
    assert finding.message.startswith("JAX refuses 200 of the 400 calls made here")
    assert s.check("k.py").notes == ()


def test_what_is_measured_is_called() -> None:
    loop = f"""
import functools
import statistics
from jax.experimental.mosaic.gpu import profiler

def tune():
    x = {X}
    for rows in (36, 64, 128):
        try:
            out, times = profiler.measure(functools.partial(make, rows=rows), iterations=10)(x)
            assert times is not None
            runtime = statistics.median(times)
        except AssertionError:
            continue
        print(out.shape, runtime)
"""
    assert [m.split(" (")[0] for m in messages(loop)] == [
        "JAX refuses 1 of the 3 calls made here, and the handler takes it"
    ]
