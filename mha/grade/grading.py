"""Grading of a submission: steps are called in the notebook's process, answers are judged here."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from mha.grade.notebook_process import Limits, Notebook, Start
from mha.grade.notebook_runner import NOTEBOOK_MODULES
from mha.grade.submissions import Submission, read_cells
from mha.practice.answers import Remark
from mha.practice.notebook_steps import STEPS, judge_step
from mha.practice.worksheets.seeds import key_for

NEEDED = {"numpy", "math"}
"""The modules that a step may import without a remark."""

IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b[ \t]*([^\n;#]*)"
    r"|import[ \t]+([^\n;#]*))|(__import__)",
    re.MULTILINE,
)
"""An import of names from a module, of modules, or by a call of `__import__`."""


@dataclass(frozen=True)
class Graded:
    """The grade of one submission.

    `remarks` maps the name of each step to a remark; it is empty if there is no notebook. `faults`
    explain why there is none, or which cells failed. `imports` lists modules that no step needs.
    """

    submission: Submission
    remarks: Mapping[str, Remark] = field(default_factory=dict)
    faults: Sequence[Remark] = ()
    imports: Sequence[str] = ()

    def points_of(self, step: str) -> int:
        """Return 1 for a step that is right, else 0."""
        return int(step in self.remarks and self.remarks[step].is_right)

    @property
    def points(self) -> int:
        """The points of all steps."""
        return sum(self.points_of(step) for step in self.remarks)


def grade(submission: Submission, key: bytes, limits: Limits, start: Start) -> Graded:
    """Return the grade of a submission; one that is missing or no notebook has no points.

    The numbers of the calls are derived from the key and the notebook, so a student who changes a
    notebook after a report does not know the numbers of the next one.
    """
    try:
        cells = read_cells(submission.path)
    except ValueError as error:
        return Graded(submission, faults=[Remark(*error.args)])
    seed = list(key_for(key, json.dumps(cells)))
    with closing(Notebook(cells, limits, start)) as notebook:
        remarks = {
            step.name: judge_step(step, partial(notebook.call, step.name), seed) for step in STEPS
        }
    faults = [fault for _, fault in sorted(notebook.faults.items())]
    return Graded(submission, remarks, faults, find_imports(cells))


def find_imports(cells: Sequence[str]) -> list[str]:
    """Return the modules that import statements of cells name and no step needs, each once."""
    names: dict[str, None] = {}
    for module, members, modules, call in IMPORT.findall("\n".join(cells)):
        if module in NOTEBOOK_MODULES and members.strip() == "check":
            continue
        found = re.findall(r"(?:^|,)[ \t]*(\w+)", module or modules or call)
        names |= dict.fromkeys(name for name in found if name not in NEEDED)
    return list(names)
