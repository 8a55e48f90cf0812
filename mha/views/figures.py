"""Figures of traces and of arrays, for every screen and for print.

A `Figure` is SVG with alternative text. On a page it has the page's fonts and colours, in the light
and the dark theme, and in a narrow column another layout. Text is at least twelve pixels high. Each
head has one colour in the whole book, and every heatmap shows its numbers.

`mha.views.drawing` has the code of each kind of figure.
"""

from mha.views.colours import HATCHES, HEAD_COLOURS, head_colour
from mha.views.drawing.arcs import arcs
from mha.views.drawing.bars import output_shares, vector_bars
from mha.views.drawing.canvas import STYLE, Figure
from mha.views.drawing.lanes import concat_strips, lanes
from mha.views.drawing.maps import heatmaps, mixing_maps, weight_maps
from mha.views.drawing.matrix_blocks import layout_blocks
from mha.views.drawing.moving import meanings, moved
from mha.views.drawing.page import AltTextRenderer
from mha.views.drawing.plane import plane
from mha.views.drawing.plots import curves, of_seeds, softmax_bars, stacked_counts
from mha.views.drawing.small_maps import small_maps
from mha.views.drawing.strip import query_strip
from mha.views.drawing.svg import inline_svg
from mha.views.drawing.three_attentions import three_attentions
from mha.views.drawing.transformer_map import transformer_map
from mha.views.drawing.turning import turned

__all__ = [
    "HATCHES",
    "HEAD_COLOURS",
    "STYLE",
    "AltTextRenderer",
    "Figure",
    "arcs",
    "concat_strips",
    "curves",
    "head_colour",
    "heatmaps",
    "inline_svg",
    "lanes",
    "layout_blocks",
    "meanings",
    "mixing_maps",
    "moved",
    "of_seeds",
    "output_shares",
    "plane",
    "query_strip",
    "small_maps",
    "softmax_bars",
    "stacked_counts",
    "three_attentions",
    "transformer_map",
    "turned",
    "vector_bars",
    "weight_maps",
]
