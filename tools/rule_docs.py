"""Write docs/rules: a page for each rule and a table of all. `--check` writes nothing and fails where one is stale."""

from __future__ import annotations

import sys
from pathlib import Path

from pallas_ls.rules.page import index
from pallas_ls.rules.registry import all_rules

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "rules"


def pages() -> dict[str, str]:
    """The text of each file of the folder, by its name."""
    rules = all_rules()
    return {"README.md": index(rules), **{f"{r.id}.md": r.page() for r in rules}}


def stale(folder: Path = FOLDER) -> list[str]:
    """Names of files that are missing, differ, or belong to no rule any more."""
    wanted = pages()
    present = {p.name: p.read_text("utf-8") for p in folder.glob("*.md")}
    return sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))


def write(folder: Path = FOLDER) -> None:
    """Makes the folder's pages the rules' pages."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for old in folder.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


def main() -> int:
    """Writes, or checks; the exit status."""
    if "--check" not in sys.argv[1:]:
        write()
        return 0
    for name in stale():
        print(f"docs/rules/{name} is stale: run `make docs`", file=sys.stderr)
    return 1 if stale() else 0


if __name__ == "__main__":
    sys.exit(main())
