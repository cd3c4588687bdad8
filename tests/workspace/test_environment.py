"""The user's environment, read from made-up trees and from a real virtual environment."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import pytest

from pallas_ls.domain.target import MEASURED, NEWEST, JaxVersion
from pallas_ls.workspace import environment
from pallas_ls.workspace.environment import Interpreter, find_interpreter, inspect, rule_set, rules_for


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


def install(site: Path, version: str, name: str = "jax") -> None:
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def made(
    prefix: Path, lib: str = "lib/python3.12/site-packages", config: str = "version = 3.12.1\n"
) -> tuple[Path, Path]:
    """A virtual environment: its interpreter and its site-packages."""
    site = prefix / lib
    site.mkdir(parents=True)
    if config:
        (prefix / "pyvenv.cfg").write_text(config)
    return executable(prefix / "bin" / "python"), site


def seen(python: Path) -> environment.Environment:
    return inspect(Interpreter(str(python), "test"))


def test_a_virtual_environment(tmp_path: Path) -> None:
    python, site = made(tmp_path / "env")
    install(site, "0.11.2")
    install(site, "1.0", "jax_other")
    assert seen(python).jax == "0.11.2"
    assert seen(python).site_paths == (str(site),)


def test_the_environment_that_a_link_stands_in_counts_and_not_the_one_behind_it(tmp_path: Path) -> None:
    base, base_site = made(tmp_path / "base", config="")
    install(base_site, "0.10.2")
    python, site = made(tmp_path / "env")
    python.unlink()
    python.symlink_to(base)
    install(site, "0.12.0.1")
    assert seen(python).jax == "0.12.0.1"
    assert str(base_site) not in seen(python).site_paths


def test_the_packages_behind_an_environment_count_where_it_says_so(tmp_path: Path) -> None:
    _, base_site = made(tmp_path / "base", config="")
    install(base_site, "0.10.2")
    config = f"home = {tmp_path / 'base' / 'bin'}\ninclude-system-site-packages = true\nversion = 3.12.1\n"
    python, site = made(tmp_path / "env", config=config)
    assert seen(python).jax == "0.10.2"
    assert seen(python).site_paths[:2] == (str(site), str(base_site))


def test_only_the_interpreters_own_version_is_looked_at(tmp_path: Path) -> None:
    python, site = made(tmp_path / "env")
    old = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    install(old, "0.10.2")
    assert seen(python).jax is None
    install(site, "0.12.0")
    assert seen(python).jax == "0.12.0"


def test_conda_and_plain_installations(tmp_path: Path) -> None:
    real = executable(tmp_path / "conda" / "bin" / "python3.13")
    python = tmp_path / "conda" / "bin" / "python"
    python.symlink_to(real)
    (tmp_path / "conda" / "conda-meta").mkdir()
    install(tmp_path / "conda" / "lib" / "python3.13" / "site-packages", "0.12.0")
    assert seen(python).jax == "0.12.0"


def test_windows_layouts(tmp_path: Path) -> None:
    scripts = executable(tmp_path / "env" / "Scripts" / "python.exe")
    (tmp_path / "env" / "pyvenv.cfg").write_text("version = 3.12.1\n")
    install(tmp_path / "env" / "Lib" / "site-packages", "0.11.2")
    plain = executable(tmp_path / "conda" / "python.exe")
    install(tmp_path / "conda" / "Lib" / "site-packages", "0.12.0")
    assert seen(scripts).jax == "0.11.2"
    assert seen(plain).jax == "0.12.0"


def test_of_two_versions_side_by_side_the_higher_counts(tmp_path: Path) -> None:
    python, site = made(tmp_path / "env")
    install(site, "0.9.2")
    install(site, "0.12.0")
    assert seen(python).jax == "0.12.0"


def test_pth_files_add_folders_and_their_code_is_not_run(tmp_path: Path) -> None:
    python, site = made(tmp_path / "env")
    (tmp_path / "checkout").mkdir()
    trace = tmp_path / "ran"
    (site / "a.pth").write_text(
        f"# note\nimport pathlib; pathlib.Path({str(trace)!r}).touch()\n{tmp_path / 'checkout'}\ngone\n"
    )
    assert seen(python).site_paths == (str(site), str(tmp_path / "checkout"))
    assert not trace.exists()


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    missing = seen(tmp_path / "nowhere" / "bin" / "python")
    assert missing.jax is None
    assert rules_for(missing).note.startswith(f"no JAX in {tmp_path / 'nowhere' / 'bin' / 'python'} (test)")


@pytest.mark.skipif(os.name == "nt", reason="the layout is another")
def test_a_real_virtual_environment_is_read_without_starting_it(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    install(site, "0.12.0.1")
    trace = tmp_path / "started"
    (site / "spy.pth").write_text(f"import pathlib; pathlib.Path({str(trace)!r}).touch()\n")
    found = seen(python)
    assert (found.jax, found.site_paths) == ("0.12.0.1", (str(site),))
    assert not trace.exists()


def test_the_running_python_finds_its_own_packages() -> None:
    found = inspect(Interpreter(sys.executable, "test"))
    assert any(Path(pytest.__file__).is_relative_to(path) for path in found.site_paths)


# -- which interpreter -------------------------------------------------------------------------------------------------


def test_order_of_interpreters(tmp_path: Path) -> None:
    assert find_interpreter(str(tmp_path), None, {}) == Interpreter(sys.executable, "the Python that runs pallas-ls")
    plain, _ = made(tmp_path / "venv")
    assert find_interpreter(str(tmp_path), None, {}) == Interpreter(str(plain), "venv of the workspace")
    hidden, _ = made(tmp_path / ".venv")
    assert find_interpreter(str(tmp_path), None, {}) == Interpreter(str(hidden), ".venv of the workspace")
    conda, _ = made(tmp_path / "conda", config="")
    environ = {"CONDA_PREFIX": str(tmp_path / "conda")}
    assert find_interpreter(str(tmp_path), None, environ) == Interpreter(str(conda), "CONDA_PREFIX")
    active, _ = made(tmp_path / "active")
    environ["VIRTUAL_ENV"] = str(tmp_path / "active")
    assert find_interpreter(str(tmp_path), None, environ) == Interpreter(str(active), "VIRTUAL_ENV")
    assert find_interpreter(str(tmp_path), "venv", environ) == Interpreter(str(plain), "the setting `python`")
    assert find_interpreter(str(tmp_path), "venv/bin/python", environ).path == str(plain)


def test_an_active_environment_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    environ = {"VIRTUAL_ENV": str(tmp_path / "gone"), "CONDA_PREFIX": ""}
    assert find_interpreter(str(tmp_path), None, environ).path == sys.executable


def test_a_setting_that_names_nothing_is_kept_so_that_it_can_be_told(tmp_path: Path) -> None:
    assert find_interpreter(str(tmp_path), "gone/bin/python", {}).path == str(tmp_path / "gone" / "bin" / "python")


# -- whose rules -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", MEASURED)
def test_measured_versions_need_no_note(version: JaxVersion) -> None:
    assert rule_set(version).version == version
    assert rule_set(version).note == ""


@pytest.mark.parametrize(
    ("installed", "rules"),
    [
        ("0.12.1", "0.12.0"),
        ("0.13.0.dev20270101", "0.12.0"),
        ("0.12.0.dev20260901", "0.12.0"),  # before the release
        ("0.11.0", "0.11.2"),  # the same series: its default semantics are those of 0.11.2
        ("0.10.9", "0.10.2"),
        ("0.9.0", "0.10.2"),
    ],
)
def test_other_versions_say_whose_rules_apply(installed: str, rules: str) -> None:
    found = rule_set(JaxVersion.parse(installed), installed)
    assert found.version == JaxVersion.parse(rules)
    assert installed in found.note
    assert found.note.endswith(f"the rules of {rules} apply")


def test_a_fourth_number_is_a_measured_release() -> None:
    assert rule_set(JaxVersion.parse("0.12.0.1"), "0.12.0.1").note == ""


def test_no_version_means_the_newest_rules() -> None:
    assert rule_set(None).version == NEWEST
    assert "no JAX found" in rule_set(None).note
