"""Attention layers of published models: arrays, configuration and computation.

`table` describes each layout as data, and `axes` interprets its shapes. `settings` reads a model's
`config.json`. `arrays` converts named arrays to an `AttentionLayer` and back. `latent` has the
layers of latent attention, and `files` finds a layer in the files of a model.
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
