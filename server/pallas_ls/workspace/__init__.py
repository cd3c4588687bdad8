"""Files, settings, the user's environment and jedi: what surrounds the analysis."""
