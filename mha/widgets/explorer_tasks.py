"""Tasks of an explorer: what a reader is asked to bring about, and how it is told that it is so.

The browser checks the goals while numbers change (strip-tasks.ts); here they are checked
once, when the page is built: a task that is reached before anything is changed is refused, and so
is one whose solution does not solve it. A solution says what a reader may change: inputs by their
places, the temperature, or by its position a token that is padding.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from mha.runs.origins import is_given
from mha.runs.places import Place
from mha.runs.record import Trace, trace
from mha.runs.worked_example import WorkedExample

Solution = Mapping[str, float]


@dataclass(frozen=True)
class Task:
    """One task; `weight_reaches`, `weights_alike`, `output_between` and `head_unnoticed` make one.

    Parameters
    ----------
    says : str
        What is asked for, in a sentence; tokens stand between asterisks, and are set in italics.
    goal : str
        The kind of the goal.
    numbers : mapping
        What the goal depends on, by name.
    solution : mapping
        Changes that reach the goal; no page shows them.
    """

    says: str
    goal: str
    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    solution: Solution = field(default_factory=lambda: MappingProxyType({}))

    def as_data(self) -> dict[str, Any]:
        """Return the task as JSON holds it."""
        says = self.says.replace(" %", "\N{NO-BREAK SPACE}%")
        return {"says": says, "goal": self.goal, **self.numbers}

    def is_reached(self, run: Trace) -> bool:
        """Return whether a run, with nothing switched off, has what is asked for."""
        return _GOALS[self.goal](run, self.numbers)


def weight_reaches(says: str, *, query: int, key: int, least: float, solution: Solution) -> Task:
    """Return a task: in some head, the weight of `key` for `query` is at least `least`.

    Parameters
    ----------
    says : str
        What is asked, as Markdown's inline marks allow.
    query : int
        The position of the token that asks.
    key : int
        That of the token that answers.
    least : float
        From 0 to 1.
    solution : mapping of str to float or int
        What reaches the goal, for the build to try: new numbers by the addresses of inputs, or
        `temperature`, or `padding`, the position of a token.

    Returns
    -------
    Task

    Examples
    --------
    >>> task = weight_reaches(
    ...     "Give cat 90 % of the weight of sat.",
    ...     query=1, key=0, least=0.9, solution={"query.0.1.0": 6},
    ... )
    >>> task.as_data()["least"]
    0.9
    """
    return Task(says, "weight", {"query": query, "key": key, "least": least}, solution)


def weights_alike(says: str, *, query: int, within: float, solution: Solution) -> Task:
    """Return a task: in some head, the weights of `query` differ by at most `within`.

    Parameters
    ----------
    says : str
        What is asked, as Markdown's inline marks allow.
    query : int
        The position of the token that asks.
    within : float
        The difference of the largest and the smallest, from 0 to 1.
    solution : mapping of str to float or int
        What reaches the goal, for the build to try: new numbers by the addresses of inputs, or
        `temperature`, or `padding`, the position of a token.

    Returns
    -------
    Task

    Examples
    --------
    >>> weights_alike("All alike.", query=0, within=0.02, solution={"temperature": 30}).goal
    'alike'
    """
    return Task(says, "alike", {"query": query, "within": within}, solution)


def output_between(
    says: str, *, query: int, component: int, low: float, high: float, solution: Solution
) -> Task:
    """Return a task: a component of the output, or of the concatenation, is in a range.

    Parameters
    ----------
    says : str
        What is asked, as Markdown's inline marks allow.
    query : int
        The position of the token that asks.
    component : int
        Which number of the output, counted from 0.
    low, high : float
        The range, its ends included.
    solution : mapping of str to float or int
        What reaches the goal, for the build to try: new numbers by the addresses of inputs, or
        `temperature`, or `padding`, the position of a token.

    Returns
    -------
    Task

    Examples
    --------
    >>> task = output_between(
    ...     "At least 4.", query=0, component=0, low=4, high=9, solution={"value.0.0.0": 4}
    ... )
    >>> task.numbers["low"]
    4
    """
    numbers = {"query": query, "component": component, "low": low, "high": high}
    return Task(says, "output", numbers, solution)


def head_unnoticed(says: str, *, below: float) -> Task:
    """Return a task: a head is off whose share of every output is smaller than `below`.

    Examples
    --------
    >>> head_unnoticed("Which head is missed least?", below=0.5).goal
    'unnoticed'
    """
    return Task(says, "unnoticed", {"below": below})


def checked_tasks(run: Trace, tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Return tasks as JSON holds them, or raise.

    Raises
    ------
    ValueError
        Where a task names a token or component that the run has not, is reached already, or is
        not reached by its own solution.
    """
    sizes = _sizes(run)
    for task in tasks:
        for name, count in sizes.items():
            index = task.numbers.get(name, 0)
            if not 0 <= index < count:
                raise ValueError(f"task {task.says!r}: {name} is {index}; below {count} is wanted")
        if task.is_reached(run):
            raise ValueError(f"task {task.says!r} is reached before anything is changed")
        if task.goal != "unnoticed" and not task.is_reached(solved(run, task.solution)):
            raise ValueError(f"task {task.says!r} is not reached by its solution")
    return [task.as_data() for task in tasks]


def solved(run: Trace, solution: Solution) -> Trace:
    """Return the run with what a solution changes.

    Examples
    --------
    >>> from mha import load_example
    >>> run = solved(trace(load_example("cat-sat")), {"query.0.0.0": 0, "temperature": 2})
    >>> run.scores[0, 0], run.scaled_scores[0, 0]
    (array([1., 0.]), array([0.25, 0.  ]))
    """
    example = run.example
    for where, number in solution.items():
        if where == "temperature":
            scale = example.scale or 1 / np.sqrt(run.key.shape[-1])
            example = replace(example, scale=scale / number)
        elif where == "padding":
            example = replace(example, mask=np.arange(len(run.tokens)) != number)
        else:
            example = _with(run, example, Place.parse(where), number)
    return trace(example)


def _with(run: Trace, example: WorkedExample, place: Place, number: float) -> WorkedExample:
    """Return the example with another number at the place of an input."""
    if not is_given(run, place.stage):
        raise ValueError(f"{place} is computed and cannot be changed")
    source = example.layer if place.stage.startswith("w_") else example
    array = np.array(getattr(source, place.stage))
    array[place.index] = number
    change: dict[str, Any] = {place.stage: array}
    if example.layer is not None and source is example.layer:
        change = {"layer": replace(example.layer, **change)}
    return replace(example, **change)


def _sizes(run: Trace) -> dict[str, int]:
    """Return how many there are of what a task may name."""
    tokens = len(run.tokens)
    return {"query": tokens, "key": tokens, "component": _end(run).shape[1]}


def _end(run: Trace) -> Any:
    return run.concat if run.output is None else run.output


def _weight(run: Trace, numbers: Mapping[str, float]) -> bool:
    weights = run.weights[:, int(numbers["query"]), int(numbers["key"])]
    return bool((weights >= numbers["least"]).any())


def _alike(run: Trace, numbers: Mapping[str, float]) -> bool:
    rows = run.weights[:, int(numbers["query"])]
    spread = rows.max(axis=1) - rows.min(axis=1)
    return bool(((rows.max(axis=1) > 0) & (spread <= numbers["within"])).any())


def _output(run: Trace, numbers: Mapping[str, float]) -> bool:
    value = float(_end(run)[int(numbers["query"]), int(numbers["component"])])
    return numbers["low"] <= value <= numbers["high"]


def _unnoticed(run: Trace, numbers: Mapping[str, float]) -> bool:
    """Return False: at first every head is on. A run without such a head is refused."""
    shares = run.head_outputs if run.head_contributions is None else run.head_contributions
    if not (abs(shares).max(axis=(1, 2)) < numbers["below"]).any():
        raise ValueError(f"no head's share is below {numbers['below']}; the task has no answer")
    return False


_GOALS: dict[str, Callable[[Trace, Mapping[str, float]], bool]] = {
    "weight": _weight,
    "alike": _alike,
    "output": _output,
    "unnoticed": _unnoticed,
}
