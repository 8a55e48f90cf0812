"""Shapes of data: what kinds of values a file has, and the first value of another kind."""

import tomllib
from typing import Any, TypeAlias

from byhand.checking.sources import nearest

Shape: TypeAlias = "type | list[Shape] | tuple[Shape, ...] | dict[str, Shape]"
"""A kind of value; a list of such values; a list with one value of each; or a table by its keys.

In a table, "*" has the shape of the values of all keys. A key that ends with "?" is optional.
"""

NAMES = {str: "a string", int: "a whole number", bool: "true or false", list: "a list"}
NAMES |= {tuple: "a list", dict: "a table", float: "a number"}
ACCEPTED: dict[type, Any] = {tuple: list, float: (int, float)}


class ShapeError(ValueError):
    """A value of another kind than its key wants."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def read_tables(text: str, shape: dict[str, Shape]) -> dict[str, Any]:
    """Return the tables of a TOML text, whose values must have a shape.

    Examples
    --------
    >>> read_tables("a = [1]", {"a": [int]})
    {'a': [1]}
    >>> read_tables("a = 1", {"a": [int]})
    Traceback (most recent call last):
    byhand.checking.shapes.ShapeError: a is 1; a list is wanted
    """
    tables = tomllib.loads(text)
    check_shape(tables, shape, "")
    return tables


def check_shape(value: Any, shape: Shape, key: str) -> None:
    """Raise unless a value, which has a key, has a shape."""
    kind = shape if isinstance(shape, type) else type(shape)
    fits = isinstance(value, ACCEPTED.get(kind, kind))
    if not fits or (isinstance(value, bool) and kind is not bool):
        raise ShapeError(key, f"{key} is {value!r}; {NAMES[kind]} is wanted")
    if isinstance(shape, dict):
        _check_table(value, shape, key)
    elif isinstance(shape, list):
        for inner in value:
            check_shape(inner, shape[0], key)
    elif isinstance(shape, tuple):
        if len(value) != len(shape):
            raise ShapeError(key, f"{key} has {value!r}; a list of {len(shape)} values is wanted")
        for inner, part in zip(value, shape, strict=True):
            check_shape(inner, part, key)


def _check_table(table: dict[str, Any], shape: dict[str, Shape], key: str) -> None:
    known = {name.removesuffix("?"): inner for name, inner in shape.items()}
    for name, value in table.items():
        if name not in known and "*" not in known:
            what = "table" if isinstance(value, dict) else "key"
            raise ShapeError(name, f"unknown {what} {name!r}; {nearest(name, known)}")
        check_shape(value, known.get(name) or known["*"], name)
    for name in shape.keys() - table.keys():
        if name != "*" and not name.endswith("?"):
            raise ShapeError(key, f"{key or 'the file'} has no {name!r}; it is wanted")
