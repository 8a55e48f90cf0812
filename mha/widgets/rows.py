"""Boxes that ask for a whole row of a stage, with a field for each number."""

from dataclasses import replace

from mha.core.checks import as_index
from mha.practice.exercise import NumericExercise
from mha.runs.record import Trace
from mha.runs.rounding import dimensions
from mha.runs.stages import stage as stage_of
from mha.runs.stages import stage_array
from mha.widgets.boxes import YourTurn, your_turns

ROWS = {
    "query": "Compute the query of {row}{head}.",
    "key": "Compute the key of {row}{head}.",
    "value": "Compute the value of {row}{head}.",
    "scores": "Compute the scores of {row} with all keys{head}.",
    "scaled_scores": "Compute the scaled scores of {row} with all keys{head}.",
    "exponentials": "Compute the exponentials of the scaled scores of {row}{head}.",
    "weights": "Compute all the weights that {row} gives{head}.",
    "head_outputs": "Compute the output of {row}{head}.",
    "output": "Compute the output of {row}.",
}
"""The question of a row of each stage."""


def fill_row(
    run: Trace,
    stage: str,
    row: int,
    head: int = 0,
    *,
    places: int | None = None,
    percent: bool = False,
    name: str | None = None,
) -> YourTurn:
    """Return a box that asks for a whole row of a stage.

    Parameters
    ----------
    run : Trace
    stage : str
        A key of `ROWS`.
    row, head, places, percent
        As for `your_turn`.
    name : str, optional
        By default, from the example, the stage, the head and the row.

    Returns
    -------
    YourTurn
        New numbers are offered if all numbers of the row have the same operands.

    Raises
    ------
    TypeError, ValueError
        As for `your_turn`.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> fill_row(trace(load_example("cat-sat")), "weights", 0).cells
    ('*cat*', '*sat*')
    """
    if stage not in ROWS:
        raise ValueError(f"stage is {stage!r}; one of {', '.join(ROWS)} is wanted")
    kind, count = stage_of(stage), stage_array(run, stage).shape[-1]
    row = as_index("row", row, len(run.tokens))
    box = your_turns(
        run, stage, [(row, i) for i in range(count)], head, places=places, percent=percent
    )
    box = replace(box, exercises=_with_equal_decimals(box.exercises))
    in_head = f" in {run.head_names[head]}" if kind.per_head and run.num_heads > 1 else ""
    labels = [f"*{token}*" for token in run.tokens]
    return replace(
        box,
        name=name or f"row-{run.example.name}-{stage.replace('_', '-')}-{head + 1}-{row + 1}",
        variants=len({exercise.givens for exercise in box.exercises}) == 1,
        row=ROWS[stage].format(row=f"*{run.tokens[row]}*", head=in_head),
        cells=tuple(labels if kind.by_key else dimensions(kind.symbol, count)),
    )


def _with_equal_decimals(exercises: tuple[NumericExercise, ...]) -> tuple[NumericExercise, ...]:
    """Return the exercises of a row, all with the largest number of decimals of any of them."""
    places = max(exercise.places for exercise in exercises)
    shown = max(given.places for exercise in exercises for given in exercise.givens)
    return tuple(
        replace(
            exercise,
            places=places,
            givens=tuple(replace(given, places=shown) for given in exercise.givens),
        )
        for exercise in exercises
    )
