"""The installed JAX's verdict on a kernel's text: it is run, and lowers for CUDA on the CPU."""

from __future__ import annotations

import os
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax

from pallas_ls.domain.finding import JaxError
from pallas_ls.domain.target import JaxVersion

VERSION = JaxVersion.parse(jax.__version__)


def verdict(text: str) -> JaxError | None:
    """What JAX raises, or None: it lowers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations of the API are no verdict
        try:
            exec(compile(text, "kernel.py", "exec"), {"__name__": "__main__"})
        except Exception as error:  # whatever JAX raises is the answer
            return JaxError(type(error).__name__, str(error))
    return None
