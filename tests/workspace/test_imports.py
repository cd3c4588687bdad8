"""Which file an import means: as Python would have it, and never outside the folders that may be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pallas_ls.workspace.files import WorkspaceFiles

TREE = """
work/main.py
work/tiles.py
work/bench/run.py
work/bench/helper.py
work/src/kit/__init__.py
work/src/kit/ops/__init__.py
work/src/kit/ops/matmul.py
work/src/kit/config.py
work/ns/deep/leaf.py
work/both/__init__.py
work/both/inner.py
work/both.py
work/jax/__init__.py
work/jax/experimental/pallas/ops/gpu/attention.py
work/pkg/__init__.py
work/pkg/tiles.py
work/pkg/user.py
work/empty/readme.txt
outside/secret.py
site/tokamax/__init__.py
site/tokamax/kernels.py
site/jax/__init__.py
site/numpy/__init__.py
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for line in TREE.split():
        path = tmp_path / line
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def find(root: Path, name: str, importer: str, level: int = 0) -> str | None:
    files = WorkspaceFiles([str(root / "work")], [str(root / "site")])
    found = files.find(name, level, str(root / importer))
    return None if found is None else Path(found).relative_to(root).as_posix()


@pytest.mark.parametrize(
    ("name", "importer", "found"),
    [
        ("tiles", "work/main.py", "work/tiles.py"),
        ("tiles", "work/bench/run.py", "work/tiles.py"),  # from a root
        ("helper", "work/bench/run.py", "work/bench/helper.py"),  # beside a script
        ("kit.ops.matmul", "work/main.py", "work/src/kit/ops/matmul.py"),  # src layout
        ("kit", "work/src/kit/config.py", "work/src/kit/__init__.py"),  # from inside the package
        ("tiles", "work/pkg/user.py", "work/tiles.py"),  # a package's folder is not where its modules look
        ("pkg.tiles", "work/main.py", "work/pkg/tiles.py"),
        ("ns.deep.leaf", "work/main.py", "work/ns/deep/leaf.py"),  # namespace packages
        ("ns.deep", "work/main.py", "work/ns/deep"),
        ("both", "work/main.py", "work/both/__init__.py"),  # a package wins over a module
        ("both.inner", "work/main.py", "work/both/inner.py"),
        ("tokamax.kernels", "work/main.py", "site/tokamax/kernels.py"),
        ("empty", "work/main.py", None),
        ("nothing.at.all", "work/main.py", None),
        ("secret", "work/main.py", None),
        ("outside.secret", "work/main.py", None),
        ("jax", "work/main.py", None),  # modelled, wherever it lies
        ("numpy", "work/main.py", None),
        (
            "jax.experimental.pallas.ops.gpu.attention",
            "work/main.py",
            "work/jax/experimental/pallas/ops/gpu/attention.py",
        ),
        ("", "work/main.py", None),
        ("a..b", "work/main.py", None),
        ("../outside/secret", "work/main.py", None),
    ],
)
def test_absolute(root: Path, name: str, importer: str, found: str | None) -> None:
    assert find(root, name, importer) == found


@pytest.mark.parametrize(
    ("level", "name", "importer", "found"),
    [
        (1, "tiles", "work/pkg/user.py", "work/pkg/tiles.py"),
        (1, "", "work/pkg/user.py", "work/pkg/__init__.py"),
        (2, "config", "work/src/kit/ops/matmul.py", "work/src/kit/config.py"),
        (2, "ops.matmul", "work/src/kit/ops/__init__.py", "work/src/kit/ops/matmul.py"),
        (1, "leaf", "work/ns/deep/leaf.py", "work/ns/deep/leaf.py"),
        (1, "", "work/ns/deep/leaf.py", "work/ns/deep"),
        (1, "kernels", "site/tokamax/__init__.py", "site/tokamax/kernels.py"),
        (3, "secret", "work/pkg/user.py", None),  # above the root
        (2, "outside.secret", "work/main.py", None),
        (9, "x", "work/main.py", None),
    ],
)
def test_relative(root: Path, level: int, name: str, importer: str, found: str | None) -> None:
    assert find(root, name, importer, level) == found


def test_a_file_outside_all_roots_sees_its_own_folder_alone(root: Path) -> None:
    (root / "outside" / "friend.py").touch()
    assert find(root, "friend", "outside/secret.py") == "outside/friend.py"
    assert find(root, "friend", "outside/secret.py", 1) == "outside/friend.py"
    assert find(root, "site", "outside/secret.py", 2) is None


def test_a_module_of_a_package_finds_it_by_its_whole_name(tmp_path: Path) -> None:
    """Also where a folder inside the package is opened, and nothing marks a root."""
    for name in ("pkg/__init__.py", "pkg/common.py", "pkg/ops/__init__.py", "pkg/ops/kernel.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    kernel = str(tmp_path / "pkg/ops/kernel.py")
    files = WorkspaceFiles([str(tmp_path / "pkg/ops")])
    assert files.find("pkg.common", 0, kernel) == str(tmp_path / "pkg/common.py")
    assert files.find("common", 2, kernel) == str(tmp_path / "pkg/common.py")
