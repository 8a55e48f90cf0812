"""Grade a folder of notebooks in which students wrote the steps of attention.

`submissions` finds the notebooks, `sandbox` makes a boundary of the operating system,
`notebook_process` runs a notebook in it (`notebook_runner` is the program inside), `grading` judges
the arrays that come back, and `report` writes. Whatever a sandbox sends is a student's data.
"""
