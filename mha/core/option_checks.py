"""Checks of arguments that are not arrays: booleans, strings and types.

The messages have the form of those of `mha.core.checks`.
"""

import numpy as np


def as_bool(name: str, value: bool) -> bool:
    """Return `value` as a bool; other types raise an error, since the string "no" is truthy.

    Raises
    ------
    TypeError
        If it is neither True nor False.

    Examples
    --------
    >>> as_bool("is_causal", "no")
    Traceback (most recent call last):
        ...
    TypeError: is_causal is 'no'; true or false is wanted
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {value!r}; true or false is wanted")
    return bool(value)


def as_string(name: str, value: str) -> str:
    """Return `value`, and raise a TypeError unless it is a string.

    Raises
    ------
    TypeError
        If it is not a string.

    Examples
    --------
    >>> as_string("title", 3)
    Traceback (most recent call last):
        ...
    TypeError: title is 3; a string is wanted
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; a string is wanted")
    return value


def check_type(name: str, value: object, kind: type) -> None:
    """Raise a TypeError unless `value` is an instance of a type.

    Examples
    --------
    >>> check_type("rng", 3, np.random.Generator)
    Traceback (most recent call last):
        ...
    TypeError: rng is a int; a Generator is wanted
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} is a {type(value).__name__}; a {kind.__name__} is wanted")
