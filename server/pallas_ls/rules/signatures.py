"""Rules about names and parameters that a release has: functions, their keywords, and how many arguments they take.

`library/releases.tsv` keeps what each measured release has. A release between two of them refuses what both refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ..domain.finding import JaxError
from ..domain.target import MEASURED, NEWEST, JaxVersion
from ..library.registry import Signature
from ..library.releases import ANY, MODULES, Row, by_name, nearest
from .rule import Answer, Problem, Rule, Unsure
from .view import CallView

#: Their rules say more of their keywords (kernel_call.py).
_OTHERS = ("kernel", "CompilerParams")
#: Names whose rules say what to do instead (copy_architecture.py).
_TOLD = ("wait_gmem_to_smem",)
FUNCTIONS = tuple(
    sorted(n for n, found in by_name().items() if n not in _OTHERS and any(r.parameters != ANY for r in found.values()))
)


@dataclass(frozen=True, slots=True)
class Bound:
    """What of a call one release does not take, in the order in which Python looks.

    Attributes:
      row: the function there.
      unexpected, twice: a keyword that it does not have, or that is given by position, too.
      excess: it takes fewer arguments by position.
      missing: required parameters that are not given; `keyword`: they are given by keyword only.
    """

    row: Row
    unexpected: str | None = None
    twice: str | None = None
    excess: bool = False
    missing: tuple[str, ...] = ()
    keyword: bool = False


def bound(v: CallView, row: Row) -> Bound:
    """How the call fits the function of a release."""
    signature, given = Signature.parse(row.parameters), v.fact.positional
    by_position = signature.positional[:given]
    for name in v.fact.keywords:
        if name not in signature.names:
            return Bound(row, unexpected=name)
        if name in by_position:
            return Bound(row, twice=name)
    if given > len(signature.positional):
        return Bound(row, excess=True)
    if v.fact.open:
        return Bound(row)
    absent = [n for n in signature.names if n not in {*by_position, *v.fact.keywords, *signature.defaults}]
    positional = tuple(n for n in absent if n in signature.positional)
    if positional:
        return Bound(row, missing=positional)
    return Bound(row, missing=tuple(absent), keyword=True)


def _in_each(v: CallView) -> list[Bound]:
    """The call in the releases that stand for this one; nothing where one has no such function, or takes anything."""
    found = by_name().get(v.fact.api, {})
    mine = [found.get(version) for version in nearest(v.version)]
    known = [r for r in mine if r is not None and r.parameters != ANY]
    return [bound(v, r) for r in known] if len(known) == len(mine) else []


def unexpected(v: CallView) -> Answer:
    """A keyword that the function does not have, or an argument too many."""
    each = _in_each(v)
    if not each or not all(b.unexpected or b.twice or b.excess for b in each):
        return None
    b = each[0]
    called, api = b.row.called, v.fact.api
    if b.excess:
        limit = len(Signature.parse(b.row.parameters).positional)
        count = limit + ("." in called)
        text = f"{api} takes {limit or 'no'} argument{'s' if limit != 1 else ''} by position, further ones by keyword."
        plural = "s" if count != 1 else ""
        words = f"{called}() takes {count} positional argument{plural} but …"
        if _has_optional(b.row):
            words = f"{called}() takes from … to {count} positional arguments but …"
        return Problem(text + _elsewhere(v, lambda other: not other.excess), JaxError("TypeError", words))
    if b.twice:
        words = f"{called}() got multiple values for argument '{b.twice}'"
        return Problem(
            f"{b.twice} is given twice, by position and by keyword.", JaxError("TypeError", words), v.site(b.twice)
        )
    name = b.unexpected or ""
    words = f"{called}() got an unexpected keyword argument '{name}'"
    told = _elsewhere(v, lambda other: other.unexpected != name) or _close(b, v)
    return Problem(f"{api} has no parameter {name!r}.{told}", JaxError("TypeError", words), v.site(name))


def _has_optional(row: Row) -> bool:
    signature = Signature.parse(row.parameters)
    return any(n in signature.defaults for n in signature.positional)


def by_position(v: CallView) -> int:
    """How many arguments the function takes by position there."""
    row = by_name().get(v.fact.api, {}).get(nearest(v.version)[0])
    return len(Signature.parse(row.parameters).positional) if row is not None and row.parameters != ANY else 0


def parameters(v: CallView) -> tuple[str, ...]:
    """What the function's parameters are called in the release that stands for this one; nothing if unknown."""
    row = by_name().get(v.fact.api, {}).get(nearest(v.version)[0])
    return Signature.parse(row.parameters).names if row is not None and row.parameters != ANY else ()


def _close(b: Bound, v: CallView) -> str:
    """The parameter that may be meant."""
    signature = Signature.parse(b.row.parameters)
    given = {*signature.positional[: v.fact.positional], *v.fact.keywords}
    close = get_close_matches(b.unexpected or "", [n for n in signature.names if n not in given], 1)
    return f" Is {close[0]} meant?" if close else ""


def _elsewhere(v: CallView, fits: Callable[[Bound], bool]) -> str:
    """Which other releases take it."""
    rows = by_name().get(v.fact.api, {})
    others = [r for r in MEASURED if r in rows and rows[r].parameters != ANY and fits(bound(v, rows[r]))]
    if not others:
        return ""
    return f" This is for JAX {v.version}; {' and '.join(map(str, others))} take{'s' if len(others) == 1 else ''} it."


def missing(v: CallView) -> Answer:
    """Required parameters that the call does not give."""
    if v.fact.open:
        return Unsure("some arguments come from a star of unknown content")
    each = _in_each(v)
    if not each or not all(b.missing for b in each):
        return None
    b = each[0]
    if v.fact.api == "copy_gmem_to_smem" and b.missing == ("barrier",):
        return None  # copy-architecture tells when a copy has a barrier
    names = list(b.missing)
    told = [f"{n} ({_MEANING[n]})" if n in _MEANING else n for n in names]
    text = f"{v.fact.api} also needs {', '.join(told)}.{_elsewhere(v, lambda other: not other.missing)}"
    return Problem(text, JaxError("TypeError", f"{b.row.called}() {_lacks(names, b.keyword)}"))


_MEANING = {
    "cluster_dim": "the cluster axis",
    "cluster_idx": "the receiving block's index along cluster_dim",
    "barrier": "which counts the bytes there",
}


def _lacks(names: list[str], keyword: bool) -> str:
    """As Python says it."""
    quoted = [f"'{n}'" for n in names]
    listed = quoted[0]
    if len(quoted) == 2:
        listed = " and ".join(quoted)
    elif len(quoted) > 2:
        listed = f"{', '.join(quoted[:-1])}, and {quoted[-1]}"
    kind = "keyword-only" if keyword else "positional"
    return f"missing {len(names)} required {kind} argument{'s' if len(names) > 1 else ''}: {listed}"


def absent(v: CallView) -> Answer:
    """A name that the release does not have."""
    name = v.value("name")
    if not isinstance(name, str) or name in _TOLD or v.version > NEWEST:
        return None
    has = by_name().get(name, {})
    if any(version in has for version in nearest(v.version)):
        return None
    enum, _, member = name.rpartition(".")
    if enum:
        jax = JaxError("AttributeError", f"type object '{enum}' has no attribute '{member}'")
    else:
        jax = JaxError("AttributeError", f"module '{MODULES['']}' has no attribute '{name}'")
    return Problem(f"JAX {v.version} has no plgpu.{name}.{_when(name, has, v.version)}", jax)


def _when(name: str, has: Mapping[JaxVersion, Row], version: JaxVersion) -> str:
    if has:
        return f" {' and '.join(map(str, has))} ha{'s' if len(has) == 1 else 've'} it."
    close = similar_name(name, version)
    return f" Is plgpu.{close} meant?" if close else ""


def similar_name(name: str, version: JaxVersion) -> str | None:
    """The name of a release that is spelled most like one that it does not have."""
    prefix = name.rpartition(".")[0]
    mine = nearest(version)
    known = [n for n, found in by_name().items() if n.rpartition(".")[0] == prefix and all(v in found for v in mine)]
    return next(iter(get_close_matches(name, known, 1)), None)


_PRIMITIVES = "jax/_src/pallas/mosaic_gpu/primitives.py"

RULES = (
    Rule(
        "unknown-argument",
        "Keywords are those of the function.",
        FUNCTIONS,
        1,
        unexpected,
        f"{_PRIMITIVES}, core.py, pipeline.py (the functions' signatures)",
        "The call gives a keyword that the function does not have, or more positional arguments than it takes. "
        "Parameters come and go between releases: `predicate=` of the copies came after 0.10.2, and the index of "
        "`plgpu.load` is gone since 0.12.",
    ),
    Rule(
        "missing-argument",
        "Required arguments are given.",
        FUNCTIONS,
        2,
        missing,
        f"{_PRIMITIVES}, core.py, pipeline.py (the functions' signatures)",
        "The call leaves out an argument that has no default. In 0.10.2 `plgpu.load(ref, idx)` needs its index (`()` "
        "for the whole). For an `async_store_smem`, `cluster_dim` names the cluster axis and `cluster_idx` the block "
        "along it that receives the data; both are keywords.",
    ),
    Rule(
        "absent-name",
        "A name of plgpu is one of the release.",
        ("plgpu.name",),
        1,
        absent,
        "jax/experimental/pallas/mosaic_gpu.py (its names); core.py, Layout",
        "Functions and layouts come from release to release: `plgpu.sum`, `plgpu.max`, `plgpu.store` and "
        "`plgpu.barrier_arrive_and_wait` with 0.12, `plgpu.mma` and its layouts with 0.11. A guard keeps a kernel "
        'working with both: `if hasattr(plgpu, "sum")`, or `try` and `except AttributeError`.',
    ),
)
