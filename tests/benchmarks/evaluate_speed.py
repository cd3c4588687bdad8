"""How fast the evaluator is: microseconds an AST node, statements an edit, and where the time goes.

    python tests/benchmarks/evaluate_speed.py [--profile] [FILE ...]

Generated functions are measured first, then each FILE as it stands. "nodes" counts the AST nodes of a text once;
"evaluated" counts statements as often as they ran. The aim is 3 microseconds a node or less, and one evaluation of
the edited function.
"""

from __future__ import annotations

import argparse
import ast
import cProfile
import pstats
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.evaluate.workbench import Texts

from pallas_ls.evaluate.program import Program
from pallas_ls.library.library import Library

STRAIGHT = """\
    m{i}, k{i} = x.shape
    t{i} = m{i} // tile * tile + {i}
    b{i} = (t{i} + 127) // 128 * 128 - k{i} % 64
    row{i} = [t{i} * j for j in range(4)]
    pair{i} = (b{i}, row{i}[2] if b{i} > {i} else 0)
"""
BRANCHING = """\
    if tile % {d} == 0:
        v{i} = tile // {d}
    else:
        v{i} = tile * 2
    w{i} = v{i} + {i}
"""
CALLING = """\
    def f{i}(a, b={i}):
        c = a * b + tile
        if c < 0:
            raise ValueError(c)
        return c
    u{i} = f{i}(tile) + f{i}(x.shape[0], b=2)
"""


def generated(form: str, times: int) -> str:
    """A module with one large function."""
    body = "".join(form.format(i=i, d=2 + i % 7) for i in range(times))
    return f"def main(x, tile: int):\n{body}    return tile\n"


def measure(name: str, text: str, profile: bool) -> None:
    """Prints one line for a text: cold, and after an edit at its end."""
    files = Texts({"main": text})
    p = Program(files, _library())
    nodes = sum(1 for _ in ast.walk(ast.parse(text)))
    cold = _timed(p)
    statements = sum(p.evaluated.values())
    files.put("main", text + "\n")
    p.refresh()
    p.reset_count()
    idle = _timed(p)
    function = max((n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)), key=_size, default=None)
    lines = text.split("\n")
    if function is not None:
        lines[(function.end_lineno or 1) - 1] += "  # edited"
    files.put("main", "\n".join(lines))
    p.refresh()
    p.reset_count()
    if profile:
        profiler = cProfile.Profile()
        profiler.runcall(p.analyse, "main.py")
        pstats.Stats(profiler).sort_stats("tottime").print_stats(18)
        return
    warm = _timed(p)
    again = max(p.evaluated.values(), default=0)
    own = sum(1 for n in ast.walk(function) if isinstance(n, ast.stmt)) if function is not None else 0
    inside = _size(function) if function is not None else 0
    print(
        f"{name:28} {nodes:6} nodes  cold {cold * 1e3:7.1f} ms {cold * 1e6 / nodes:5.1f} us/node"
        f"  {statements:5} evaluated  unchanged {idle * 1e3:5.2f} ms  largest function edited: {warm * 1e3:6.1f} ms"
        f" {warm * 1e6 / max(1, inside):5.1f} us/node, {again / max(1, own):.2f} evaluations"
    )


def _size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def _timed(p: Program) -> float:
    start = time.process_time()
    p.analyse("main.py")
    return time.process_time() - start


_KEPT: list[Library] = []


def _library() -> Library:
    if not _KEPT:
        _KEPT.append(Library())
    return _KEPT[0]


def main() -> None:
    """Measures what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--profile", action="store_true", help="show where the time of the edit goes")
    parser.add_argument("--only", default="", help="a part of the name of what is measured")
    options = parser.parse_args()
    cases = {
        f"generated {n}": generated(f, t)
        for n, f, t in (("straight", STRAIGHT, 60), ("branching", BRANCHING, 60), ("calling", CALLING, 60))
    }
    cases |= {p.name: p.read_text(encoding="utf-8") for p in options.files}
    for name, text in cases.items():
        if options.only in name:
            measure(name, text, options.profile)


if __name__ == "__main__":
    main()
