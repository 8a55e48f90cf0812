"""Grade the submission in Gradescope's folders: ``python -m mha.grade.gradescope``.

Gradescope starts the command in its folder `/autograder`, which has the folders `source`,
`submission` and `results`. The result is `results/results.json`, in the form that Gradescope
documents. The notebook runs as another user of the container, on new numbers each time.
"""

import json
import sys
from contextlib import suppress
from pathlib import Path
from secrets import token_bytes
from typing import Any

from mha.command_line import Parser
from mha.grade.grading import Graded, grade
from mha.grade.notebook_process import Limits
from mha.grade.other_user import OtherUser
from mha.grade.report import as_sentences
from mha.grade.submissions import Submission
from mha.practice.answers import Remark
from mha.practice.notebook_steps import STEPS

LIMITS = Limits(megabytes=512)
"""The limits of a notebook; the smallest container of Gradescope has 768 MB."""

PYTHON = "python"
"""The folder that the notebook's process may read: Python with NumPy."""


def main() -> None:
    """Grade the submission, and write the results; end with code 2 if that is impossible."""
    parser = Parser(
        prog="python -m mha.grade.gradescope",
        description="Grade one submission in the folders of Gradescope's container: submission,"
        " results and source in the current folder. The file run_autograder of the pack starts it.",
    )
    parser.parse_args()
    folder = Path.cwd()
    submission, results = folder / "submission", folder / "results"
    if not submission.is_dir():
        parser.error(f"{submission} is no folder; start the command in Gradescope's /autograder")
    close_to_others(folder)
    try:
        with OtherUser() as user:
            graded = grade(
                Submission("", "", submission.resolve()), token_bytes(), LIMITS, user.start
            )
    except ValueError as error:
        parser.error(str(error))
    results.mkdir(exist_ok=True)
    written = json.dumps(as_results(graded), ensure_ascii=False, indent=1)
    (results / "results.json").write_text(written + "\n", encoding="utf-8")
    print(f"Graded: {graded.points} of {len(STEPS)} points", file=sys.stderr)


def close_to_others(folder: Path) -> None:
    """Let only the owner list a folder and read its entries, except the folder `PYTHON`."""
    folder.chmod(0o711)
    for entry in folder.iterdir():
        if entry.name != PYTHON:
            with suppress(FileNotFoundError):  # a link to nothing
                entry.chmod(0o700)


def as_results(graded: Graded) -> dict[str, Any]:
    """Return a grade in Gradescope's form.

    Parameters
    ----------
    graded : Graded

    Returns
    -------
    dict
        `tests` has a test for each step, with one point, and a remark for the student. `output`
        explains faults of the notebook. Only the teacher sees the last test, which names imports.
    """
    tests = [
        {
            "number": str(number),
            "name": step.name,
            "score": graded.points_of(step.name),
            "max_score": 1,
            "status": "passed" if graded.points_of(step.name) else "failed",
            "output": " ".join(_sentences(graded, step.name)),
            "output_format": "text",
            "visibility": "visible",
        }
        for number, step in enumerate(STEPS, 1)
    ]
    if graded.imports:
        named = as_sentences([Remark("It imports", ", ".join(graded.imports))], '"')
        tests.append(
            {
                "name": "Imports that no step needs, for the teacher",
                "output": " ".join(named),
                "output_format": "text",
                "visibility": "hidden",
            }
        )
    faults = "\n".join(as_sentences(graded.faults, '"'))
    return {"output": faults, "output_format": "text", "score": graded.points, "tests": tests}


def _sentences(graded: Graded, step: str) -> list[str]:
    remarks = [graded.remarks[step]] if graded.remarks else [Remark("Not graded.")]
    return as_sentences(remarks, '"')


if __name__ == "__main__":
    main()
