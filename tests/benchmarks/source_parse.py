"""How long parsing takes: a file of 10,000 lines from scratch, and after one character typed into one chunk.

Run as a script: `PYTHONPATH=server python tests/benchmarks/source_parse.py [FILE]`. Without a file the kernel of the
tests is repeated to 10,000 lines. Prints the fastest of several rounds, in milliseconds.
"""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pallas_ls.source.module import parse_module

KERNEL = Path(__file__).parents[1] / "source" / "data" / "matmul.py"
ROUNDS = 7


def fastest(run: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main(arguments: list[str]) -> None:
    text = Path(arguments[0]).read_text(encoding="utf-8") if arguments else large_text(10_000)
    module = parse_module("m.py", text)
    small = min(
        range(len(module.chunks)),
        key=lambda i: (abs(len(module.chunks[i].text) - 300), abs(i - len(module.chunks) // 2)),
    )
    large = max(range(len(module.chunks)), key=lambda i: len(module.chunks[i].text))
    print(f"{text.count(chr(10))} lines, {len(module.chunks)} chunks, {len(module.errors)} errors")
    print(f"ast.parse alone          {fastest(lambda: ast.parse(text)):8.2f} ms")
    print(f"parse_module, fresh      {fastest(lambda: parse_module('m.py', text)):8.2f} ms")
    for name, index in (("small", small), ("largest", large)):
        end = module.starts[index] + len(module.chunks[index].text)
        size = module.chunks[index].text.count("\n") + 1
        for kind, typed in (("valid", "  # x"), ("broken", " (")):
            edited = text[:end] + typed + text[end:]
            spent = fastest(lambda edited=edited: parse_module("m.py", edited, module))
            print(f"{kind:6} edit, {name:7} chunk {spent:8.2f} ms ({size} lines)")


def large_text(lines: int) -> str:
    kernel = KERNEL.read_text(encoding="utf-8")
    return kernel * (lines // kernel.count("\n") + 1)


if __name__ == "__main__":
    main(sys.argv[1:])
