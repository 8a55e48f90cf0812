"""The public names of the package, and what each of them is."""

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
FOR_CHAPTERS = "mha.chapters"  # its names come after those of the package


@dataclass(frozen=True)
class Name:
    """A public name."""

    full: str  # as it is imported: "mha.softmax", "mha.figures.flow"

    @property
    def short(self) -> str:
        """The name as a program writes it after its import."""
        return self.full.removeprefix(f"{FOR_CHAPTERS}.").removeprefix(f"{PACKAGE}.")

    @cached_property
    def thing(self) -> Any:
        """What the name stands for."""
        importlib.import_module(FOR_CHAPTERS)
        thing = pkgutil.resolve_name(self.full.replace(".", ":", 1))
        return getattr(thing, "__func__", thing)

    @property
    def kind(self) -> str:
        """What Sphinx calls such a thing."""
        thing = self.thing
        if isinstance(thing, ModuleType):
            return "module"
        if inspect.isclass(thing):
            return "class"
        if isproperty(thing):
            return "property"
        if callable(thing):
            owner, _, _ = self.full.rpartition(".")
            return "method" if inspect.isclass(Name(owner).thing) else "function"
        return "data"

    @property
    def docstring(self) -> str:
        """Its docstring, empty for data."""
        return "" if self.kind == "data" else inspect.getdoc(self.thing) or ""

    @property
    def members(self) -> list["Name"]:
        """The public names below it: a module's, or the documented methods of a class."""
        if self.kind == "module":
            return [Name(f"{self.full}.{name}") for name in public_of(self.thing)]
        if self.kind != "class":
            return []
        members = [name for name in vars(self.thing) if not name.startswith("_")]
        names = [Name(f"{self.full}.{name}") for name in members]
        return [name for name in names if name.kind in ("method", "property") and name.docstring]


def public_of(module: ModuleType) -> list[str]:
    """Return the public names that a module lists."""
    return sorted(module.__all__, key=str.lower)


def public_names() -> Iterator[Name]:
    """Yield every name that the reference has to explain, methods excepted.

    Examples
    --------
    >>> names = [name.short for name in public_names()]
    >>> [name in names for name in ("softmax", "figures.flow", "stages.STAGES", "open_example")]
    [True, True, True, True]
    >>> "np" in names
    False
    """
    package, chapters = map(importlib.import_module, (PACKAGE, FOR_CHAPTERS))
    names = [f"{PACKAGE}.{short}" for short in public_of(package)]
    for short in public_of(chapters):
        thing = vars(chapters)[short]
        home = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__
        if short not in package.__all__ and home.startswith(f"{PACKAGE}."):
            names.append(f"{FOR_CHAPTERS}.{short}")
    for name in map(Name, names):
        yield name
        if name.kind == "module":
            yield from name.members
