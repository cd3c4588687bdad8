"""Functions of jax.numpy, jax.lax and jax.nn that a kernel cannot be lowered with."""
