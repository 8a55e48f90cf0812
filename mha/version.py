"""The version of the package, for modules that cannot import `mha`, which is above them."""

__version__ = "0.1.0"
