#!/bin/sh
# Print the path of the Python to build .venv with.
#
# PYTHON=... decides alone. Otherwise every interpreter on PATH, under pyenv's versions and known to uv is asked for its
# version, and the best one wins: 3.13, 3.12, 3.14, anything newer (these run the current JAX), then 3.11 (JAX 0.10.2).
# A candidate counts only if it really runs, for pyenv leaves shims that fail, and can make a virtual environment.
set -eu

# Prints "RANK PATH", or fails. Free-threaded builds are passed over: few of the compiled wheels exist for them.
probe='
import sys, sysconfig, venv, ensurepip
minor = sys.version_info[1]
usable = sys.version_info >= (3, 11) and not sysconfig.get_config_var("Py_GIL_DISABLED")
print({13: 1, 12: 2, 14: 3, 11: 5}.get(minor, 4), sys.executable) if usable else sys.exit(1)
'

ask() {
    # From / so that no module of the current folder is imported; -S because user packages are nobody's business here.
    (cd / && "$1" -I -S -c "$probe") 2>/dev/null || true
}

on_path() {
    for name in python3.13 python3.12 python3.14 python3.15 python3.16 python3.11 python3 python; do
        command -v "$name" 2>/dev/null || true
        # The first on PATH may be a shim that fails: look behind it too.
        printf '%s\n' "$PATH" | tr ':' '\n' | while IFS= read -r folder; do
            case $folder in /*) [ -x "$folder/$name" ] && printf '%s\n' "$folder/$name" || true ;; esac
        done
    done
}

under_pyenv() {
    for file in "${PYENV_ROOT:-${HOME:-/nonexistent}/.pyenv}"/versions/*/bin/python3; do
        [ -x "$file" ] && printf '%s\n' "$file" || true
    done
}

from_uv() {
    command -v uv >/dev/null 2>&1 || return 0
    for version in 3.13 3.12 3.14 3.11; do
        uv python find --no-python-downloads "$version" 2>/dev/null || true
    done
}

if [ -n "${PYTHON:-}" ]; then
    found=$(command -v "$PYTHON" 2>/dev/null || true)
    case $found in */*) [ "${found#/}" != "$found" ] || found=$PWD/$found ;; esac
    answer=$([ -n "$found" ] && ask "$found" || true)
    if [ -z "$answer" ]; then
        echo "PYTHON=$PYTHON cannot be used: needs Python 3.11 or newer that runs and has the modules venv and ensurepip." >&2
        exit 1
    fi
    printf '%s\n' "${answer#* }"
    exit 0
fi

best=$({ on_path; under_pyenv; from_uv; } | awk '!seen[$0]++' | while IFS= read -r candidate; do
    ask "$candidate"
done | sort -s -n -k1,1 | head -n 1)

if [ -z "$best" ]; then
    cat >&2 <<'MISSING'
needs Python 3.11 or newer: none was found on PATH, under ~/.pyenv/versions or with uv (3.12 or newer runs the current JAX).
A Python counts only if it can make virtual environments; on Debian and Ubuntu: apt-get install python3 python3-venv.
If yours is elsewhere: make PYTHON=/path/to/python3 ...
MISSING
    exit 1
fi
printf '%s\n' "${best#* }"
