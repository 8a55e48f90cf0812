"""Worksheets: fresh numbers for each student, their answers, and the key with every step.

The numbers of a sheet depend on its seed, its lesson and its student, and not on the number of
students. In one edition of the book the same seed gives the same sheets. Answers follow from the
numbers that a sheet prints: if a stage is omitted, the sheet gives its numbers rounded, and the key
continues from the rounded numbers. Exact answers are asked for with all digits, others to `PLACES`
decimals, and none lies halfway between two roundings. A calculator reaches each result of the key
from the operands that the key prints.

`sheet` has the tasks and answers of a sheet, `text` writes them as Markdown, and `answers` writes
them for programs. `seeds` has the sources of the numbers, `class_list` reads the list of a class,
`files` writes files without losing others, `options` has the command's options, and `command` draws
the sheets. ``python -m mha.practice.worksheets --seed 7 --students 24 FOLDER`` writes texts and
answers; ``python3 scripts/build.py worksheet`` makes PDFs too.
"""

from mha.practice.worksheets.seeds import Seed
from mha.practice.worksheets.sheet import PLACES, TASKS, Task, Worksheet, draw_worksheet
from mha.practice.worksheets.students import Student
from mha.practice.worksheets.text import write_key, write_sheet

__all__ = [
    "PLACES",
    "TASKS",
    "Seed",
    "Student",
    "Task",
    "Worksheet",
    "draw_worksheet",
    "write_key",
    "write_sheet",
]
