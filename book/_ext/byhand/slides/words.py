"""Texts with marks as runs of letters, for formats that cannot typeset formulas."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element, fromstring

from byhand.mathematics.page import to_mathml
from byhand.tables.marks import pieces

LOWER, UPPER = -25000, 30000  # thousandths of a per cent of the letters' size, as PowerPoint counts
SPACED = set("=≈≠≤≥<>+−×÷·⋅∈→←")


@dataclass(frozen=True)
class Run:
    """Consecutive letters of the same style."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    math: bool = False
    baseline: int = 0  # how far they are raised


def runs(text: str) -> list[Run]:
    """Return the runs of a text with marks.

    Examples
    --------
    >>> [(run.text, run.baseline) for run in runs("by $d_k$")]
    [('by ', 0), ('d', 0), ('k', -25000)]
    """
    found: list[Run] = []
    for kind, piece in pieces(re.sub(r"[ \n]+", " ", text)):
        if kind == "math":
            found += _of_formula(fromstring(to_mathml(piece, display=False)))
        else:
            level = {"sup": UPPER, "sub": LOWER}.get(kind, 0)
            is_code = kind == "code"
            found.append(Run(piece, kind == "strong", kind == "em", is_code, baseline=level))
    return found


def plain(text: str) -> str:
    r"""Return a text without its Markdown and TeX marks.

    Examples
    --------
    >>> plain("*cat*: $W^Q$, $1/2$")
    'cat: WQ, 1/2'
    >>> plain(r"$\log 3$")
    'log 3'
    """
    return "".join(run.text for run in runs(text))


def _of_formula(element: Element) -> Iterator[Run]:
    """Yield the runs of a formula in a sentence."""
    kind = element.tag.rpartition("}")[2]
    children = list(element)
    if kind in ("mi", "mn", "mo", "mtext"):
        yield from _letters(kind, element)
    elif kind in ("msub", "msup", "msubsup"):
        yield from _of_formula(children[0])
        levels = {"msub": (LOWER,), "msup": (UPPER,), "msubsup": (LOWER, UPPER)}[kind]
        for child, level in zip(children[1:], levels, strict=True):
            yield from (
                replace(run, text=run.text.strip(), baseline=level) for run in _of_formula(child)
            )
    elif kind == "mspace":
        if not element.get("width", "").startswith("-"):
            yield Run(" ", math=True)
    elif kind == "msqrt":
        yield Run("√", math=True)
        yield from _bracketed([run for child in children for run in _of_formula(child)])
    elif kind == "mfrac":
        for i, child in enumerate(children):
            yield from [Run("/", math=True)] * i
            yield from _bracketed(list(_of_formula(child)))
    else:
        for child in children:
            yield from _of_formula(child)


def _letters(kind: str, element: Element) -> Iterator[Run]:
    text = re.sub("[\u2061-\u2063]", "", element.text or "")
    if kind == "mo" and text in SPACED:
        text = f" {text} "
    if kind == "mo" and text == ",":
        text = ", "
    if text:
        single = kind == "mi" and len(text) == 1 and element.get("mathvariant") != "normal"
        yield Run(text, italic=single, math=True)


def _bracketed(inner: list[Run]) -> list[Run]:
    """Return runs in brackets, unless they are one letter with its indices."""
    if sum(not run.baseline for run in inner) == 1:
        return inner
    return [Run("(", math=True), *inner, Run(")", math=True)]
