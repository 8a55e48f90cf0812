"""Attention layers of other programs: their arrays, their settings, and what they compute.

`table` describes each layout as data; `axes` reads the shapes of that data, `settings` a model's
`config.json`, `arrays` makes an `AttentionLayer` of arrays by name and such arrays of a layer,
`latent` has the layers of latent attention, and `files` finds a layer in the files of a model.
"""

from mha.layouts.arrays import layer_from_arrays, layer_to_arrays
from mha.layouts.files import read_layer
from mha.layouts.latent import LatentLayer
from mha.layouts.layer import AttentionLayer
from mha.layouts.table import LATENT, LAYOUTS, Layout

__all__ = [
    "LATENT",
    "LAYOUTS",
    "AttentionLayer",
    "LatentLayer",
    "Layout",
    "layer_from_arrays",
    "layer_to_arrays",
    "read_layer",
]
