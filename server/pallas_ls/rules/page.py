"""A rule's page in Markdown, and the table of all rules; made from the declarations and the example kernels alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .rule import Rule


def page(rule: Rule) -> str:
    """What is refused, why, for whom, a refused and an accepted kernel, what JAX says, and how to silence the rule."""
    facts = (
        ("Severity", rule.severity.value),
        ("Calls", ", ".join(f"`{_public(api)}`" for api in rule.apis)),
        ("JAX versions", rule.versions_text),
        ("Lowering semantics", rule.semantics_text),
        ("JAX's check", f"`{rule.source}`"),
    )
    parts = [
        f"# {rule.id}",
        rule.summary,
        "\n".join(f"- {name}: {value}" for name, value in facts),
        rule.explanation.strip(),
        "## Refused",
        _code(rule.example("bad"), "python"),
        "## Accepted",
        _code(rule.example("good"), "python"),
        "## What JAX says of it",
        _said(rule.recorded()),
        "## Silence it",
        f"On one line, with a comment at its end: `# pallas: ignore[{rule.id}]`. In a whole project, in "
        "`pyproject.toml`:",
        _code(f'[tool.pallas-ls]\nignore = ["{rule.id}"]', "toml"),
    ]
    return "\n\n".join(parts) + "\n"


def _public(api: str) -> str:
    """A call's name as one writes it: "launch" is the kernel's, with the types that it was given, "kernel.body"
    its call of the body, "kernel.memory" all that it allocates; "pipeline.memory" is what a pipeline does."""
    if api in ("launch", "kernel.body", "kernel.memory"):
        return "plgpu.kernel"
    if api in ("pipeline()", "pipeline.memory"):
        return "plgpu.emit_pipeline"
    return f"jax.{api}" if api.startswith("lax.") else api if "." in api else f"plgpu.{api}"


def _code(text: str, language: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def _said(recorded: dict[str, str]) -> str:
    """A line for each answer, with the releases that give it."""
    releases: dict[str, list[str]] = {}
    for version, answer in recorded.items():
        releases.setdefault(answer, []).append(version)
    return "\n".join(f"- {', '.join(versions)}: {_answer(answer)}" for answer, versions in releases.items())


def _answer(text: str) -> str:
    if text == "OK":
        return "lowers"
    kind, _, message = text.partition(": ")
    return f"``{text}``" if message.strip() else f"`{kind}`, without a text"


def index(rules: Iterable[Rule]) -> str:
    """A table of all rules, with links to their pages."""
    rows = [
        f"| [{r.id}]({r.id}.md) | {r.summary} | {r.semantics_text} | {r.versions_text} |"
        for r in sorted(rules, key=lambda r: r.id)
    ]
    head = ["| Rule | What holds | Lowering semantics | JAX versions |", "| --- | --- | --- | --- |"]
    intro = "What pallas-ls checks. Each page shows a kernel that JAX refuses and one that it accepts."
    return "\n".join(["# Rules", "", intro, "", *head, *rows]) + "\n"
