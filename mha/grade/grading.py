"""The grade of a submission: each step is called in its process, and its answers judged here."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from mha.grade.notebook_process import Limits, Notebook, Start
from mha.grade.submissions import Submission, read_cells
from mha.practice.answers import Remark
from mha.practice.steps import STEPS, judged
from mha.practice.worksheets.seeds import key_for

NEEDED = {"numpy", "math"}
"""The modules that the steps need."""

IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b[ \t]*([^\n;#]*)"
    r"|import[ \t]+([^\n;#]*))|(__import__)",
    re.MULTILINE,
)
"""A statement that imports: a module and names of it, or modules; or a call that does the same."""


@dataclass(frozen=True)
class Graded:
    """The grade of one submission.

    `remarks` has a remark per name of a step, and is empty where there is no notebook. `faults` say
    why there is none, or which cells failed. `imports` are imported modules that no step needs.
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
    seed = list(key_for(key, json.dumps(cells)))
    with Notebook(cells, limits, start) as notebook:
        remarks = {
            step.name: judged(step, partial(notebook.call, step.name), seed) for step in STEPS
        }
    faults = [fault for _, fault in sorted(notebook.faults.items())]
    return Graded(submission, remarks, faults, imported(cells))


def imported(cells: Sequence[str]) -> list[str]:
    """Return the modules that cells import openly and no step needs, each once."""
    names: dict[str, None] = {}
    for module, members, modules, call in IMPORT.findall("\n".join(cells)):
        if (module, members.strip()) == ("mha.practice.steps", "check"):
            continue
        found = re.findall(r"(?:^|,)[ \t]*(\w+)", module or modules or call)
        names |= dict.fromkeys(name for name in found if name not in NEEDED)
    return list(names)
