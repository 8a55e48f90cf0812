"""One student's worksheet: what it gives, what it asks, and every answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from mha.core.checks import as_count
from mha.practice.random_inputs import SENTENCES, draw_example
from mha.practice.tolerance import tolerances
from mha.practice.worksheets.seeds import Seed
from mha.practice.worksheets.students import Student
from mha.runs.origins import is_given, origin
from mha.runs.places import Place, places
from mha.runs.record import Trace, continue_from, trace
from mha.runs.rounding import is_tie, rounded
from mha.runs.stages import STAGES
from mha.views.arithmetic import Arithmetic, write_arithmetic
from mha.views.tables import Table, stage_table

PLACES = 3
"""Decimals asked for where a number is not exact before."""

TASKS = MappingProxyType(
    {
        "query": "Queries: each embedding times the query projection.",
        "key": "Keys: each embedding times the key projection.",
        "value": "Values: each embedding times the value projection.",
        "scores": "Scores: each query's dot product with each key.",
        "scaled_scores": "Scaled scores: each score divided by the square root of the key's width,"
        " which is {d_k}.",
        "mask": "Masked scores: a token may attend to itself and to those before it. Write −∞ for"
        " every other key, and copy the rest.",
        "exponentials": "Exponentials of the scaled scores, and each row's sum.",
        "weights": "Attention weights: each exponential divided by its row's sum.",
        "head_outputs": "Output: the values, weighted and added, for each query.",
        "output": "Output of the layer: the outputs side by side, times the output projection.",
    }
)
"""The stages that can be asked for, in the order of the computation, and what to do in each."""

MASKED_EXPONENTIALS = "Exponentials of the masked scores, and each row's sum; e to the −∞ is 0."

_ALL_DIGITS = 6
"""More decimals than an exact answer has: it is shown with all of its own."""

_AFTER_EXACT = ("exponentials", "weights", "head_outputs")
"""Stages whose numbers are not short, so that they are rounded where they are given."""

_ROUNDED_AFTER = {"head_outputs": "weights", "output": "head_outputs"}
"""A sum of products is exact unless it takes numbers of a stage that was itself rounded."""


@dataclass(frozen=True)
class Task:
    """One task of a sheet: a stage to fill in.

    Parameters
    ----------
    number : int
        Counted from 1.
    stage : str
        A key of `TASKS`.
    text : str
        What to do.
    given : tuple of Table
        What the sheet gives for it.
    after : tuple of int
        The tasks whose answers it takes.
    tables : tuple of Table
        Its answers, a table a head, or one for the whole layer.
    points : int
        One for each row.
    """

    number: int
    stage: str
    text: str
    given: tuple[Table, ...]
    after: tuple[int, ...]
    tables: tuple[Table, ...]
    points: int


@dataclass(frozen=True)
class Worksheet:
    """One student's sheet and its answers.

    Parameters
    ----------
    seed : Seed
        What its numbers were drawn from, with the student.
    student : Student
    difficulty : str
    stages : tuple of str
        What is asked, in the order of the computation.
    drawn : Trace
        The run of the numbers that were drawn for the sheet.
    """

    seed: Seed
    student: Student
    difficulty: str
    stages: tuple[str, ...]
    drawn: Trace

    @cached_property
    def run(self) -> Trace:
        """Every number of the sheet, computed from what the sheet gives as it is printed."""
        given = [stage for stage in _AFTER_EXACT if stage in self._needed - set(self.stages)]
        if not given:
            return self.drawn
        as_printed = np.vectorize(rounded)
        return continue_from(
            self.drawn, **{stage: as_printed(getattr(self.drawn, stage), PLACES) for stage in given}
        )

    @cached_property
    def _unmasked(self) -> Trace:
        """The run without its mask, for the scores as they are before it is added."""
        return trace(replace(self.drawn.example, is_causal=False))

    @cached_property
    def _needed(self) -> set[str]:
        return {need for stage in self.stages for need in _needs(self.drawn, stage)}

    @cached_property
    def rounded(self) -> tuple[str, ...]:
        """The stages that are asked for whose answers are no short numbers."""
        found: list[str] = []
        for stage in self.stages:
            if stage in ("exponentials", "weights") or _ROUNDED_AFTER.get(stage) in found:
                found.append(stage)
        return tuple(found)

    @cached_property
    def slips(self) -> dict[str, int]:
        """How far a right answer may be off, by stage, in units of the last decimal."""
        return tolerances(self.run, self.stages, PLACES)

    @property
    def has_ties(self) -> bool:
        """Whether an answer lies halfway between two roundings."""
        return any(
            is_tie(float(number), PLACES)
            for stage in self.rounded
            for number in np.ravel(getattr(self.run, stage))
        )

    @property
    def title(self) -> str:
        """Which sheet it is."""
        return f"{self.student} ({self.seed}, {self.difficulty})"

    @property
    def points(self) -> int:
        """What the whole sheet is worth."""
        return sum(task.points for task in self.tasks)

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """What is asked, in the order of the computation."""
        return tuple(self._task(number, stage) for number, stage in enumerate(self.stages, 1))

    def _task(self, number: int, stage: str) -> Task:
        needs = _needs(self.run, stage)
        tables = tuple(self.tables(stage))
        is_masked = stage == "exponentials" and self.run.example.is_causal
        text = MASKED_EXPONENTIALS if is_masked else TASKS[stage]
        return Task(
            number=number,
            stage=stage,
            text=text.format(d_k=self.run.key.shape[-1]),
            given=tuple(self._given(needs - set(self.stages))),
            after=tuple(i for i, each in enumerate(self.stages, 1) if each in needs),
            tables=tables,
            points=sum(len(table.rows) for table in tables),
        )

    def given(self) -> Iterator[Table]:
        """Yield every table that the stages start from, in the order of the computation."""
        yield from self._given(self._needed - set(self.stages))

    def _given(self, needs: set[str]) -> Iterator[Table]:
        for stage in [*STAGES, "mask"]:
            if stage in needs:
                yield from self.tables(stage)

    def tables(self, stage: str) -> Iterator[Table]:
        """Yield one stage or matrix of each head, or the one of the whole layer.

        Parameters
        ----------
        stage : str
        """
        run, name = self._shown_by(stage)
        for head in range(run.num_heads if STAGES[name].per_head else 1):
            table = stage_table(run, name, head=head, places=self.places(stage))
            yield replace(table, caption=self._caption(stage, table.caption))

    def _caption(self, stage: str, caption: str) -> str:
        """Return a table's caption, which says whether the scores are masked."""
        if stage == "mask":
            return caption.replace("Scaled", "Masked")
        if stage == "exponentials" and self.run.example.is_causal:
            return caption.replace("scaled", "masked")
        return caption

    def _shown_by(self, stage: str) -> tuple[Trace, str]:
        """Return the run and the name that it has a stage by."""
        if stage == "mask":
            return self.run, "scaled_scores"
        return (self._unmasked if stage == "scaled_scores" else self.run), stage

    def places(self, stage: str) -> int:
        """Return the most decimals that a stage is shown with: what is exact has all of its own.

        Parameters
        ----------
        stage : str

        Returns
        -------
        int
        """
        given = stage not in self.stages
        return PLACES if given or stage in self.rounded else _ALL_DIGITS

    def answers(self, stage: str, head: int) -> Iterator[tuple[Place, Arithmetic]]:
        """Yield each answer of one table: where it stands, and how it comes about.

        Parameters
        ----------
        stage : str
            One that is asked for.
        head : int
            Counted from 0.
        """
        run, name = self._shown_by(stage)
        for place in places(run, name):
            if place.head not in (None, head):
                continue
            yield place, self._worked(run, place)
            if stage == "exponentials" and place.column == len(run.tokens) - 1:
                row_sum = Place("row_sums", head=place.head, row=place.row)
                yield row_sum, self._worked(run, row_sum)

    def _worked(self, run: Trace, place: Place) -> Arithmetic:
        of_row = "exponentials" if place.stage == "row_sums" else place.stage
        return write_arithmetic(origin(run, place), self.places(of_row))


def _needs(run: Trace, stage: str) -> set[str]:
    """Return the stages that a stage is computed from, where they have a table in a sheet.

    A number that has none, such as a row sum, is followed to what it is computed from.
    """
    if stage == "mask":
        return {"scaled_scores"}
    found: set[str] = set()
    for operand in origin(run, next(places(run, stage))).operands:
        if operand.place is None:
            continue
        behind = operand.place.stage
        if behind == "scaled_scores" and run.example.is_causal:
            behind = "mask"
        has_table = behind in TASKS or is_given(run, behind)
        found |= {behind} if has_table else _needs(run, behind)
    return found


def worksheet(
    seed: int | Seed,
    student: int | Student,
    *,
    difficulty: str = "medium",
    stages: Sequence[str] | None = None,
    num_tokens: int = 3,
    num_heads: int = 1,
    sentence: Sequence[str] | None = None,
) -> Worksheet:
    """Draw one student's worksheet.

    Parameters
    ----------
    seed : int or Seed
        Of the whole set of sheets; a number is not negative.
    student : int or Student
        A number counts from 1.
    difficulty, num_tokens, num_heads
        As for `mha.practice.random_inputs.draw_example`.
    sentence : sequence of str, default one of `SENTENCES`, by the student
        Its first words are the tokens.
    stages : sequence of str, default every one of `TASKS` that the sheet's layer has, no mask
        A sheet with one head has no output. With "mask" among them the whole sheet is masked. What
        the first stages start from is given.

    Returns
    -------
    Worksheet

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> made = worksheet(7, 1, difficulty="easy", stages=["scaled_scores"])
    >>> made.title, made.points
    ('1 (seed 7, easy)', 3)
    """
    if not isinstance(student, Student):
        student = Student(as_count("student", student))
    if not isinstance(seed, Seed):
        seed = Seed(seed)
    asked = _asked(stages, num_heads)
    rng = seed.rng(student.drawn_by)
    while True:
        example = draw_example(
            rng,
            num_tokens=num_tokens,
            num_heads=num_heads,
            with_output=num_heads > 1,
            difficulty=difficulty,
            sentence=sentence or SENTENCES[(student.drawn_by - 1) % len(SENTENCES)],
        )
        run = trace(replace(example, is_causal="mask" in asked))
        made = Worksheet(seed, student, difficulty, asked, run)
        if not made.has_ties:
            return made


def possible_stages(num_heads: int) -> tuple[str, ...]:
    """Return the stages that a sheet with so many heads can ask for.

    Parameters
    ----------
    num_heads : int

    Returns
    -------
    tuple of str
    """
    return tuple(stage for stage in TASKS if stage != "output" or num_heads > 1)


def _asked(stages: Sequence[str] | None, num_heads: int) -> tuple[str, ...]:
    """Return the stages that are asked for, in the order of the computation."""
    possible = possible_stages(num_heads)
    for stage in stages or ():
        if stage not in possible:
            raise ValueError(f"stage is {stage!r}; one of {', '.join(possible)} is wanted")
    if stages is not None and not stages:
        raise ValueError("stages is empty; at least one stage is wanted")
    if stages is None:
        return tuple(stage for stage in possible if stage != "mask")
    return tuple(stage for stage in possible if stage in stages)
