"""The commands of the command line and how their answers are printed; no analysis here."""
