"""What the five source documents print: every number, transcribed, as data.

Each document has a JSON file in this folder, named as the document is: a list of its numbers in
order. ``python -m mha.audit.sources.transcribe`` writes them, by the rules in the folder ``rules``.
"""

import json
import re
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from mha.core.checks import as_count
from mha.core.option_checks import as_bool, as_string
from mha.runs.places import Place

DECIMAL = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
"""How a number is printed that takes part in a calculation."""

CALCULATING = ("derived", "input", "copy")
"""The kinds of numbers that take part in a calculation: these have an example and a place."""

KINDS = MappingProxyType(
    {
        "derived": "computed by the document: judged",
        "input": "what a calculation starts from",
        "copy": "an earlier number taken up again",
        "shape": "a width, a number of tokens or heads",
        "size": "a size of a published model",
        "formula": "a constant of a formula",
        "claim": "part of a claim in words",
        "illustration": "made up to make a point; nothing it could be computed from is given",
        "label": "counts a step, a head, an index, a page",
        "damage": "stands there by a damaged print only",
    }
)
"""Every kind of number that a document prints, and what it means."""

TITLES = MappingProxyType(
    {
        "aiayn-part-2": "AIAYN Part 2: Scaled Dot-Product Attention",
        "apple-walkthrough": "Interactive Multi-Head Attention Walkthrough",
        "attention-notes": "Self-Attention and Multi-Head Attention (lecture notes, scanned)",
        "back-to-cats-slides": "Back to Cats (lecture slides)",
        "mha-tutorial": "Transformer Multi-Head Attention Tutorial",
    }
)
"""The documents: the stem of each one's file, and the title to cite it by."""


@dataclass(frozen=True)
class Number:
    """One number of a document.

    Parameters
    ----------
    line : int
        Line in the document, counted from 1.
    printed : str
        As it stands there; its decimals are its precision.
    kind : str
        One of `KINDS`.
    example : str, default ""
        The worked example that it belongs to: for inputs, copies and derived numbers.
    place : Place, optional
        What it claims to be, in a run of that example.
    restates : bool, default False
        A result that only repeats the one printed before it.
    intended : str, default ""
        What was meant, where the print is damaged.
    reason : str, default ""
        How that can be told.

    Examples
    --------
    >>> number = Number(43, "0.81", "derived", "apple", Place.parse("query.0.2.0"))
    >>> number.value, number.half_unit, number.step
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
        """Half a unit of the last printed place."""
        return 0.5 * 10.0 ** -len(self.printed.partition(".")[2])

    @property
    def value(self) -> float:
        """The printed number."""
        return float(self.printed)

    @property
    def meant(self) -> float:
        """The intended number where the print is damaged, else the printed one."""
        return float(self.intended or self.printed)

    @property
    def step(self) -> str:
        """The stage, or what its terms are called: products, weighted values."""
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
        If there is no such document, or its file is not as it should be, naming the file.

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
    """Return the numbers that a document's file lists.

    Parameters
    ----------
    name : str
        The file's name without its ending.
    text : str
        What stands in it.

    Returns
    -------
    tuple of Number

    Raises
    ------
    ValueError
        If it is not as it should be, naming the file.
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
    """Raise unless the fields are of their kinds, and what is calculated with is a number."""
    as_count("line", number.line)
    as_bool("restates", number.restates)
    for name in ("printed", "example", "intended", "reason"):
        as_string(name, getattr(number, name))
    if number.place is not None:
        for name, digits in (("printed", number.printed), ("intended", number.intended or "0")):
            if not DECIMAL.fullmatch(digits):
                raise ValueError(f"{name} is {digits!r}; a number such as -0.25 is wanted")
