"""The version of the package, for modules that `mha` imports and that cannot import it."""

__version__ = "0.1.0"
