"""JAX's verdicts, and the line that each is blamed on."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from importlib import metadata
from typing import ClassVar

import pytest

from pallas_ls.confirm.host import Outcome, confirm
from pallas_ls.confirm.protocol import MODULE, Call, Event, Level, Machine, Progress, Raised, Request, Verdict
from pallas_ls.confirm.ways import Local
from pallas_ls.domain.target import JaxVersion, Semantics

from .asking import KERNELS, TIMEOUT, X, kernels, raised, source, verdicts

MARK = re.compile(r"# <- (\w+): (\w+): ?(.*)$")


@dataclass(frozen=True)
class Expected:
    """What the comment on a kernel's line says of it."""

    file: str
    line: int
    type: str
    text: str


def marks(*files: str) -> dict[str, Expected]:
    """The expectations beside the lines of the kernel files, by function."""
    found: dict[str, Expected] = {}
    for file in files:
        for number, line in enumerate((KERNELS / file).read_text().splitlines(), 1):
            if match := MARK.search(line):
                found[match[1]] = Expected(file, number, match[2], match[3])
    return found


REFUSED = marks("refused.py", "tiles.py")
#: How the refused kernels are called: the expression and its arguments; by default the function makes the kernel.
CALLS = {
    "box_too_large": ("box_too_large", ("jax.ShapeDtypeStruct((4, 512), jnp.float32)",), {}),
    "in_a_branch": ("in_a_branch(1)", (), {}),
    "unequal_threads": ("unequal_threads", ("jax.ShapeDtypeStruct((100,), jnp.float32)",), {"rows": "64"}),
}


class TestRefused:
    """One agent for all kernels of refused.py: a refusal leaves the next call alone."""

    answers: ClassVar[dict[str, Verdict]] = {}

    @pytest.fixture(autouse=True)
    def confirmed(self, here: Local) -> None:
        if not self.answers:
            calls = tuple(Call(name, *CALLS.get(name, (f"{name}()", (), {}))) for name in REFUSED)
            self.answers.update(
                verdicts(confirm(kernels("refused.py", "tiles.py", calls=calls), here, timeout=TIMEOUT))
            )

    @pytest.mark.parametrize("name", REFUSED)
    def test_is_refused_with_jaxs_words(self, name: str) -> None:
        error = raised(self.answers[name])
        assert error.type == REFUSED[name].type
        assert error.message.startswith(REFUSED[name].text)

    @pytest.mark.parametrize("name", REFUSED)
    def test_is_blamed_on_the_line_at_fault(self, name: str) -> None:
        blamed = raised(self.answers[name]).blamed
        assert blamed is not None
        assert (blamed.file, blamed.line) == (REFUSED[name].file, REFUSED[name].line)

    @pytest.mark.parametrize("name", REFUSED)
    def test_says_where_the_line_is_found_by_asking_again(self, name: str) -> None:
        said = [note for note in self.answers[name].notes if "names no operation" in note]
        assert len(said) == name.startswith("no_layouts")

    def test_frames_lead_from_the_call_to_the_line_at_fault(self) -> None:
        frames = raised(self.answers["in_a_helper_of_another_file"]).frames
        assert [(frame.file, frame.function) for frame in frames] == [
            ("refused.py", "body"),
            ("tiles.py", "store_every_other_row"),
        ]


LOWERING = {
    "a function": Call("a function", "doubled", (X,)),
    "a kernel object": Call("a kernel object", "copy", (X,)),
    "a keyword that is no array": Call("a keyword that is no array", "doubled", (X,), {"config": "Config()"}),
    "a partial": Call("a partial", "wide", ("jnp.ones((64, 128), jnp.bfloat16)",)),
    "a tree and a number": Call("a tree and a number", "of_a_tree", (f"{{'x': {X}, 'name': 'q'}}", "2")),
    "an expression": Call(
        "an expression", "functools.partial(doubled, config=Config(columns=128))", ("np.ones((64, 128), np.float32)",)
    ),
}


@pytest.fixture(scope="module")
def lowered(here: Local) -> Outcome:
    return confirm(kernels("lowers.py", calls=tuple(LOWERING.values())), here, timeout=TIMEOUT)


@pytest.mark.parametrize("name", LOWERING)
def test_lowers(lowered: Outcome, name: str) -> None:
    verdict = verdicts(lowered)[name]
    assert verdict.ok, verdict.error
    assert verdict.level is Level.LOWER
    assert verdict.seconds is not None


def test_says_the_shared_memory_of_a_block(lowered: Outcome) -> None:
    barrier = 8
    assert verdicts(lowered)["a function"].smem_bytes == 64 * 64 * 4 + barrier
    assert verdicts(lowered)["a partial"].smem_bytes == 64 * 128 * 2 + barrier


def test_says_who_answered(lowered: Outcome, here: Local) -> None:
    jax = pytest.importorskip("jax")
    assert lowered.machine is not None
    assert lowered.machine.jax == jax.__version__
    assert lowered.machine.executable == here.python
    assert lowered.machine.platform == "cpu"


def test_reports_progress_in_order(here: Local) -> None:
    heard: list[Event] = []
    confirm(kernels("lowers.py", calls=(Call("a", "copy", (X,)),)), here, timeout=TIMEOUT, on_event=heard.append)
    assert isinstance(heard[0], Machine)
    phases = [event.phase for event in heard if isinstance(event, Progress)]
    assert phases == ["import", "arguments", "trace", "lower"]


def test_arguments_that_do_not_evaluate_are_a_verdict(here: Local) -> None:
    calls = (
        Call("no such kernel", "matmull", ()),
        Call("no such argument", "doubled", ("x",)),
        Call("good", "copy", (X,)),
    )
    answers = verdicts(confirm(kernels("lowers.py", calls=calls), here, timeout=TIMEOUT))
    assert raised(answers["no such kernel"]) == Raised("NameError", "name 'matmull' is not defined")
    assert answers["no such argument"].phase == "arguments"
    assert answers["good"].ok


class TestModule:
    """Importing the target is the confirmation."""

    def test_lowers(self, here: Local) -> None:
        verdict = verdicts(confirm(kernels("at_module_level.py"), here, timeout=TIMEOUT))[MODULE]
        assert verdict.ok, verdict.error
        assert verdict.lowered == 2

    def test_that_lowers_nothing_says_so(self, here: Local) -> None:
        verdict = verdicts(confirm(kernels("lowers.py"), here, timeout=TIMEOUT))[MODULE]
        assert verdict.ok
        assert verdict.lowered == 0
        assert verdict.notes == ("the module lowers nothing when it is imported",)

    def test_is_blamed_on_the_scratch_type(self, here: Local) -> None:
        text = (KERNELS / "at_module_level.py").read_text()
        bad = text.replace(
            "plgpu.SMEM((64, 64), jnp.float32)",
            "plgpu.SMEM((64, 64), jnp.float32, transforms=(plgpu.TilingTransform((7, 64)),))",
        )
        request = replace(kernels("at_module_level.py"), files={"at_module_level.py": bad})
        blamed = raised(verdicts(confirm(request, here, timeout=TIMEOUT))[MODULE]).blamed
        assert blamed is not None
        assert "TilingTransform" in bad.splitlines()[blamed.line - 1]


class TestImport:
    def test_error_is_the_verdict_of_every_call(self, here: Local) -> None:
        files = {"kernel.py": "import helper\n", "helper.py": "x = 1\n\nraise RuntimeError('no GPU')\n"}
        calls = (Call("a", "f"), Call("b", "g"))
        request = Request(files, "kernel.py", calls)
        answers = verdicts(confirm(request, here, timeout=TIMEOUT))
        assert answers.keys() == {"a", "b"}
        for verdict in answers.values():
            error = raised(verdict)
            assert (error.type, error.message, verdict.phase) == ("RuntimeError", "no GPU", "import")
            assert [(frame.file, frame.line) for frame in error.frames] == [("kernel.py", 1), ("helper.py", 3)]

    def test_syntax_error_is_blamed_on_its_line(self, here: Local) -> None:
        request = source("x = 1\ny = = 2\n")
        error = raised(verdicts(confirm(request, here, timeout=TIMEOUT))[MODULE])
        assert error.type == "SyntaxError"
        assert error.blamed is not None
        assert (error.blamed.file, error.blamed.line) == ("kernel.py", 2)

    def test_takes_the_unsaved_second_module(self, here: Local, tmp_path_factory: pytest.TempPathFactory) -> None:
        folder = tmp_path_factory.mktemp("workspace")
        (folder / "config.py").write_text("ROWS = 'saved'\n")
        (folder / "only_on_disk.py").write_text("COLUMNS = 64\n")
        files = {
            "kernel.py": "import config, only_on_disk\nassert (config.ROWS, only_on_disk.COLUMNS) == (64, 64)\n",
            "config.py": "ROWS = 64  # not saved yet\n",
        }
        request = Request(files, "kernel.py", roots=(str(folder),))
        assert verdicts(confirm(request, here, timeout=TIMEOUT))[MODULE].ok

    def test_package_is_sent_in_part_and_found_in_part(
        self, here: Local, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        folder = tmp_path_factory.mktemp("workspace")
        (folder / "pkg").mkdir()
        (folder / "pkg" / "__init__.py").write_text("")
        (folder / "pkg" / "on_disk.py").write_text("X = 1\n")
        files = {
            "pkg/__init__.py": "",
            "pkg/kernel.py": "from . import sent\nfrom .on_disk import X\n",
            "pkg/sent.py": "",
        }
        request = Request(files, "pkg/kernel.py", roots=(str(folder),))
        verdict = verdicts(confirm(request, here, timeout=TIMEOUT))[MODULE]
        assert verdict.ok, verdict.error

    def test_error_in_a_file_under_a_root_is_blamed_there(
        self, here: Local, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        folder = tmp_path_factory.mktemp("workspace").resolve()
        (folder / "on_disk.py").write_text("\n1 / 0\n")
        request = replace(
            kernels("lowers.py"), files={"kernel.py": "import on_disk"}, target="kernel.py", roots=(str(folder),)
        )
        blamed = raised(verdicts(confirm(request, here, timeout=TIMEOUT))[MODULE]).blamed
        assert blamed is not None
        assert (blamed.file, blamed.line) == (str(folder / "on_disk.py"), 2)

    def test_never_runs_the_target_as_main(self, here: Local) -> None:
        request = source("assert __name__ == 'kernel'\n")
        assert verdicts(confirm(request, here, timeout=TIMEOUT))[MODULE].ok


class TestTarget:
    @pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
    def test_lowers_for_the_architecture(self, here: Local, arch: str) -> None:
        request = kernels("lowers.py", calls=(Call("f", "copy", (X,)),), arch=arch)
        verdict = verdicts(confirm(request, here, timeout=TIMEOUT))["f"]
        assert verdict.ok, verdict.error
        assert (verdict.arch, verdict.notes) == (arch, ())

    def test_an_older_architecture_is_refused_what_it_lacks(self, here: Local) -> None:
        answers = {
            arch: verdicts(confirm(kernels("hopper.py", arch=arch), here, timeout=TIMEOUT))[MODULE]
            for arch in ("sm_80", "sm_100a")
        }
        assert answers["sm_100a"].ok, answers["sm_100a"].error
        # JAX 0.10 lowers TMA copies for any architecture.
        assert answers["sm_80"].ok == (JaxVersion.parse(metadata.version("jax")) < JaxVersion(0, 11))

    def test_an_architecture_of_no_known_form_is_noted(self, here: Local) -> None:
        request = kernels("lowers.py", calls=(Call("f", "copy", (X,)),), arch="hopper")
        verdict = verdicts(confirm(request, here, timeout=TIMEOUT))["f"]
        assert verdict.ok
        assert verdict.notes == ("the architecture 'hopper' is not of the form sm_90a: not set",)

    def test_semantics_are_forced_upon_the_kernel(self, here: Local) -> None:
        call = Call("f", "box_too_large", ("jax.ShapeDtypeStruct((4, 512), jnp.float32)",))
        request = kernels("refused.py", "tiles.py", calls=(call,))
        answers = {
            semantics: raised(verdicts(confirm(replace(request, semantics=semantics), here, timeout=TIMEOUT))["f"])
            for semantics in Semantics
        }
        # Lane lowers the primitive itself, and JAX knows its stack in the body; Warpgroup's operation has a line alone.
        assert [frame.function for frame in answers[Semantics.LANE].frames] == ["body"]
        assert [frame.function for frame in answers[Semantics.WARPGROUP].frames][-1] == ""
