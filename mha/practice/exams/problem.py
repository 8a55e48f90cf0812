"""A calculation that a question of an exam asks for: givens, parts, steps and known mistakes."""

from dataclasses import dataclass

from mha.practice.effort import Effort, effort_of_lines
from mha.practice.exams.steps import Slip, Step, changed_names, solve
from mha.views.table import Table


@dataclass(frozen=True)
class Problem:
    """A calculation that a question asks for.

    Parameters
    ----------
    title : str
    text : str
        The task in words; a word between asterisks is a token.
    parts : tuple of str
        The tasks of its parts.
    tables : tuple of Table
        The givens.
    steps : tuple of Step
    slips : tuple of Slip
        Known mistakes, the most frequent against each rule first.
    """

    title: str
    text: str
    parts: tuple[str, ...]
    tables: tuple[Table, ...]
    steps: tuple[Step, ...]
    slips: tuple[Slip, ...] = ()

    @property
    def effort(self) -> Effort:
        """The effort of all steps."""
        return effort_of_lines(solve(self.steps).lines.values())

    @property
    def is_fair(self) -> bool:
        """Whether no result is a tie, and each mistake changes the last result without a tie."""
        right = solve(self.steps)
        if right.has_tie:
            return False
        last = self.steps[-1].name
        for slip in self.slips:
            wrong = solve(self.steps, slip)
            if wrong.has_tie or wrong.values[last] == right.values[last]:
                return False
            if changed_names(right, wrong)[0] != slip.changed[0].name:
                return False
        return True
