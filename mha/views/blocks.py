"""Blocks of tables: one stage of a run as one numbered table, with all heads side by side.

A block has one table of `mha.views.tables` per head, under one caption and one label. Its Markdown
is the book's directive ``{numbers}``, which sets the tables side by side as far as they fit; in
print they are joined into one table as far as the paper is wide.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from mha.runs.places import PrintedNumbers
from mha.runs.record import Trace
from mha.runs.stages import STAGES
from mha.runs.stages import stage as stage_of
from mha.views.colours import HEAT_FULL, head_colour
from mha.views.table import Table, directive, escape_markdown
from mha.views.tables import (
    contribution_table,
    mixing_table,
    stage_table,
    weighted_values_table,
)

__all__ = ["Block", "Part", "contributions_block", "mixing_block", "stage_block", "weighted_block"]

TINTED_STAGES = ("weights",)
"""The stages whose cells are tinted by their numbers, which are from 0 to 1."""

_STAGES_WITH_SUMS = ("weights", "exponentials")


@dataclass(frozen=True)
class Part:
    """One table of a block.

    Parameters
    ----------
    table : Table
        The table; its caption, a head's name or the name of the numbers, is the part's title.
    head : int, optional
        Index of the head whose colour the table has.
    heat : bool, default False
        Whether each cell is tinted by its number, on one scale from 0 to 1.
    sums : int, default 0
        Number of columns at the end that are sums, which are never tinted.
    """

    table: Table
    head: int | None = None
    heat: bool = False
    sums: int = 0


@dataclass(frozen=True)
class Block:
    """Tables that belong together, under one caption and one number.

    Parameters
    ----------
    caption : str
        One line; Markdown's inline marks are allowed.
    parts : tuple of Part
        The parts in order. A part whose table has a label can be cited, by the number of the block.
    name : str, optional
        Label by which the block is cited.
    columns : int, optional
        Number of parts in a row on a wide screen, by default all.
    """

    caption: str
    parts: tuple[Part, ...]
    name: str | None = None
    columns: int | None = None

    @property
    def tables(self) -> tuple[Table, ...]:
        """The parts' tables.

        Examples
        --------
        >>> from mha import load_example, trace
        >>> [t.caption for t in stage_block(trace(load_example("the-cat-sat")), "scores").tables]
        ['Head 1', 'Head 2']
        """
        return tuple(part.table for part in self.parts)

    def _repr_markdown_(self) -> str:
        """Return the directive ``{numbers}`` with one part per table."""
        columns = self.columns or len(self.parts)
        parts = [
            part.table.as_part(
                title=part.table.caption,
                name=part.table.name,
                head=part.head,
                heat=part.heat,
                sums=part.sums,
            )
            for part in self.parts
        ]
        return directive(self.caption, self.name, {"columns": columns}, parts)

    def _repr_html_(self) -> str:
        """Return the parts side by side, for a notebook."""
        parts = "".join(_html_part(part) for part in self.parts)
        return (
            f"<figure><figcaption>{escape(self.caption)}</figcaption>"
            f'<div style="display: flex; flex-wrap: wrap; gap: 1em">{parts}</div></figure>'
        )


def _html_part(part: Part) -> str:
    """Return a part's table as HTML, its cells tinted in the head's colour if it has heat."""
    html = part.table._repr_html_()
    if not part.heat:
        return html
    cells = html.split("<td>")
    width = len(part.table.header) - 1
    for i, text in enumerate([text for row in part.table.rows for text in row[1:]]):
        tint = "" if i % width >= width - part.sums else _tint(text, part.head or 0)
        cells[i + 1] = f"<td{tint}>{cells[i + 1]}"
    return "".join(cells)


def _tint(text: str, head: int) -> str:
    share = HEAT_FULL * float(text)
    return f' style="background: color-mix(in srgb, {head_colour(head)} {share:.4g}%, transparent)"'


def stage_block(
    run: Trace,
    *stages: str,
    heads: Sequence[int] | None = None,
    name: str | None = None,
    labels: Sequence[str | None] | None = None,
    prints: PrintedNumbers | None = None,
) -> Block:
    r"""Return stages of a run as one block, with a part, or a row of parts, per head.

    Parameters
    ----------
    run : Trace
    *stages : str
        As for `mha.views.tables.stage_table`. A stage without heads has one part.
    heads : sequence of int, optional
        Indices of the heads, by default all.
    name : str, optional
        Label by which the block is cited.
    labels : sequence of str, optional
        One label per part, by which the part is cited.
    prints : callable, optional
        A function from a place to the numbers that a source prints for it. They are shown below
        each number on demand.

    Returns
    -------
    Block

    Raises
    ------
    ValueError
        If there is no such stage or head.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> block = stage_block(trace(load_example("the-cat-sat")), "query", "key", heads=[1])
    >>> block.caption, [table.caption for table in block.tables]
    ('Queries and keys, Head\xa02', ['Queries', 'Keys'])
    """
    chosen = range(run.num_heads) if heads is None else heads
    cells = cells_of(stages, chosen)
    labels = labels or [None] * len(cells)
    several = len(chosen) > 1
    parts = []
    for (head, stage), label in zip(cells, labels, strict=True):
        stage_entry = STAGES[stage]
        table = stage_table(run, stage, head=head, name=label, prints=prints)
        title = [stage_entry.title] if len(stages) > 1 or not stage_entry.per_head else []
        if stage_entry.per_head and (several or not title):
            title += [run.head_names[head]]
        parts.append(
            Part(
                replace(table, caption=", ".join(title)),
                head if stage_entry.per_head else None,
                stage in TINTED_STAGES,
                int(stage in _STAGES_WITH_SUMS),
            )
        )
    one_head = "" if several or run.num_heads == 1 else _head_suffix(run, chosen[0])
    shared = all(STAGES[stage].per_head for stage in stages)
    columns = len(stages) if len(stages) > 1 and shared else None
    caption = _caption(stages) + (one_head if shared else "")
    return Block(caption, tuple(parts), name, columns)


def cells_of(stages: Sequence[str], heads: Sequence[int]) -> list[tuple[int, str]]:
    """Return the head and the stage of each part: head by head, a stage without heads once.

    Examples
    --------
    >>> cells_of(["embeddings", "query"], [0, 1])
    [(0, 'embeddings'), (0, 'query'), (1, 'query')]
    """
    first, *rest = heads
    cells = [(first, stage) for stage in stages]
    return cells + [(h, stage) for h in rest for stage in stages if stage_of(stage).per_head]


def _caption(stages: Sequence[str]) -> str:
    """Return the caption of a block of stages."""
    if len(stages) == 1:
        return stage_of(stages[0]).caption
    first, *rest = (stage_of(stage).title for stage in stages)
    *most, last = [first, *(title[0].lower() + title[1:] for title in rest)]
    return f"{', '.join(most)} and {last}"


def _head_suffix(run: Trace, head: int) -> str:
    name = run.head_names[head].replace(" ", "\N{NO-BREAK SPACE}")
    return f", {name}"


def mixing_block(
    run: Trace,
    token: int,
    *,
    name: str | None = None,
    labels: Sequence[str | None] | None = None,
    prints: PrintedNumbers | None = None,
) -> Block:
    """Return the values weighted for one token, and their sum, with one part per head.

    Parameters
    ----------
    run : Trace
    token : int
        Index of the query's token.
    name, labels, prints : optional
        As for `stage_block`.

    Returns
    -------
    Block

    Examples
    --------
    >>> from mha import load_example, trace
    >>> block = mixing_block(trace(load_example("the-cat-sat")), 0)
    >>> [table.caption for table in block.tables]
    ['Head 1', 'Head 2']
    """
    labels = labels or [None] * run.num_heads
    tables = [
        mixing_table(run, token, head=head, name=label, prints=prints)
        for head, label in enumerate(labels)
    ]
    caption = f"Weighted values for the query *{escape_markdown(run.tokens[token])}*"
    return _by_head(run, caption, tables, name)


def weighted_block(
    run: Trace,
    *,
    name: str | None = None,
    labels: Sequence[str | None] | None = None,
    prints: PrintedNumbers | None = None,
) -> Block:
    """Return the weighted values of every query, and their sums, with one part per head.

    Parameters
    ----------
    run : Trace
    name, labels, prints : optional
        As for `stage_block`.

    Returns
    -------
    Block

    Examples
    --------
    >>> from mha import load_example, trace
    >>> block = weighted_block(trace(load_example("the-cat-sat")))
    >>> [table.caption for table in block.tables]
    ['Head 1', 'Head 2']
    """
    labels = labels or [None] * run.num_heads
    tables = [
        weighted_values_table(run, head=head, name=label, prints=prints)
        for head, label in enumerate(labels)
    ]
    return _by_head(run, "Weighted values, and each query's sum", tables, name)


def _by_head(run: Trace, caption: str, tables: Sequence[Table], name: str | None) -> Block:
    parts = (
        Part(replace(table, caption=run.head_names[head]), head)
        for head, table in enumerate(tables)
    )
    return Block(caption, tuple(parts), name)


def contributions_block(
    run: Trace,
    *,
    tokens: Sequence[int] | None = None,
    name: str | None = None,
    labels: Sequence[str | None] | None = None,
) -> Block:
    """Return the heads' shares of the output, with one part per token.

    Parameters
    ----------
    run : Trace
        Run with an output projection.
    tokens : sequence of int, optional
        Indices of the tokens, by default all.
    name, labels : optional
        As for `stage_block`.

    Returns
    -------
    Block

    Examples
    --------
    >>> from mha import load_example, trace
    >>> block = contributions_block(trace(load_example("the-cat-sat")), tokens=[0])
    >>> [table.caption for table in block.tables]
    ['*the*']
    """
    chosen = range(len(run.tokens)) if tokens is None else tokens
    labels = labels or [None] * len(chosen)
    parts = (
        Part(
            replace(
                contribution_table(run, i, name=label),
                caption=f"*{escape_markdown(run.tokens[i])}*",
            )
        )
        for i, label in zip(chosen, labels, strict=True)
    )
    return Block("Each head's share of each token's output", tuple(parts), name)
