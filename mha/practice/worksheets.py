"""Worksheets: fresh numbers for each student, and the key with every step, as Markdown.

A sheet's numbers are drawn from its seed and its student's number, so that the same seed gives the
same sheets, and a student's sheet does not depend on how many others there are. Its answers follow
from what it gives: where a stage is left out, its numbers are given rounded, and the key goes on
from these. An exact answer is asked for with all its digits, any other to `PLACES` decimals.

``python -m mha.practice.worksheets --seed 7 --students 24 FOLDER`` writes ``sheets.md`` and
``key.md``; ``python3 scripts/build.py worksheet`` prints them too. Both declare their options by
`add_options` and write by `write_class`.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np

from mha.core.checks import as_count
from mha.practice.drawing import LEVELS, draw_example
from mha.practice.tolerance import tolerances
from mha.runs.origins import is_given, origin
from mha.runs.places import Place, places
from mha.runs.record import Trace, continued, trace
from mha.runs.rounding import dimensions, shown
from mha.runs.stages import STAGES
from mha.runs.worked import WorkedExample
from mha.views.arithmetic import Arithmetic, written_out
from mha.views.tables import Table, stage_table

PLACES = 3
"""Decimals asked for where a number is not exact before."""

ROOM = 4 * "&emsp;"
"""What stands in an empty cell: the width of a number written by hand."""

TASKS = MappingProxyType(
    {
        "query": "Queries: each embedding times the query projection.",
        "key": "Keys: each embedding times the key projection.",
        "value": "Values: each embedding times the value projection.",
        "scores": "Scores: each query's dot product with each key.",
        "scaled_scores": "Scaled scores: each score divided by the square root of the key's width.",
        "exponentials": "Exponentials of the scaled scores, and each row's sum.",
        "weights": "Attention weights: each exponential divided by its row's sum.",
        "head_outputs": "Output: the values, weighted and added, for each query.",
        "output": "Output of the layer: the outputs side by side, times the output projection.",
    }
)
"""The stages that can be asked for, in the order of the computation, and what to do in each."""

_ALL_DIGITS = 6
"""More decimals than an exact answer has: it is shown with all of its own."""

_AFTER_EXACT = ("exponentials", "weights", "head_outputs")
"""Stages whose numbers are not short, so that they are rounded where they are given."""

_ROUNDED_AFTER = {"head_outputs": "weights", "output": "head_outputs"}
"""A sum of products is exact unless it takes numbers of a stage that was itself rounded."""


@dataclass(frozen=True)
class Worksheet:
    """One student's sheet and its key.

    Parameters
    ----------
    seed, student : int
        What its numbers were drawn from; students count from 1.
    difficulty : str
    stages : tuple of str
        What is asked, in the order of the computation.
    drawn : Trace
        The run of the numbers that were drawn for the sheet.
    """

    seed: int
    student: int
    difficulty: str
    stages: tuple[str, ...]
    drawn: Trace

    @cached_property
    def run(self) -> Trace:
        """Every number of the sheet, computed from what the sheet gives as it is printed."""
        needed = {need for stage in self.stages for need in _needs(self.drawn, stage)}
        given = [stage for stage in _AFTER_EXACT if stage in needed - set(self.stages)]
        if not given:
            return self.drawn
        return continued(self.drawn, **{s: getattr(self.drawn, s).round(PLACES) for s in given})

    @cached_property
    def rounded(self) -> tuple[str, ...]:
        """The stages that are asked for whose answers are no short numbers."""
        found: list[str] = []
        for stage in self.stages:
            if stage in ("exponentials", "weights") or _ROUNDED_AFTER.get(stage) in found:
                found.append(stage)
        return tuple(found)

    @property
    def title(self) -> str:
        """Which sheet it is."""
        return f"{self.student} (seed {self.seed}, {self.difficulty})"

    def sheet(self) -> str:
        """Return what the student gets: the given numbers, and an empty table for each stage.

        Returns
        -------
        str
            Markdown.
        """
        parts = [f"## Worksheet {self.title}", "Name: " + "\\_" * 30, "### Given"]
        parts += [_markdown(table) for table in self._given()]
        parts += ["### Your turn", self._rounding()]
        for number, stage in enumerate(self.stages, 1):
            parts.append(f"{number}\\. {TASKS[stage]}")
            parts += [_markdown(_emptied(table)) for table in self._tables(stage)]
        return "\n\n".join(parts) + "\n"

    def key(self) -> str:
        """Return the answers: each stage as a table, and how every number of it comes about.

        Returns
        -------
        str
            Markdown.
        """
        parts = [f"## Key to worksheet {self.title}"]
        if self.rounded:
            parts.append(self._tolerance())
        for number, stage in enumerate(self.stages, 1):
            parts.append(f"{number}\\. {TASKS[stage]}")
            for head, table in enumerate(self._tables(stage)):
                parts.append(_markdown(table))
                parts.append("\n".join(f"- {step}" for step in self._steps(stage, head)))
        return "\n\n".join(parts) + "\n"

    def _rounding(self) -> str:
        if not self.rounded:
            return "All answers are short: do not round."
        others = " All other answers are short: do not round them." * (
            len(self.rounded) < len(self.stages)
        )
        return (
            f"Round in {self._tasks(self.rounded)} alone: write down {PLACES} decimals there, and"
            f" calculate on with all the digits that you have.{others}"
        )

    def _tolerance(self) -> str:
        """Return what the key says of rounding, and how far a right answer may be off."""
        said = (
            f"{self._tasks(self.rounded).capitalize()}: each number was computed with all its"
            " digits and is rounded when shown; ≈ stands where rounding enters."
        )
        slips = tolerances(self.run, self.stages, PLACES)
        if not slips:
            return said
        bounds = [
            f"{shown(units * 10.0**-PLACES, PLACES)} in {self._tasks([stage])}"
            for stage, units in slips.items()
        ]
        return (
            f"{said} Who calculates on with rounded numbers is right too, and may be off by at most"
            f" {_listed(bounds)}."
        )

    def _tasks(self, stages: Sequence[str]) -> str:
        """Return the numbers that stages have as tasks, in words."""
        numbers = [str(self.stages.index(stage) + 1) for stage in stages]
        return f"task{'s' * (len(numbers) > 1)} {_listed(numbers)}"

    def _places(self, stage: str) -> int:
        """Return the most decimals that a stage is shown with: what is exact has all of its own."""
        is_given = stage not in self.stages
        return PLACES if is_given or stage in self.rounded else _ALL_DIGITS

    def _given(self) -> Iterator[Table]:
        """Yield the tables that the stages start from."""
        needed = {need for stage in self.stages for need in _needs(self.run, stage)}
        for stage in STAGES:
            if stage in needed - set(self.stages):
                yield from self._tables(stage)

    def _tables(self, stage: str) -> Iterator[Table]:
        """Yield one stage or matrix of each head, or the one of the whole layer."""
        for head in range(self.run.num_heads if STAGES[stage].per_head else 1):
            yield stage_table(self.run, stage, head=head, places=self._places(stage))

    def _steps(self, stage: str, head: int) -> Iterator[str]:
        """Yield each number of one table as a line of arithmetic."""
        for place in places(self.run, stage):
            if place.head not in (None, head):
                continue
            yield f"{self._name(place)}: {_superscript(str(self._line(place)))}"
            if stage == "exponentials" and place.column == len(self.run.tokens) - 1:
                row_sum = Place("row_sums", head=place.head, row=place.row)
                yield f"{self._token(place.row)}, row sum: {self._line(row_sum)}"

    def _line(self, place: Place) -> Arithmetic:
        return written_out(origin(self.run, place), self._places(place.stage))

    def _name(self, place: Place) -> str:
        """Return what a number of a table is called."""
        if place.kind.by_key:
            return f"{self._token(place.row)} with {self._token(place.column)}"
        assert place.column is not None
        component = dimensions(place.kind.symbol, place.column + 1)[-1]
        return f"{self._token(place.row)}, {component}"

    def _token(self, index: int | None) -> str:
        assert index is not None
        return self.run.tokens[index]


def _needs(run: Trace, stage: str) -> set[str]:
    """Return the stages that a stage is computed from, where they have a table in a sheet.

    A number that has none, such as a row sum, is followed to what it is computed from.
    """
    found: set[str] = set()
    for operand in origin(run, next(places(run, stage))).operands:
        if operand.place is None:
            continue
        behind = operand.place.stage
        has_table = behind in TASKS or is_given(run, behind)
        found |= {behind} if has_table else _needs(run, behind)
    return found


def worksheet(
    seed: int,
    student: int,
    *,
    difficulty: str = "medium",
    stages: Sequence[str] | None = None,
    num_tokens: int = 3,
    num_heads: int = 1,
) -> Worksheet:
    """Draw one student's worksheet.

    Parameters
    ----------
    seed : int
        Of the whole set of sheets; not negative.
    student : int
        Counted from 1.
    difficulty, num_tokens, num_heads
        As for `mha.practice.drawing.draw_example`.
    stages : sequence of str, default every one of `TASKS` that the sheet's layer has
        A sheet with one head has no output. What the first stages start from is given.

    Returns
    -------
    Worksheet

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> print(worksheet(7, 1, difficulty="easy", stages=["scaled_scores"]).sheet()[:29])
    ## Worksheet 1 (seed 7, easy)
    """
    as_count("student", student)
    asked = _asked(seed, stages, num_heads)
    run = trace(_drawn(seed, student, difficulty, num_tokens, num_heads))
    return Worksheet(seed, student, difficulty, asked, run)


def _asked(seed: int, stages: Sequence[str] | None, num_heads: int) -> tuple[str, ...]:
    """Return the stages that are asked for, in the order of the computation."""
    if seed < 0:
        raise ValueError(f"seed is {seed}; a number that is not negative is wanted")
    possible = [stage for stage in TASKS if stage != "output" or num_heads > 1]
    for stage in stages or ():
        if stage not in possible:
            raise ValueError(f"stage is {stage!r}; one of {', '.join(possible)} is wanted")
    if stages is not None and not stages:
        raise ValueError("stages is empty; at least one stage is wanted")
    return tuple(stage for stage in possible if stages is None or stage in stages)


def _drawn(
    seed: int, student: int, difficulty: str, num_tokens: int, num_heads: int
) -> WorkedExample:
    """Return what a sheet's run starts from; several heads have an output projection."""
    return draw_example(
        np.random.default_rng([seed, student]),
        num_tokens=num_tokens,
        num_heads=num_heads,
        with_output=num_heads > 1,
        difficulty=difficulty,
    )


def _markdown(table: Table) -> str:
    """Return a table in plain Markdown, its caption above it."""
    rows = [table.header, ("---", *("---:" for _ in table.header[1:])), *table.rows]
    lines = ["| " + " | ".join(cell.replace("\\", "\\\\") for cell in row) + " |" for row in rows]
    return "\n".join([f"**{table.caption}**", "", *lines])


def _emptied(table: Table) -> Table:
    """Return a table with its labels alone, its cells wide enough to write in."""
    rows = tuple((row[0], *(ROOM for _ in row[1:])) for row in table.rows)
    return Table(caption=table.caption, header=table.header, rows=rows)


def _superscript(line: str) -> str:
    """Return a line of arithmetic in which e^x stands as a formula."""
    return re.sub(r"e\^(\S+)", lambda power: f"$e^{{{power[1].replace('−', '-')}}}$", line)


def _listed(items: Sequence[str]) -> str:
    """Return items as a sentence names them."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


# ---- The command ----


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which worksheets are drawn.

    Parameters
    ----------
    parser : argparse.ArgumentParser

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_options(parser)
    >>> parser.parse_args(["--seed=7", "--students=2", "--stages=key,scores"]).stages
    ['key', 'scores']
    """
    add = parser.add_argument
    add("--seed", type=int, required=True, help="a number of your choice")
    add("--students", type=int, required=True, help="how many sheets")
    add("--difficulty", choices=list(LEVELS), default="medium", help="default: medium")
    add(
        "--stages",
        type=lambda text: text.split(","),
        metavar="A,B",
        help="what is asked, such as query,key,scores; default: all",
    )
    add("--tokens", type=int, default=3, help="words in a sheet; default: 3")
    add("--heads", type=int, default=1, help="heads in a sheet; default: 1")


def write_class(options: argparse.Namespace, folder: Path) -> None:
    """Write ``sheets.md`` and ``key.md`` of a whole class; nothing where a sheet cannot be drawn.

    Parameters
    ----------
    options : argparse.Namespace
        As `add_options` has them parsed.
    folder : pathlib.Path
        One that exists.

    Raises
    ------
    TypeError, ValueError
        As for `worksheet`, or if there is no student.
    """
    sheets = [
        worksheet(
            options.seed,
            student,
            difficulty=options.difficulty,
            stages=options.stages,
            num_tokens=options.tokens,
            num_heads=options.heads,
        )
        for student in range(1, as_count("students", options.students) + 1)
    ]
    title = f"seed {options.seed}"
    texts = {
        "sheets": [f"# Worksheets, {title}\n", *(sheet.sheet() for sheet in sheets)],
        "key": [f"# Key to the worksheets, {title}\n", *(sheet.key() for sheet in sheets)],
    }
    for name, parts in texts.items():
        (folder / f"{name}.md").write_text("\n".join(parts), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the sheets and the key of a whole class.

    Parameters
    ----------
    arguments : sequence of str, default those of the command line
    """
    parser = argparse.ArgumentParser(prog="python -m mha.practice.worksheets", description=__doc__)
    add_options(parser)
    parser.add_argument("folder", type=Path, help="where the two files go")
    options = parser.parse_args(arguments)
    try:
        write_class(options, options.folder)
    except (TypeError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
