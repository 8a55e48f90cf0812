"""From a submission to its points: each step is called, and its answers are judged here."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from mha.grade.notebook_process import Limits, Notebook, Start
from mha.grade.submissions import Submission, read_cells
from mha.practice.answers import Remark
from mha.practice.steps import STEPS, judged
from mha.practice.worksheets.seeds import key_for

NEEDED = r"(?:numpy|math)\b|mha\.practice\.steps import check\s*$"
IMPORTS = re.compile(rf"^[ \t]*(?:import|from)[ \t]+(?!{NEEDED})(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Graded:
    """The grade of one submission.

    `remarks` are by step, and empty where there is no notebook. `faults` say why there is none, or
    which cells stop. `imports` are the imported modules that no step needs.
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
    """Return the grade of a submission, also of one that is missing, or no notebook.

    The numbers follow from the key and from the notebook: whoever changes a notebook after a report
    does not know the numbers of the next.
    """
    try:
        cells = read_cells(submission.path)
    except ValueError as error:
        return Graded(submission, faults=[Remark(*error.args)])
    text = "\n".join(cells)
    seed = list(key_for(key, text))
    with Notebook(cells, limits, start) as notebook:
        remarks = {
            step.name: judged(step, partial(notebook.call, step.name), seed) for step in STEPS
        }
    faults = [fault for _, fault in sorted(notebook.faults.items())]
    return Graded(submission, remarks, faults, list(dict.fromkeys(IMPORTS.findall(text))))
