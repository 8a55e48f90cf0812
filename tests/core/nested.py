"""The arrays inside arguments and results, which may be lists or dataclasses of the package."""

import dataclasses
from itertools import count

import numpy as np


def arrays_of(value):
    """Return every array inside a value, in order."""
    if isinstance(value, np.ndarray):
        return [value]
    if dataclasses.is_dataclass(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, list | tuple):
        return [array for part in value for array in arrays_of(part)]
    return []


def changed(value, change):
    """Return a value with each of its arrays changed. A generator starts again from its seed."""
    if isinstance(value, np.ndarray):
        return change(value.copy())
    if isinstance(value, np.random.Generator):
        return np.random.default_rng(3)
    if isinstance(value, list | tuple):
        return type(value)(changed(part, change) for part in value)
    if not dataclasses.is_dataclass(value):
        return value
    parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dataclasses.replace(value, **{n: changed(part, change) for n, part in parts.items()})


def changed_at(index, value, change, others=lambda array: array):
    """Return a value with the array at `index` changed by `change`, and the rest by `others`."""
    at = count()
    return changed(value, lambda array: (change if next(at) == index else others)(array))
