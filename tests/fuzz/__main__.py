"""`python -m tests.fuzz --kernels N --seed S`: random files, JAX's verdict beside ours, the smallest disagreements."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from .choices import Choices, shrink
from .compare import Comparison, Outcome, compare
from .kernels import Generated, generate

BAD = (Outcome.FALSE_ERROR, Outcome.WRONG_TYPE, Outcome.CRASH)


def main() -> int:
    """Prints a table; 1 where there is a false error, a wrong type or a crash."""
    options = _options()
    outcomes: Counter[Outcome] = Counter()
    reasons: dict[Outcome, dict[str, list[Generated]]] = defaultdict(lambda: defaultdict(list))
    begun = time.monotonic()
    for n in range(options.kernels):
        generated = generate(Choices(options.seed + n))
        found = compare(generated.texts)
        outcomes[found.outcome] += 1
        if found.outcome not in (Outcome.LOWERS, Outcome.FOUND):
            reasons[found.outcome][found.reason()].append(generated)
        if options.verbose:
            print(options.seed + n, found.outcome.name, found.reason(), flush=True)
    took = time.monotonic() - begun
    print(f"{options.kernels} files in {took:.0f} s, seeds {options.seed}..{options.seed + options.kernels - 1}")
    for outcome in Outcome:
        print(f"  {outcomes[outcome]:6}  {outcome.value}")
    for outcome, found in reasons.items():
        _print_reasons(outcome, found, options)
    return 1 if any(outcomes[o] for o in BAD) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--kernels", type=int, default=1000, help="how many files")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first file; the next has the next one")
    parser.add_argument("--save", type=Path, help="a folder for the smallest example of each disagreement")
    parser.add_argument("--no-shrink", action="store_true", help="show disagreements as they were generated")
    parser.add_argument("--verbose", action="store_true", help="a line a file")
    return parser.parse_args()


def _print_reasons(outcome: Outcome, found: dict[str, list[Generated]], options: argparse.Namespace) -> None:
    print(f"\n== {outcome.value}")
    for reason, examples in sorted(found.items(), key=lambda x: -len(x[1])):
        print(f"  {len(examples):4}  {reason}")
        if outcome not in BAD and options.save is None:
            continue
        row = examples[0].row if options.no_shrink else _smallest(examples[0], outcome, reason)
        texts = generate(Choices(row=row)).texts
        if outcome in BAD:
            _show(texts, compare(texts))
        if options.save is not None:
            _save(options.save, outcome, len(list(options.save.glob("*"))) if options.save.exists() else 0, texts)


def _smallest(example: Generated, outcome: Outcome, reason: str) -> list[int]:
    """The plainest file with the same outcome for the same reason."""

    def same(row: list[int]) -> bool:
        found = compare(generate(Choices(row=row)).texts)
        return found.outcome is outcome and (outcome is not Outcome.MISSED or found.reason() == reason)

    return shrink(example.row, same)


def _show(texts: dict[str, str], found: Comparison) -> None:
    for name, text in texts.items():
        print(f"    --- {name}.py")
        print(
            "\n".join(
                f"    {n:3} {line}" for n, line in enumerate(text.splitlines(), 1) if line and not _is_import(line)
            )
        )
    print(f"    JAX: {found.refusal.type + ': ' + found.refusal.message if found.refusal else 'lowers'}")
    for e in found.errors:
        line = texts["main"].count("\n", 0, e.span.start) + 1 if e.span.path == "main.py" else 0
        said = f"{e.jax.type}: {e.jax.message[:100]}" if e.jax else "-"
        print(f"    ours: {e.span.path}:{line} {e.code}: {e.message} ({said})")
    if found.crash:
        print(found.crash)


def _is_import(line: str) -> bool:
    return line.startswith(("import ", "from ")) and "tiles" not in line


def _save(folder: Path, outcome: Outcome, number: int, texts: dict[str, str]) -> None:
    place = folder / f"{outcome.name.lower()}_{number:03}"
    place.mkdir(parents=True)
    for name, text in texts.items():
        (place / f"{name}.py").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
