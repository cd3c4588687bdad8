"""Runs files in one process of JAX and says of each whether it lowers: `python lower_all.py FILE…` prints JSON lines.

Every file stands in a folder of its own with the modules that it imports.
"""

import contextlib
import io
import json
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"


def verdict(path):
    """None where the file ran to its end, else what was raised."""
    folder = os.path.dirname(path)
    sys.path.insert(0, folder)
    known = set(sys.modules)
    out = io.StringIO()
    try:
        with open(path) as file, contextlib.redirect_stdout(out):
            exec(compile(file.read(), path, "exec"), {"__name__": "__main__", "__file__": path})
    except Exception as error:  # any refusal is the answer
        return f"{type(error).__name__}: {str(error)[:300]}"
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - known:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
                del sys.modules[name]
    return None if "LOWERED OK" in out.getvalue() else "the file did not come to its end"


if __name__ == "__main__":
    for file in sys.argv[1:]:
        print(json.dumps({"file": file, "error": verdict(file)}), flush=True)
