"""What can be confirmed: kernels and the functions that launch them, with arguments that the agent can make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..domain.array import Array, ShapeDtype
from ..domain.dtype import DType
from ..domain.fact import CallFact, HostCall
from ..domain.python import MISSING, Class, DictCell, Instance, Int, ListCell, Value
from ..domain.ref import Kernel
from ..evaluate.frame import Function, Parameter
from ..evaluate.memo import Memo, ModuleState
from ..evaluate.modules import ModuleEnv
from ..library.scratch import positional_count
from ..source.span import Site, Span
from .annotations import USUAL, annotated_array
from .report import KernelCall

Locate = Callable[[Site], Span | None]
Place = Callable[[Span], str]


class NotExpressible(Exception):
    """The value cannot be written as an expression of the module."""


def kernel_calls(
    path: str, state: ModuleState, calls: Iterable[HostCall], locate: Locate, place: Place
) -> list[KernelCall]:
    """Kernels of module level first, then functions that launch some, each with the contexts that were found."""
    found = list(_module_kernels(state, locate))
    for chunk_memo in state.chunks.values():
        for f in chunk_memo.made:
            memo = state.entries.get(f"{f.code.site.chunk}:{f.code.site.start}")
            if memo is not None and any(x.api in ("kernel", "kernel()") for x in memo.facts):
                mine = [c for c in calls if c.path == path and c.name == f.name]
                found += _function(f, memo, mine, state.env, locate, place)
    return sorted(found, key=lambda k: k.span.start)


def _module_kernels(state: ModuleState, locate: Locate) -> Iterator[KernelCall]:
    names = {id(v): n for n, v in state.env.vars.items() if isinstance(v, Kernel)}
    for memo in state.chunks.values():
        for fact in memo.facts:
            kernel = fact.operands.get("kernel")
            if fact.api != "kernel()" or not isinstance(kernel, Kernel) or fact.chain:
                continue
            span = locate(kernel.made.site)
            if span is None:
                continue
            covers = _covers(memo.facts, locate)
            name = names.get(id(kernel), "")
            operands = [v for k, v in fact.operands.items() if k != "kernel"]
            try:
                args = tuple(expression(v, state.env) for v in operands) if name else ()
                yield KernelCall(name or "the module's kernel", span, name, args, {}, "", covers)
            except NotExpressible as e:
                yield KernelCall(name, span, name, (), {}, _how_to_give(name, str(e)), covers)
    yield from _kernels_never_called(state, locate)


def _kernels_never_called(state: ModuleState, locate: Locate) -> Iterator[KernelCall]:
    """Kernels of the module that no call was found of: those without operands can be called all the same."""
    facts = [f for memo in state.memos() for f in memo.facts]
    called = {id(f.operands.get("kernel")) for f in facts if f.api == "kernel()"}
    for name, kernel in state.env.vars.items():
        span = locate(kernel.made.site) if isinstance(kernel, Kernel) and id(kernel) not in called else None
        if span is None:
            continue
        mine = [f for f in facts if f.launch is not None and f.launch.made == kernel.made]
        why = "" if operand_count(kernel) == 0 else _how_to_give(name, "no call of it was found")
        yield KernelCall(name, span, name, (), {}, why, _covers(mine, locate))


def operand_count(kernel: Kernel) -> int | None:
    """How many operands a kernel's body takes besides its outputs and scratch; None where that is open."""
    total = positional_count(kernel.body)
    scratch = kernel.scratch.slots["items"] if isinstance(kernel.scratch, (ListCell, DictCell)) else kernel.scratch
    outs = kernel.out_type.slots["items"] if isinstance(kernel.out_type, ListCell) else kernel.out_type
    if total is None or not isinstance(scratch, (tuple, dict)):
        return None
    return total - (len(outs) if type(outs) is tuple else 1) - (len(scratch) if type(scratch) is tuple else 0)


def _function(
    f: Function, memo: Memo, calls: list[HostCall], env: ModuleEnv, locate: Locate, place: Place
) -> Iterator[KernelCall]:
    span = locate(f.code.site)
    if span is None or f.owner is not None:
        return
    covers = (span, *_covers(memo.facts, locate))
    required = [p for p in f.code.parameters if not p.has_default and p.kind in ("positional", "normal", "keyword")]
    if not required and not calls:
        yield KernelCall(f.name, span, f.name, (), {}, "", covers)
        return
    why = ""
    seen: set[tuple[tuple[str, str], ...]] = set()
    for call in calls:
        try:
            kwargs = {k: expression(v, env) for k, v in call.arguments.items()}
        except NotExpressible as e:
            at = locate(call.site)
            why = f"{e}, as it is called at {place(at)}" if at is not None else str(e)
            continue
        where, outermost = locate(call.site), locate(call.chain[0] if call.chain else call.site)
        if where is None or tuple(kwargs.items()) in seen:
            continue
        seen.add(tuple(kwargs.items()))
        positional = tuple(kwargs.pop(p.name) for p in f.code.parameters if p.kind in ("positional", "normal"))
        name = f"{f.name} as called at {place(outermost or where)}"
        yield KernelCall(name, span, f.name, positional, kwargs, "", covers, outermost or where)
    if not seen:
        yield _as_annotated(f, required, span, covers) or KernelCall(
            f.name, span, f.name, (), {}, _how_to_give(f.name, why or _unknown(required), required), covers
        )


def _as_annotated(
    f: Function, required: Sequence[Parameter], span: Span, covers: tuple[Span, ...]
) -> KernelCall | None:
    """A function whose annotations alone give its arguments."""
    arrays = {p.name: annotated_array(p.annotation) for p in required}
    known = {name: a.expression for name, a in arrays.items() if a is not None and a.is_exact}
    if not required or len(known) < len(required):
        return None
    positional = tuple(known.pop(p.name) for p in required if p.kind in ("positional", "normal"))
    return KernelCall(f"{f.name} as annotated", span, f.name, positional, known, "", covers)


def _unknown(required: Sequence[Parameter]) -> str:
    """Which arguments nothing tells, and what their annotations leave open."""
    names: list[str] = []
    for p in required:
        array = annotated_array(p.annotation)
        if array is None or not array.is_exact:
            left = [str(e) for e in array.extents if isinstance(e, str)] if array is not None else []
            left += ["the element type"] if array is not None and array.dtype is None else []
            names.append(p.name + (f" (its annotation leaves {_listed(left)} open)" if left else ""))
    return f"no call of it with known arguments was found, and nothing else says what to pass for {_listed(names)}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _how_to_give(name: str, why: str, required: Sequence[Parameter] = ()) -> str:
    arguments = ", ".join(f"{p.name}{_example(p)}" for p in required) or f"x: bf16[{USUAL}, {USUAL}]"
    return (
        f'{name} cannot be called: {why}. Give arguments by a call in the file (under `if __name__ == "__main__":`, '
        f"say), or by a comment over the function: `# pallas: example {name or 'f'}({arguments})`."
    )


def _example(p: Parameter) -> str:
    """What an example may give a parameter: an array of its annotated shape, or else of a usual one."""
    array = annotated_array(p.annotation)
    simple = {"int": "=128", "float": "=1.0", "bool": "=True", "str": '="..."'}.get(p.annotation.strip())
    return simple or (f": {array.example}" if array is not None else f": bf16[{USUAL}, {USUAL}]")


def _covers(facts: list[CallFact], locate: Locate) -> tuple[Span, ...]:
    """The chunks in which kernels' calls stand."""
    out: dict[tuple[str, str], Span] = {}
    for f in facts:
        if f.launch is not None:
            span = locate(Site(f.site.path, f.site.chunk, 0, f.site.end))
            if span is not None:
                old = out.get((f.site.path, f.site.chunk))
                out[(f.site.path, f.site.chunk)] = span if old is None or span.end > old.end else old
    return tuple(out.values())


def expression(v: Value, env: ModuleEnv) -> str:
    """A value as a Python expression in a module's namespace; raises NotExpressible."""
    if v is None or isinstance(v, (bool, str, float, complex, bytes)):
        return repr(v)
    if isinstance(v, Int):
        if not isinstance(v.dim, int):
            raise NotExpressible("a number is not known")
        return str(v.dim)
    if isinstance(v, (Array, ShapeDtype)):
        return _struct(v)
    if isinstance(v, DType):
        return f"jax.numpy.{v.name}"
    if type(v) is tuple:
        inner = ", ".join(expression(x, env) for x in v)
        return f"({inner},)" if len(v) == 1 else f"({inner})"
    if isinstance(v, (ListCell, DictCell)):
        return _container(v, env)
    if isinstance(v, Instance):
        return _instance(v, env)
    for name, value in env.vars.items():
        if value is v and value is not MISSING and name.isidentifier():
            return name
    raise NotExpressible("an argument is not known")


def _struct(v: Array | ShapeDtype) -> str:
    if not isinstance(v.shape, tuple) or not isinstance(v.dtype, DType):
        raise NotExpressible("an argument's shape or element type is not known")
    extents = [e.dim if isinstance(e, Int) else None for e in v.shape]
    if not all(isinstance(e, int) for e in extents):
        raise NotExpressible("an argument's shape is not known")
    inner = ", ".join(map(str, extents)) + ("," if len(extents) == 1 else "")
    return f"jax.ShapeDtypeStruct(({inner}), jax.numpy.{v.dtype.name})"


def _container(v: ListCell | DictCell, env: ModuleEnv) -> str:
    items = v.slots["items"]
    if type(items) is tuple:
        return "[" + ", ".join(expression(x, env) for x in items) + "]"
    if isinstance(items, dict):
        return "{" + ", ".join(f"{expression(k, env)}: {expression(x, env)}" for k, x in items.values()) + "}"
    raise NotExpressible("a container's content is not known")


def _instance(v: Instance, env: ModuleEnv) -> str:
    cls: Class = v.cls
    if env.vars.get(cls.name) is not cls:
        raise NotExpressible(f"{cls.name} is not a name of this module")
    if cls.kind == "enum":
        return f"{cls.name}.{v.slots['name']}"
    if cls.kind not in ("dataclass", "namedtuple"):
        raise NotExpressible(f"an object of {cls.name} cannot be made again")
    fields = ", ".join(f"{k}={expression(x, env)}" for k, x in v.slots.items() if k in cls.annotations)
    return f"{cls.name}({fields})"
