"""From a submission to its points: each step is asked for, and what comes back is compared here."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from mha.command_line import in_one_line
from mha.grade.running import Limits, Notebook
from mha.grade.submissions import Submission, cells
from mha.practice.steps import STEPS, judged

NOT_NEEDED = (
    r"_getframe|sys\.modules|builtins|__import__|importlib|runpy|inspect|gc|ctypes|os\.\w+",
    r"subprocess|socket|urllib|requests|open(?=\()",
    r"(?:np|numpy)\.\w+(?=\s*=[^=])",  # something else in the place of a function of NumPy's
    r"(?:from|import)\s+(?:torch|tensorflow|keras|jax|scipy)\b",
    r"(?:from|import)\s+mha\b(?!\.practice\.steps\s+import\s+check\s*$)[\w. ]*",
)
LOOK = re.compile(rf"\b(?:{'|'.join(NOT_NEEDED)})", re.MULTILINE)
"""What a notebook needs for no step."""


@dataclass(frozen=True)
class Graded:
    """What one submission is worth.

    Parameters
    ----------
    submission : Submission
    words : mapping of str to str, default {}
        Of each step: "Right: ..." or "Not yet: ..."; empty where there is no notebook.
    faults : sequence of str, default ()
        Why there is no notebook, or which of its cells stop.
    look : sequence of str, default ()
        What a person should look at.
    """

    submission: Submission
    words: Mapping[str, str] = field(default_factory=dict)
    faults: Sequence[str] = ()
    look: Sequence[str] = ()

    def points_of(self, step: str) -> int:
        """Return 1 for a step that is right, else 0."""
        return int(self.words.get(step, "").startswith("Right"))

    @property
    def points(self) -> int:
        """The points of all steps."""
        return sum(self.points_of(step) for step in self.words)


def graded(submission: Submission, seed: Sequence[int], limits: Limits) -> Graded:
    """Grade a submission.

    Parameters
    ----------
    submission : Submission
    seed : sequence of int
        What the numbers are drawn from that no student knows.
    limits : Limits

    Returns
    -------
    Graded
        Also of what is missing, or is not a notebook.
    """
    try:
        sources = cells(submission.path)
    except ValueError as error:
        return Graded(submission, faults=[in_one_line(str(error))])
    with Notebook(sources, limits) as notebook:
        words = {
            step.name: in_one_line(judged(step, partial(notebook.call, step.name), seed))
            for step in STEPS
        }
    found = dict.fromkeys(each.group().strip() for each in LOOK.finditer("\n".join(sources)))
    faults = [in_one_line(fault) for _, fault in sorted(notebook.faults.items())]
    return Graded(submission, words, faults, list(found))
