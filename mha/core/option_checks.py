"""Checks of arguments that are no arrays: switches, words, and things of a kind.

Each error is one sentence, as in `mha.core.checks`.
"""

import numpy as np


def as_switch(name: str, value: bool) -> bool:
    """Return `value` as a bool; a word such as "no" would otherwise count as true.

    Raises
    ------
    TypeError
        If it is neither True nor False.

    Examples
    --------
    >>> as_switch("is_causal", "no")
    Traceback (most recent call last):
        ...
    TypeError: is_causal is 'no'; true or false is wanted
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {value!r}; true or false is wanted")
    return bool(value)


def as_word(name: str, value: str) -> str:
    """Return `value`, which is a string, or raise.

    Raises
    ------
    TypeError
        If it is none.

    Examples
    --------
    >>> as_word("title", 3)
    Traceback (most recent call last):
        ...
    TypeError: title is 3; a string is wanted
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; a string is wanted")
    return value


def check_kind(name: str, value: object, kind: type) -> None:
    """Raise a TypeError unless `value` is of a kind.

    Examples
    --------
    >>> check_kind("rng", 3, np.random.Generator)
    Traceback (most recent call last):
        ...
    TypeError: rng is a int; a Generator is wanted
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} is a {type(value).__name__}; a {kind.__name__} is wanted")
