"""`python -m pallas_ls`."""

import os
import sys


def leave_working_folder() -> None:
    """Takes the working folder, where `python -m` looks for modules first, off the path.

    Files of the user's lie there, and one that is named like a module of ours or of the standard library would be run.
    """
    here = os.getcwd()
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not sys.flags.safe_path and sys.path and os.path.abspath(sys.path[0]) == here and home != here:
        del sys.path[0]


if __name__ == "__main__":
    leave_working_folder()
    from pallas_ls.cli import main

    main()
