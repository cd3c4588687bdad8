"""Real kernels that lower, changed at random: what still lowers must have no error."""
