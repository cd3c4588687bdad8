"""package.json agrees with itself, with the client's source and with the Python package."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import pallas_ls

ROOT = Path(__file__).resolve().parents[2]
MANIFEST: dict[str, Any] = json.loads((ROOT / "package.json").read_text("utf-8"))
CONTRIBUTES: dict[str, Any] = MANIFEST["contributes"]
SETTINGS: dict[str, dict[str, Any]] = CONTRIBUTES["configuration"]["properties"]
COMMANDS = {command["command"] for command in CONTRIBUTES["commands"]}
CLIENT = "\n".join(file.read_text("utf-8") for file in sorted((ROOT / "client" / "src").rglob("*.ts")))

JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "number": (int, float),
    "array": list,
    "object": dict,
    "null": type(None),
}


def registered_commands() -> set[str]:
    """The keys of the table in commands.ts from which the client registers its commands."""
    source = (ROOT / "client" / "src" / "commands.ts").read_text("utf-8")
    return set(re.findall(r'^\s*"(pallas\.\w+)": ', source, re.MULTILINE))


def test_every_contributed_command_is_registered_and_no_other():
    assert registered_commands() == COMMANDS


def test_the_commands_ids_are_those_that_others_build_on():
    fixed = {"restart", "showLogs", "confirmHere", "confirmOn", "pickContext"}
    assert {f"pallas.{name}" for name in fixed} == COMMANDS


def test_menus_name_contributed_commands():
    items = [item["command"] for menu in CONTRIBUTES["menus"].values() for item in menu]
    assert set(items) <= COMMANDS


def test_commands_that_messages_offer_exist():
    offered = set(re.findall(r'command: "(pallas\.\w+)"', CLIENT))
    assert offered and offered <= COMMANDS


@pytest.mark.parametrize("name", SETTINGS)
def test_a_settings_default_fits_its_schema(name: str):
    schema = SETTINGS[name]
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    default = schema["default"]
    # bool is an int in Python, but no number in JSON.
    assert any(isinstance(default, JSON_TYPES[t]) and (t == "boolean") == isinstance(default, bool) for t in types)
    assert default in schema.get("enum", [default])
    assert len(schema.get("enumDescriptions", [])) in (0, len(schema.get("enum", [])))


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_described(name: str):
    assert name.startswith("pallas.")
    assert SETTINGS[name]["markdownDescription"].endswith(".")
    assert SETTINGS[name]["scope"] in {"window", "resource", "machine-overridable"}


def test_settings_that_the_client_reads_exist():
    read = {f"pallas.{name}" for name in re.findall(r'setting<\w+>\("([\w.]+)"\)', CLIENT)}
    assert read and read <= SETTINGS.keys()


def test_what_can_run_programs_is_restricted_in_untrusted_workspaces():
    restricted = set(MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"])
    assert {"pallas.interpreter", "pallas.remotes", "pallas.confirm.onSave"} <= restricted <= SETTINGS.keys()


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lock = json.loads((ROOT / "package-lock.json").read_text("utf-8"))
    versions = {MANIFEST["version"], project["version"], pallas_ls.__version__, lock["version"]}
    assert versions == {MANIFEST["version"]}
