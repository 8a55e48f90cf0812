"""Strips: the computation of one number of one query's output in one row, from left to right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mha.core.checks import Array, as_index
from mha.runs.record import Trace
from mha.runs.rounding import dimensions, short, shown
from mha.runs.stages import STAGES
from mha.views.colours import head_colour
from mha.views.drawing.canvas import NARROW, WIDE, Figure, Panel, figure
from mha.views.drawing.svg import (
    group,
    line,
    middle_of,
    number,
    path,
    plain,
    rectangle,
    ribbon,
    role_mark,
    role_name,
    text,
    width_of,
)
from mha.views.signs import total

_TOP = 34.0
_PITCH = 58.0
_STACK = 34.0
_NUMBER_WIDTH = width_of("0.0000", 15)
_RIBBON_WIDTH = 14.0
"""Width in pixels of the ribbon of a weight of 1."""


def query_strip(run: Trace, token: int, *, head: int = 0, component: int = 0) -> Figure:
    """Draw the computation of one number of a query's output, from left to right.

    Each key has a row with its score, scaled score, exponential and weight, the weight also as a
    bar. Ribbons as wide as the weights lead over the values to a stack of the terms of the output,
    weight times value.

    Parameters
    ----------
    run : Trace
    token : int
        Position of the query's token.
    head, component : int, default 0
        Indices of the head, and of the component of its values.

    Returns
    -------
    Figure
        Without scaled scores if these equal the scores.

    Raises
    ------
    ValueError
        If there is no such token, head or component.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> query_strip(trace(load_example("the-cat-sat")), 0).alt[-65:]
    'Weight times the first component of the values adds up to 0.4044.'
    """
    row = _Row.of(run, token, head, component)
    return figure([_wide(row)], _in_words(row), narrow=_narrow(row))


@dataclass(frozen=True)
class _Row:
    """The numbers of one query in one head, for one component of the output."""

    run: Trace
    token: int
    head: int
    component: int

    @classmethod
    def of(cls, run: Trace, token: int, head: int, component: int) -> _Row:
        """Return the row of a token; raise if an index is out of range."""
        return cls(
            run,
            as_index("token", token, len(run.tokens)),
            as_index("head", head, run.num_heads),
            as_index("component", component, run.value.shape[-1]),
        )

    def stage(self, name: str) -> Array:
        """Return this query's numbers of a stage, one per key."""
        found: Array = getattr(self.run, name)[self.head, self.token]
        return found

    @property
    def score_factors(self) -> tuple[Array, Array]:
        """The query and the keys whose products are the scores."""
        queries, keys = self.run.score_factors
        return queries[self.head, self.token], keys[self.head]

    @property
    def values(self) -> Array:
        """The chosen component of each value."""
        return self.run.value[self.head, :, self.component]

    @property
    def parts(self) -> Array:
        """The terms of the output: each weight times the value's component."""
        return self.stage("weights") * self.values

    @property
    def output(self) -> float:
        """The chosen component of the output."""
        return float(self.stage("head_outputs")[self.component])

    @property
    def total(self) -> str:
        """The printed output after its sign, which depends on its printed terms."""
        return total([shown(float(part)) for part in self.parts], shown(self.output))

    @property
    def columns(self) -> list[tuple[str, list[str]]]:
        """The columns of numbers between keys and weights, with their titles."""
        found = [("scores", [short(x) for x in self.stage("scores")])]
        if not np.array_equal(self.stage("scores"), self.stage("scaled_scores")):
            width = self.run.query.shape[-1]
            masked = np.any(self.run.mask[self.head, self.token])
            is_changed = self.run.example.scale is not None or masked
            scaled = [short(x) for x in self.stage("scaled_scores")]
            found.append(("scaled" if is_changed else f"÷ √{width}", scaled))
        title = "exp" if self.run.shifts[self.head, self.token] == 0 else "exp, shifted"
        return [*found, (title, [shown(x) for x in self.stage("exponentials")])]

    def name(self, stage: str) -> str:
        """Return the symbol of the chosen component of a stage."""
        return dimensions(STAGES[stage].symbol, self.component + 1)[-1]


def _vector(vector: Array) -> str:
    return ", ".join(short(float(x), 2) for x in vector)


def _in_words(row: _Row) -> str:
    tokens, weights = row.run.tokens, row.stage("weights")
    scored = zip(tokens, row.stage("scores"), weights, strict=True)
    by_key = "; ".join(f"{t} scores {short(s)}, weight {shown(w)}" for t, s, w in scored)
    largest = tokens[int(weights.argmax())] if weights.any() else "none"
    order = ("first", "second", "third", "fourth", "fifth", "sixth")
    which = order[row.component] if row.component < 6 else f"{row.component + 1}th"
    return (
        f"One query in one row, that of {tokens[row.token]}: {by_key}. The largest weight is that"
        f" of {largest}. Weight times the {which} component of the values adds up to"
        f" {shown(row.output)}."
    )


# ---- The wide layout: one row per key ----


@dataclass(frozen=True)
class _Layout:
    """Horizontal positions and widths of the parts of the strip, from left to right."""

    keys: float
    columns: tuple[float, ...]  # right ends of the columns of numbers
    bars: float
    room: float  # of a bar for a weight of 1
    number: float
    value: float
    stack: float
    width: float
    with_vectors: bool

    @classmethod
    def of(cls, row: _Row, *, with_vectors: bool = True) -> _Layout:
        """Return the layout, without the numbers of the vectors if it would be too wide."""
        run = row.run
        query, key = row.score_factors
        vectors = [*key, query] if with_vectors else []
        words = max((width_of(_vector(vector)) for vector in vectors), default=0.0)
        tokens = max(_token_width(token) for token in run.tokens)
        keys = max(words, _token_width(run.tokens[row.token]), width_of("query")) + 40
        x, ends = keys + max(words, tokens) + 14, []
        for title, numbers in row.columns:
            x += max(width_of(title), *(width_of(text, 15) for text in numbers))
            ends.append(x)
            x += 16
        value = max(width_of(short(float(v)), 15) for v in row.values)
        value = max(value + 44, width_of(f"values {row.name('value')}") + 34)
        parts = max(width_of(shown(float(part))) for part in row.parts)
        after = _NUMBER_WIDTH + 26 + value + _STACK + 10 + parts + tokens
        room = max(44.0, WIDE - x - 8 - after)
        if with_vectors and x + room + 8 + after > WIDE + 1:
            return cls.of(row, with_vectors=False)
        number = x + room + 8
        stack = number + _NUMBER_WIDTH + 26 + value
        width = number + after
        return cls(
            keys, tuple(ends), x, room, number, stack - value, stack, width, with_vectors
        )  # fmt: skip


def _token_width(token: str) -> float:
    return width_of(token, 17) * 1.12 + 4


def _wide(row: _Row) -> Panel:
    """Return the whole strip, with one row per key."""
    run, at = row.run, _Layout.of(row)
    heights = [_TOP + 28 + _PITCH * i for i in range(len(run.tokens))]
    middle = (heights[0] + heights[-1]) / 2
    query_token, (query, keys) = run.tokens[row.token], row.score_factors
    parts = [role_name("query", 0, 14, "query"), role_name("key", at.keys, 14, "keys")]
    parts += _token_and_vector(0, middle, query_token, query, at.with_vectors)
    parts += [_curve(at.keys - 34, middle, at.keys - 6, y) for y in heights]
    for y, token, key in zip(heights, run.tokens, keys, strict=True):
        parts += _token_and_vector(at.keys, y, token, key, at.with_vectors)
    for x, (title, numbers) in zip(at.columns, row.columns, strict=True):
        parts.append(text(x, 14, title, "f-soft", "end"))
        parts += [
            text(x, middle_of(y), words, "f-number", "end")
            for y, words in zip(heights, numbers, strict=True)
        ]
    stacked = _stack_positions(row, heights)
    parts += _weights(row, at, heights, [place for place, _ in stacked])
    stack, low = _stack(row, at.stack, stacked)
    return Panel(at.width, low, group(*parts, *stack, colour=head_colour(row.head)))


def _token_and_vector(
    x: float, y: float, token: str, vector: Array, with_vector: bool
) -> list[str]:
    """Return a token, with its vector below it if there is room."""
    if not with_vector:
        return [plain(x, middle_of(y), token, "f-token")]
    return [plain(x, y - 4, token, "f-token"), text(x, y + 16, _vector(vector))]


def _curve(x1: float, y1: float, x2: float, y2: float) -> str:
    middle = number((x1 + x2) / 2)
    steps = f"M{number(x1)} {number(y1)}C{middle} {number(y1)} {middle} {number(y2)}"
    return path(f"{steps} {number(x2)} {number(y2)}", "f-quiet")


def _weights(row: _Row, at: _Layout, heights: list[float], stacked: list[float]) -> list[str]:
    """Return the weights as bars, the values, and the ribbons to the stack."""
    parts = [
        text(at.bars, 14, "weights", "f-soft"),
        role_name("value", at.value, 14, f"values {row.name('value')}"),
    ]
    values = [short(float(value)) for value in row.values]
    for i, (y, weight) in enumerate(zip(heights, row.stage("weights"), strict=True)):
        parts.append(rectangle(at.bars, y - 13, at.room * float(weight), 26, "f-part"))
        parts.append(line(at.bars, y - 16, at.bars, y + 16, "f-quiet"))
        parts.append(text(at.number, middle_of(y), shown(float(weight)), "f-number"))
        parts.append(text(at.value, middle_of(y), values[i], "f-number"))
        if weight > 0:
            wide = max(0.8, _RIBBON_WIDTH * float(weight))
            parts.append(ribbon(at.number + _NUMBER_WIDTH + 2, y, at.value - 4, y, wide))
            end = at.value + width_of(values[i], 15) + 3
            parts.append(ribbon(end, y, at.stack - 3, stacked[i], wide))
    return parts


def _stack_positions(row: _Row, heights: list[float]) -> list[tuple[float, float]]:
    """Return the middle and the height of each term of the stack, negative terms below zero."""
    parts = row.parts
    room = heights[-1] - heights[0] + 20 if len(heights) > 1 else 60.0
    scale = (room - 2 * len(parts)) / (float(np.abs(parts).sum()) or 1.0)
    up, down = parts.clip(min=0), (-parts).clip(min=0)
    zero = heights[0] - 10 + float(up.sum()) * scale + 2 * int((parts > 0).sum())
    if not parts.any():
        return [(y, 0.0) for y in heights]
    found, high, low = [(zero, 0.0)] * len(parts), zero, zero
    for i in reversed(range(len(parts))):
        if up[i] > 0:
            high -= float(up[i]) * scale + 2
            found[i] = (high + float(up[i]) * scale / 2, float(up[i]) * scale)
    for i in range(len(parts)):
        if down[i] > 0:
            low += 2
            found[i] = (low + float(down[i]) * scale / 2, float(down[i]) * scale)
            low += float(down[i]) * scale
    return found


def _stack(row: _Row, x: float, places: list[tuple[float, float]]) -> tuple[list[str], float]:
    """Return the stack, each term with its number and token, and the y of its lower end."""
    parts = [text(x, 14, f"output {row.name('head_outputs')}", "f-soft")]
    at, previous = {}, -np.inf
    for i in sorted(range(len(places)), key=lambda i: places[i][0]):
        at[i] = previous = max(places[i][0], previous + 18)
    for i, (middle, height) in enumerate(places):
        if height > 0:
            parts.append(rectangle(x, middle - height / 2, _STACK, height, "f-part"))
        words, left = shown(float(row.parts[i])), x + _STACK + 7
        parts.append(text(left, middle_of(at[i], 14), words))
        left += width_of(words) + 2
        parts.append(plain(left, middle_of(at[i], 14), row.run.tokens[i], "f-token"))
    if (row.parts < 0).any():  # draw the zero between positive and negative terms
        above = [m + h / 2 for (m, h), part in zip(places, row.parts, strict=True) if part > 0]
        below = [m - h / 2 for (m, h), part in zip(places, row.parts, strict=True) if part < 0]
        zero = max(above) + 1 if above else min(below) - 1
        parts.append(line(x - 5, zero, x + _STACK + 5, zero))
    low = max(*at.values(), *(m + h / 2 for m, h in places))
    parts.append(text(x, low + 28, row.total, "f-number f-strong"))
    return parts, low + 34


# ---- The narrow layout: one panel per key ----


def _narrow(row: _Row) -> list[Panel]:
    """Return the panels of the narrow layout: the query, one per key, and the sum."""
    run = row.run
    token, query = run.tokens[row.token], _vector(row.score_factors[0])
    at = width_of("query of") + 22
    heading = role_name("query", 0, 14, "query of") + plain(at, 14, token, "f-token")
    heading += text(at + width_of(token, 17) + 8, 14, query)
    heading += line(0, 25, NARROW, 25, "f-rule")
    panels = [Panel(NARROW, 26, heading)]
    panels += [_key_panel(row, i) for i in range(len(run.tokens))]
    words = text(0, 20, f"output {row.name('head_outputs')}", "f-soft")
    words += text(NARROW, 20, row.total, "f-number f-strong", "end")
    panels.append(Panel(NARROW, 28, line(0, 1, NARROW, 1) + words))
    return panels


def _key_panel(row: _Row, i: int) -> Panel:
    """Return the panel of one key: key, scores, weight as a bar, value and their product."""
    run = row.run
    token, weight = run.tokens[i], float(row.stage("weights")[i])
    parts = [role_mark("key", 5, 11), plain(14, 16, token, "f-token")]
    parts.append(text(width_of(token, 17) + 22, 16, _vector(row.score_factors[1][i])))
    x = 0.0
    for title, numbers in row.columns:
        title = "score" if title == "scores" else title
        parts.append(text(x, 40, title, "f-soft"))
        x += width_of(title) + 3
        parts.append(text(x, 40, numbers[i], "f-number"))
        x += width_of(numbers[i], 15) + 12
    parts.append(rectangle(0, 50, max(0.5, 120 * weight), 20, "f-part"))
    parts.append(line(0, 48, 0, 72, "f-quiet"))
    parts.append(text(126, 66, shown(weight), "f-number"))
    value = short(float(row.values[i]))
    parts.append(text(182, 66, "×", "f-number") + role_mark("value", 200, 61))
    parts.append(text(210, 66, value, "f-number"))
    parts.append(text(NARROW, 66, shown(float(row.parts[i])), "f-number", "end"))
    return Panel(NARROW, 74, group(*parts, colour=head_colour(row.head)))
