"""What stops a command, and where its one line goes."""

from __future__ import annotations

import os
import sys

FOUND_NOTHING, FOUND_ERRORS, COULD_NOT_RUN = 0, 1, 2
#: Where people report what is wrong with pallas-ls itself.
REPORT = "please report it with the file that causes it and the output of the same command with --verbose"


class Refused(Exception):
    """The command cannot run. The message is one line, fit for a user."""


def complain(message: str) -> None:
    """One line on standard error."""
    print(f"pallas-ls: {' '.join(message.split())}", file=sys.stderr)


def shown(path: str) -> str:
    """A path as a person would write it: relative where it lies below the working folder."""
    relative = os.path.relpath(path) if os.path.isabs(path) and _same_drive(path) else path
    return path if relative.startswith("..") else relative


def _same_drive(path: str) -> bool:
    return os.path.splitdrive(path)[0].lower() == os.path.splitdrive(os.getcwd())[0].lower()
