"""Sizes that several kernels share."""

ROWS = 48
COLS = 64
