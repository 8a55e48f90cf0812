"""Attention layers of other programs: their arrays, and what stands where.

`table` says it of each layout as data; `axes` reads such a line of data, `arrays` makes an
`AttentionLayer` of arrays by name and such arrays of a layer, and `files` finds a layer in a file.
"""

from mha.layouts.arrays import layer_from_arrays, layer_to_arrays
from mha.layouts.files import read_layer
from mha.layouts.layer import AttentionLayer
from mha.layouts.table import LAYOUTS, Layout

__all__ = [
    "LAYOUTS",
    "AttentionLayer",
    "Layout",
    "layer_from_arrays",
    "layer_to_arrays",
    "read_layer",
]
