"""Edits that repair a finding: their construction (a module a kind of edit) and their proof."""
