"""Which files of the workspace a target needs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pallas_ls.confirm import bundle
from pallas_ls.confirm.bundle import Bundle, collect


def collected(files: Mapping[str, str], target: str, *roots: str) -> Bundle:
    """The bundle of a target in a workspace that holds these files, under /ws unless roots are given."""
    return collect(target, files[target], roots or ("/ws",), files.get)


def test_script_takes_its_neighbour_and_what_that_imports() -> None:
    files = {
        "/ws/examples/kernel.py": "import jax\nfrom tiles import swizzled\n",
        "/ws/examples/tiles.py": "import numpy as np, sizes\n",
        "/ws/examples/sizes.py": "",
        "/ws/examples/unrelated.py": "",
    }
    found = collected(files, "/ws/examples/kernel.py")
    assert found.target == "kernel.py"
    assert found.files == {
        "kernel.py": files["/ws/examples/kernel.py"],
        "tiles.py": files["/ws/examples/tiles.py"],
        "sizes.py": "",
    }
    assert found.origins["tiles.py"] == "/ws/examples/tiles.py"


PACKAGE = {
    "/ws/pkg/__init__.py": "from . import version\n",
    "/ws/pkg/version.py": "",
    "/ws/pkg/ops/__init__.py": "",
    "/ws/pkg/ops/kernel.py": "from ..common import sizes\nfrom .tiles import TILE\n",
    "/ws/pkg/ops/tiles.py": "",
    "/ws/pkg/common/__init__.py": "",
    "/ws/pkg/common/sizes.py": "import pkg.ops.kernel\n",
}


def test_module_of_a_package_takes_its_packages_and_relative_imports() -> None:
    found = collected(PACKAGE, "/ws/pkg/ops/kernel.py")
    assert found.target == "pkg/ops/kernel.py"
    assert set(found.files) == {path.removeprefix("/ws/") for path in PACKAGE}


def test_package_itself_can_be_the_target() -> None:
    found = collected(PACKAGE, "/ws/pkg/__init__.py")
    assert found.target == "pkg/__init__.py"
    assert set(found.files) == {"pkg/__init__.py", "pkg/version.py"}


def test_unsaved_text_counts_not_the_saved_one() -> None:
    files = {"/ws/k.py": "import a\n", "/ws/a.py": "", "/ws/b.py": ""}
    assert set(collect("/ws/k.py", "import b\n", ["/ws"], files.get).files) == {"k.py", "b.py"}


def test_namespace_package_stands_below_the_nearest_root() -> None:
    files = {"/ws/src/ns/kernel.py": "from . import tiles\n", "/ws/src/ns/tiles.py": ""}
    found = collected(files, "/ws/src/ns/kernel.py", "/ws", "/ws/src")
    assert (found.target, set(found.files)) == ("ns/kernel.py", {"ns/kernel.py", "ns/tiles.py"})


def test_later_roots_are_searched_in_order() -> None:
    files = {"/ws/k.py": "import a, b\n", "/one/a.py": "1", "/two/a.py": "2", "/two/b.py": "2"}
    found = collected(files, "/ws/k.py", "/one", "/two")
    assert (found.files["a.py"], found.files["b.py"]) == ("1", "2")


def test_package_wins_over_a_file_of_its_name() -> None:
    files = {"/ws/k.py": "import a\n", "/ws/a.py": "", "/ws/a/__init__.py": ""}
    assert set(collected(files, "/ws/k.py").files) == {"k.py", "a/__init__.py"}


IMPORTS = {
    "import a": {"a.py"},
    "import a as b, c": {"a.py", "c.py"},
    "import p.q": {"p/__init__.py", "p/q.py"},
    "from p import q": {"p/__init__.py", "p/q.py"},
    "from p import *": {"p/__init__.py"},
    "from p import missing": {"p/__init__.py"},
    "def f():\n  import a": {"a.py"},
    "try:\n  import a\nexcept ImportError:\n  import c": {"a.py", "c.py"},
    "if TYPE_CHECKING: import a": {"a.py"},
    "from .. import a": set(),
    "from . import a": set(),  # Python refuses it in a module of no package
    "import jax.experimental": set(),
}


@pytest.mark.parametrize("statement", IMPORTS)
def test_follows_every_form_of_import(statement: str) -> None:
    others = dict.fromkeys(["/ws/a.py", "/ws/c.py", "/ws/p/__init__.py", "/ws/p/q.py", "/ws/jax/__init__.py"], "")
    found = collected({"/ws/k.py": statement, **others}, "/ws/k.py")
    assert set(found.files) - {found.target} == IMPORTS[statement]


def test_own_repository_of_jax_is_not_sent() -> None:
    files = {"/jax/jax/__init__.py": "", "/jax/jax/ops/__init__.py": "", "/jax/jax/ops/k.py": "from jax import ops\n"}
    found = collected(files, "/jax/jax/ops/k.py", "/jax")
    assert (found.target, set(found.files)) == ("jax/ops/k.py", {"jax/ops/k.py"})


def test_text_that_does_not_parse_is_sent_with_the_imports_that_can_be_read() -> None:
    files = {
        "/ws/k.py": "import a\n  from c import (\ndef f(:\n  import p\n",
        "/ws/a.py": "",
        "/ws/c.py": "",
        "/ws/p.py": "",
    }
    assert set(collected(files, "/ws/k.py").files) == {"k.py", "a.py", "p.py"}


def test_what_does_not_fit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "MAX_CHARACTERS", 30)
    files = {"/ws/k.py": "import a, b", "/ws/a.py": "#" * 1000, "/ws/b.py": ""}
    found = collected(files, "/ws/k.py")
    assert (set(found.files), found.left_out) == ({"k.py", "b.py"}, ("a.py",))


NAMES = st.sampled_from(["a", "b", "p", "p.a", "p.b", "p.p"])


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=4)), st.lists(NAMES, max_size=4))
def test_takes_exactly_what_can_be_reached(graph: dict[str, list[str]], first: list[str]) -> None:
    """Against a plain search over a random graph of modules, cycles included."""
    path = {name: f"/ws/{name.replace('.', '/')}.py" for name in graph if name != "p"} | {"p": "/ws/p/__init__.py"}
    files = {path[name]: "\n".join(f"import {other}" for other in graph.get(name, [])) for name in path}
    files["/ws/k.py"] = "\n".join(f"import {name}" for name in first)
    reached, waiting = set(), list(first)
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        waiting += [*graph.get(name, []), *(["p"] if name.startswith("p.") else [])]
    expected = {path[name].removeprefix("/ws/") for name in reached if name in path}
    assert set(collected(files, "/ws/k.py").files) == expected | {"k.py"}
