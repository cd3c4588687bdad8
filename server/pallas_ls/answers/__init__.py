"""What the command line and the language server ask: findings, fixes, hovers, facts, explanations, all as plain data.

This room joins the others (`evaluate`, `rules`, `fixes`); it knows no protocol and prints nothing.
"""
