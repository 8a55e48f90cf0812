"""Worksheets: fresh numbers for each student, their answers, and the key with every step.

A sheet's numbers are drawn from its seed and its student, so that with one edition of the book the
same seed gives the same sheets, and a student's sheet does not depend on how many others there are;
each lesson has others. Its answers follow from what it gives: where a stage is left out, its
numbers are given rounded, and the key goes on from these. An exact answer is asked for with all its
digits, any other to `PLACES` decimals, and none lies halfway between two roundings. A calculator
reaches each result of the key from the operands that the key prints.

`sheet` has what a sheet asks and answers, `text` writes it as Markdown, and `answers` for programs.
`seeds` has what the numbers follow from, `class_list` reads the list of a class, `files` keeps what
a folder has, `options` has the options, and `command` draws what they ask for.
``python -m mha.practice.worksheets --seed 7 --students 24 FOLDER`` writes texts and answers, and
``python3 scripts/build.py worksheet`` prints too.
"""

from mha.practice.worksheets.seeds import Seed
from mha.practice.worksheets.sheet import PLACES, TASKS, Task, Worksheet, worksheet
from mha.practice.worksheets.students import Student
from mha.practice.worksheets.text import key, sheet

__all__ = ["PLACES", "TASKS", "Seed", "Student", "Task", "Worksheet", "key", "sheet", "worksheet"]
