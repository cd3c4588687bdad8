"""Source text, tolerant of half-typed code: chunks, positions, spans."""
