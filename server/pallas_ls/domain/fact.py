"""What an evaluation leaves behind: a fact for each call site that it saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..source.span import Site
from .array import Operation
from .cond import Cond
from .dim import Dim
from .facts import Facts
from .python import Value
from .ref import Launch


@dataclass(frozen=True, slots=True, eq=False)
class CallFact:
    """One call of a library function, as one path saw it.

    Attributes:
      api: short name: "async_store_smem", "SMEM", "ref.at", "pl.run_scoped".
      site: the call expression.
      operands: values by parameter name, in the order of the signature.
      result: what the call returns.
      arg_sites: the expression of each operand that was written at the call.
      guards: conditions of the path; `facts`: what is known on it.
      launch: the kernel that runs, or None on the host.
      chain: host calls that led here, outermost first; empty for the entry's own parameters.
      missing: required parameters that the call does not give; `excess`: keywords that the signature does not know.
      open: some arguments came from a star of unknown content.
      positional: how many arguments are given by position; `keywords`: the names of the others.
      names: variables that the call sees, by the integer that they hold (symbolic, or one of several), innermost first.
      caught: exception classes that handlers around the host call take ("BaseException" where a test expects one).
      operations: all that the kernel computes, on all its paths: who else uses a value.
      row: number of the outermost host call under way in its unit (a call in a loop has one for each round), or 0.
    """

    api: str
    site: Site
    operands: Mapping[str, Value]
    result: Value = None
    arg_sites: Mapping[str, Site] = field(default_factory=dict[str, Site])
    guards: tuple[Cond, ...] = ()
    facts: Facts = field(default_factory=Facts)
    launch: Launch | None = None
    chain: tuple[Site, ...] = ()
    stack: tuple[Site, ...] = ()
    missing: tuple[str, ...] = ()
    excess: tuple[str, ...] = ()
    open: bool = False
    caught: tuple[str, ...] = ()
    names: Mapping[Dim, tuple[str, ...]] = field(default_factory=dict[Dim, tuple[str, ...]])
    operations: Sequence[Operation] = ()
    row: int = 0
    positional: int = 0
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Division:
    """A floor division: what is cut into blocks of what size.

    Attributes:
      exact: whether nothing is left over: always (True), never (False), or it cannot be told (None).
    """

    site: Site
    dividend: Dim
    divisor: Dim
    exact: bool | None


@dataclass(frozen=True, slots=True)
class Raise:
    """An exception of the program's own, and when it happens.

    Attributes:
      name: its class; `kinds`: that and the classes that it inherits from.
      chain: host calls that led here, outermost first.
      message: what it says, as far as that is known.
      deliberate: by a `raise` or `assert` statement.
      caught: exception classes that handlers around the host call take.
    """

    site: Site | None
    name: str
    guards: tuple[Cond, ...]
    chain: tuple[Site, ...]
    kinds: tuple[str, ...] = ()
    message: str = ""
    deliberate: bool = False
    caught: tuple[str, ...] = ()
    row: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class HostCall:
    """A call of one of the program's own module-level functions outside of kernels: a context for it.

    Attributes:
      path, name: the module and the name of the function.
      arguments: by parameter.
      site: the call; chain: that and the host calls around it, outermost first.
      guards: conditions of the path; caught: exceptions that handlers around it take.
      row: number of the outermost host call under way, this one or one around it.
    """

    path: str
    name: str
    arguments: Mapping[str, Value]
    site: Site
    chain: tuple[Site, ...] = ()
    guards: tuple[Cond, ...] = ()
    row: int = 0
    caught: tuple[str, ...] = ()
