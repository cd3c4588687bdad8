"""The editor's settings, from `initializationOptions`, `workspace/configuration` and `didChangeConfiguration`.

What a project may set too (`workspace.settings`) is read there; here is what only an editor has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..workspace.settings import Layer, SettingProblem, read_layer

SECTION = "pallas"
WHERE = "the editor's settings"
#: Keys of the section that are read here, or that concern the client alone.
OWN = frozenset({"enable", "interpreter", "confirm", "inlay-hints", "code-lens", "trace"})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """The client's `initializationOptions`.

    Attributes:
      settings: in the shape of the section `pallas`, nested.
      interpreter: the Python that the client chose for the workspace; "" where it did not say.
      trusted: False in a workspace that the user does not trust. A client that knows no such thing says nothing, and
      its
        user's own request to confirm is what counts.
    """

    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    interpreter: str = ""
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """The section `pallas` as read.

    Attributes:
      layer: what a project may set too.
      interpreter: the Python whose JAX is meant; "" where it is not set.
      confirm_timeout: seconds for one confirmation.
      confirm_on_save: the user wants a file's kernels lowered by JAX at each save.
      problems: of the values that are passed over.
    """

    layer: Layer = field(default_factory=Layer)
    interpreter: str = ""
    confirm_timeout: float = 120.0
    confirm_on_save: bool = False
    inlay_hints: bool = True
    code_lens: bool = True
    problems: tuple[SettingProblem, ...] = ()


def read_options(value: object) -> Options:
    """Reads `initializationOptions`; what is not understood counts as not said."""
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    settings = given.get("settings")
    interpreter = given.get("interpreter")
    return Options(
        settings if isinstance(settings, Mapping) else {},
        interpreter if isinstance(interpreter, str) else "",
        given.get("trusted") is not False,
    )


def section(value: object) -> Mapping[str, Any] | None:
    """The settings in `didChangeConfiguration`: under the section's name, or bare; None where there are none."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get(SECTION, value)
    return inner if isinstance(inner, Mapping) else None


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values that `over` sets; nulls set nothing."""
    return {**base, **{key: value for key, value in over.items() if value is not None}}


def read_settings(values: Mapping[str, Any]) -> EditorSettings:
    """Reads the section. Never raises: a value that cannot be used is a problem, and the default holds."""
    problems: list[SettingProblem] = []

    def take(name: str, read: Callable[[object], T], default: T) -> T:
        value = _lookup(values, name)
        if value is None:
            return default
        try:
            return read(value)
        except ValueError as error:
            problems.append(SettingProblem(WHERE, f"{SECTION}.{name}", str(error)))
            return default

    # Editors send every setting, also those that nobody set; an empty one must not hide what the project says.
    set_values = {key: value for key, value in values.items() if value not in (None, "", [], (), {})}
    layer = read_layer(set_values, WHERE, SECTION, OWN)
    return EditorSettings(
        layer=layer,
        interpreter=take("interpreter", _program, ""),
        confirm_timeout=take("confirm.timeout", _seconds, 120.0),
        confirm_on_save=take("confirm.onSave", _on_save, False),
        inlay_hints=take("inlayHints", _flag, True),
        code_lens=take("codeLens", _flag, True),
        problems=(*layer.problems, *problems),
    )


def _lookup(values: Mapping[str, Any], name: str) -> object:
    """A value by its dotted name: nested as VS Code sends it, or flat as people write it."""
    if name in values:
        return values[name]
    head, _, rest = name.partition(".")
    inner = values.get(head)
    return inner.get(rest) if rest and isinstance(inner, Mapping) else None


def _program(value: object) -> str:
    """A path. A command of several words is for VS Code's extension, which names the executable in the options."""
    words = value if isinstance(value, (list, tuple)) else [value]
    texts = [word.strip() for word in words if isinstance(word, str)]
    if len(texts) != len(words):
        raise ValueError(f"must be the path of a Python interpreter, not {value!r}")
    return texts[0] if len(texts) == 1 else ""


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise ValueError(f"must be a number of seconds above 0, not {value!r}")
    return float(value)


def _on_save(value: object) -> bool:
    if value not in ("off", "lower"):
        raise ValueError(f'must be "off" or "lower", not {value!r}')
    return value == "lower"


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r}")
    return value
