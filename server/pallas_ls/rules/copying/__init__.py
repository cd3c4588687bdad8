"""A model of copies by TMA: from shapes, element types, transforms, slices, semantics and version to JAX's first refusal."""
