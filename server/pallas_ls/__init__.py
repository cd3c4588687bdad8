"""pallas-ls: the language server for GPU kernels written in JAX's Pallas (Mosaic GPU)."""

__version__ = "0.1.0"
