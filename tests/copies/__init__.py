"""Random copies between GMEM and SMEM: what JAX says of each, live and as recorded, beside what the rules say."""
