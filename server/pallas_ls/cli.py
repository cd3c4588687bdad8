"""The command line. Each command's work is in `terminal/` or `lsp/` and is imported when the command runs."""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from . import __version__

if TYPE_CHECKING:
    from .workspace.settings import Layer

F = TypeVar("F", bound=Callable[..., Any])
COULD_NOT_RUN = 2
INTERRUPTED = 130  # what shells give a command that Ctrl-C ended
FORMATS = ("full", "concise", "json", "github", "sarif")
LEVELS = ("lower", "compile", "interpret")

# ruff: noqa: PLC0415 - imports inside the commands: `pallas-ls --version` must not load the evaluator


def target_options(command: F) -> F:
    """--jax, --semantics, --target, --python: what the answers are for."""
    options = (
        click.option("--jax", "jax", metavar="VERSION", help="Whose rules apply; else those of the installed JAX."),
        click.option("--semantics", metavar="lane|warpgroup", help="Lowering semantics, whatever a kernel says."),
        click.option("--target", metavar="ARCH", help="GPU architecture, such as sm_90a or sm_100a."),
        click.option("--python", metavar="PATH", help="The Python whose environment is looked at."),
        click.option("--verbose", is_flag=True, help="Say what the analysis gave up, and where it failed."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pallas-ls")
@click.pass_context
def cli(context: click.Context) -> None:
    """Finds what JAX will refuse in Pallas kernels for Mosaic GPU. Without a command: the language server on stdio."""
    if context.invoked_subcommand is None:
        from .lsp.server import main as serve

        serve(None)


@cli.command()
@click.argument("paths", nargs=-1, metavar="PATH...|-")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="full", show_default=True)
@target_options
@click.option("--select", metavar="IDS", multiple=True, help="Report these rules only (comma-separated).")
@click.option("--ignore", metavar="IDS", multiple=True, help="Do not report these rules (comma-separated).")
@click.option("--fix", is_flag=True, help="Apply the fixes that keep the program's meaning.")
@click.option("--unsafe-fixes", is_flag=True, help="Apply those too that change tiles, grid or numbers.")
@click.option("--diff", is_flag=True, help="Show what fixing would change, and change nothing.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of listing them.")
@click.option("--explain", is_flag=True, help="List the call sites of which something is unknown, and why.")
@click.option("--stdin-filename", metavar="F", help="The name of what comes from standard input.")
def check(paths: tuple[str, ...], format_: str, **given: Any) -> int:
    """Check files, folders (default: this one) or standard input (-).

    Exit code 0: no errors found; 1: errors found; 2: could not run.
    """
    from .terminal.check import Options
    from .terminal.check import check as run

    ids = {name: _ids(given[name]) for name in ("select", "ignore") if given[name]}
    options = Options(
        format=format_,
        layer=_layer(given, **ids),
        fix=given["fix"],
        unsafe=given["unsafe_fixes"],
        diff=given["diff"],
        statistics=given["statistics"],
        explain=given["explain"],
        stdin_name=given["stdin_filename"],
        verbose=given["verbose"],
    )
    return run(paths, options)


@cli.command()
@click.argument("place", metavar="FILE:LINE")
@target_options
def explain(place: str, **given: Any) -> int:
    """Tell how each shape at a line came about, or where knowledge was lost."""
    from .terminal.explain import explain as run

    return run(place, _layer(given))


@cli.command()
@click.argument("paths", nargs=-1, metavar="PATH...|-")
@click.option("--format", "format_", type=click.Choice(["json"]), default="json", show_default=True)
@target_options
def facts(paths: tuple[str, ...], format_: str, **given: Any) -> int:
    """Print what is known of each operand of each call site, one JSON object a line."""
    from .terminal.facts import facts as run

    return run(paths, _layer(given), given["verbose"])


@cli.command()
@click.argument("place", metavar="FILE[:LINE|::NAME]")
@click.option("--on", "remote", metavar="NAME", help="A machine of the setting `remotes`; else this one.")
@click.option("--level", type=click.Choice(LEVELS), help="How far JAX goes (default: lower; on a remote: compile).")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=120.0, show_default=True, metavar="SECONDS")
@target_options
def confirm(place: str, remote: str | None, level: str | None, timeout: float, **given: Any) -> int:
    """Let the JAX of your environment lower the kernels of a file. This runs the file's code.

    Exit code 0: JAX accepts them; 1: it refuses one; 2: there is no verdict.
    """
    from .terminal.confirm import Options
    from .terminal.confirm import confirm as run

    return run(place, Options(_layer(given), remote, level, timeout, given["verbose"]))


@cli.command()
@click.argument("rule_id", metavar="ID", required=False)
def rule(rule_id: str | None) -> int:
    """List the rules, or show one rule's page."""
    from .terminal.rules import rules as run

    return run(rule_id)


@cli.command()
@click.option("--tcp", type=click.IntRange(1, 65535), metavar="PORT", help="Listen on a loopback port, for debugging.")
def server(tcp: int | None) -> None:
    """Run the language server, on stdio unless --tcp is given."""
    from .lsp.server import main as serve

    serve(tcp)


def _ids(values: tuple[str, ...]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def _layer(given: dict[str, Any], **more: Any) -> Layer:
    """The settings of the command line. Raises `click.ClickException` where one is wrong."""
    from .workspace.files import normal
    from .workspace.settings import read_layer

    python = normal(given["python"]) if given["python"] else None  # settings' own paths are relative to their file
    data = {"jax": given["jax"], "semantics": given["semantics"], "target": given["target"], "python": python}
    layer = read_layer({("jax-version" if key == "jax" else key): value for key, value in data.items()} | more, "")
    for problem in layer.problems:
        raise click.ClickException(f"--{problem.key.replace('jax-version', 'jax')}: {problem.message}")
    return layer


def main(arguments: list[str] | None = None) -> None:
    """Runs a command and exits: 0 fine, 1 errors found, 2 could not run. What goes wrong is one line."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal that cannot show a character is no reason to fail
    sys.exit(_run(arguments))


def _run(arguments: list[str]) -> int:
    from .terminal.problem import REPORT, Refused, complain

    try:
        return cli.main(arguments, prog_name="pallas-ls", standalone_mode=False) or 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        complain(error.format_message())
    except Refused as error:
        complain(str(error))
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has seen enough; the interpreter would complain at its end
    except Exception as error:  # a defect of ours: one line for the user, all of it with --verbose
        if "--verbose" in arguments:
            traceback.print_exc()
        complain(f"internal error: {type(error).__name__}: {error}; {REPORT}")
    return COULD_NOT_RUN
