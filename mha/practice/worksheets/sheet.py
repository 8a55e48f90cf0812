"""One student's worksheet: the given tables, the tasks and the answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from mha.core.checks import as_count
from mha.practice.effort import Effort, effort_of_lines
from mha.practice.random_inputs import SENTENCES, draw_short_example, no_multiples
from mha.practice.tolerance import tolerances
from mha.practice.worksheets.seeds import Seed
from mha.practice.worksheets.students import Student
from mha.runs.origins import is_given, origin
from mha.runs.places import Place, stage_places
from mha.runs.record import Trace, continue_from, trace
from mha.runs.rounding import is_tie, rounded
from mha.runs.stages import STAGES
from mha.views.arithmetic import Arithmetic, write_arithmetic
from mha.views.tables import Table, stage_table

PLACES = 3
"""The decimals of answers that are not exact."""

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
"""The stages that a sheet can ask for, in the order of the computation, and their tasks.

Here `scaled_scores` are the scores before the mask, and `mask` the masked scores. A trace has both
under other names: its stage `scaled_scores` contains the mask, and its field `mask` has the numbers
that are added.
"""

MASKED_EXPONENTIALS = "Exponentials of the masked scores, and each row's sum; e to the −∞ is 0."

_ALL_DIGITS = 6
"""More decimals than any exact answer has, so that it is shown exactly."""

_ROUNDED_IF_GIVEN = ("exponentials", "weights", "head_outputs")
"""Stages with many decimals, which are rounded if the sheet gives them."""

_ROUNDED_AFTER = {"head_outputs": "weights", "output": "head_outputs"}
"""A sum of products is exact unless its operands are of a stage that is rounded itself."""


@dataclass(frozen=True)
class Task:
    """One task of a sheet: a stage whose tables the student fills in.

    Parameters
    ----------
    number : int
        Counted from 1.
    stage : str
        A key of `TASKS`.
    text : str
        The task in words.
    given : tuple of Table
        The tables that the sheet gives for it.
    after : tuple of int
        The tasks whose answers it needs.
    tables : tuple of Table
        Its answers, one table per head, or one for the whole layer.
    points : int
        One per row.
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
        With the student, the seed of the sheet's numbers.
    student : Student
    difficulty : str
    stages : tuple of str
        The stages asked for, in the order of the computation.
    drawn_run : Trace
        The run on the drawn numbers, in which no stage is rounded.
    """

    seed: Seed
    student: Student
    difficulty: str
    stages: tuple[str, ...]
    drawn_run: Trace

    @cached_property
    def run(self) -> Trace:
        """The run from the numbers that the sheet gives, as they are printed."""
        given = [stage for stage in _ROUNDED_IF_GIVEN if stage in self._needed - set(self.stages)]
        if not given:
            return self.drawn_run
        as_printed = np.vectorize(rounded)
        return continue_from(
            self.drawn_run,
            **{stage: as_printed(getattr(self.drawn_run, stage), PLACES) for stage in given},
        )

    @cached_property
    def _unmasked(self) -> Trace:
        """The run without its mask, for the scores before the mask is added."""
        return trace(replace(self.drawn_run.example, is_causal=False))

    @cached_property
    def _needed(self) -> set[str]:
        return {need for stage in self.stages for need in _inputs_of(self.drawn_run, stage)}

    @cached_property
    def rounded(self) -> tuple[str, ...]:
        """The stages asked for whose answers are rounded."""
        found: list[str] = []
        for stage in self.stages:
            if stage in ("exponentials", "weights") or _ROUNDED_AFTER.get(stage) in found:
                found.append(stage)
        return tuple(found)

    @cached_property
    def error_bounds(self) -> dict[str, int]:
        """The largest error of a right answer, by stage, in units of the last decimal."""
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
    def has_output_to_copy(self) -> bool:
        """Whether a column of the layer's output is a multiple of another."""
        return self.run.output is not None and not no_multiples(self.run.output)

    @property
    def title(self) -> str:
        """The student, the seed and the difficulty."""
        return f"{self.student} ({self.seed}, {self.difficulty})"

    @cached_property
    def effort(self) -> Effort:
        """The operations and the written numbers of all tasks; masked scores are only copied."""
        lines = []
        for task in self.tasks:
            for head in range(len(task.tables)):
                for place, worked in self.answers(task.stage, head):
                    is_copied = task.stage == "mask" and place.column is not None
                    lines.append("copied" if is_copied else str(worked))
        return effort_of_lines(lines)

    @property
    def points(self) -> int:
        """The points of the whole sheet."""
        return sum(task.points for task in self.tasks)

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, in the order of the computation."""
        return tuple(self._task(number, stage) for number, stage in enumerate(self.stages, 1))

    def _task(self, number: int, stage: str) -> Task:
        needs = _inputs_of(self.run, stage)
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
        """Yield the tables that the sheet gives, in the order of the computation."""
        yield from self._given(self._needed - set(self.stages))

    def _given(self, needs: set[str]) -> Iterator[Table]:
        for stage in [*STAGES, "mask"]:
            if stage in needs:
                yield from self.tables(stage)

    def tables(self, stage: str) -> Iterator[Table]:
        """Yield the tables of one stage or matrix: one per head, or one for the whole layer.

        Parameters
        ----------
        stage : str
        """
        run, name = self._run_and_stage(stage)
        for head in range(run.num_heads if STAGES[name].per_head else 1):
            table = stage_table(run, name, head=head, places=self.decimals(stage))
            yield replace(table, caption=self._caption(stage, table.caption))

    def _caption(self, stage: str, caption: str) -> str:
        """Return a table's caption, which says whether the scores are masked."""
        if stage == "mask":
            return caption.replace("Scaled", "Masked")
        if stage == "exponentials" and self.run.example.is_causal:
            return caption.replace("scaled", "masked")
        return caption

    def _run_and_stage(self, stage: str) -> tuple[Trace, str]:
        """Return the run that has the numbers of a sheet's stage, and their stage in this run."""
        if stage == "mask":
            return self.run, "scaled_scores"
        return (self._unmasked if stage == "scaled_scores" else self.run), stage

    def decimals(self, stage: str) -> int:
        """Return the largest number of decimals with which a stage is shown.

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
        """Yield each answer of one table: its place, and its line of arithmetic.

        Parameters
        ----------
        stage : str
            A stage that the sheet asks for.
        head : int
            Counted from 0.
        """
        run, name = self._run_and_stage(stage)
        for place in stage_places(run, name):
            if place.head not in (None, head):
                continue
            yield place, self._arithmetic(run, place)
            if stage == "exponentials" and place.column == len(run.tokens) - 1:
                row_sum = Place("row_sums", head=place.head, row=place.row)
                yield row_sum, self._arithmetic(run, row_sum)

    def _arithmetic(self, run: Trace, place: Place) -> Arithmetic:
        stage = "exponentials" if place.stage == "row_sums" else place.stage
        return write_arithmetic(origin(run, place), self.decimals(stage))


def _inputs_of(run: Trace, stage: str) -> set[str]:
    """Return the stages that a stage is computed from, of those that have a table in a sheet.

    An operand of another stage, such as a row sum, is traced back to its own operands.
    """
    if stage == "mask":
        return {"scaled_scores"}
    found: set[str] = set()
    for operand in origin(run, next(stage_places(run, stage))).operands:
        if operand.place is None:
            continue
        input_stage = operand.place.stage
        if input_stage == "scaled_scores" and run.example.is_causal:
            input_stage = "mask"
        has_table = input_stage in TASKS or is_given(run, input_stage)
        found |= {input_stage} if has_table else _inputs_of(run, input_stage)
    return found


def draw_worksheet(
    seed: int | Seed,
    student: int | Student,
    *,
    difficulty: str = "medium",
    stages: Sequence[str] | None = None,
    num_tokens: int = 3,
    num_heads: int = 1,
    sentence: Sequence[str] | None = None,
) -> Worksheet:
    """Return one student's worksheet, with numbers drawn at random.

    Parameters
    ----------
    seed : int or Seed
        The seed of the whole set of sheets; a number must not be negative.
    student : int or Student
        The number of a student counts from 1.
    difficulty, num_tokens, num_heads
        As for `mha.practice.random_inputs.draw_short_example`.
    sentence : sequence of str, optional
        Its first words are the tokens; by default, one of `SENTENCES`, by the student.
    stages : sequence of str, optional
        The stages asked for; by default, all of `TASKS` but the mask. A sheet with one head has no
        output. With "mask", the whole sheet is masked. The sheet gives the operands of the first
        stages.

    Returns
    -------
    Worksheet

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> made = draw_worksheet(7, 1, difficulty="easy", stages=["scaled_scores"])
    >>> made.title, made.points
    ('1 (seed 7, easy)', 3)
    """
    if not isinstance(student, Student):
        student = Student(as_count("student", student))
    if not isinstance(seed, Seed):
        seed = Seed(seed)
    asked = _select_stages(stages, num_heads)
    rng = seed.rng(student.entropy)
    while True:
        example = draw_short_example(
            rng,
            num_tokens=num_tokens,
            num_heads=num_heads,
            with_output=num_heads > 1,
            difficulty=difficulty,
            sentence=sentence or SENTENCES[(student.entropy - 1) % len(SENTENCES)],
        )
        run = trace(replace(example, is_causal="mask" in asked))
        made = Worksheet(seed, student, difficulty, asked, run)
        if not (made.has_ties or made.has_output_to_copy):
            return made


def possible_stages(num_heads: int) -> tuple[str, ...]:
    """Return the stages that a sheet with this number of heads can ask for.

    Parameters
    ----------
    num_heads : int

    Returns
    -------
    tuple of str
    """
    return tuple(stage for stage in TASKS if stage != "output" or num_heads > 1)


def _select_stages(stages: Sequence[str] | None, num_heads: int) -> tuple[str, ...]:
    """Return the stages asked for, in the order of the computation; refuse unknown ones."""
    possible = possible_stages(num_heads)
    for stage in stages or ():
        if stage not in possible:
            raise ValueError(f"stage is {stage!r}; one of {', '.join(possible)} is wanted")
    if stages is not None and not stages:
        raise ValueError("stages is empty; at least one stage is wanted")
    if stages is None:
        return tuple(stage for stage in possible if stage != "mask")
    return tuple(stage for stage in possible if stage in stages)
