"""Worksheets: fresh numbers for each student, and the key with every step, as Markdown.

A sheet's numbers are drawn from its seed and its student's number, so that the same seed gives the
same sheets, and a student's sheet does not depend on how many others there are.

``python -m mha.practice.worksheets --seed 7 --students 24 FOLDER`` writes ``sheets.md`` and ``key.md``;
``python3 scripts/build.py worksheet`` prints them too.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from mha.views.arithmetic import arithmetic
from mha.core.checks import as_count
from mha.practice.exercises import draw_example
from mha.runs.rounding import dimensions
from mha.views.tables import Table, stage_table
from mha.runs.record import Trace, trace

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

_NEEDS = {
    "query": ("embeddings", "w_q"),
    "key": ("embeddings", "w_k"),
    "value": ("embeddings", "w_v"),
    "scores": ("query", "key"),
    "scaled_scores": ("scores",),
    "exponentials": ("scaled_scores",),
    "weights": ("exponentials",),
    "head_outputs": ("weights", "value"),
    "output": ("head_outputs", "w_o"),
}
_WHOLE = ("embeddings", "w_o", "output")


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
    run : Trace
        Every number of the sheet.
    """

    seed: int
    student: int
    difficulty: str
    stages: tuple[str, ...]
    run: Trace

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
        if self._rounds():
            parts.append("Each number is rounded when shown, and was computed with all its digits.")
        for number, stage in enumerate(self.stages, 1):
            parts.append(f"{number}\\. {TASKS[stage]}")
            for head, table in enumerate(self._tables(stage)):
                parts.append(_markdown(table))
                parts.append("\n".join(f"- {step}" for step in self._steps(stage, head)))
        return "\n\n".join(parts) + "\n"

    def _rounding(self) -> str:
        late = [
            s for s in self.stages if s in ("exponentials", "weights", "head_outputs", "output")
        ]
        if not late:
            return "All answers are short: do not round."
        return (
            "Everything before the exponentials is short: do not round it. From there on, write"
            f" down {PLACES} decimals, and calculate on with all the digits that you have. A last"
            " digit that is off by one is no mistake."
        )

    def _rounds(self) -> bool:
        return bool({"exponentials", "weights", "head_outputs", "output"} & set(self.stages))

    def _given(self) -> Iterator[Table]:
        """Yield the tables that the stages start from."""
        needed = {need for stage in self.stages for need in _NEEDS[stage]} - set(self.stages)
        order = ("embeddings", "w_q", "w_k", "w_v", *TASKS, "w_o")
        for part in sorted(needed, key=order.index):
            yield from self._tables(part)

    def _tables(self, stage: str) -> Iterator[Table]:
        """Yield one stage or matrix of each head, or the one of the whole layer."""
        heads = range(1 if stage in _WHOLE else self.run.num_heads)
        for head in heads:
            yield stage_table(self.run, stage, head=head, places=PLACES)

    def _steps(self, stage: str, head: int) -> Iterator[str]:
        """Yield each number of one table as a line of arithmetic."""
        array = getattr(self.run, stage)
        array = array if stage in _WHOLE else array[head]
        for row, column in np.ndindex(array.shape):
            line = arithmetic(self.run, stage, row, column, head=head, places=PLACES)
            yield f"{self._name(stage, row, column)}: {_superscript(str(line))}"
            if stage == "exponentials" and column == array.shape[1] - 1:
                line = arithmetic(self.run, "row_sums", row, head=head, places=PLACES)
                yield f"{self.run.tokens[row]}, row sum: {line}"

    def _name(self, stage: str, row: int, column: int) -> str:
        tokens = self.run.tokens
        if stage in ("scores", "scaled_scores", "exponentials", "weights"):
            return f"{tokens[row]} with {tokens[column]}"
        symbol = {"head_outputs": "z", "output": "y"}.get(stage, stage[0])
        return f"{tokens[row]}, {dimensions(symbol, column + 1)[-1]}"


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
    difficulty : str, default "medium"
        As in `mha.practice.exercises.draw_example`, which says how short the numbers are.
    stages : sequence of str, default every one of `TASKS` that the sheet's layer has
        A sheet with several heads has an output projection; one with a single head has none.
        What the first stages start from is given.
    num_tokens : int, default 3
    num_heads : int, default 1

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
    if seed < 0:
        raise ValueError(f"seed is {seed}; a number that is not negative is wanted")
    possible = [stage for stage in TASKS if stage != "output" or num_heads > 1]
    for stage in stages or ():
        if stage not in possible:
            raise ValueError(f"stage is {stage!r}; one of {', '.join(possible)} is wanted")
    if stages is not None and not stages:
        raise ValueError("stages is empty; at least one stage is wanted")
    example = draw_example(
        np.random.default_rng([seed, student]),
        num_tokens=num_tokens,
        num_heads=num_heads,
        with_output=num_heads > 1,
        difficulty=difficulty,
    )
    return Worksheet(
        seed=seed,
        student=student,
        difficulty=difficulty,
        stages=tuple(stage for stage in possible if stages is None or stage in stages),
        run=trace(example),
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
    power, equals, rest = line.partition(" = ")
    if not power.startswith("e^"):
        return line
    exponent = power.removeprefix("e^").replace("−", "-")
    return f"$e^{{{exponent}}}${equals}{rest}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the sheets and the key of a whole class.

    Parameters
    ----------
    arguments : sequence of str, default those of the command line
    """
    parser = argparse.ArgumentParser(prog="python -m mha.practice.worksheets", description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--students", type=int, required=True)
    parser.add_argument("--difficulty", default="medium")
    parser.add_argument("--stages", type=lambda text: text.split(","))
    parser.add_argument("--tokens", type=int, default=3)
    parser.add_argument("--heads", type=int, default=1)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    try:
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
    except (TypeError, ValueError) as error:
        sys.exit(f"error: {error}")
    title = f"seed {options.seed}"
    texts = {
        "sheets": [f"# Worksheets, {title}\n", *(sheet.sheet() for sheet in sheets)],
        "key": [f"# Key to the worksheets, {title}\n", *(sheet.key() for sheet in sheets)],
    }
    for name, parts in texts.items():
        (options.folder / f"{name}.md").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
