"""Grade a folder of notebooks in which students wrote the steps of attention.

``python -m mha.grade FOLDER`` runs each notebook, calls its functions with numbers that are in no
file, and writes a table and a report for each student. `submissions` finds the notebooks,
`sandbox` makes a boundary of the operating system, `notebook_process` runs a notebook in it
(`notebook_runner` is the program inside), `grading` judges the arrays that come back, and `report`
writes. Whatever a sandbox sends is a student's: it is checked here, where no cell runs.
"""
