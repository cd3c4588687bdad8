"""Fixes of arguments: names, references, memory spaces."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..domain.array import Array
from ..domain.ref import Kernel, Launch, Ref
from ..rules.signatures import by_position, parameters, similar_name
from ..source.span import Span
from .call_text import argument_end, keyword, removal, tokens
from .candidate import Candidate, Edits, Repair, some, together

#: Keywords that ask for more than a plain store, by whatever name.
_REDUCES = re.compile(r"atomic|reduc|op|add|acc|min|max|and|or|mode", re.IGNORECASE)


def missing(repair: Repair) -> Iterator[Candidate]:
    """The axis that the kernel's mesh has; the block beside this one where two blocks form a cluster; the whole of
    what is loaded."""
    if repair.view.fact.excess:
        yield from unknown(repair)
    if repair.view.fact.api == "load" and repair.view.fact.positional == 1:
        edits = some(repair.add_argument(repair.view.fact.site, "idx=()"))
        if edits:
            yield Candidate("Add the index of the whole", True, edits)
    names = repair.view.fact.missing
    if not names or any(n not in ("cluster_idx", "cluster_dim") for n in names):
        return
    axes = _axes(repair.view.fact.launch)
    for axis, size in axes:
        texts = {"cluster_dim": f'"{axis}"', "cluster_idx": _other_block(repair, axis, size)}
        added = ", ".join(f"{n}={texts[n]}" for n in names)
        edits = some(repair.add_argument(repair.view.fact.site, added))
        if edits:
            yield Candidate(f"Add {added}", names == ("cluster_dim",) and len(axes) == 1, edits)


def _axes(launch: Launch | None) -> list[tuple[str, int | None]]:
    """The cluster's axes with their sizes."""
    if launch is None or not isinstance(launch.cluster_names, tuple):
        return []
    sizes = launch.cluster if isinstance(launch.cluster, tuple) else ()
    out: list[tuple[str, int | None]] = []
    for i, name in enumerate(launch.cluster_names):
        size = getattr(sizes[i], "dim", None) if i < len(sizes) else None
        if isinstance(name, str):
            out.append((name, size if isinstance(size, int) else None))
    return out


def _other_block(repair: Repair, axis: str, size: int | None) -> str:
    """The index of the other block of two, else of the first one."""
    return f'1 - jax.lax.axis_index("{axis}")' if size == 2 else "0"


def unknown(repair: Repair) -> Iterator[Candidate]:
    """The parameter whose name is closest, or the call without the argument."""
    fact = repair.view.fact
    name = fact.excess[0] if fact.excess else ""
    if name.startswith("positional"):
        yield from _by_keyword(repair)
        return
    call = repair.locate(fact.site)
    found = keyword(repair.text(call), name) if call is not None else None
    if call is None or found is None:
        return
    word, value = found
    free = [p for p in parameters(repair.view) if p not in fact.arg_sites]
    close = difflib.get_close_matches(name, free, 1, 0.5)
    for parameter in close:
        edit = repair.edit(Span(call.path, call.start + word.start, call.start + word.end), parameter)
        yield Candidate(f"Rename {name} to {parameter}", True, (edit,))
    if close or _REDUCES.search(name):
        return  # left away, it would no longer do what its author meant
    start, end = removal(repair.text(call), value.start, argument_end(repair.text(call), value.start))
    edit = repair.edit(Span(call.path, call.start + start, call.start + end), "")
    yield Candidate(f"Remove {name}", False, (edit,))


def similar(repair: Repair) -> Iterator[Candidate]:
    """The name that is spelled most like one that the release does not have."""
    site, name = repair.view.fact.site, repair.view.value("name")
    text = repair.source(site)
    close = similar_name(name, repair.view.version) if isinstance(name, str) else None
    if close is None or text is None or not isinstance(name, str) or not text.endswith(name):
        return
    yield Candidate(f"Rename to {close}", False, repair.replace(site, text.removesuffix(name) + close))


def _by_keyword(repair: Repair) -> Iterator[Candidate]:
    """Further positional arguments, given by keyword in the order of the signature."""
    span = repair.locate(repair.view.fact.site)
    if span is None:
        return
    starts = argument_starts(repair.text(span))
    names, taken = parameters(repair.view), by_position(repair.view)
    extra = [(at, n) for at, n in zip(starts[taken:], names[taken:], strict=False) if at is not None]
    edits = tuple(repair.edit(Span(span.path, span.start + at, span.start + at), f"{n}=") for at, n in extra)
    if edits:
        yield Candidate(f"Give {', '.join(n for _, n in extra)} by keyword", True, edits)


def argument_starts(text: str) -> list[int | None]:
    """Where each argument of a call starts; None for those that are given by keyword."""
    found = tokens(text)
    out: list[int | None] = []
    depth, opened = 0, False
    for i, t in enumerate(found[:-1]):
        depth += (t.text in "([{") - (t.text in ")]}")
        nxt = found[i + 1]
        first = depth == 1 and t.text in ("(", ",") and (opened or nxt.start > t.start)
        if first and nxt.text != ")":
            by_keyword = i + 2 < len(found) and found[i + 2].text == "="
            out.append(None if by_keyword else nxt.start)
        opened = opened or depth == 1
    return out


def reference(repair: Repair) -> Iterator[Candidate]:
    """The reference behind a load (`ref[...]`), or the one that fits its place."""
    for name in ("ref", "barrier"):
        x = repair.view.value(name)
        if isinstance(x, Ref):
            continue
        site = repair.view.site(name)
        source = (repair.source(site) or "").rstrip()
        for suffix in ("[...]", "[:]"):
            if source.endswith(suffix) and isinstance(x, Array):
                edits = repair.replace(site, source[: -len(suffix)])
                yield Candidate(f"Pass the reference, not the value it holds ({source[: -len(suffix)]})", True, edits)
        yield from _replaced(repair, name)
        return


def memory_space(name: str):
    """Fixes of an operand that is in another memory: exchanged with the other one, or the buffer of the right kind."""

    def make(repair: Repair) -> Iterator[Candidate]:
        yield from exchanged(repair)
        yield from _replaced(repair, name)

    return make


def exchanged(repair: Repair) -> Iterator[Candidate]:
    """The buffer and the barrier, given in each other's place."""
    ref, barrier = repair.view.site("ref"), repair.view.site("barrier")
    a, b = repair.source(ref), repair.source(barrier)
    if a is None or b is None or a == b:
        return
    edits: Edits = together(repair.replace(ref, b), repair.replace(barrier, a))
    if edits:
        yield Candidate("Exchange the buffer and the barrier", True, edits)


def _replaced(repair: Repair, name: str) -> Iterator[Candidate]:
    """The only scratch reference that can stand here."""
    fitting = [n for n, t in _scratch(repair) if _fits(repair, name, t)]
    if len(fitting) != 1:
        return
    edits = repair.replace(repair.view.site(name), fitting[0])
    if edits:
        yield Candidate(f"Pass {fitting[0]}", False, edits)


def _scratch(repair: Repair) -> list[tuple[str, object]]:
    """The kernel's scratch references by the names of the body's parameters."""
    kernel = kernel_of(repair)
    return scratch_of(kernel) if kernel is not None else []


def kernel_of(repair: Repair) -> Kernel | None:
    """The kernel in which the call stands."""
    launch = repair.view.fact.launch
    found = (f.result for f in repair.facts if isinstance(f.result, Kernel) and f.result.launch is launch)
    return next(found, None) if launch is not None else None


def scratch_of(kernel: Kernel) -> list[tuple[str, object]]:
    """A kernel's scratch types by the names of the body's parameters."""
    content = kernel.scratch.slots["items"] if hasattr(kernel.scratch, "slots") else kernel.scratch
    if isinstance(content, dict):
        return [(str(k), t) for k, (_, t) in content.items()]
    code = getattr(kernel.body, "code", None)
    if not isinstance(content, tuple) or code is None:
        return []
    names = [p.name for p in code.parameters if p.kind in ("positional", "normal")]
    return list(zip(names[-len(content) :], content, strict=False)) if content else []


def _fits(repair: Repair, name: str, t: object) -> bool:
    kind, src = getattr(t, "kind", ""), repair.view.value("src")
    if name == "barrier":
        return kind == "barrier"
    if kind != "data" or getattr(t, "space", "") != "smem" or not isinstance(src, Array):
        return False
    return repair.view.shapes_differ(src.shape, t.shape) is False and t.dtype == src.dtype  # pyright: ignore[reportAttributeAccessIssue]
