"""Start the language server that is bundled with the VS Code extension.

The extension runs this file with the user's interpreter as ``python -I -S -X utf8 run_server.py server``:

* ``-I`` ignores PYTHONPATH, the user's site folder and the current folder; ``-S`` leaves out site-packages and its
  ``.pth`` files. The user's environment thus cannot shadow our dependencies, and none of its code runs here.
* The bundled packages stand first on ``sys.path``: should somebody start this file without those flags, the versions
  that we tested still win.
* No environment variable is set: a process that the server starts in the user's environment (JAX, jedi's inspection)
  sees that environment alone and none of our packages. A process of our own is started with ``multiprocessing``
  (spawn), which hands ``sys.path`` and the flags on, or through ``run_server.py -m MODULE``.

This file is read by whatever Python the user has: its syntax stays that of the oldest, and it checks the version.
"""

import os
import sys

MINIMUM = (3, 11)


def bundled_libraries():
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "libs")


def main():
    if sys.version_info < MINIMUM:
        message = "pallas-ls needs Python %d.%d or newer; %s is Python %d.%d.\n"
        sys.stderr.write(message % (MINIMUM[0], MINIMUM[1], sys.executable, sys.version_info[0], sys.version_info[1]))
        return 2
    sys.path.insert(0, bundled_libraries())
    if sys.argv[1:2] == ["-m"] and len(sys.argv) > 2:
        import runpy

        module = sys.argv[2]
        sys.argv[:] = sys.argv[:1] + sys.argv[3:]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return 0
    from pallas_ls.cli import main as command_line

    return command_line()


if __name__ == "__main__":
    sys.exit(main())
