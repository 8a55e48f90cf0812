"""The namespace of a chapter, and the views of its example.

``from mha.chapters import *`` imports the package's public names, NumPy, and the functions that
make tables, figures and boxes. `open_example` returns a run and its `Show`, whose methods are views
of `mha.views` and `mha.widgets` with the run, the numbers of its source, and labels filled in.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from mha import public_names
from mha.audit.judging import Prints
from mha.core.checks import as_index
from mha.examples import load_example
from mha.examples.published_models import published_models
from mha.public_names import *  # noqa: F403
from mha.runs.attention_variants import (
    attention_plan,
    evaluate_plan,
    latent_computation,
    linear_computation,
)
from mha.runs.computations import Computation
from mha.runs.places import PrintedNumbers
from mha.runs.record import Trace, trace
from mha.runs.stages import stage as stage_of
from mha.runs.stages import stage_array
from mha.views import blocks, figures, tables
from mha.views.figures import Figure
from mha.views.tables import Table
from mha.views.walkthrough import walkthrough
from mha.widgets.boxes import YourTurn, one_box, your_turn, your_turns
from mha.widgets.bugs import bugs_game
from mha.widgets.build import build_query
from mha.widgets.cache import growing_cache
from mha.widgets.cost import cost_calculator
from mha.widgets.explorer import View, explorer
from mha.widgets.explorer_tasks import (
    Task,
    head_unnoticed,
    output_between,
    weight_reaches,
    weights_alike,
)
from mha.widgets.heads import decoder_heads
from mha.widgets.instrument import Explorer
from mha.widgets.latent import latent_forms, latent_widths
from mha.widgets.learning import learning_layer
from mha.widgets.letters import two_layers
from mha.widgets.model import language_model
from mha.widgets.rows import fill_row
from mha.widgets.tiles import moving_tile
from mha.widgets.variants_explorer import variants_explorer

__all__ = [
    *public_names.__all__,
    "Computation",
    "Show",
    "attention_plan",
    "blocks",
    "bugs_game",
    "build_query",
    "evaluate_plan",
    "cost_calculator",
    "fill_row",
    "growing_cache",
    "head_unnoticed",
    "language_model",
    "learning_layer",
    "latent_computation",
    "latent_forms",
    "latent_widths",
    "linear_computation",
    "moving_tile",
    "np",
    "one_box",
    "open_example",
    "output_between",
    "published_models",
    "decoder_heads",
    "replace",
    "two_layers",
    "variants_explorer",
    "walkthrough",
    "weight_reaches",
    "weights_alike",
    "your_turn",
    "your_turns",
]


_FORMER_NAMES = {
    "Sheet": "Computation",
    "carried_out": "evaluate_plan",
    "latent_sheet": "latent_computation",
    "linear_sheet": "linear_computation",
}
"""Names of version 0.1 that this module still has, with a warning, and their new names."""


def __getattr__(name: str) -> object:
    """Return the object of a former name, with a warning that gives the new name."""
    if name not in _FORMER_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _FORMER_NAMES[name]
    message = (
        f"mha.chapters.{name} is now mha.chapters.{new}."
        " The next version of mha has only the new name."
    )
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return globals()[new]


@dataclass(frozen=True)
class Show:
    """The views of one run, as chapters show them.

    Every method takes `name`, the label by which the book cites the view. It must begin with
    ``tbl-`` or ``fig-`` and the example's name, so that a label copied from another chapter raises
    an error. The label of a figure is the one in its cell's header. A block of several tables has
    one label. If `name` contains ``{head}``, counted from 1, ``{stage}``, ``{symbol}`` or
    ``{token}``, each part of the block has a label too, and the block's is `name` without these
    fields.

    Parameters
    ----------
    run : Trace
    prints : callable, optional
        A function from a place to the numbers that the example's source prints for it.

    Examples
    --------
    >>> _, show = open_example("the-cat-sat")
    >>> block = show.stage("scores", name="tbl-the-cat-sat-scores-{head}")
    >>> block.name, [table.name for table in block.tables]
    ('tbl-the-cat-sat-scores', ['tbl-the-cat-sat-scores-1', 'tbl-the-cat-sat-scores-2'])
    """

    run: Trace
    prints: PrintedNumbers | None = None

    # ---- Tables ----

    def stage(self, *stages: str, name: str | None = None, head: int | None = None) -> blocks.Block:
        """Return stages as one block, with tables for each head, and once for stages without heads.

        Parameters
        ----------
        *stages : str
            Names of `mha.runs.stages.STAGES`. The tables of one head are adjacent.
        name : str, optional
        head : int, optional
            Index of a head, to show that head alone.

        Returns
        -------
        blocks.Block

        Raises
        ------
        ValueError
            If there is no such stage or head, or two parts would have one label.
        """
        heads = self._heads(head)
        cells = blocks.cells_of(stages, heads)
        parts = [
            {"head": h + 1, "stage": stage, "symbol": stage_of(stage).symbol} for h, stage in cells
        ]
        own, labels = self._labels(name, parts)
        return blocks.stage_block(
            self.run, *stages, heads=heads, name=own, labels=labels, prints=self.prints
        )

    def weighted_values(self, *, name: str | None = None) -> blocks.Block:
        """Return the weighted values of every query, and their sums, for each head."""
        own, labels = self._labels(name, self._by_head())
        return blocks.weighted_block(self.run, name=own, labels=labels, prints=self.prints)

    def mixing(self, token: int, *, name: str | None = None) -> blocks.Block:
        """Return the values weighted for one token, and their sum, for each head."""
        own, labels = self._labels(name, self._by_head())
        return blocks.mixing_block(self.run, token, name=own, labels=labels, prints=self.prints)

    def contributions(self, *, name: str | None = None) -> blocks.Block:
        """Return the heads' shares of the output, with one part per token."""
        own, labels = self._labels(name, [{"token": token} for token in self.run.tokens])
        return blocks.contributions_block(self.run, name=own, labels=labels)

    def versions(
        self, versions: dict[str, ArrayLike], *, columns: Sequence[str], caption: str,
        corner: str = "Token", mark_max: bool = False, name: str | None = None,
    ) -> Table:  # fmt: skip
        """Return several versions of one stage as one table, with each token's rows adjacent.

        Parameters
        ----------
        versions : dict of str to array_like, shape (n, len(columns))
            The versions by their names.
        columns, caption, corner, mark_max, name
            As for `mha.views.tables.array_table`.

        Returns
        -------
        Table

        Examples
        --------
        >>> _, show = open_example("cat-sat")
        >>> two = {"here": [[1], [2]], "there": [[3], [4]]}
        >>> [row[0] for row in show.versions(two, columns=["z"], caption="Two").rows]
        ['cat, here', 'cat, there', 'sat, here', 'sat, there']
        """
        arrays = [np.asarray(array) for array in versions.values()]
        return tables.array_table(
            np.concatenate(np.stack(arrays, axis=1)),
            rows=[f"{token}, {version}" for token in self.run.tokens for version in versions],
            columns=columns,
            caption=caption,
            corner=corner,
            mark_max=mark_max,
            name=self._label(name, "tbl"),
        )

    def readings(self, *header: str, caption: str, name: str | None = None) -> Table:
        """Return the damaged numbers of the source: quantity, printed, intended, and reason.

        Parameters
        ----------
        *header : str
            Titles of the columns, at most four; the others are omitted.
        caption : str
        name : str, optional

        Returns
        -------
        Table
        """
        rows = ((r.quantity, r.printed, r.intended, r.reason) for r in self.run.example.readings)
        return Table(
            caption=caption,
            header=header,
            rows=tuple(row[: len(header)] for row in rows),
            words=True,
            name=self._label(name),
        )

    def entropies(self, *, name: str | None = None) -> Table:
        """Return the entropy of each query's weights in each head."""
        return tables.entropy_table(self.run, name=self._label(name))

    def disagreement(self, *, name: str | None = None) -> Table:
        """Return the total variation between each two heads' weights."""
        return tables.disagreement_table(self.run, name=self._label(name))

    def strongest(self, *, name: str | None = None) -> Table:
        """Return the key with the largest weight for each query in each head."""
        return tables.strongest_table(self.run, name=self._label(name))

    def shapes(self, *, name: str | None = None) -> Table:
        """Return the shape of every array of the run."""
        return tables.shape_table(self.run, name=self._label(name))

    # ---- Figures ----

    def bars(
        self, stage: str, *, head: int = 0, places: int = 2, name: str | None = None
    ) -> Figure:
        """Return the vectors of a stage as bars, in the head's colour if it has heads."""
        self._label(name, "fig")
        array, kind = stage_array(self.run, stage), stage_of(stage)
        colour = {"colour": figures.head_colour(head)} if kind.per_head else {}
        if kind.per_head:
            array = array[as_index("head", head, self.run.num_heads)]
        return figures.vector_bars(
            array, rows=self.run.tokens, symbol=kind.symbol, places=places, **colour
        )

    def maps(self, *, name: str | None = None) -> Figure:
        """Return each head's weights as a heatmap."""
        self._label(name, "fig")
        return figures.weight_maps(self.run)

    def lanes(self, *, name: str | None = None) -> Figure:
        """Return the data flow from one input through a lane per head to the output."""
        self._label(name, "fig")
        return figures.lanes(self.run)

    def strips(self, *, name: str | None = None) -> Figure:
        """Return the concatenation as one strip per token."""
        self._label(name, "fig")
        return figures.concat_strips(self.run)

    def shares(self, *, name: str | None = None) -> Figure:
        """Return each token's output and the heads' shares, which sum to it, as bars."""
        self._label(name, "fig")
        return figures.output_shares(self.run)

    def query(
        self, token: int, *, head: int = 0, component: int = 0, name: str | None = None
    ) -> Figure:
        """Return the computation of one number of a query's output as a strip."""
        self._label(name, "fig")
        return figures.query_strip(self.run, token, head=head, component=component)

    # ---- Widgets ----

    def explorer(
        self, *, name: str | None = None, tasks: Sequence[Task] = (), view: View = "strip",
        axes: Sequence[str] | None = None,
    ) -> Explorer:  # fmt: skip
        """Return the run as an explorer, which in print is a figure of the weighted values.

        Parameters
        ----------
        name : str, optional
            The label of the figure.
        tasks : sequence of Task
            Tasks for the reader, made by functions of `mha.widgets.explorer_tasks`.
        view, axes
            As for `mha.widgets.explorer.explorer`.
        """
        self._label(name, "fig")
        figure = figures.mixing_maps(self.run)
        return explorer(
            self.run, figure=figure, prints=self.prints, tasks=tasks, view=view, axes=axes
        )

    def turn(
        self, stage: str, row: int, column: int = 0, *, head: int = 0,
        places: int | None = None, percent: bool = False,
    ) -> YourTurn:  # fmt: skip
        """Return a box that asks for one number of the run.

        Parameters
        ----------
        stage, row, column, head, places, percent
            As for `your_turn`.

        Returns
        -------
        YourTurn

        Examples
        --------
        >>> _, show = open_example("cat-sat")
        >>> show.turn("scores", 0, 1).name
        'turn-cat-sat-scores-1-1-2'
        """
        return your_turn(self.run, stage, row, column, head=head, places=places, percent=percent)

    def turns(
        self, stage: str, cells: Sequence[tuple[int, ...]], *, head: int = 0,
        places: int | None = None, percent: bool = False,
    ) -> YourTurn:  # fmt: skip
        """Return one box that asks for several numbers of a stage, with a field for each.

        Parameters
        ----------
        stage, cells, head, places, percent
            As for `your_turns`.

        Returns
        -------
        YourTurn
        """
        return your_turns(self.run, stage, cells, head=head, places=places, percent=percent)

    def row(
        self, stage: str, row: int, *, head: int = 0, places: int | None = None,
        percent: bool = False,
    ) -> YourTurn:  # fmt: skip
        """Return one box that asks for all numbers of one query, or of one token, in a stage.

        Parameters
        ----------
        stage, row, head, places, percent
            As for `fill_row`.

        Returns
        -------
        YourTurn
        """
        return fill_row(self.run, stage, row, head, places=places, percent=percent)

    # ---- Labels ----

    def _label(self, name: str | None, kind: str = "tbl") -> str | None:
        """Return a label; raise unless it begins with the kind and the example's name."""
        start = f"{kind}-{self.run.example.name}-"
        if name is not None and not name.startswith(start):
            raise ValueError(f"name is {name!r}; a label that begins with {start} is wanted")
        return name

    def _labels(
        self, name: str | None, parts: Sequence[dict[str, object]]
    ) -> tuple[str | None, list[str | None]]:
        """Return a block's label, and one per part if the name has fields."""
        without: list[str | None] = [None] * len(parts)
        if self._label(name) is None or not re.search(r"[{}]", name or ""):
            return name, without
        assert name is not None
        fields = ", ".join(f"{{{field}}}" for field in parts[0])
        try:
            labels = [_normalised_label(name.format_map(part)) for part in parts]
        except (KeyError, ValueError):
            raise ValueError(f"name is {name!r}; no fields but {fields} are wanted") from None
        if len(set(labels)) < len(labels):
            raise ValueError(
                f"name is {name!r} for {len(labels)} tables; one of {fields} in it is wanted"
            )
        if len(labels) == 1:
            return labels[0], without
        return _normalised_label(name.format_map(_block_fields(parts))), list(labels)

    def _heads(self, head: int | None) -> list[int]:
        """Return the index of one head, or of all heads."""
        if head is None:
            return list(range(self.run.num_heads))
        return [as_index("head", head, self.run.num_heads)]

    def _by_head(self) -> list[dict[str, object]]:
        return [{"head": head + 1} for head in self._heads(None)]


def _normalised_label(text: str) -> str:
    """Return a text as a label, in lower case with single hyphens.

    Examples
    --------
    >>> _normalised_label("tbl-apple-w_q-")
    'tbl-apple-w-q'
    """
    return re.sub(r"[-_]+", "-", text).strip("-").lower()


def _block_fields(parts: Sequence[dict[str, object]]) -> dict[str, object]:
    """Return the fields of a block's label: its stages joined, head and token empty.

    Examples
    --------
    >>> _block_fields([{"head": 1, "stage": "w_q"}, {"head": 1, "stage": "w_k"}])
    {'head': '', 'stage': 'w_q-w_k'}
    """
    return {
        field: "-".join(dict.fromkeys(str(part[field]) for part in parts))
        if field in ("stage", "symbol")
        else ""
        for field in parts[0]
    }


def open_example(name: str) -> tuple[Trace, Show]:
    """Return a worked example's run, and the views of it.

    Parameters
    ----------
    name : str
        One of `mha.example_names`.

    Returns
    -------
    run : Trace
    show : Show
        The run's views, with the numbers of the example's source below them.

    Raises
    ------
    ValueError
        If there is no such example, or its file is not valid.

    Examples
    --------
    >>> run, show = open_example("cat-sat")
    >>> show.entropies().rows[-1]
    ('equal weights', '0.6931')
    """
    run = trace(load_example(name))
    return run, Show(run, Prints(name))
