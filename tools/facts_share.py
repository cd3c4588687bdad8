"""How much `pallas-ls facts` answers about kernels that people have: `python tools/facts_share.py FOLDER...`.

Each file that calls `jax.experimental.pallas.mosaic_gpu` is a process of its own with a time limit. What is counted
are the operands that always have a shape, at every call of plgpu that stands in the text: one whose call no fact
speaks of counts as unanswered. An operand is answered *in full* by numbers and expressions over names of the source;
*in part*, where extents are missing or stand as the shape of a reference that is itself a local of the kernel.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PLGPU = "jax.experimental.pallas.mosaic_gpu"

_TRANSFER = ("src", "dst")
_PRODUCT = ("acc", "a", "b")
#: The operands of each function that have a shape in every call, as the parameters are called; "result" is what it
#: returns. `kernel` counts each leaf of its pytrees that facts know, at least one of each.
SHAPED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("ACC", "Barrier", "BlockSpec", "ClusterBarrier", "GMEM", "SMEM", "ShapeDtypeStruct", "TMEM"), ("result",)
    ),
    **dict.fromkeys(("barrier_arrive", "barrier_wait", "tcgen05_commit_arrive"), ("barrier",)),
    **dict.fromkeys(("async_copy_scales_to_tmem", "async_copy_smem_to_tmem"), ("smem_ref", "tmem_ref")),
    **dict.fromkeys(("async_load_tmem", "load"), ("src", "result")),
    **dict.fromkeys(("cluster_ref", "multicast_ref", "remote_ref"), ("ref", "result")),
    "async_prefetch": ("ref",),
    "async_store_smem": ("src", "ref", "barrier"),
    "async_store_tmem": ("ref", "value"),
    "broadcasted_iota": ("result",),
    "copy_gmem_to_smem": (*_TRANSFER, "barrier"),
    "copy_smem_to_gmem": _TRANSFER,
    "kernel": ("out_type", "scratch_types"),
    "layout_cast": ("x", "result"),
    "mma": (*_PRODUCT, "result"),
    "multimem_load_reduce": ("ref", "result"),
    "multimem_store": ("source", "ref"),
    "planar_snake": ("lin_idx", "result"),
    "semaphore_signal_multicast": ("semaphore",),
    "store": ("dst", "value"),
    "tcgen05_mma": (*_PRODUCT, "barrier"),
    "transpose_ref": ("ref", "result"),
    "wgmma": _PRODUCT,
    "wgmma_accumulator_load": ("acc", "result"),
}
#: Parameters that a call need not give, by their place in the signature (None: keyword only).
OPTIONAL = {("copy_gmem_to_smem", "barrier"): 2, ("tcgen05_mma", "barrier"): 3}
#: Keywords under which `kernel` is given its pytrees, in any release.
KERNEL = {"out_type": ("out_type", "out_shape"), "scratch_types": ("scratch_types", "scratch_shapes")}


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of plgpu in the text, with the operands that count."""

    line: int
    col: int
    api: str
    operands: tuple[str, ...]


@dataclass(slots=True)
class Text:
    """What the text of a file says by itself."""

    sites: list[CallSite] = field(default_factory=list[CallSite])
    functions: list[ast.FunctionDef | ast.Lambda] = field(default_factory=list[ast.FunctionDef | ast.Lambda])
    names: set[str] = field(default_factory=set[str])

    def is_local_reference(self, site: CallSite, name: str) -> bool:
        """Whether a name is the parameter of a function around the site that makes no kernel: one of a kernel's."""
        around = [f for f in self.functions if _holds(f, site) and name in _parameters(f)]
        innermost = max(around, key=lambda f: (f.lineno, f.col_offset), default=None)
        return innermost is not None and not any(_holds_site(innermost, s) for s in self.sites if s.api == "kernel")


@dataclass(slots=True)
class Count:
    """Operands by how they were answered."""

    full: int = 0
    partial: int = 0
    unanswered: int = 0

    @property
    def operands(self) -> int:
        return self.full + self.partial + self.unanswered

    def add(self, other: Count) -> None:
        self.full += other.full
        self.partial += other.partial
        self.unanswered += other.unanswered

    def __str__(self) -> str:
        n = max(self.operands, 1)
        some = self.full + self.partial
        return f"{self.operands:5d} operands, in full {self.full / n:6.1%}, at least in part {some / n:6.1%}"


@dataclass(slots=True)
class Answer:
    """What became of one file."""

    path: Path
    seconds: float = 0.0
    trouble: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    count: Count = field(default_factory=Count)
    reasons: collections.Counter[str] = field(default_factory=collections.Counter[str])
    missing: list[str] = field(default_factory=list[str])


# -- the text --------------------------------------------------------------------------------------


def read(path: Path) -> Text:
    """The calls of plgpu in a file, wherever its names come from an import of the module."""
    out = Text()
    tree = ast.parse(path.read_text())
    aliases, members = _imports(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            out.names.add(node.id)
        elif isinstance(node, ast.arg):
            out.names.add(node.arg)
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            out.functions.append(node)
        if isinstance(node, ast.Call):
            api = _api(node.func, aliases, members)
            if api in SHAPED:
                out.sites.append(CallSite(node.lineno, node.col_offset, api, tuple(_given(node, api))))
    return out


def _imports(tree: ast.AST) -> tuple[set[str], dict[str, str]]:
    """Names of the module, and of what was imported from it."""
    aliases: set[str] = set()
    members: dict[str, str] = {}
    package, _, last = PLGPU.rpartition(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            aliases |= {a.asname or a.name for a in node.names if a.name == PLGPU}
        elif isinstance(node, ast.ImportFrom) and node.module == package:
            aliases |= {a.asname or a.name for a in node.names if a.name == last}
        elif isinstance(node, ast.ImportFrom) and node.module == PLGPU:
            members |= {a.asname or a.name: a.name for a in node.names}
    return aliases, members


def _api(f: ast.expr, aliases: set[str], members: Mapping[str, str]) -> str:
    if isinstance(f, ast.Attribute):
        return f.attr if ast.unparse(f.value) in aliases else ""
    return members.get(f.id, "") if isinstance(f, ast.Name) else ""


def _given(call: ast.Call, api: str) -> Iterator[str]:
    keywords = {k.arg for k in call.keywords}
    for operand in SHAPED[api]:
        place = OPTIONAL.get((api, operand))
        if place is not None and len(call.args) <= place and operand not in keywords:
            continue
        if api == "kernel" and not keywords.intersection(KERNEL[operand]):
            continue
        if api == "BlockSpec" and not call.args and "block_shape" not in keywords:
            continue
        yield operand


def _holds(f: ast.FunctionDef | ast.Lambda, site: CallSite) -> bool:
    end = (f.end_lineno or f.lineno, f.end_col_offset or 0)
    return (f.lineno, f.col_offset) <= (site.line, site.col) < end


_holds_site = _holds


def _parameters(f: ast.FunctionDef | ast.Lambda) -> set[str]:
    a = f.args
    return {x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg)))}


# -- the answers -----------------------------------------------------------------------------------


def ask(path: Path, limit: int) -> Answer:
    """Runs `pallas-ls facts` over one file and counts what it says."""
    answer, before = Answer(path), _seconds()
    command = [sys.executable, "-m", "pallas_ls", "facts", "--format", "json", str(path)]
    limits = (limit, limit + 1)  # the first is a signal, the second is the end
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limits),
    )
    answer.seconds = _seconds() - before
    if done.returncode < 0:
        answer.trouble = f"took more than {limit} s"
    elif done.returncode:
        answer.trouble = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else str(done.returncode)
    if done.returncode >= 0:
        answer.rows = [json.loads(line) for line in done.stdout.splitlines()]
    count(answer, read(path))
    return answer


def _seconds() -> float:
    """Seconds of a CPU that the processes took that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def count(answer: Answer, text: Text) -> None:
    """Judges the rows of a file against the calls in its text."""
    by_site: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for row in answer.rows:
        by_site.setdefault((row["line"], row["col"]), []).append(row)
    for site in text.sites:
        rows = [r for r in by_site.get((site.line, site.col), []) if r["api"] == site.api]
        for operand in site.operands:
            mine = [r for r in rows if r["operand"].split("[")[0] == operand]
            whys = [r["why"] for r in rows if r.get("why")]
            if not mine:
                reason = answer.trouble or "; ".join(dict.fromkeys(whys)) or ("no row" if rows else "no fact")
                _unanswered(answer, site, operand, reason)
            for row in mine:
                _judge(answer, site, row, text)


def _judge(answer: Answer, site: CallSite, row: dict[str, Any], text: Text) -> None:
    shapes = row["alternatives"] or ([row["shape"]] if row["shape"] is not None else [])
    if not shapes:
        return _unanswered(answer, site, row["operand"], row["why"] or "no reason")
    extents = [e for shape in shapes for e in shape]
    if all(_is_full(e, site, text) for e in extents):
        answer.count.full += 1
        return None
    answer.count.partial += 1
    reason = row["why"] or "no reason"
    if None not in extents:
        odd = next(e for e in extents if not _is_full(e, site, text))
        reason = f"relative or invented: {odd}"
    answer.reasons[f"in part: {reason}"] += 1
    answer.missing.append(f"{answer.path}:{site.line}:{site.col} {site.api} {row['operand']} {shapes}: {reason}")
    return None


def _unanswered(answer: Answer, site: CallSite, operand: str, reason: str) -> None:
    answer.count.unanswered += 1
    answer.reasons[reason] += 1
    answer.missing.append(f"{answer.path}:{site.line}:{site.col} {site.api} {operand}: {reason}")


def _is_full(extent: int | str | None, site: CallSite, text: Text) -> bool:
    if not isinstance(extent, str):
        return extent is not None
    tree = ast.parse(extent, mode="eval")
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - {"min", "max", "len", "cdiv"}
    shapes = [n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "shape"]
    of_references = any(isinstance(x, ast.Name) and text.is_local_reference(site, x.id) for x in shapes)
    return names <= text.names and not of_references


# -- the command -----------------------------------------------------------------------------------


def kernel_files(folders: list[Path]) -> list[Path]:
    """Python files that import plgpu and call it, tests aside."""
    found: list[Path] = []
    for folder in folders:
        for path in [folder] if folder.is_file() else sorted(folder.rglob("*.py")):
            source = path.read_bytes()
            if b"mosaic_gpu" in source and read(path).sites:
                found.append(path)
    return found


def main() -> int:
    """Prints the share of each file and in all, and the reasons of the rest by frequency."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=120, help="seconds of a CPU for each file")
    parser.add_argument("--missing", type=Path, help="write each operand that is not answered in full to this file")
    parser.add_argument("--rows", type=Path, help="write the facts to this file, as JSON lines")
    given = parser.parse_args()
    answers: list[Answer] = []
    for path in kernel_files(given.folders):
        answer = ask(path, given.limit)
        answers.append(answer)
        print(f"{answer.count} {answer.seconds:6.1f} s  {answer.path} {answer.trouble}", flush=True)
    total, reasons = Count(), collections.Counter[str]()
    for answer in answers:
        total.add(answer.count)
        reasons += answer.reasons
    print(f"{total} in {len(answers)} files")
    for reason, n in reasons.most_common(40):
        print(f"{n:5d}  {reason}")
    if given.missing:
        given.missing.write_text("".join(f"{line}\n" for a in answers for line in a.missing))
    if given.rows:
        given.rows.write_text("".join(json.dumps(row) + "\n" for a in answers for row in a.rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
