"""Exercises, worksheets, steps to write in a notebook, and the museum of bugs."""
