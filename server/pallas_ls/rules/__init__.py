"""What JAX refuses. A rule is declared once (`rule.Rule`); nothing else decides."""
