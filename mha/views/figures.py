"""Figures of traces and of plain arrays, drawn for every screen and for print.

A `Figure` is vector graphics with alternative text. On a page its ink takes the colour of the
text around it, so that it reads in the light and in the dark theme; in print it is black. The
heads keep one colour each through the whole book, and every heatmap shows its numbers.
"""

import base64
import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure as Canvas
from numpy.typing import ArrayLike

from mha.runs.rounding import dimensions, short, shown
from mha.runs.record import Trace

HEAD_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D00", "#56B4E9")
"""One colour a head, in order; after Okabe and Ito, told apart by colour-blind readers."""

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++")
"""One pattern a head, in order, so that heads stay apart in greyscale print."""

INK = "#010203"
"""Stands for the colour of the text around a figure; almost black where nothing replaces it."""

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "mha",
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG for pages and PDF for print, with alternative text.

    Parameters
    ----------
    svg : str
    pdf : bytes
    alt : str
        What is to be seen, in a sentence or two.
    """

    svg: str
    pdf: bytes
    alt: str

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        data = {
            "image/svg+xml": self.svg,
            "application/pdf": base64.b64encode(self.pdf).decode("ascii"),
            "text/plain": f"Figure: {self.alt}",
        }
        return data, {mime: {"alt": self.alt} for mime in data if mime != "text/plain"}


class AltTextRenderer:
    """Put figures on a page as inline SVG in the text's colour, with their alternative text.

    A MyST-NB plugin, found by its entry point in pyproject.toml.
    """

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """Return a page's nodes for an SVG or PDF output, or None for any other.

        Parameters
        ----------
        renderer : myst_nb.core.render.NbElementRenderer
        data : myst_nb.core.render.MimeData
        inline : bool

        Returns
        -------
        list of docutils nodes, or None
        """
        if data.mime_type not in ("image/svg+xml", "application/pdf"):
            return None
        alt = data.output_metadata.get(data.mime_type, {}).get("alt")
        if not alt:
            renderer.logger.warning("a figure has no alternative text", line=data.line)
            return []
        if data.mime_type == "application/pdf":
            image = renderer.render_image(data)
            image[0]["alt"] = alt
            return image
        from docutils import nodes

        place = f"{data.line} {data.output_index}"
        return [nodes.raw("", inline_svg(data.content, alt, place), format="html")]


def inline_svg(svg: str, alt: str, place: str = "") -> str:
    """Return a drawing as an element of an HTML page.

    Identifiers are made unique by the drawing's content and its place on the page, and ink takes
    the text's colour.

    Examples
    --------
    >>> inline_svg('<svg width="9pt"><g id="a"/></svg>', "A dot")[-33:]
    '<g id="dc29a9c32-a"/></svg></div>'
    """
    body = svg[svg.index("<svg") :].replace(INK, "currentColor")
    mark = hashlib.sha256((place + svg).encode()).hexdigest()[:8]
    body = re.sub(r'\bid="([^"]+)"', rf'id="d{mark}-\1"', body)
    body = re.sub(r'href="#([^"]+)"', rf'href="#d{mark}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#d{mark}-\1)", body)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    label = escape(alt, quote=True)
    width = re.search(r'<svg[^>]*\bwidth="([^"]+)"', body)
    style = f' style="--natural-width: {width.group(1)}"' if width else ""
    body = body.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return f'<div class="drawing" role="group" aria-label="Figure" tabindex="0"{style}>{body}</div>'


@contextmanager
def _canvas(width: float, height: float) -> Iterator[Canvas]:
    with mpl.rc_context(_STYLE):
        yield Canvas(figsize=(width, height), layout="constrained")


def _finished(canvas: Canvas, alt: str) -> Figure:
    """Return a canvas as a Figure; the same drawing always gives the same bytes."""
    svg, pdf = io.StringIO(), io.BytesIO()
    canvas.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    canvas.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Creator": None})
    return Figure(svg=svg.getvalue(), pdf=pdf.getvalue(), alt=alt)


def head_colour(head: int) -> str:
    """Return the colour that a head keeps through the whole book, heads counted from 0.

    Examples
    --------
    >>> head_colour(0)
    '#0072B2'
    """
    return HEAD_COLOURS[head % len(HEAD_COLOURS)]


def weight_maps(run: Trace, stage: str = "weights", *, places: int = 2) -> Figure:
    """Draw each head's weights (or scores) as a heatmap, the heads side by side on one scale.

    Parameters
    ----------
    run : Trace
    stage : str, default "weights"
        "scores", "scaled_scores", "exponentials" or "weights".
    places : int, default 2
        Decimals of the number in each cell.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If `stage` is none of these.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> weight_maps(trace(load_example("cat-sat"))).alt[36:]
    ' Head 1: cat attends most to cat (0.73), sat to sat (0.73).'
    """
    if stage not in ("scores", "scaled_scores", "exponentials", "weights"):
        raise ValueError(
            f"stage is {stage!r}; scores, scaled_scores, exponentials or weights is wanted"
        )
    arrays = getattr(run, stage)
    return heatmaps(
        list(arrays),
        rows=run.tokens,
        columns=run.tokens,
        titles=run.head_names if run.num_heads > 1 else ("",),
        colours=[head_colour(h) for h in range(run.num_heads)],
        lowest=0 if stage in ("weights", "exponentials") else None,
        highest=1 if stage == "weights" else None,
        places=places,
        alt=f"{stage.replace('_', ' ').capitalize()} as a heatmap, a row a query."
        f" {_row_maxima_in_words(run, arrays, places)}",
    )


def _row_maxima_in_words(run: Trace, arrays: np.ndarray, places: int) -> str:
    heads = []
    for head, name in enumerate(run.head_names):
        tops = [
            f"{token} {'attends most ' if i == 0 else ''}to {_top(run, arrays, head, i, places)}"
            for i, token in enumerate(run.tokens)
        ]
        heads.append(f"{name}: {', '.join(tops)}.")
    return " ".join(heads)


def _top(run: Trace, arrays: np.ndarray, head: int, token: int, places: int) -> str:
    """Return the key of a row's largest entry, and the entry; none where all keys are masked."""
    if not run.weights[head, token].any():
        return "none"
    row = arrays[head, token]
    return f"{run.tokens[int(row.argmax())]} ({shown(float(row.max()), places)})"


def heatmaps(
    arrays: Sequence[ArrayLike],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    alt: str,
    titles: Sequence[str] = (),
    colours: Sequence[str] = (),
    lowest: float | None = None,
    highest: float | None = None,
    places: int = 2,
    row_label: str = "query",
    column_label: str = "key",
) -> Figure:
    """Draw matrices as heatmaps side by side on one scale, each cell with its number.

    Parameters
    ----------
    arrays : sequence of array_like, each of shape (len(rows), len(columns))
    rows, columns : sequence of str
    alt : str
        What is to be seen.
    titles : sequence of str, optional
        One a matrix.
    colours : sequence of str, optional
        The darkest colour of each matrix; by default the heads' colours in order.
    lowest, highest : float, optional
        Ends of the scale; by default the smallest and largest finite entry.
    places : int, default 2
    row_label, column_label : str

    Returns
    -------
    Figure

    Examples
    --------
    >>> heatmaps([[[0.5]]], rows=["a"], columns=["b"], alt="One cell").alt
    'One cell'
    """
    matrices = [np.asarray(array, dtype=np.float64) for array in arrays]
    finite = np.concatenate([m[np.isfinite(m)] for m in matrices])
    low = float(finite.min()) if lowest is None else lowest
    high = float(finite.max()) if highest is None else highest
    cell = 0.62 if places <= 2 else 0.78
    width = len(matrices) * (cell * len(columns) + 0.35) + 0.7
    with _canvas(width, cell * 0.8 * len(rows) + 1.05) as canvas:
        axes = canvas.subplots(1, len(matrices), sharey=True, squeeze=False)[0]
        for i, (ax, matrix) in enumerate(zip(axes, matrices, strict=True)):
            colour = colours[i] if i < len(colours) else head_colour(i)
            _heatmap(ax, matrix, colour, low, high, places)
            ax.set_xticks(range(len(columns)), columns)
            ax.set_yticks(range(len(rows)), rows)
            ax.set_xlabel(column_label)
            if i < len(titles) and titles[i]:
                ax.set_title(titles[i], color=INK, loc="left", fontweight="bold")
        axes[0].set_ylabel(row_label)
        return _finished(canvas, alt)


def _heatmap(
    ax: Axes, matrix: np.ndarray, colour: str, low: float, high: float, places: int
) -> None:
    """Draw one heatmap: cells from white to `colour`, each with its number in black or white."""
    ramp = LinearSegmentedColormap.from_list("ramp", ["#FFFFFF", colour])
    span = (high - low) or 1.0
    for (i, j), value in np.ndenumerate(matrix):
        shade = ramp(float(np.clip((value - low) / span, 0, 1)) if np.isfinite(value) else 0.0)
        ax.fill_between(
            [j - 0.5, j + 0.5], i - 0.5, i + 0.5, color=shade, linewidth=0.8, edgecolor="#9A9A9A"
        )
        # Black and white contrast equally with a luminance of 0.179.
        ink = "#000000" if _luminance(shade) > 0.179 else "#FFFFFF"
        ax.text(j, i, shown(float(value), places), ha="center", va="center", color=ink)
    ax.set(xlim=(-0.5, matrix.shape[1] - 0.5), ylim=(matrix.shape[0] - 0.5, -0.5))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _luminance(colour: Any) -> float:
    """Return a colour's relative luminance, from 0 for black to 1 for white (WCAG 2)."""
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(channels, (0.2126, 0.7152, 0.0722)))


def mixing_maps(run: Trace, *, places: int = 2) -> Figure:
    """Draw each head's weights, values and output as a product of matrices, a row a head.

    Parameters
    ----------
    run : Trace
    places : int, default 2

    Returns
    -------
    Figure

    Examples
    --------
    >>> from mha import load_example, trace
    >>> mixing_maps(trace(load_example("cat-sat"))).alt[:62]
    'Three matrices a head: weights times values gives the output. '
    """
    n, d_v = run.value.shape[1:]
    values = np.concatenate([run.value, run.head_outputs])
    low, high = float(min(values.min(), 0)), float(values.max())
    cell = 0.5
    width, height = cell * (n + 2 * d_v) + 2.4, run.num_heads * (cell * 0.8 * n + 0.75)
    with _canvas(width, height) as canvas:
        axes = canvas.subplots(
            run.num_heads, 3, squeeze=False, gridspec_kw={"width_ratios": [n, d_v, d_v]}
        )
        for head, (weights, value, output) in enumerate(axes):
            _heatmap(weights, run.weights[head], head_colour(head), 0, 1, places)
            _heatmap(value, run.value[head], "#A8A8A8", low, high, places)
            _heatmap(output, run.head_outputs[head], "#A8A8A8", low, high, places)
            for ax, title in ((weights, "weights"), (value, "× values"), (output, "= output")):
                ax.set_title(title, color=INK, loc="left")
                ax.set_yticks(range(n), run.tokens)
            weights.set_xticks(range(n), run.tokens)
            value.set_xticks(range(d_v), dimensions("v", d_v))
            output.set_xticks(range(d_v), dimensions("z", d_v))
            if run.num_heads > 1:
                weights.set_ylabel(run.head_names[head], fontweight="bold")
        told = _row_maxima_in_words(run, run.weights, places)
        return _finished(
            canvas, f"Three matrices a head: weights times values gives the output. {told}"
        )


def vector_bars(
    array: ArrayLike,
    *,
    rows: Sequence[str],
    symbol: str,
    alt: str | None = None,
    colour: str = "#6B6B6B",
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

    Returns
    -------
    Figure

    Examples
    --------
    >>> vector_bars([[0.5, 1.0]], rows=["cat"], symbol="x").alt
    'Bars, a panel a token. cat: 0.5, 1.'
    """
    array = np.asarray(array, dtype=np.float64)
    count, width = array.shape
    with _canvas(max(2.4, count * (0.36 * width + 0.25) + 0.5), 2.1) as canvas:
        axes = canvas.subplots(1, count, sharey=True, squeeze=False)[0]
        for ax, label, vector in zip(axes, rows, array, strict=True):
            ax.bar(range(width), vector, color=colour, width=0.75)
            ax.axhline(0, color=INK, linewidth=0.6)
            _number_bars(ax, np.arange(width), vector, places)
            ax.set_xticks(range(width), dimensions(symbol, width))
            ax.set_title(label, color=INK)
            ax.margins(y=0.18)
            ax.tick_params(axis="x", length=0)
        words = "; ".join(
            f"{label}: {', '.join(short(float(x), places) for x in vector)}"
            for label, vector in zip(rows, array, strict=True)
        )
        return _finished(canvas, alt or f"Bars, a panel a token. {words}.")


def _number_bars(ax: Axes, centres: np.ndarray, heights: np.ndarray, places: int) -> None:
    """Write each bar's number at its end."""
    for x, height in zip(centres, heights, strict=True):
        ax.annotate(
            short(float(height), places),
            (x, height),
            xytext=(0, 2 if height >= 0 else -2),
            textcoords="offset points",
            ha="center",
            va="bottom" if height >= 0 else "top",
            fontsize=7,
        )


def lanes(run: Trace) -> Figure:
    """Draw one input going into a lane for each head, down to the lanes' common end.

    Parameters
    ----------
    run : Trace
        Of an example with embeddings.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If the example starts at query, key and value.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> lanes(trace(load_example("the-cat-sat"))).alt[:55]
    'One input of shape (3, 4) goes into 2 lanes, one a head'
    """
    if run.embeddings is None:
        raise ValueError(f"{run.example.name} has no embeddings; an example with them is wanted")
    n, d_k, d_v = len(run.tokens), run.query.shape[-1], run.value.shape[-1]
    steps = (
        f"Q, K ({n}, {d_k})\nV ({n}, {d_v})",
        f"scores ({n}, {n})",
        f"weights ({n}, {n})",
        f"output ({n}, {d_v})",
    )
    ends = [f"concatenation {run.concat.shape}"]
    if run.output is not None:
        ends.append(f"output projection\n{run.output.shape}")
    with _canvas(max(3.2, 1.75 * run.num_heads), 0.75 * (2 + len(steps) + len(ends))) as canvas:
        ax = canvas.subplots()
        middle, last = (run.num_heads - 1) / 2, len(steps) + 1
        _box(ax, middle, 0, f"embeddings {run.embeddings.shape}", "#6B6B6B")
        for head, name in enumerate(run.head_names):
            previous = (middle, 0.0)
            title = name.replace(": ", "\n")
            for row, step in enumerate(steps, 1):
                text = f"{title}\n{step}" if row == 1 else step
                _arrow(ax, previous, (head, row))
                _box(ax, head, row, text, head_colour(head))
                previous = (head, float(row))
            _arrow(ax, previous, (middle, last))
        for row, text in enumerate(ends, last):
            if row > last:
                _arrow(ax, (middle, row - 1), (middle, row))
            _box(ax, middle, row, text, "#6B6B6B")
        ax.set(xlim=(-0.6, run.num_heads - 0.4), ylim=(last + len(ends) - 0.5, -0.5))
        ax.axis("off")
        return _finished(
            canvas,
            f"One input of shape {run.embeddings.shape} goes into {run.num_heads} lanes, one a"
            f" head. Each lane makes queries, keys and values, scores, weights and an output of"
            f" shape {(n, d_v)}; the lanes meet in a concatenation of shape {run.concat.shape}"
            + (f" and an output of shape {run.output.shape}." if run.output is not None else "."),
        )


def _box(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Write a step of a lane in a box of its head's colour."""
    ax.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=8,
        color="#000000",
        bbox={"boxstyle": "round,pad=0.4", "facecolor": _lighter(colour), "edgecolor": colour},
        zorder=3,
    )


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw an arrow between two boxes; the boxes cover its ends."""
    ax.annotate(
        "",
        xy=(end[0], end[1] - (0.4 if end[1] == 1 else 0.22)),
        xytext=start,
        arrowprops={"arrowstyle": "->", "color": INK, "shrinkA": 0, "shrinkB": 0},
        zorder=1,
    )


def concat_strips(run: Trace, *, places: int = 2) -> Figure:
    """Draw the concatenation: a strip a token, its cells coloured by the head they come from.

    Parameters
    ----------
    run : Trace
    places : int, default 2

    Returns
    -------
    Figure

    Examples
    --------
    >>> from mha import load_example, trace
    >>> concat_strips(trace(load_example("the-cat-sat"))).alt[:60]
    'A strip of 4 cells a token: columns 1 to 2 from Head 1, colu'
    """
    n, width = run.concat.shape
    d_v = width // run.num_heads
    with _canvas(0.62 * width + 1.2, 0.46 * n + 0.8) as canvas:
        ax = canvas.subplots()
        for (i, j), value in np.ndenumerate(run.concat):
            head = j // d_v
            ax.barh(
                i,
                0.96,
                left=j - 0.48,
                height=0.8,
                facecolor=_lighter(head_colour(head)),
                edgecolor=head_colour(head),
            )
            ax.text(j, i, shown(float(value), places), ha="center", va="center", color="#000000")
        for head, name in enumerate(run.head_names):
            ax.text((head + 0.5) * d_v - 0.5, -0.7, name, ha="center", fontweight="bold")
            if head:
                ax.axvline(head * d_v - 0.5, color=INK, linewidth=1.2)
        ax.set_yticks(range(n), run.tokens)
        ax.set_xticks(range(width), dimensions("z", width))
        ax.set(xlim=(-0.6, width - 0.4), ylim=(n - 0.45, -1.0))
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        columns = ", ".join(
            f"columns {h * d_v + 1} to {(h + 1) * d_v} from {name}"
            for h, name in enumerate(run.head_names)
        )
        return _finished(canvas, f"A strip of {width} cells a token: {columns}.")


def output_shares(run: Trace, *, places: int = 2) -> Figure:
    """Draw each token's output beside the heads' shares that add up to it.

    Parameters
    ----------
    run : Trace
        Of an example with an output projection.
    places : int, default 2

    Returns
    -------
    Figure

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
    groups = run.num_heads + 1
    with _canvas(max(4.8, 0.34 * groups * width + 0.8), 1.35 * n + 0.7) as canvas:
        axes = canvas.subplots(n, 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for i, ax in enumerate(axes):
            for head in range(run.num_heads):
                _share_bars(ax, run, i, head, groups, places)
            x = np.arange(width) + (run.num_heads - (groups - 1) / 2) / (groups + 0.6)
            ax.bar(x, run.output[i], width=1 / (groups + 0.6), color="#6B6B6B", label="Output")
            _number_bars(ax, x, run.output[i], places)
            ax.axhline(0, color=INK, linewidth=0.6)
            ax.set_title(run.tokens[i], color=INK, loc="left")
            ax.margins(y=0.2)
        axes[-1].set_xticks(range(width), dimensions("y", width))
        handles, labels = axes[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside upper center", ncols=2)
        return _finished(canvas, _shares_in_words(run, places))


def _share_bars(ax: Axes, run: Trace, token: int, head: int, groups: int, places: int) -> None:
    """Draw one head's share of one token's output."""
    assert run.head_contributions is not None
    share = run.head_contributions[head, token]
    x = np.arange(len(share)) + (head - (groups - 1) / 2) / (groups + 0.6)
    ax.bar(
        x,
        share,
        width=1 / (groups + 0.6),
        facecolor=_lighter(head_colour(head)),
        edgecolor=head_colour(head),
        hatch=HATCHES[head % len(HATCHES)],
        label=run.head_names[head],
    )
    _number_bars(ax, x, share, places)


def _lighter(colour: str) -> tuple[float, ...]:
    """Return a colour mixed with white: opaque, so that hatching in the colour stands out."""
    return tuple(0.4 * channel + 0.6 for channel in to_rgb(colour))


def _shares_in_words(run: Trace, places: int) -> str:
    assert run.output is not None
    assert run.head_contributions is not None
    parts = [
        f"{name} {shown(float(share[0, 0]), places)}"
        for name, share in zip(run.head_names, run.head_contributions, strict=True)
    ]
    return (
        "Bars, a panel a token: for each output component the heads' shares and the output they"
        f" add up to. For {run.tokens[0]}, first component: {', '.join(parts)}, output"
        f" {shown(float(run.output[0, 0]), places)}."
    )


def curves(
    x: ArrayLike,
    series: Mapping[str, ArrayLike],
    *,
    xlabel: str,
    ylabel: str,
    alt: str,
    log: str = "",
    points: Sequence[str] = (),
    xticks: Sequence[float] | Mapping[float, str] = (),
) -> Figure:
    """Draw curves over one axis, each with its own dash and a label at its end.

    Parameters
    ----------
    x : array_like, shape (n,)
    series : mapping of str to array_like of shape (n,)
        The curves by their labels.
    xlabel, ylabel : str
    alt : str
        What is to be seen.
    log : str, default ""
        "x", "y" or "xy": which axes are logarithmic.
    points : sequence of str, optional
        Labels of the series drawn as points rather than as a line: what was measured.
    xticks : sequence of float or mapping of float to str, optional
        Where to put ticks on the horizontal axis, and what to write there.

    Returns
    -------
    Figure

    Examples
    --------
    >>> curves([1, 2], {"square": [1, 4]}, xlabel="x", ylabel="y", alt="A rising curve").alt
    'A rising curve'
    """
    dashes = ("solid", "dashed", "dotted", "dashdot", (0, (5, 1, 1, 1, 1, 1)))
    markers = ("o", "s", "^", "D", "v")
    with _canvas(5.6, 3.4) as canvas:
        ax = canvas.subplots()
        if "x" in log:
            ax.set_xscale("log", base=2)
        if "y" in log:
            ax.set_yscale("log")
        for i, (label, y) in enumerate(series.items()):
            style: dict[str, Any] = (
                {"marker": markers[i % 5], "linestyle": "none"}
                if label in points
                else {"linestyle": dashes[i % 5], "linewidth": 1.8}
            )
            ax.plot(x, y, label=label, color=head_colour(i), **style)
        if xticks:
            labels = xticks if isinstance(xticks, Mapping) else {t: short(t) for t in xticks}
            ax.set_xticks(list(labels), list(labels.values()))
            ax.minorticks_off()
        ax.set(xlabel=xlabel, ylabel=ylabel)
        ax.grid(color="#9A9A9A", linewidth=0.4, alpha=0.5)
        if len(series) > 1:
            ax.legend()
        return _finished(canvas, alt)


def stacked_counts(rows: Sequence[str], parts: Mapping[str, Sequence[int]]) -> Figure:
    """Draw counts as horizontal bars, a bar a row, each made of the same parts.

    Parameters
    ----------
    rows : sequence of str
        Labels, from top to bottom.
    parts : mapping of str to sequence of int, as long as `rows`
        What each part is called, and its count in each row. A part keeps one colour and pattern.

    Returns
    -------
    Figure

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
    with _canvas(6.4, 0.45 * len(rows) + 1.0) as canvas:
        ax = canvas.subplots()
        left = np.zeros(len(rows))
        total = np.sum(list(parts.values()), axis=0)
        for i, (part, counts) in enumerate(parts.items()):
            bars = ax.barh(
                range(len(rows)),
                counts,
                left=left,
                height=0.6,
                label=part,
                color=_lighter(HEAD_COLOURS[i]),
                edgecolor=HEAD_COLOURS[i],
                hatch=HATCHES[i],
            )
            wide = np.asarray(counts) >= 0.06 * total.max()
            labels = [str(n) if fits else "" for n, fits in zip(counts, wide, strict=True)]
            ax.bar_label(
                bars,
                labels,
                label_type="center",
                color="black",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85},
            )
            left += counts
        for i, count in enumerate(total):
            ax.text(count, i, f"  {count}", va="center")
        ax.set_yticks(range(len(rows)), rows)
        ax.invert_yaxis()
        canvas.legend(loc="outside upper center", ncols=len(parts))
        told = (
            f"{row}: " + ", ".join(f"{part} {counts[i]}" for part, counts in parts.items())
            for i, row in enumerate(rows)
        )
        return _finished(canvas, "Bars. " + ". ".join(told) + ".")
