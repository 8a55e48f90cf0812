"""Tasks of an explorer: goals that a reader reaches by changing the numbers of a run.

The browser checks the goals while numbers change (`strip-tasks.ts`). The build of a page checks
them once: it refuses a task whose goal is reached already, or not reached by its solution. A
solution has the changes of a reader: new inputs by their addresses, a temperature, or the position
of a token that becomes padding.
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
        The task as a sentence; a word between asterisks is a token, and is set in italics.
    goal : str
        The kind of the goal.
    numbers : mapping
        The parameters of the goal, by name.
    solution : mapping
        Changes that reach the goal; pages do not show them.
    """

    says: str
    goal: str
    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    solution: Solution = field(default_factory=lambda: MappingProxyType({}))

    def as_data(self) -> dict[str, Any]:
        """Return the task as data for the script."""
        says = self.says.replace(" %", "\N{NO-BREAK SPACE}%")
        return {"says": says, "goal": self.goal, **self.numbers}

    def is_reached(self, run: Trace) -> bool:
        """Return whether a run reaches the goal, with all heads switched on."""
        return _GOALS[self.goal](run, self.numbers)


def weight_reaches(says: str, *, query: int, key: int, least: float, solution: Solution) -> Task:
    """Return a task: in some head, the weight of `key` for `query` is at least `least`.

    Parameters
    ----------
    says : str
        The task as a sentence, with inline Markdown.
    query : int
        The position of the query's token.
    key : int
        The position of the key's token.
    least : float
        From 0 to 1.
    solution : mapping of str to float or int
        Changes that reach the goal, which the build tries: new numbers by the addresses of inputs,
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
        The task as a sentence, with inline Markdown.
    query : int
        The position of the query's token.
    within : float
        The difference of the largest and the smallest, from 0 to 1.
    solution : mapping of str to float or int
        Changes that reach the goal, which the build tries: new numbers by the addresses of inputs,
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
        The task as a sentence, with inline Markdown.
    query : int
        The position of the query's token.
    component : int
        The index of the component, counted from 0.
    low, high : float
        The range, its ends included.
    solution : mapping of str to float or int
        Changes that reach the goal, which the build tries: new numbers by the addresses of inputs,
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
    """Return a task: switch off a head whose share of every output is smaller than `below`.

    Examples
    --------
    >>> head_unnoticed("Which head is missed least?", below=0.5).goal
    'unnoticed'
    """
    return Task(says, "unnoticed", {"below": below})


def check_tasks(run: Trace, tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Return tasks as data for the script, after checking them on a run.

    Raises
    ------
    ValueError
        If a task names a token or component that the run does not have, its goal is reached
        already, or its solution does not reach it.
    """
    sizes = _index_limits(run)
    for task in tasks:
        for name, count in sizes.items():
            index = task.numbers.get(name, 0)
            if not 0 <= index < count:
                raise ValueError(f"task {task.says!r}: {name} is {index}; below {count} is wanted")
        if task.is_reached(run):
            raise ValueError(f"task {task.says!r} is reached before anything is changed")
        if task.goal != "unnoticed" and not task.is_reached(apply_solution(run, task.solution)):
            raise ValueError(f"task {task.says!r} is not reached by its solution")
    return [task.as_data() for task in tasks]


def apply_solution(run: Trace, solution: Solution) -> Trace:
    """Return the run with the changes of a solution.

    Examples
    --------
    >>> from mha import load_example
    >>> run = apply_solution(trace(load_example("cat-sat")), {"query.0.0.0": 0, "temperature": 2})
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
            example = _with_input(run, example, Place.parse(where), number)
    return trace(example)


def _with_input(run: Trace, example: WorkedExample, place: Place, number: float) -> WorkedExample:
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


def _index_limits(run: Trace) -> dict[str, int]:
    """Return the exclusive upper limit of each index that a task may have."""
    tokens = len(run.tokens)
    return {"query": tokens, "key": tokens, "component": _last_stage(run).shape[1]}


def _last_stage(run: Trace) -> Any:
    return run.concat if run.output is None else run.output


def _weight(run: Trace, numbers: Mapping[str, float]) -> bool:
    weights = run.weights[:, int(numbers["query"]), int(numbers["key"])]
    return bool((weights >= numbers["least"]).any())


def _alike(run: Trace, numbers: Mapping[str, float]) -> bool:
    rows = run.weights[:, int(numbers["query"])]
    spread = rows.max(axis=1) - rows.min(axis=1)
    return bool(((rows.max(axis=1) > 0) & (spread <= numbers["within"])).any())


def _output(run: Trace, numbers: Mapping[str, float]) -> bool:
    value = float(_last_stage(run)[int(numbers["query"]), int(numbers["component"])])
    return numbers["low"] <= value <= numbers["high"]


def _unnoticed(run: Trace, numbers: Mapping[str, float]) -> bool:
    """Return False, since no head is off at the start; raise if no head is small enough."""
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
