"""Arrays of other libraries: the library that a function uses, and conversion from and to NumPy."""

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
    """A conversion of NumPy arrays to those of a library.

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
"""For each library, the module and the name of the function that makes its arrays."""


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
    for library in _used_libraries(function):
        module, name = _LIBRARIES[library]
        if module in sys.modules:
            return Converter(getattr(sys.modules[module], name), f"{module}.{name}({{}})")
    return NUMPY


def loaded_converters() -> list[Converter]:
    """Return converters for NumPy and for each loaded library."""
    converters = {NUMPY.code: NUMPY}
    for module, name in _LIBRARIES.values():
        if module in sys.modules:
            code = f"{module}.{name}({{}})"
            converters.setdefault(code, Converter(getattr(sys.modules[module], name), code))
    return list(converters.values())


def _used_libraries(function: Any) -> list[str]:
    """Return the known libraries that a function uses: those of its class, else one of its module.

    The latter is the first one that is named, in the function's code or else in its module. If
    NumPy is named before, there is none.
    """
    function = getattr(function, "__wrapped__", getattr(function, "func", function))
    function = getattr(function, "__func__", function)
    classes = type(function).__mro__ if not hasattr(function, "__globals__") else ()
    modules = [*(each.__module__ for each in classes), getattr(function, "__module__", "")]
    if libraries := [name for name in map(_top_package, modules) if name in _LIBRARIES]:
        return libraries
    code_names = getattr(getattr(function, "__code__", None), "co_names", ())
    global_names = getattr(function, "__globals__", {})
    values = [global_names[name] for name in code_names if name in global_names]
    values += global_names.values()
    packages = [
        _top_package(
            x.__name__ if isinstance(x, ModuleType) else getattr(x, "__module__", "") or ""
        )
        for x in values
        if isinstance(x, ModuleType) or callable(x)
    ]
    known = [name for name in packages if name in _LIBRARIES or name == "numpy"]
    return [name for name in known[:1] if name != "numpy"]


def _top_package(module: Any) -> str:
    """Return the first part of a module's name, such as "jax" of "jax.numpy"."""
    return str(module or "").partition(".")[0]


def as_numpy(x: Any) -> Array:
    """Convert an array of any library to NumPy, detached from gradients and in main memory."""
    for method in ("detach", "cpu"):
        if hasattr(x, method):
            x = getattr(x, method)()
    if "bfloat16" in str(getattr(x, "dtype", "")):
        x = x.float() if hasattr(x, "float") else x.astype("float32")
    return np.asarray(x)
