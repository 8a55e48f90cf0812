"""Grade a folder of notebooks in which students wrote the steps of attention.

``python -m mha.grade FOLDER`` runs each notebook in a process of its own, calls what it defines
with numbers that stand in no file, and writes a table and a report for each student.
`submissions` finds the notebooks, `running` runs them, `grading` judges what comes back, and
`report` writes.

What is guarded, and what is not: a notebook is a program, and whoever grades it runs it. The
numbers go into its process and arrays come back as text; they are compared here, where no cell
runs, so that a `check` of its own, a print or a NumPy that was changed gains nothing. Its process
has no `mha`; it may not open the files of the package, of the other submissions or of the
teacher, change files outside its own folder, start programs or connect to anything, and it is
limited in time and, but for Windows and macOS, in memory. This is kept by Python's own
announcements, which stop what students try, not who sets out to break a Python process from
within (`ctypes` is enough). It is no sandbox: grade notebooks of strangers on a machine, or as a
user, that has nothing to lose. The column ``look`` names what no step needs, and a person decides
what it was for.
"""
