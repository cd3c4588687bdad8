"""Which target a call is judged for: directives, settings, what the kernel itself calls, the file's name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import PurePath

from ..domain.fact import CallFact
from ..domain.ref import Kernel
from ..domain.target import JaxVersion, Semantics, Target
from ..rules.copy_architecture import is_for_older_gpus
from ..source.comments import directives
from ..source.module import Module

#: What binds names of axes around a kernel.
_MAPS = re.compile(r"\b(shard_map|pmap|xmap|vmap)\b")
_COMMENT = re.compile(r"#.*")
_BLACKWELL = (
    "tcgen05_mma",
    "tcgen05_commit_arrive",
    "TMEM",
    "async_load_tmem",
    "async_store_tmem",
    "async_copy_smem_to_tmem",
)


def targets(module: Module, base: Target, facts: Iterable[CallFact]) -> Callable[[CallFact], Target]:
    """The target of each call of a file."""
    mapped = any(_MAPS.search(_COMMENT.sub("", c.text)) for c in module.chunks)
    whole, by_chunk = _directives(module, replace(base, mapped=mapped))
    called: dict[int, list[CallFact]] = {}
    run: set[int] = set()
    for f in facts:
        if f.launch is not None:
            called.setdefault(id(f.launch.made), []).append(f)
        kernel = f.operands.get("kernel")
        if f.api == "kernel()" and isinstance(kernel, Kernel) and _runs_by_itself(f):
            run.add(id(kernel.launch.made))
    inferred: dict[int, str] = {}
    by_name = _from_name(PurePath(module.path).stem)

    def target(fact: CallFact) -> Target:
        made = fact.launch.made if fact.launch is not None else None
        chunk = made.site.chunk if made is not None and made.site.path == module.path else fact.site.chunk
        found = by_chunk.get(chunk) or by_chunk.get(fact.site.chunk) or whole
        found = replace(found, mapped=mapped or id(made) not in run)
        if found.arch is not None:
            return found
        if id(made) not in inferred:
            inferred[id(made)] = (
                _from_calls(called.get(id(made), []) if made is not None else []) or by_name or "sm_90a"
            )
        return replace(found, arch=inferred[id(made)], inferred=True)

    return target


def _from_name(stem: str) -> str | None:
    """The architecture that a file is named after: `attention_sm100.py`."""
    named = re.search(r"_sm(\d+)a?(?:_|$)", stem)
    if named is None:
        return None
    return f"sm_{named[1]}a" if int(named[1]) >= 90 else f"sm_{named[1]}"  # Pallas compiles for the "a" variants


def _from_calls(facts: list[CallFact]) -> str | None:
    """The architecture that a kernel's calls are for."""
    if any(f.api in _BLACKWELL for f in facts):
        return "sm_100a"
    return "sm_80" if is_for_older_gpus(facts) else None


def _runs_by_itself(call: CallFact) -> bool:
    """Whether a kernel is called by code that nobody else calls: of the module itself (`__main__`), of a test."""
    root = (call.stack[0] if call.stack else call.site).chunk
    return "def test" in root or not root.startswith(("def ", "async def ", "class "))


def _directives(module: Module, base: Target) -> tuple[Target, dict[str, Target]]:
    """The file's target (a directive before all code), and those of single chunks (a directive right over them)."""
    whole = base
    by_chunk: dict[str, Target] = {}
    found = [d for d in directives(module) if d.kind == "target"]
    first = module.starts[0] if module.starts else len(module.text.content)
    for d in found:
        if d.span.end <= first or _is_head(module, d.span.end):
            whole = apply_directive(whole, d.argument)
    for d in found:
        after = next((c for c, start in zip(module.chunks, module.starts, strict=True) if start >= d.span.end), None)
        if (
            after is not None
            and d.span.end > first
            and not module.text.content[d.span.end : module.start(after.key)].strip(" \t\r\n#")
        ):
            by_chunk[after.key] = apply_directive(whole, d.argument)
    return whole, by_chunk


def _is_head(module: Module, offset: int) -> bool:
    """Whether only comments, a docstring and imports stand before an offset."""
    before = [c for c, start in zip(module.chunks, module.starts, strict=True) if start < offset]
    return all(c.key.startswith(("import", "from", "expr")) for c in before)


def apply_directive(target: Target, text: str) -> Target:
    """A target with what a directive says of it: "sm_100a", "lane", "warpgroup", "jax 0.11.2" or "jax=0.11.2"; other
    words are left."""
    for word in text.replace("=", " ").replace(",", " ").split():
        if word.startswith("sm_"):
            target = replace(target, arch=word)
        elif word in ("lane", "warpgroup"):
            target = replace(target, semantics=Semantics(word))
        elif word[:1].isdigit():
            try:
                target = replace(target, jax=JaxVersion.parse(word))
            except ValueError:
                continue
    return target
