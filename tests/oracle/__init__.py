"""JAX as the oracle: what it says of kernel files, live and as recorded, beside what we say."""
