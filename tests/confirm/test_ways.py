"""The setting pallas.remotes."""

from __future__ import annotations

import pytest

from pallas_ls.confirm.ways import Local, Remote, command, read_remotes


def test_reads_both_forms() -> None:
    remotes = read_remotes({"gpubox": ["ssh", "gpubox"], "pod": {"prefix": ["kubectl", "exec", "-i"], "python": "py"}})
    assert remotes.by_name == {
        "gpubox": Remote("gpubox", ("ssh", "gpubox")),
        "pod": Remote("pod", ("kubectl", "exec", "-i"), "py"),
    }
    assert remotes.problems == ()


def test_no_setting_is_no_remote() -> None:
    assert read_remotes(None).by_name == read_remotes({}).by_name == {}


WRONG = {
    "text": ("ssh gpubox", 'the prefix must be a list of words such as ["ssh", "gpubox"]'),
    "empty list": ([], 'the prefix must be a list of words such as ["ssh", "gpubox"]'),
    "a number": (["ssh", 1], 'the prefix must be a list of words such as ["ssh", "gpubox"]'),
    "empty word": (["ssh", ""], 'the prefix must be a list of words such as ["ssh", "gpubox"]'),
    "no prefix": ({"python": "python3"}, 'the prefix must be a list of words such as ["ssh", "gpubox"]'),
    "unknown key": ({"prefix": ["ssh", "a"], "host": "a"}, "unknown key 'host' (known: prefix, python)"),
    "no python": ({"prefix": ["ssh", "a"], "python": " "}, 'python must be a command such as "python3"'),
    "an option": ({"prefix": ["ssh", "a"], "python": "-c"}, 'python must be a command such as "python3"'),
}


@pytest.mark.parametrize(("value", "problem"), WRONG.values(), ids=WRONG)
def test_wrong_entry_is_one_sentence_and_leaves_the_others(value: object, problem: str) -> None:
    remotes = read_remotes({"bad": value, "good": ["env"]})
    assert remotes.problems == (f"pallas.remotes.bad: {problem}",)
    assert list(remotes.by_name) == ["good"]


def test_setting_that_is_no_object() -> None:
    assert read_remotes(["ssh"]).problems == ('pallas.remotes must be an object such as {"gpubox": ["ssh", "gpubox"]}',)


def test_command_ends_with_a_python_that_reads_its_input() -> None:
    assert command(Local("/venv/bin/python")) == ["/venv/bin/python", "-"]
    assert command(Remote("gpubox", ("ssh", "gpubox"))) == ["ssh", "gpubox", "python3", "-"]
