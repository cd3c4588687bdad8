"""What the names of Python's standard library and of JAX mean, a module a namespace.

Models register themselves in a `Registry` (`function`, `value`, `attribute`); `Library` is what the evaluator sees.
"""
