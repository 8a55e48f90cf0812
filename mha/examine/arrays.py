"""Arrays of other libraries: which library a function uses, and conversion from and to NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from mha.core.checks import Array


@dataclass(frozen=True)
class Converter:
    """Converts NumPy arrays to those of a library.

    `code` is the conversion as Python source, with {} for the array.
    """

    convert: Callable[[Array], Any]
    code: str = "{}"

    @property
    def compiles(self) -> bool:
        """Whether the library compiles a function anew for each shape."""
        return self.code.startswith(("jax", "tensorflow"))


NUMPY = Converter(np.asarray)

_LIBRARIES = {
    "torch": ("torch", "tensor"),
    "transformers": ("torch", "tensor"),
    "timm": ("torch", "tensor"),
    "x_transformers": ("torch", "tensor"),
    "jax": ("jax.numpy", "asarray"),
    "flax": ("jax.numpy", "asarray"),
    "equinox": ("jax.numpy", "asarray"),
    "mlx": ("mlx.core", "array"),
    "tensorflow": ("tensorflow", "convert_to_tensor"),
    "keras": ("keras.ops", "convert_to_tensor"),
}
"""For each library, the module and the function that make its arrays."""


def find_converter(function: Any, asarray: Callable[..., Any] | None) -> Converter:
    """Return the converter of `asarray`, or of the library that the function uses.

    Raises
    ------
    TypeError
        If `asarray` is not callable.
    """
    if asarray is np.asarray:
        return NUMPY
    if asarray is not None:
        if not callable(asarray):
            raise TypeError(f"asarray is {asarray!r}; a callable is needed")
        return Converter(asarray, "asarray({})")
    for library in _used(function):
        module, name = _LIBRARIES[library]
        if module in sys.modules:
            return Converter(getattr(sys.modules[module], name), f"{module}.{name}({{}})")
    return NUMPY


def loaded_converters() -> list[Converter]:
    """Return converters for NumPy and for each loaded library."""
    found = {NUMPY.code: NUMPY}
    for module, name in _LIBRARIES.values():
        if module in sys.modules:
            code = f"{module}.{name}({{}})"
            found.setdefault(code, Converter(getattr(sys.modules[module], name), code))
    return list(found.values())


def _used(function: Any) -> list[str]:
    """Return the libraries that a function uses: that of its class, else those of its module."""
    function = getattr(function, "__wrapped__", getattr(function, "func", function))
    function = getattr(function, "__func__", function)
    kinds = type(function).__mro__ if not hasattr(function, "__globals__") else ()
    own = [_root(each.__module__) for each in kinds] + [_root(getattr(function, "__module__", ""))]
    if found := [library for library in own if library in _LIBRARIES]:
        return found
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    known = getattr(function, "__globals__", {})
    ordered = [known[name] for name in names if name in known] + list(known.values())
    roots = [
        _root(x.__name__ if isinstance(x, ModuleType) else getattr(x, "__module__", "") or "")
        for x in ordered
        if isinstance(x, ModuleType) or callable(x)
    ]
    used = [root for root in roots if root in _LIBRARIES or root == "numpy"]
    return [root for root in used[:1] if root != "numpy"] or [
        root for root in dict.fromkeys(used) if root != "numpy" and "numpy" not in used
    ]


def _root(module: Any) -> str:
    return str(module or "").partition(".")[0]


def as_numpy(x: Any) -> Array:
    """Convert an array of any library to NumPy, detached from gradients and in main memory."""
    for method in ("detach", "cpu"):
        if hasattr(x, method):
            x = getattr(x, method)()
    if "bfloat16" in str(getattr(x, "dtype", "")):
        x = x.float() if hasattr(x, "float") else x.astype("float32")
    return np.asarray(x)
