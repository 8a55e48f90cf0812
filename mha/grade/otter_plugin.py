"""A plugin of Otter-Grader that grades a notebook outside Otter's kernel.

Otter runs a submission and its tests in one process, in which the code of a submission can change
the tests. This plugin grades the submission as `mha.grade` does, and gives Otter a notebook that
has no code of the student: one cell with the grade. Otter's tests read it. Otter itself is not
imported here.
"""

from pathlib import Path
from secrets import token_bytes
from typing import Any

from mha.grade.grading import grade
from mha.grade.notebook_process import Limits
from mha.grade.report import as_sentences
from mha.grade.sandbox import Sandbox
from mha.grade.submissions import Submission
from mha.practice.answers import Remark
from mha.practice.notebook_steps import STEPS

VARIABLE = "grade_of_each_step"
"""The variable of the cell: for each step, whether it is right, and a sentence on it."""


class Judge:
    """The plugin, as `otter_config.json` names it.

    Parameters
    ----------
    submission_path : str
    submission_metadata, plugin_config : mapping
        Otter's data, which are not used.
    """

    def __init__(self, submission_path: str, submission_metadata: Any, plugin_config: Any) -> None:
        self.path = submission_path
        self.faults: list[str] = []

    def before_execution(self, submission: Any) -> Any:
        """Grade the submission, and return a notebook with the grade alone.

        Parameters
        ----------
        submission : nbformat.NotebookNode
            Not used: the file is read again, as `mha.grade` reads it.

        Returns
        -------
        nbformat.NotebookNode

        Raises
        ------
        ValueError
            If no sandbox can be made.
        """
        from nbformat import v4

        path = Path(self.path)
        start = Sandbox([path.parent]).start
        graded = grade(Submission("", "", path), token_bytes(), Limits(), start)
        self.faults = as_sentences(graded.faults, '"')
        found = {
            step.name: (
                bool(graded.points_of(step.name)),
                " ".join(as_sentences([graded.remarks.get(step.name, Remark("Not graded."))], '"')),
            )
            for step in STEPS
        }
        made = v4.new_notebook(cells=[v4.new_code_cell(f"{VARIABLE} = {found!r}")])  # type: ignore[no-untyped-call]
        made.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        return made

    def after_grading(self, results: Any) -> None:
        """Give the student the faults of the notebook, as the text above Otter's results."""
        if self.faults:
            results.output = "\n".join(self.faults)
