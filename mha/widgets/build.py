"""The box in which a reader looks for a query whose weights reach a goal."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from mha.core.attention import attention_weights
from mha.runs.record import Trace
from mha.runs.rounding import dimensions, percent, short
from mha.widgets.boxes import LABELS, SHORT_BLANK, for_page_and_print

SLACK = 1e-9
"""The tolerance of the bounds, as in `build.ts`: a bound may be a rounded third."""


@dataclass(frozen=True)
class Build:
    """A goal for the weights of one query, as a box with a field for each component.

    Parameters
    ----------
    run : Trace
    row, head : int
        The token whose query is looked for, and the head whose keys it meets.
    task : str
        The task; a word between asterisks is a token.
    wanted : tuple of tuple of float
        The smallest and the largest weight of each key.
    solution : tuple of float
        A query that reaches the goal; the worked answer shows it.
    name : str
        The box's id, which is unique on the page.

    Raises
    ------
    ValueError
        If `name` is not an id, the solution misses the goal, or the run's own query reaches it.
    """

    run: Trace
    row: int
    head: int
    task: str
    wanted: tuple[tuple[float, float], ...]
    solution: tuple[float, ...]
    name: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.name):
            raise ValueError(
                f"name is {self.name!r}; lower-case words joined by hyphens are wanted"
            )
        if not self.is_reached(self.solution):
            raise ValueError(f"solution is {self.solution}, whose weights miss the goal")
        if self.is_reached(self.run.score_factors[0][self.head, self.row]):
            raise ValueError("the run's own query reaches the goal; a harder one is wanted")

    def weights(self, query: Sequence[float]) -> tuple[float, ...]:
        """Return the weights that a query gives to the keys, without any mask.

        Parameters
        ----------
        query : sequence of float
        """
        scale = self.run.example.scale
        asked = np.asarray(query, dtype=float)[None, :]
        found = attention_weights(asked, self.run.score_factors[1][self.head], scale=scale)
        return tuple(map(float, found[0]))

    def is_reached(self, query: Sequence[float]) -> bool:
        """Return whether a query's weights are within their bounds.

        Parameters
        ----------
        query : sequence of float
        """
        pairs = zip(self.wanted, self.weights(query), strict=True)
        return all(low - SLACK <= weight <= high + SLACK for (low, high), weight in pairs)

    @property
    def worked_line(self) -> str:
        """The solution and its weights."""
        tokens = self.run.tokens
        numbers = ", ".join(short(x) for x in self.solution)
        given = zip(tokens, self.weights(self.solution), strict=True)
        return f"({numbers}) gives " + ", ".join(f"*{t}* {percent(w, 1)}" for t, w in given)

    @property
    def _cells(self) -> list[str]:
        return list(dimensions("q", len(self.solution)))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return HTML for a notebook, and Markdown with a form for pages and one for print."""
        blanks = ", ".join(f"{cell} {SHORT_BLANK}" for cell in self._cells)
        printed = "\n".join([self.task, "", *(f"- {key}" for key in self._keys()), "", blanks])
        return {
            "text/html": self._html(),
            "text/markdown": for_page_and_print(self._html(), printed, self.worked_line),
            "text/plain": self.task,
        }

    def _keys(self) -> list[str]:
        """Return the keys as text, with which the reader computes."""
        keys = zip(self.run.tokens, self.run.score_factors[1][self.head], strict=True)
        return [f"key of *{token}*: ({', '.join(map(short, key))})" for token, key in keys]

    def _html(self) -> str:
        """Return the box as HTML, which shows the task and a solution without scripts too."""
        name = escape(self.name)
        fields = "".join(
            f'<div class="your-turn-field"><label for="{name}-answer-{i}">{cell}</label> '
            f'<input id="{name}-answer-{i}" type="text" autocomplete="off" autocapitalize="off"'
            f' spellcheck="false" size="9" aria-describedby="{name}-question"></div>'
            for i, cell in enumerate(self._cells, 1)
        )
        keys = "".join(f"<li>{_emphasised(key)}</li>" for key in self._keys())
        return (
            f'<mha-build id="{name}" class="your-turn-row" role="group"'
            f' aria-labelledby="{name}-title">'
            f'<p class="your-turn-title" id="{name}-title">{LABELS["title"]}'
            ' <span class="reading-done"></span></p>'
            '<form class="your-turn-form" novalidate><div class="your-turn-part">'
            f'<p class="your-turn-question" id="{name}-question">{_emphasised(self.task)}</p>'
            f'<ul class="your-turn-givens">{keys}</ul></div>'
            f'<div class="your-turn-cells">{fields}</div><div class="your-turn-controls">'
            f'<button type="submit" class="reading-button">{LABELS["check"]}</button></div>'
            '<div class="your-turn-feedback" role="status"></div></form>'
            f'<details class="your-turn-worked"><summary>{LABELS["worked"]}</summary>'
            f"<p>{_emphasised(self.worked_line)}</p></details>"
            f'<script type="application/json">{self._json()}</script></mha-build>'
        )

    def _json(self) -> str:
        """Return the data of the script."""
        data = {
            "key": self.run.score_factors[1][self.head].tolist(),
            "scale": self.run.example.scale,
            "tokens": self.run.tokens,
            "wanted": self.wanted,
        }
        return json.dumps(data, ensure_ascii=False).replace("</", "<\\/")


def build_query(
    run: Trace,
    row: int,
    wanted: Mapping[int, tuple[float, float]],
    *,
    solution: Sequence[float],
    head: int = 0,
    name: str | None = None,
) -> Build:
    r"""Return a box that asks for a query whose weights are within some bounds.

    Parameters
    ----------
    run : Trace
    row : int
        The token whose query is looked for.
    wanted : mapping of int to tuple of float
        The smallest and the largest weight, by key; other keys may have any weight.
    solution : sequence of float
        A query that reaches the goal.
    head : int, default 0
    name : str, optional
        By default, from the example, the head and the row.

    Returns
    -------
    Build

    Raises
    ------
    ValueError
        If the solution misses the goal, or the run's own query reaches it.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> run = trace(load_example("river-bank"))
    >>> build_query(run, 2, {1: (0.9, 1)}, solution=(1, 1)).task
    'Find a query with which *bank* gives *river* at least 90\xa0% of its attention.'
    """
    goals = [_goal_text(run.tokens[key], *bounds) for key, bounds in wanted.items()]
    bounds = [wanted.get(key, (0.0, 1.0)) for key in range(len(run.tokens))]
    return Build(
        run=run,
        row=row,
        head=head,
        task=f"Find a query with which *{run.tokens[row]}* gives {' and '.join(goals)}"
        " of its attention.",
        wanted=tuple((float(low), float(high)) for low, high in bounds),
        solution=tuple(map(float, solution)),
        name=name or f"build-{run.example.name}-{head + 1}-{row + 1}",
    )


def _goal_text(token: str, low: float, high: float) -> str:
    """Return the bounds of one weight in words."""
    least, most = (percent(bound, 1).replace(".0", "") for bound in (low, high))
    if math.isclose(high, 1):
        return f"*{token}* at least {least}"
    if math.isclose(low, 0):
        return f"*{token}* at most {most}"
    return f"*{token}* between {least} and {most}"


def _emphasised(text: str) -> str:
    """Return HTML in which tokens are emphasised."""
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", escape(text))
