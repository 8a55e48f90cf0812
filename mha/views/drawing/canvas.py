"""What every figure is drawn on: one style, one way to save it, and marks that several share."""

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Canvas

from mha.runs.rounding import short

INK = "#010203"
"""Stands for the colour of the text around a figure; almost black where nothing replaces it."""

GREY = "#6B6B6B"
"""The colour of what belongs to no one head."""

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


@contextmanager
def blank(width: float, height: float) -> Iterator[Canvas]:
    """Give a canvas of a size in inches; inside the block, everything is drawn in one style."""
    with mpl.rc_context(_STYLE):
        yield Canvas(figsize=(width, height), layout="constrained")


def finished(canvas: Canvas, alt: str) -> Figure:
    """Return a canvas as a Figure; the same drawing always gives the same bytes."""
    svg, pdf = io.StringIO(), io.BytesIO()
    canvas.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    canvas.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Creator": None})
    return Figure(svg=svg.getvalue(), pdf=pdf.getvalue(), alt=alt)


def lighter(colour: str) -> tuple[float, ...]:
    """Return a colour mixed with white: opaque, so that hatching in the colour stands out."""
    return tuple(0.4 * channel + 0.6 for channel in to_rgb(colour))


def bare(ax: Axes) -> None:
    """Leave out the marks of the axes and the lines around them."""
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def number_bars(ax: Axes, centres: np.ndarray, heights: np.ndarray, places: int) -> None:
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
