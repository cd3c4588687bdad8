"""Functions, frames and the code that the compiler makes of a chunk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..domain.cond import Cond
from ..domain.python import Value
from ..source.span import Site
from .trail import Slots, Writes

if TYPE_CHECKING:
    from .machine import Machine, Path
    from .modules import ModuleEnv
    from .naming import Held

#: Evaluates an expression in a frame.
Eval = Callable[["Frame"], Value]
#: Runs a statement in a frame and says how it ended.
Exec = Callable[["Frame"], int]

#: How a statement ended. LEFT: it broke out of the loop that is being concluded. STOPPED: it raised, and only what
#: ended
#: early before that goes on.
NORMAL, RETURN, BREAK, CONTINUE, LEFT, STOPPED = range(6)


class Unending(Exception):
    """A generator yields more than is evaluated."""


@dataclass(slots=True)
class Pending:
    """A return, break or continue that happens under a condition: the rest runs under its negation.

    Attributes:
      cond: tested after the conditions of those that were recorded earlier, none of which holds.
      writes: the slots that were written between the start of the present trail and this end, with their values here.
      path: where the rest branched off; `guards`: the whole path of this end itself, beginning with those of `path`.
    """

    signal: int
    cond: Cond
    value: Value
    writes: Writes
    path: Path
    guards: tuple[Cond, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: `kind` is "positional", "normal", "keyword", "*" or "**"."""

    name: str
    kind: str
    site: Site
    annotation: str = ""
    has_default: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """A compiled function body.

    Attributes:
      locals: names bound in the body or as parameters.
      yields: it is a generator; `one_yield`: it yields once, at a place that is always reached.
    """

    name: str
    parameters: tuple[Parameter, ...]
    run: Exec
    site: Site
    locals: frozenset[str]
    yields: bool = False
    one_yield: bool = False


@dataclass(eq=False, slots=True)
class Function:
    """A function object: code, the frame that it closes over, its evaluated defaults and annotations; `slots` holds the
    attributes that it was given."""

    code: Code
    up: Frame | None
    module: ModuleEnv
    defaults: dict[str, Value]
    annotations: dict[str, Eval] = field(default_factory=dict[str, Eval])
    owner: Value = None
    slots: dict[str, Value] = field(default_factory=dict[str, Value])

    @property
    def name(self) -> str:
        """The function's name."""
        return self.code.name


class Frame:
    """One activation of a function, a comprehension, a class body or a module's chunk.

    Attributes:
      caller: the activation that called this one.
      members: key of the class whose member this is, where each member is a chunk of its own; "" everywhere else.
      held: what its variables held when that was last asked for.
      on_yield: what a `yield` does in a generator that is run as a context manager.
    """

    __slots__ = (
        "caller", "code", "held", "m", "made", "members", "module", "on_yield", "owner", "pending", "ret", "site", "up",
        "vars", "yielded",
    )  # fmt: skip

    def __init__(self, m: Machine, module: ModuleEnv, up: Frame | None, slots: Slots, code: Code | None = None) -> None:
        self.m = m
        self.module = module
        self.up = up
        self.vars = slots
        self.code = code
        self.caller: Frame | None = None
        self.held: Held | None = None
        self.ret: Value = None
        self.pending: list[Pending] = []
        self.made: list[Function] = []
        self.owner: Value = None
        self.members = ""
        self.yielded: Slots | None = None
        self.on_yield: Callable[[Value], Value] | None = None
        self.site: Any = None
