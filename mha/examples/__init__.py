"""The book's worked examples, one TOML file each in this folder.

A file has the inputs exactly as the source prints them, and no derived number.
"""

import tomllib
from collections.abc import Collection
from dataclasses import fields
from difflib import get_close_matches
from importlib import resources
from typing import Any

from mha.core.multihead import MultiHeadWeights
from mha.runs.worked_example import Reading, WorkedExample

HEAD_KEYS = ("name", "w_q", "w_k", "w_v")
READING_KEYS = [field.name for field in fields(Reading)]
EXAMPLE_KEYS = sorted(
    {field.name for field in fields(WorkedExample)} - {"name", "layer", "block", "refinements"}
    | {"heads", "w_o"}
)
REQUIRED_KEYS = ("title", "source", "tokens")
MATRICES = ("embeddings", "query", "key", "value", "w_q", "w_k", "w_v", "w_o")


class ExampleError(ValueError):
    """An error in the file of a worked example, with its position.

    Parameters
    ----------
    message : str
    key : str, default ""
        The key at fault.
    table : str, default ""
        The array of tables that the key is in, ``heads`` or ``readings``; empty at the top level.
    number : int, default 0
        The position of the table in that array, counted from 1.
    """

    def __init__(self, message: str, key: str = "", table: str = "", number: int = 0) -> None:
        super().__init__(message)
        self.key, self.table, self.number = key, table, number


def example_names() -> tuple[str, ...]:
    """Return the names of the worked examples, in alphabetical order.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "cat-sat" in example_names()
    True
    """
    files = resources.files(__name__).iterdir()
    return tuple(sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml")))


def load_example(name: str) -> WorkedExample:
    """Return one worked example.

    Parameters
    ----------
    name : str
        One of `example_names`.

    Returns
    -------
    WorkedExample

    Raises
    ------
    ValueError
        If there is no such example, or its file is not valid. The message names the file.

    Examples
    --------
    >>> load_example("cat-sat").tokens
    ('cat', 'sat')
    """
    if name not in example_names():
        raise ValueError(f"name is {name!r}; one of {', '.join(example_names())} is wanted")
    text = resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return example_from(name, text)


def example_from(name: str, text: str) -> WorkedExample:
    """Return the worked example that the text of a TOML file describes.

    Parameters
    ----------
    name : str
        The file's name without its ending.
    text : str
        The file's contents.

    Returns
    -------
    WorkedExample

    Raises
    ------
    ExampleError
        If a key is unknown or missing, or a value is not valid. The message names the file.
    """
    try:
        return _example(name, tomllib.loads(text))
    except ExampleError as error:
        message = f"mha/examples/{name}.toml: {error}"
        raise ExampleError(message, error.key, error.table, error.number) from error
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise ExampleError(f"mha/examples/{name}.toml: {error}") from error


def _example(name: str, data: dict[str, Any]) -> WorkedExample:
    _check_keys(data, EXAMPLE_KEYS, REQUIRED_KEYS)
    heads = _tables(data, "heads", HEAD_KEYS)
    _check_heads(heads)
    for key in ("title", "source"):
        if isinstance(data[key], str) and not data[key].strip():
            raise ExampleError(f"{key} is {data[key]!r}; visible characters are wanted", key)
    _check_numbers(data)
    data["readings"] = tuple(
        Reading(**reading) for reading in _tables(data, "readings", READING_KEYS)
    )
    if not heads:
        if "query" not in data:
            raise ExampleError("the file has neither [[heads]] nor query, key and value")
        if "w_o" in data:
            raise ExampleError("'w_o' needs [[heads]], whose outputs it projects", "w_o")
        if "head_names" not in data:
            raise ExampleError("'head_names' is missing; query, key and value need it")
    else:
        if "head_names" in data:
            raise ExampleError(
                "'head_names' is given, but each of [[heads]] has a name", "head_names"
            )
        matrices: dict[str, Any] = {
            matrix: [head[matrix] for head in heads] for matrix in ("w_q", "w_k", "w_v")
        }
        data["layer"] = MultiHeadWeights(**matrices, w_o=data.pop("w_o", None))
        data["head_names"] = [head["name"] for head in heads]
    return WorkedExample(name=name, **data)


def _tables(data: dict[str, Any], table: str, keys: Collection[str]) -> list[dict[str, Any]]:
    """Remove an array of tables from the data, check its keys, and return it."""
    tables = data.pop(table, [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise ExampleError(f"'{table}' must be written as [[{table}]] tables", table)
    for number, each in enumerate(tables, 1):
        _check_keys(each, keys, keys, table, number)
    return tables


def _check_heads(heads: list[dict[str, Any]]) -> None:
    """Raise an ExampleError for a head whose name is no text or that of another head."""
    names: list[str] = []
    for number, head in enumerate(heads, 1):
        name, owner = head["name"], f"[[heads]] number {number} has the name {head['name']!r}"
        if not isinstance(name, str):
            raise ExampleError(f"{owner}; a string is wanted", "name", "heads", number)
        if name in names:
            raise ExampleError(f"{owner} too; a name of its own is wanted", "name", "heads", number)
        names.append(name)
        _check_numbers(head, "heads", number)


def _check_numbers(found: dict[str, Any], table: str = "", number: int = 0) -> None:
    """Raise an ExampleError for a matrix with a truth value, which NumPy would read as 0 or 1."""
    for key in found.keys() & MATRICES:
        if _has_truth_value(found[key]):
            message = f"{key} holds true or false; numbers are wanted"
            raise ExampleError(message, key, table, number)


def _has_truth_value(value: Any) -> bool:
    if isinstance(value, list):
        return any(_has_truth_value(part) for part in value)
    return isinstance(value, bool)


def _check_keys(
    found: Collection[str],
    known: Collection[str],
    required: Collection[str],
    table: str = "",
    number: int = 0,
) -> None:
    """Raise an ExampleError for the first key that is unknown or missing."""
    owner = f"[[{table}]] number {number}" if table else "the file"
    for key in found:
        if key in known:
            continue
        message = f"{owner} has an unknown key {key!r}"
        if table and key in EXAMPLE_KEYS:
            # TOML adds each key after a table's header to that table.
            message += f"; it belongs to the whole example, above the first [[{table}]]"
        elif near := get_close_matches(key, known, 1):
            message += f"; did you mean {near[0]!r}?"
        else:
            message += f"; its keys are {', '.join(sorted(known))}"
        raise ExampleError(message, key, table, number)
    for key in required:
        if key not in found:
            raise ExampleError(f"{owner} has no {key!r}", "", table, number)
