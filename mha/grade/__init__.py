"""Grade a folder of notebooks in which students wrote the steps of attention.

`submissions` finds the notebooks, `sandbox` makes a boundary of the operating system,
`notebook_process` runs a notebook in it (`notebook_runner` is the program inside), `grading` judges
the returned arrays, and `report` writes the results. Everything that a sandbox sends is data of a
student, and is checked before it is used. `gradescope` and `otter_plugin` do the same in the
folders of these two services; in a container that allows no sandbox, `other_user` takes its place.
"""
