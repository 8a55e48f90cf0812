"""What is said of a function: a report, and a finding for each thing that differs."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mha.core.multihead import MultiHeadWeights
from mha.runs.rounding import short

LINE = 77
"""How many characters a line of words has at most."""
MOST = 88
"""How many numbers of an array are written."""


@dataclass(frozen=True, eq=False)
class Shown:
    """One case, worked.

    Parameters
    ----------
    handed : mapping
        What was handed in, by the function's own names.
    wanted, came : str
        What is right, and what came.
    lines : tuple of str
        How the first number that differs is to come about, as lines of arithmetic.
    """

    handed: Mapping[str, Any]
    wanted: str
    came: str
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the case as lines of text."""
        handed = [f"{name} = {written(value)}" for name, value in self.handed.items()]
        said = [*handed, f"wanted: {self.wanted}", f"came:   {self.came}", *self.lines]
        return "\n".join(said)


@dataclass(frozen=True, eq=False)
class Finding:
    """One thing that differs from what is expected.

    Parameters
    ----------
    said : str
        What it is, in a sentence.
    bug : str, optional
        The name of the bug that gives exactly what came, or several of which each does; None if
        none is known, or nothing is wrong.
    convention : str, optional
        Under which condition the function is right; None if it is wrong.
    line, meant : str
        The line that usually causes the bug, and what was meant.
    section : str
        What explains it in the book: a page without its ending, and a label on it.
    case : Shown, optional
        The smallest case that shows it.
    """

    said: str
    bug: str | None = None
    convention: str | None = None
    line: str = ""
    meant: str = ""
    section: str = ""
    case: Shown | None = None

    def __str__(self) -> str:
        """Return the finding as lines of text."""
        page, _, label = self.section.partition("#")
        found = textwrap.wrap(f"{'No bug' if self.convention else 'Wrong'}: {self.said}", LINE)
        if self.line:
            found += [f"  often written: {self.line}", f"  what is meant: {self.meant}"]
        if self.section:
            found.append(f"  in the book:   {page}.html#{label}")
        if self.case is not None:
            found.append("  The smallest case that was found:")
            found += [f"    {line}" for line in str(self.case).split("\n")]
        return "\n".join(found)

    def as_data(self) -> dict[str, Any]:
        """Return the finding as JSON has it."""
        data: dict[str, Any] = {name: getattr(self, name) for name in _WORDS}
        if self.case is not None:
            data["case"] = {
                "handed": {name: written(x) for name, x in self.case.handed.items()},
                "wanted": self.case.wanted,
                "came": self.case.came,
                "lines": list(self.case.lines),
            }
        return data


_WORDS = ("said", "bug", "convention", "line", "meant", "section")


@dataclass(frozen=True, eq=False)
class Report:
    """What came of examining a function.

    Parameters
    ----------
    name : str
        The function's.
    cases : mapping of str to tuple of int
        Of each kind of case how many agree with what is right, or right by the conventions that
        were found, and how many were asked.
    findings : tuple of Finding
        None where everything agrees.
    """

    name: str
    cases: Mapping[str, tuple[int, int]]
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether the function is right, be it by another convention."""
        return all(finding.convention for finding in self.findings)

    def raise_if_wrong(self) -> None:
        """Raise an AssertionError that holds the report, unless the function is right.

        Raises
        ------
        AssertionError
        """
        if not self.ok:
            raise AssertionError(str(self))

    def __str__(self) -> str:
        """Return the report as text."""
        total = sum(asked for _, asked in self.cases.values())
        agreed = sum(agreed for agreed, _ in self.cases.values())
        verdict = (
            "wrong" if not self.ok else "right by its conventions" if agreed < total else "right"
        )
        found = [f"{self.name} is {verdict}: {agreed} of {total} cases agree."]
        off = [f"{kind} ({n - a} of {n})" for kind, (a, n) in self.cases.items() if a < n]
        if off:
            found += _listed("these differ", off)
            found += _listed("these agree", [k for k, (a, n) in self.cases.items() if a == n])
        return "\n\n".join(["\n".join(found), *map(str, self.findings)])

    __repr__ = __str__

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return {
            "name": self.name,
            "ok": self.ok,
            "cases": {kind: list(counts) for kind, counts in self.cases.items()},
            "findings": [finding.as_data() for finding in self.findings],
        }


def _listed(said: str, items: Sequence[str]) -> list[str]:
    """Return items as lines, none of them broken; no line if there is none."""
    start, whole = f"  {said}: ", "; ".join(item.replace(" ", "\u00a0") for item in items)
    lines = textwrap.wrap(whole, LINE, initial_indent=start, subsequent_indent=" " * len(start))
    return [line.replace("\u00a0", " ") for line in lines]


def written(value: Any) -> str:
    """Return a value as a report writes it: nested lists of short numbers.

    Examples
    --------
    >>> written(np.array([[1.0, 0.25], [-2.0, 1 / 3]])), written(np.array([True])), written(0.5)
    ('[[1, 0.25], [−2, 0.3333]]', '[True]', '0.5')
    """
    if isinstance(value, np.ndarray) and value.ndim:
        inner = ", ".join(written(x) for x in value)
        return f"[{inner}]" if value.size <= MOST else f"numbers of shape {value.shape}"
    if isinstance(value, MultiHeadWeights):
        return ", ".join(f"{name} {written(x)}" for name, x in value.arrays.items())
    if isinstance(value, float | np.floating):
        return short(float(value))
    if isinstance(value, np.ndarray | np.generic):
        return written(value.item())
    return str(value)
