"""Multiplications and JAX's verdicts as rows of a tab-separated file, so that other releases' answers can be kept."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.target import JaxVersion, Semantics
from pallas_ls.rules.mma.case import MmaCase, Operand, WgmmaCase
from tests.oracle.verdict import parse, show

Case = WgmmaCase | MmaCase
_KINDS = {"wgmma": WgmmaCase, "tcgen05_mma": MmaCase}


def path(version: JaxVersion) -> Path:
    return Path(__file__).parent / f"recorded_{version}.tsv"


def write(version: JaxVersion, rows: Iterable[tuple[Case, JaxError | None]]) -> None:
    lines = [f"{_encode(case)}\t{show(verdict)}" for case, verdict in rows]
    path(version).write_text("\n".join(lines) + "\n", "utf-8")


def read(version: JaxVersion) -> Iterator[tuple[Case, JaxError | None]]:
    for line in path(version).read_text("utf-8").splitlines():
        call, verdict = line.split("\t")
        yield replace(_decode(call), version=version), parse(verdict)


def _encode(x: object) -> str:
    """A call as Python would write it, defaults left out."""
    if isinstance(x, (WgmmaCase, MmaCase, Operand)):
        kind = next((k for k, t in _KINDS.items() if isinstance(x, t)), "operand")
        given = ((f.name, f.default, getattr(x, f.name)) for f in fields(x) if f.name != "version")
        return f"{kind}({', '.join(f'{name}={_encode(v)}' for name, default, v in given if v != default)})"
    return repr(x.value) if isinstance(x, Semantics) else repr(x)


def _decode(text: str) -> Case:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    return _KINDS[call.func.id](**{k.arg: _argument(k) for k in call.keywords if k.arg is not None})


def _argument(node: ast.keyword) -> object:
    if node.arg == "semantics":
        return Semantics(ast.literal_eval(node.value))
    if isinstance(node.value, ast.Call):
        return Operand(**{k.arg: ast.literal_eval(k.value) for k in node.value.keywords if k.arg is not None})
    return ast.literal_eval(node.value)
