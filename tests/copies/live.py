"""The installed JAX's verdict on a kernel's text."""
