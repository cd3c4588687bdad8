"""A model of copies by TMA: shapes, types, transforms, slices, semantics and version in, JAX's first refusal out."""
