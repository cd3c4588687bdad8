"""Plain values of the analysis. Imports nothing of the other rooms but `source.span`."""
