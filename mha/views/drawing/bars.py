"""Bars: vectors, the heads' shares of an output, and counts."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.runs.record import Trace
from mha.runs.rounding import dimensions, short, shown
from mha.runs.stages import STAGES
from mha.views.colours import head_colour, head_hatch
from mha.views.drawing.canvas import GREY, INK, Figure, blank, finished, lighter, number_bars


def vector_bars(
    array: ArrayLike,
    *,
    rows: Sequence[str],
    symbol: str,
    alt: str | None = None,
    colour: str = GREY,
    places: int = 2,
) -> Figure:
    """Draw vectors as bars: a panel a vector, a bar a component, each with its number.

    Parameters
    ----------
    array : array_like, shape (len(rows), d)
    rows : sequence of str
        Whose vector each is.
    symbol : str
        The letter that the components carry, such as "x".
    alt : str, optional
        By default the vectors in numbers.
    colour : str, default grey
    places : int, default 2

    Examples
    --------
    >>> vector_bars([[0.5, 1.0]], rows=["cat"], symbol="x").alt
    'Bars, a panel a token. cat: 0.5, 1.'
    """
    array = np.asarray(array, dtype=np.float64)
    count, width = array.shape
    with blank(max(2.4, count * (0.36 * width + 0.25) + 0.5), 2.1) as canvas:
        axes = canvas.subplots(1, count, sharey=True, squeeze=False)[0]
        for ax, label, vector in zip(axes, rows, array, strict=True):
            _vector(ax, vector, colour, places)
            ax.set_xticks(range(width), dimensions(symbol, width))
            ax.set_title(label, color=INK)
        return finished(canvas, alt or _vectors_in_words(array, rows, places))


def _vector(ax: Axes, vector: Array, colour: str, places: int) -> None:
    """Draw one vector, a bar a component."""
    ax.bar(range(len(vector)), vector, color=colour, width=0.75)
    ax.axhline(0, color=INK, linewidth=0.6)
    number_bars(ax, np.arange(len(vector)), vector, places)
    ax.margins(y=0.18)
    ax.tick_params(axis="x", length=0)


def _vectors_in_words(array: Array, rows: Sequence[str], places: int) -> str:
    words = "; ".join(
        f"{label}: {', '.join(short(float(x), places) for x in vector)}"
        for label, vector in zip(rows, array, strict=True)
    )
    return f"Bars, a panel a token. {words}."


def output_shares(run: Trace, *, places: int = 2) -> Figure:
    """Draw each token's output beside the heads' shares that add up to it.

    Parameters
    ----------
    run : Trace
        Of an example with an output projection.
    places : int, default 2

    Raises
    ------
    ValueError
        If the example has no output projection.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> output_shares(trace(load_example("the-cat-sat"))).alt[:52]
    'Bars, a panel a token: for each output component the'
    """
    if run.output is None or run.head_contributions is None:
        raise ValueError(f"{run.example.name} has no w_o; an output projection is wanted")
    n, width = run.output.shape
    shares = run.head_contributions
    with blank(max(4.8, 0.34 * (len(shares) + 1) * width + 0.8), 1.35 * n + 0.7) as canvas:
        axes = canvas.subplots(n, 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for ax, token, parts, whole in zip(
            axes, run.tokens, shares.swapaxes(0, 1), run.output, strict=True
        ):
            _share_bars(ax, run.head_names, parts, whole, places)
            ax.set_title(token, color=INK, loc="left")
        axes[-1].set_xticks(range(width), dimensions(STAGES["output"].symbol, width))
        handles, labels = axes[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside upper center", ncols=2)
        return finished(canvas, _shares_in_words(run, shares[:, 0, 0], run.output[0, 0], places))


def _share_bars(ax: Axes, names: Sequence[str], parts: Array, whole: Array, places: int) -> None:
    """Draw one token's output beside each head's share of it."""
    groups = len(parts) + 1
    width = 1 / (groups + 0.6)
    for i, heights in enumerate([*parts, whole]):
        x = np.arange(len(heights)) + (i - (groups - 1) / 2) / (groups + 0.6)
        if i < len(parts):
            ax.bar(
                x,
                heights,
                width=width,
                facecolor=lighter(head_colour(i)),
                edgecolor=head_colour(i),
                hatch=head_hatch(i),
                label=names[i],
            )
        else:
            ax.bar(x, heights, width=width, color=GREY, label=STAGES["output"].title)
        number_bars(ax, x, heights, places)
    ax.axhline(0, color=INK, linewidth=0.6)
    ax.margins(y=0.2)


def _shares_in_words(run: Trace, shares: Array, output: float, places: int) -> str:
    """Tell what is to be seen, with the numbers of the first component of the first token."""
    parts = ", ".join(
        f"{name} {shown(float(share), places)}"
        for name, share in zip(run.head_names, shares, strict=True)
    )
    return (
        "Bars, a panel a token: for each output component the heads' shares and the output they"
        f" add up to. For {run.tokens[0]}, first component: {parts}, output"
        f" {shown(float(output), places)}."
    )


def stacked_counts(rows: Sequence[str], parts: Mapping[str, Sequence[int]]) -> Figure:
    """Draw counts as horizontal bars, a bar a row, each made of the same parts.

    Parameters
    ----------
    rows : sequence of str
        Labels, from top to bottom.
    parts : mapping of str to sequence of int, as long as `rows`
        What each part is called, and its count in each row. A part keeps one colour and pattern.

    Raises
    ------
    ValueError
        If a part does not have a count for each row.

    Examples
    --------
    >>> stacked_counts(["a", "b"], {"right": [1, 2], "wrong": [3, 0]}).alt
    'Bars. a: right 1, wrong 3. b: right 2, wrong 0.'
    """
    for part, counts in parts.items():
        if len(counts) != len(rows):
            raise ValueError(
                f"{part} has {len(counts)} counts for {len(rows)} rows; one a row is wanted"
            )
    with blank(6.4, 0.45 * len(rows) + 1.0) as canvas:
        ax = canvas.subplots()
        _stack(ax, parts, np.sum(list(parts.values()), axis=0))
        ax.set_yticks(range(len(rows)), rows)
        ax.invert_yaxis()
        canvas.legend(loc="outside upper center", ncols=len(parts))
        told = (
            f"{row}: " + ", ".join(f"{part} {counts[i]}" for part, counts in parts.items())
            for i, row in enumerate(rows)
        )
        return finished(canvas, "Bars. " + ". ".join(told) + ".")


def _stack(ax: Axes, parts: Mapping[str, Sequence[int]], total: Array) -> None:
    """Draw the bars part by part, with the counts that fit into theirs, and the totals."""
    left = np.zeros(len(total))
    for i, (part, counts) in enumerate(parts.items()):
        bars = ax.barh(
            range(len(total)),
            counts,
            left=left,
            height=0.6,
            label=part,
            color=lighter(head_colour(i)),
            edgecolor=head_colour(i),
            hatch=head_hatch(i),
        )
        wide = np.asarray(counts) >= 0.06 * total.max()
        ax.bar_label(
            bars,
            [str(n) if fits else "" for n, fits in zip(counts, wide, strict=True)],
            label_type="center",
            color="black",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85},
        )
        left += counts
    for i, count in enumerate(total):
        ax.text(count, i, f"  {count}", va="center")
