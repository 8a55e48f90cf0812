"""The numbers of the five source documents, transcribed as data.

Each document has a JSON file in this folder, which lists all its numbers in order. The documents
themselves are not part of the project, so these files are its only record of them, and a test keeps
them unchanged.
"""

import json
import re
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from mha.core.checks import as_count
from mha.core.option_checks import as_switch, as_word
from mha.runs.places import Place

DECIMAL = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
"""The form of a printed number that takes part in a calculation."""

CALCULATING = ("derived", "input", "copy")
"""The kinds of numbers that take part in a calculation and so have an example and a place."""

KINDS = MappingProxyType(
    {
        "derived": "computed by the document: judged",
        "input": "the start of a calculation",
        "copy": "an earlier number, repeated",
        "shape": "a width, a number of tokens or heads",
        "size": "a size of a published model",
        "formula": "a constant of a formula",
        "claim": "part of a claim in words",
        "illustration": "made up to make a point; the inputs of a computation are not given",
        "label": "the number of a step, a head, an index, a page",
        "damage": "there by a damaged print only",
    }
)
"""The kinds of printed numbers with their meaning."""

TITLES = MappingProxyType(
    {
        "aiayn-part-2": "AIAYN Part 2: Scaled Dot-Product Attention",
        "apple-walkthrough": "Interactive Multi-Head Attention Walkthrough",
        "attention-notes": "Self-Attention and Multi-Head Attention (lecture notes, scanned)",
        "back-to-cats-slides": "Back to Cats (lecture slides)",
        "mha-tutorial": "Transformer Multi-Head Attention Tutorial",
    }
)
"""The documents: the stem of the file's name, and the title."""


@dataclass(frozen=True)
class Number:
    """One number of a document.

    Parameters
    ----------
    line : int
        Line in the document, counted from 1.
    printed : str
        The number as printed; its decimals are its precision.
    kind : str
        One of `KINDS`.
    example : str, default ""
        Name of its worked example, for inputs, copies and derived numbers.
    place : Place, optional
        The place of the number in the run of that example.
    restates : bool, default False
        Whether the number only repeats the result printed before it.
    intended : str, default ""
        The intended number, if the print is damaged.
    reason : str, default ""
        Evidence for the intended number.

    Examples
    --------
    >>> number = Number(43, "0.81", "derived", "apple", Place.parse("query.0.2.0"))
    >>> number.value, number.half_unit, number.quantity
    (0.81, 0.005, 'query')
    """

    line: int
    printed: str
    kind: str
    example: str = ""
    place: Place | None = None
    restates: bool = False
    intended: str = ""
    reason: str = field(default="", repr=False)

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0 ** -len(self.printed.partition(".")[2])

    @property
    def value(self) -> float:
        """The printed number."""
        return float(self.printed)

    @property
    def meant(self) -> float:
        """The intended number if the print is damaged, else the printed one."""
        return float(self.intended or self.printed)

    @property
    def quantity(self) -> str:
        """The name of the stage, or for terms of a sum "products" or "weighted values"."""
        if self.place is None:
            return ""
        if self.place.term is None:
            return self.place.stage
        return "weighted values" if self.place.stage == "head_outputs" else "products"


def source_names() -> tuple[str, ...]:
    """Return the stems of the documents' files, in alphabetical order.

    Examples
    --------
    >>> source_names()[0]
    'aiayn-part-2'
    """
    return tuple(TITLES)


@cache
def load_source(name: str) -> tuple[Number, ...]:
    """Return every number of one document, in order.

    Parameters
    ----------
    name : str
        One of `source_names`.

    Returns
    -------
    tuple of Number

    Raises
    ------
    ValueError
        If there is no such document, or its file is not valid. The message names the file.

    Examples
    --------
    >>> numbers = load_source("aiayn-part-2")
    >>> [n.printed for n in numbers if n.line == 105]
    ['3.72']
    """
    if name not in TITLES:
        raise ValueError(f"name is {name!r}; one of {', '.join(TITLES)} is wanted")
    text = resources.files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    return numbers_from(name, text)


def numbers_from(name: str, text: str) -> tuple[Number, ...]:
    """Parse the text of a document's JSON file.

    Parameters
    ----------
    name : str
        The file's name without its ending.
    text : str
        Contents of the file.

    Returns
    -------
    tuple of Number

    Raises
    ------
    ValueError
        If the text is not valid. The message names the file.
    """
    try:
        records = json.loads(text)
        if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
            raise ValueError("a list of records is wanted")
        return tuple(_number(**record) for record in records)
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"mha/audit/sources/{name}.json: {error}") from error


def _number(*, kind: str, example: str = "", place: str = "", **rest: Any) -> Number:
    """Return the number that one record of a file describes."""
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; one of {', '.join(KINDS)} is wanted")
    if {bool(example), bool(place)} != {kind in CALCULATING}:
        raise ValueError(
            f"a {kind} has example {example!r} and place {place!r}; numbers that take part in a"
            " calculation have both, others neither"
        )
    odd = sorted(rest.keys() - {found.name for found in fields(Number)})
    if odd:
        raise ValueError(f"a number has {odd[0]!r}; no such field is known")
    number = Number(kind=kind, example=example, place=Place.parse(place) if place else None, **rest)
    _check(number)
    return number


def _check(number: Number) -> None:
    """Raise unless the fields have their types, and numbers of a calculation are decimals."""
    as_count("line", number.line)
    as_switch("restates", number.restates)
    for name in ("printed", "example", "intended", "reason"):
        as_word(name, getattr(number, name))
    if number.place is not None:
        for name, digits in (("printed", number.printed), ("intended", number.intended or "0")):
            if not DECIMAL.fullmatch(digits):
                raise ValueError(f"{name} is {digits!r}; a number such as -0.25 is wanted")
