"""`pallas-ls facts`: one JSON line for each operand of each call site."""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import asdict
from typing import Any

from ..answers.report import FactRow
from ..workspace.files import UnreadableFile
from ..workspace.settings import Layer
from .analysis import open_session, reportable
from .inputs import Job, Projects, gather
from .problem import COULD_NOT_RUN, FOUND_NOTHING, REPORT, complain, shown


def facts(paths: tuple[str, ...], layer: Layer, verbose: bool) -> int:
    """Prints the facts of all files; the exit code."""
    inputs = gather(paths, Projects(layer, reportable()))
    for problem in inputs.problems:
        complain(problem)
    complete = [_print_job(job, verbose) for job in inputs.jobs]
    return FOUND_NOTHING if complete and all(complete) and not inputs.problems else COULD_NOT_RUN


def _print_job(job: Job, verbose: bool) -> bool:
    """False where a file that was named could not be read, or the analysis failed."""
    session, files = open_session(job)
    complete = True
    for path in job.files:
        try:
            files.read(path)
            rows = session.facts(path)
        except UnreadableFile as error:
            complain(f"{shown(path)}: {error}")
            complete = complete and path not in job.named
            continue
        except Exception as error:  # a defect of ours in one file; the others are still answered
            complain(f"{shown(path)}: internal error: {type(error).__name__}: {error}; {REPORT}")
            if verbose:
                traceback.print_exc()
            complete = False
            continue
        for row in rows:
            sys.stdout.write(json.dumps(_fields(row)) + "\n")
    return complete


def _fields(row: FactRow) -> dict[str, Any]:
    return {**asdict(row), "file": shown(row.file)}
