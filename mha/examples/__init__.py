"""The book's worked examples: one TOML file each in this folder.

A file gives the inputs exactly as its source prints them. Nothing derived is stored.
"""

import tomllib
from importlib import resources
from typing import Any

from mha.core.multihead import MultiHeadWeights
from mha.runs.worked import Reading, WorkedExample


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
        If there is no such example, or its file is not as it should be, naming the file.

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
    """Return the worked example that a file describes.

    Parameters
    ----------
    name : str
        The file's name without its ending.
    text : str
        What stands in it.

    Returns
    -------
    WorkedExample

    Raises
    ------
    ValueError
        If it is not as it should be, naming the file.
    """
    try:
        return _example(name, tomllib.loads(text))
    except KeyError as error:
        raise ValueError(f"mha/examples/{name}.toml: {error} is missing in a head") from error
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"mha/examples/{name}.toml: {error}") from error


def _example(name: str, data: dict[str, Any]) -> WorkedExample:
    heads = data.pop("heads", [])
    if heads:
        matrices: dict[str, Any] = {
            matrix: [head[matrix] for head in heads] for matrix in ("w_q", "w_k", "w_v")
        }
        data["layer"] = MultiHeadWeights(**matrices, w_o=data.pop("w_o", None))
        data["head_names"] = [head["name"] for head in heads]
    data["readings"] = tuple(Reading(**reading) for reading in data.pop("readings", []))
    return WorkedExample(name=name, **data)
