"""What the five source documents print: every number, transcribed, as data.

Each document has a JSON file in this folder, named as the document is: a list of its numbers in
order. ``scripts/transcribe_sources.py`` writes them.
"""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType

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
class Quantity:
    """What a number claims to be.

    Parameters
    ----------
    example : str
        One of `mha.example_names`.
    stage : str
        An array of a trace, a matrix of the example, "percentages" (weights in percent) or
        "root" (the square root of d_k).
    index : tuple of (str, int)
        The place in the array, counted from 0: head, row, column, as the stage has them. A row
        is a token; from the scores to the weights a column is a key's token.
    term : int, optional
        Which term of the sum that gives the number, instead of the number itself: a product, or
        a weighted value.

    Examples
    --------
    >>> str(Quantity("cat-sat", "scores", (("head", 0), ("row", 0), ("column", 1)), term=2))
    'cat-sat scores head=0 row=0 column=1 term=2'
    """

    example: str
    stage: str
    index: tuple[tuple[str, int], ...] = ()
    term: int | None = None

    def __str__(self) -> str:
        """Return the quantity as the data files write it."""
        places = [*self.index, *([] if self.term is None else [("term", self.term)])]
        return " ".join([self.example, self.stage, *(f"{axis}={i}" for axis, i in places)])

    @property
    def place(self) -> tuple[int, ...]:
        """The index without the names of its axes."""
        return tuple(i for _, i in self.index)

    @property
    def kind(self) -> str:
        """The stage, or what its terms are called: products, weighted values."""
        if self.term is None:
            return self.stage
        return "weighted values" if self.stage == "head_outputs" else "products"


def parse_quantity(text: str) -> Quantity:
    """Return the quantity that a text such as ``cat-sat scores head=0 row=0 column=1`` names.

    Parameters
    ----------
    text : str

    Returns
    -------
    Quantity

    Raises
    ------
    ValueError
        If the text is not of this form.

    Examples
    --------
    >>> parse_quantity("cat-sat root").stage
    'root'
    """
    if not re.fullmatch(r"[\w-]+ \w+( (head|row|column|term)=\d+)*", text):
        raise ValueError(
            f"quantity is {text!r}; example, stage and places such as 'head=0' are wanted"
        )
    example, stage, *places = text.split(" ")
    index = [(axis, int(i)) for axis, i in (place.split("=") for place in places)]
    term = index.pop()[1] if index and index[-1][0] == "term" else None
    return Quantity(example, stage, tuple(index), term)


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
    quantity : Quantity, optional
        What it claims to be: for inputs, copies and derived numbers.
    restates : bool, default False
        A result that only repeats the one printed before it.
    intended : str, default ""
        What was meant, where the print is damaged.
    reason : str, default ""
        How that can be told.
    """

    line: int
    printed: str
    kind: str
    quantity: Quantity | None = None
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
    try:
        return tuple(_number(**record) for record in json.loads(text))
    except (TypeError, ValueError) as error:
        raise ValueError(f"mha/audit/sources/{name}.json: {error}") from error


def _number(*, kind: str, quantity: str = "", **rest: object) -> Number:
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; one of {', '.join(KINDS)} is wanted")
    if bool(quantity) != (kind in ("derived", "input", "copy")):
        raise ValueError(
            f"a {kind} has quantity {quantity!r}; numbers that take part in a"
            " calculation have one, others none"
        )
    return Number(kind=kind, quantity=parse_quantity(quantity) if quantity else None, **rest)  # type: ignore[arg-type]
