"""The public names of the package, their modules and kinds."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from sphinx.util.inspect import isproperty

PACKAGE = "mha"
ALL_NAMES = "mha.public_names"
FOR_CHAPTERS = "mha.chapters"  # its names come after those of the package


@dataclass(frozen=True)
class Name:
    """A public name."""

    short: str  # as a program writes it after its import: "softmax", "figures.lanes"
    home: str = PACKAGE  # the module that it is imported from

    @property
    def full(self) -> str:
        """The name with its module: "mha.softmax", "mha.core.decoding.KeyValueCache"."""
        return f"{self.home}.{self.short}"

    @cached_property
    def thing(self) -> Any:
        """The object that the name refers to."""
        thing = pkgutil.resolve_name(f"{self.home}:{self.short}")
        return getattr(thing, "__func__", thing)

    @property
    def kind(self) -> str:
        """Sphinx's name for this kind of object."""
        thing = self.thing
        if isinstance(thing, ModuleType):
            return "module"
        if inspect.isclass(thing):
            return "class"
        if isproperty(thing):
            return "property"
        if callable(thing):
            owner, _, _ = self.short.rpartition(".")
            is_method = owner and inspect.isclass(Name(owner, self.home).thing)
            return "method" if is_method else "function"
        return "data"

    @property
    def docstring(self) -> str:
        """The docstring, empty for data."""
        return "" if self.kind == "data" else inspect.getdoc(self.thing) or ""

    @property
    def members(self) -> list["Name"]:
        """The public names of a module, or the documented methods of a class."""
        if self.kind == "module":
            return [Name(f"{self.short}.{name}", self.home) for name in public_of(self.thing)]
        if self.kind != "class":
            return []
        members = [name for name in vars(self.thing) if not name.startswith("_")]
        names = [Name(f"{self.short}.{name}", self.home) for name in members]
        return [name for name in names if name.kind in ("method", "property") and name.docstring]


def public_of(module: ModuleType) -> list[str]:
    """Return the public names of a module."""
    return sorted(module.__all__, key=str.lower)


def public_names() -> Iterator[Name]:
    """Yield every name that the reference must document, except methods.

    Examples
    --------
    >>> names = [name.short for name in public_names()]
    >>> [name in names for name in ("softmax", "figures.lanes", "stages.STAGES", "open_example")]
    [True, True, True, True]
    >>> "np" in names
    False
    """
    package, names, chapters = map(importlib.import_module, (PACKAGE, ALL_NAMES, FOR_CHAPTERS))
    found = [
        Name(
            short,
            PACKAGE if short in package.__all__ else element_with_fold(short, vars(names)[short]),
        )
        for short in public_of(names)
    ]
    for short in public_of(chapters):
        is_ours = module_of(vars(chapters)[short]).startswith(f"{PACKAGE}.")
        if short not in names.__all__ and is_ours:
            found.append(Name(short, FOR_CHAPTERS))
    for name in found:
        yield name
        if name.kind == "module":
            yield from name.members


def element_with_fold(short: str, thing: Any) -> str:
    """Return the module from which a name is imported: a package if it lists the name.

    Examples
    --------
    >>> from mha.layouts.arrays import layer_to_arrays
    >>> element_with_fold("layer_to_arrays", layer_to_arrays)
    'mha.layouts'
    >>> from mha.core.decoding import KeyValueCache
    >>> element_with_fold("KeyValueCache", KeyValueCache)
    'mha.core.decoding'
    """
    home = module_of(thing)
    package, _, _ = home.rpartition(".")
    is_listed = short in getattr(importlib.import_module(package), "__all__", ())
    return package if is_listed or isinstance(thing, ModuleType) else home


def module_of(thing: Any) -> str:
    """Return the module that defines a function or class; for a module, itself."""
    return thing.__name__ if isinstance(thing, ModuleType) else thing.__module__
