"""Asks the user's own JAX about a kernel: in a process of its own, here or behind a command prefix.

Nothing of the user's runs unless `host.confirm` is called, and nothing in pallas_ls calls it by itself.
"""
