"""How long diagnostics take after a keystroke: `python -m tests.benchmarks.lsp_keystroke FILE [LINE] [COUNT]`.

Opens the file in the real server over stdio, types COUNT characters into a comment at the end of LINE (from 1; default:
the last one), one after the other's diagnostics, and prints percentiles in milliseconds.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from lsprotocol import types
from tests.lsp.editor import SERVER, Editor


async def measure(path: Path, line: int | None, count: int) -> list[float]:
    """Seconds from each keystroke to its diagnostics; the first is that of the opening."""
    editor = Editor(path.resolve().parent)
    await editor.start(SERVER)
    await editor.initialize()
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    at = (line or len(lines)) - 1
    times = [await timed(editor, lambda: editor.open(path.name, text))]
    uri = editor.uri(path.name)
    column = len(lines[at].encode("utf-16-le")) // 2
    for number, typed in enumerate(("  # " + "x" * count)[:count]):
        position = types.Position(at, column + number)
        change = types.TextDocumentContentChangePartial(types.Range(position, position), typed)
        times.append(await timed(editor, lambda change=change: editor.change(uri, change)))
    await editor.shut_down()
    await editor.client.stop()
    return times


async def timed(editor: Editor, act) -> float:
    start = time.perf_counter()
    act()
    [uri] = editor.versions
    await editor.diagnostics(uri)
    return time.perf_counter() - start


def main() -> None:
    path = Path(sys.argv[1])
    line = int(sys.argv[2]) if len(sys.argv) > 2 else None
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    first, *times = asyncio.run(measure(path, line, count))
    times.sort()
    print(f"{path.name}: opening {first * 1e3:.1f} ms; {len(times)} keystrokes:")
    for percent in (50, 90, 99):
        print(f"  p{percent} {times[min(len(times) - 1, len(times) * percent // 100)] * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
