"""Tasks of an explorer: what a reader is asked to bring about, and how it is told that it is so.

The browser checks the goals while numbers change (static/strip-tasks.js); here they are checked
once, when the page is built: a task that is reached before anything is changed is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from mha.runs.record import Trace


@dataclass(frozen=True)
class Task:
    """One task; `weight_reaches`, `weights_alike`, `output_between` and `head_unnoticed` make one.

    Parameters
    ----------
    says : str
        What is asked for, in a sentence.
    goal : str
        The kind of the goal.
    numbers : mapping
        What the goal depends on, by name.
    """

    says: str
    goal: str
    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def as_data(self) -> dict[str, Any]:
        """Return the task as JSON holds it."""
        return {"says": self.says, "goal": self.goal, **self.numbers}

    def is_reached(self, run: Trace) -> bool:
        """Return whether a run, with nothing switched off, has what is asked for."""
        return _GOALS[self.goal](run, self.numbers)


def weight_reaches(says: str, *, query: int, key: int, least: float) -> Task:
    """Return a task: in some head, the weight of `key` for `query` is at least `least`.

    Examples
    --------
    >>> task = weight_reaches("Give cat 90 % of the weight of sat.", query=1, key=0, least=0.9)
    >>> task.as_data()["least"]
    0.9
    """
    return Task(says, "weight", {"query": query, "key": key, "least": least})


def weights_alike(says: str, *, query: int, within: float) -> Task:
    """Return a task: in some head, the weights of `query` differ by at most `within`."""
    return Task(says, "alike", {"query": query, "within": within})


def output_between(says: str, *, query: int, component: int, low: float, high: float) -> Task:
    """Return a task: a component of the output, or of the concatenation, is in a range."""
    numbers = {"query": query, "component": component, "low": low, "high": high}
    return Task(says, "output", numbers)


def head_unnoticed(says: str, *, below: float) -> Task:
    """Return a task: a head is off whose share of every output is smaller than `below`."""
    return Task(says, "unnoticed", {"below": below})


def checked_tasks(run: Trace, tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Return tasks as JSON holds them, or raise.

    Raises
    ------
    ValueError
        Where a task names a token or component that the run has not, or is reached already.
    """
    sizes = _sizes(run)
    for task in tasks:
        for name, count in sizes.items():
            index = task.numbers.get(name, 0)
            if not 0 <= index < count:
                raise ValueError(f"task {task.says!r}: {name} is {index}; below {count} is wanted")
        if task.is_reached(run):
            raise ValueError(f"task {task.says!r} is reached before anything is changed")
    return [task.as_data() for task in tasks]


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
