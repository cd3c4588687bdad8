"""What is offered for the kernels of a folder, as texts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pallas_ls.answers.session import Session
from pallas_ls.domain.finding import Edit, Fix, Severity
from pallas_ls.domain.target import JaxVersion, Target
from pallas_ls.fixes.candidate import apply_edits
from pallas_ls.source.module import Module, parse_module

HERE = Path(__file__).parent
#: Kernels in the styles that people write; each is refused for one reason.
STYLES = HERE / "kernels"
#: The census of async_store_smem: a kernel a check, and accepted ones.
CENSUS = HERE.parent / "kernels" / "async_store"


class Texts:
    """Modules held in memory; a module's path is its name with ".py"."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.modules: dict[str, Module] = {}
        for path, text in texts.items():
            self.put(path, text)

    def put(self, path: str, text: str) -> None:
        """Gives a file another text."""
        self.modules[path] = parse_module(path, text, self.modules.get(path))

    def find(self, name: str, level: int, importer: str) -> str | None:
        """The path of a module, where there is one of that name."""
        return f"{name}.py" if f"{name}.py" in self.modules else None

    def module(self, path: str) -> Module | None:
        """The parsed text."""
        return self.modules.get(path)


@dataclass(frozen=True, slots=True)
class Offered:
    """One fix.

    Attributes:
      code: of the finding; texts: of all files, once the fix is done.
    """

    code: str
    fix: Fix
    texts: Mapping[str, str]


def kernels() -> list[Path]:
    """All kernels; modules that they import are none."""
    found = [*sorted(STYLES.glob("*.py")), *sorted(CENSUS.glob("*.py"))]
    return [path for path in found if "LOWERED OK" in path.read_text()]


def texts_of(kernel: Path) -> dict[str, str]:
    """A kernel's file and the modules that it imports from its folder."""
    text = kernel.read_text()
    beside = [p for p in kernel.parent.glob("*.py") if f"from {p.stem} import" in text]
    return {p.name: p.read_text() for p in (kernel, *beside)}


def in_semantics(text: str, name: str) -> str | None:
    """A kernel of `STYLES` under "Lane" or "Warpgroup" semantics; None where it has no place for these."""
    given = "compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics."
    if given in text:
        return re.sub(r"LoweringSemantics\.\w+", f"LoweringSemantics.{name}", text)
    mesh = 'cluster_names=("c",),\n'
    return text.replace(mesh, f"{mesh}    {given}{name}),\n") if mesh in text and "plgpu" in text else None


def session(texts: Mapping[str, str], jax: str = "0.12.0") -> tuple[Session, Texts]:
    """A session over texts in memory."""
    files = Texts(texts)
    return Session(files, Target(JaxVersion.parse(jax))), files


def offers(texts: Mapping[str, str], path: str, jax: str = "0.12.0") -> list[Offered]:
    """All fixes for all errors of a file."""
    s, files = session(texts, jax)
    found = [f for f in s.check(path).findings if f.severity is Severity.ERROR]
    return [Offered(f.code, o.fix, fixed(files, o.fix)) for f in found for o in s.fixes_of(f)]


def fixed(files: Texts, fix: Fix) -> dict[str, str]:
    """The texts of all files once a fix is done."""
    edits: dict[str, list[Edit]] = {path: [] for path in files.modules}
    for e in fix.edits:
        edits[e.span.path].append(e)
    return {path: apply_edits(m.text.content, edits[path]) for path, m in files.modules.items()}


def shown(texts: Mapping[str, str], found: list[Offered]) -> str:
    """Fixes as headings with diffs."""
    out: list[str] = []
    for o in found:
        out.append(f"## {o.code}: {o.fix.title} ({'safe' if o.fix.safe else 'unsafe'})\n")
        for path, text in o.texts.items():
            old, new = texts[path].splitlines(), text.splitlines()
            out += [line.rstrip("\n") for line in difflib.unified_diff(old, new, path, path, n=0, lineterm="")]
        out.append("")
    return "\n".join(out)
