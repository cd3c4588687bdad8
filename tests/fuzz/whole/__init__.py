"""Whole kernels drawn at random from all that Pallas Mosaic GPU offers, JAX's verdict beside ours."""
