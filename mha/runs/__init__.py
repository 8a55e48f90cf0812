"""Worked examples and their runs: every number of a run, its address and where it comes from."""
