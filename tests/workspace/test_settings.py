"""Settings: what is read, which source wins, and what is said about mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pallas_ls.confirm.ways import Remote
from pallas_ls.domain.target import JaxVersion, Semantics
from pallas_ls.workspace.settings import Example, combine, read_layer, read_pyproject, unknown_ids

ALL = """
[tool.pallas-ls]
jax-version = "0.11.2"
semantics = "lane"
target = "sm_100a"
python = ".venv"
select = ["a-rule"]
ignore = ["b-rule"]
exclude = ["old/", "*_generated.py"]
per-file-ignores = { "tests/**" = ["a-rule", "b-rule"] }

[tool.pallas-ls.examples]
"kernels/matmul.py::matmul" = "a: bf16[4096, 4096], tile_m=128"
"kernels.attention.forward" = ["q: bf16[64, 128]", "q: f16[64, 128]"]

[tool.pallas-ls.remotes]
gpubox = ["ssh", "gpubox"]
"""


def test_every_key(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(ALL)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    settings, problems = combine("elsewhere", read_pyproject(str(tmp_path / "deep" / "er")))
    assert problems == ()
    assert settings.root == str(tmp_path)
    assert settings.jax_version == JaxVersion(0, 11, 2)
    assert settings.semantics is Semantics.LANE
    assert (settings.arch, settings.python) == ("sm_100a", ".venv")
    assert (settings.select, settings.ignore) == (("a-rule",), ("b-rule",))
    assert settings.exclude == ("old/", "*_generated.py")
    assert settings.per_file_ignores == (("tests/**", ("a-rule", "b-rule")),)
    assert settings.examples == (
        Example("kernels/matmul.py", "matmul", "a: bf16[4096, 4096], tile_m=128"),
        Example("kernels.attention", "forward", "q: bf16[64, 128]"),
        Example("kernels.attention", "forward", "q: f16[64, 128]"),
    )
    assert settings.remotes == {"gpubox": Remote("gpubox", ("ssh", "gpubox"))}
    assert list(settings.rule_ids()) == ["a-rule", "b-rule", "a-rule", "b-rule"]


def test_a_pyproject_without_a_table_of_ours_does_not_end_the_search(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.pallas-ls]\nsemantics = "lane"\n')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert read_pyproject(str(tmp_path / "sub")).root == str(tmp_path)


def test_later_layers_win_key_by_key() -> None:
    project = read_layer({"semantics": "lane", "target": "sm_90a", "select": ["a"]}, "pyproject.toml")
    editor = read_layer({"jaxVersion": "0.12.0", "semantics": "warpgroup", "target": None}, "the editor's settings")
    line = read_layer({"select": ["b"]}, "the command line")
    settings, problems = combine("/root", project, editor, line)
    assert problems == ()
    assert (settings.semantics, settings.arch, settings.select) == (Semantics.WARPGROUP, "sm_90a", ("b",))
    assert settings.jax_version == JaxVersion(0, 12, 0)
    assert settings.root == "/root"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"selct": []}, "selct: unknown key (did you mean 'select'?)"),
        ({"colour": "red"}, "colour: unknown key"),
        ({"jax-version": 12}, 'jax-version: must be a version such as "0.11.2", not a number'),
        ({"jax-version": "newest"}, "jax-version: must be a version such as \"0.11.2\", not 'newest'"),
        ({"semantics": "warp"}, "semantics: must be \"lane\" or \"warpgroup\", not 'warp'"),
        ({"semantics": True}, 'semantics: must be "lane" or "warpgroup", not true or false'),
        ({"target": "h100"}, "target: must be a GPU architecture such as \"sm_90a\" or \"sm_100a\", not 'h100'"),
        ({"python": ["a"]}, "python: must be the path of a Python interpreter, not a list"),
        ({"select": "a"}, "select: must be a list of rule ids, not a string"),
        ({"ignore": ["a", 1]}, "ignore: must be a list of rule ids; 1 is a number"),
        ({"exclude": {}}, "exclude: must be a list of patterns as in .gitignore, not a table"),
        ({"exclude": ["!"]}, "exclude: '!' is no pattern as in .gitignore"),
        ({"per-file-ignores": []}, 'per-file-ignores: must be a table such as {"tests/*.py" = ["unused-ignore"]}'),
        ({"per-file-ignores": {"a.py": "x"}}, "per-file-ignores: 'a.py' must be a list of rule ids, not a string"),
        ({"examples": {"f": "x"}}, "examples: 'f' must name a function, as in "),
        ({"examples": {"m.f": 3}}, "examples: 'm.f' must be a list of arguments as strings, not a number"),
        ({"remotes": {"box": "ssh box"}}, "remotes: box: the prefix must be a list of words"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_with_their_place(data: dict[str, Any], problem: str) -> None:
    layer = read_layer(data, "pyproject.toml", "tool.pallas-ls")
    (found,) = layer.problems
    assert str(found).startswith(f"pyproject.toml: tool.pallas-ls.{problem}")
    assert "\n" not in str(found)
    assert not layer.values


def test_keys_of_somebody_else_are_passed_over() -> None:
    layer = read_layer(
        {"trace": {"server": "off"}, "inlayHints": True}, "editor", foreign=frozenset({"trace", "inlay-hints"})
    )
    assert layer.problems == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"[tool.pallas-ls\n", "cannot be read: "),
        (b"x = '\xff'\n", "cannot be read: "),
        (b"[tool]\npallas-ls = 3\n", "tool.pallas-ls: must be a table"),
    ],
)
def test_a_broken_file(tmp_path: Path, text: bytes, problem: str) -> None:
    (tmp_path / "pyproject.toml").write_bytes(text)
    (found,) = read_pyproject(str(tmp_path)).problems
    assert str(found).startswith(f"{tmp_path / 'pyproject.toml'}: {problem}")


def test_no_settings_at_all() -> None:
    settings, problems = combine("/root")
    assert problems == ()
    assert settings.select == () and settings.jax_version is None


def test_unknown_rule_ids_come_with_a_suggestion() -> None:
    assert unknown_ids(["a-rule", "b-rul", "b-rul"], ["a-rule", "b-rule"]) == [
        "there is no rule 'b-rul' (did you mean 'b-rule'?)"
    ]
