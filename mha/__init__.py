"""Multi-head attention in NumPy, with every intermediate kept.

The top level has the names that most programs need; all others are imported from their modules, as
in ``from mha.core.decoding import KeyValueCache``. `figures` and `tables` are modules. `examine` is
a function as an attribute of `mha`, and a package in imports such as ``from mha.examine import
Report`` and in ``python -m mha.examine``.

A name is loaded when it is first used, so ``import mha`` alone does not even load NumPy.
"""

import sys
from importlib import import_module
from types import ModuleType

from mha.version import __version__ as __version__

# Type checkers read `__init__.pyi` instead; a test compares the two.
_HOMES = {
    # Attention
    "attention_scores": "mha.core.attention",
    "attention_weights": "mha.core.attention",
    "scaled_dot_product_attention": "mha.core.attention",
    "softmax": "mha.core.softmax",
    # Masks
    "causal_mask": "mha.core.masks",
    "padding_mask": "mha.core.masks",
    "sliding_window_mask": "mha.core.masks",
    # Positions
    "linear_biases": "mha.core.positions",
    "rotary_angles": "mha.core.positions",
    "rotate": "mha.core.positions",
    "rotate_by": "mha.core.positions",
    "sinusoidal_positions": "mha.core.positions",
    # Multi-head attention, and layers of other programs
    "MultiHeadWeights": "mha.core.multihead",
    "multi_head_attention": "mha.core.multihead",
    "AttentionLayer": "mha.layouts",
    "LatentLayer": "mha.layouts",
    "read_layer": "mha.layouts",
    "read_model": "mha.decoders",
    # Examples and their traces
    "WorkedExample": "mha.runs.worked_example",
    "example_names": "mha.examples",
    "load_example": "mha.examples",
    "Trace": "mha.runs.record",
    "trace": "mha.runs.record",
    "trace_layer": "mha.runs.layers",
    # The origin of a number of a trace
    "Place": "mha.runs.places",
    "Origin": "mha.runs.operations",
    "origin": "mha.runs.origins",
    "Arithmetic": "mha.views.arithmetic",
    "arithmetic": "mha.views.arithmetic",
    # Views of a trace
    "explorer": "mha.widgets.explorer",
    "figures": "mha.views",
    "tables": "mha.views",
    # Attention that someone else wrote
    "examine": "mha.examine",
    "examine_decoding": "mha.examine",
    "examine_layer": "mha.examine",
    "examine_positions": "mha.examine",
}

__all__ = sorted(_HOMES)


class _Package(ModuleType):
    """The type of `mha`, whose attribute `examine` is always the function, not the package."""

    def __setattr__(self, name: str, value: object) -> None:
        # Importing the package mha.examine would set it as an attribute, in place of the function.
        if not (name == "examine" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    """Return the object of a public name, loaded when it is first used."""
    if name in _HOMES:
        globals()[name] = _load(_HOMES[name], name)
        return globals()[name]
    if not name.startswith("_"):
        from mha.moved_names import MOVED, warn_moved

        if name in MOVED:
            warn_moved(name)
            return _load(MOVED[name], name)
    raise AttributeError(f"module 'mha' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return [*__all__, "__version__"]


def _load(home: str, name: str) -> object:
    """Return the result of ``from home import name``, which may be a module."""
    module = import_module(home)
    if not hasattr(module, name):
        import_module(f"{home}.{name}")
    return getattr(module, name)
