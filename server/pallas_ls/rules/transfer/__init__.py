"""Transfers between registers and shared memory: what JAX refuses, and the nearest variants that it accepts.

`case` is the question, `store.async_store_outcome` the answer, `nearest` the fixes, `ops` the layouts of values.
"""
