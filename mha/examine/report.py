"""Reports on functions as data and as text, with a finding per bug and per convention."""

import json
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

import numpy as np

from mha.core.multihead import MultiHeadWeights
from mha.runs.rounding import short

LINE_WIDTH = 76
"""The largest number of characters in a line of text."""
MAX_PRINTED_ONES = 12
"""An array of more ones than this is printed as ``np.ones(shape)``."""
MAX_PRINTED_NUMBERS = 88
"""An array of more numbers than this is printed as its shape."""

RENAMED = {"wanted": "expected", "came": "actual", "handed": "arguments"}
"""Attributes of `Shown` in version 0.1, and their names now."""


@dataclass(frozen=True, eq=False)
class Shown:
    """One test case as Python code that can be run, with the steps of its calculation.

    Parameters
    ----------
    about : str
        The kind of case.
    arguments : mapping
        The arguments of the call, by the function's own names.
    code : list of str
        The inputs and the calls of the function, as lines of Python.
    expected, actual : str
        The correct output, and that of the function.
    steps : sequence of tuple of str
        The steps to the first wrong number, each as it is computed correctly, and with the known
        bug, if one explains the output.
    call : int, default 0
        For several calls of one function: the call with the wrong number, counted from 1. For a
        single call, 0.
    """

    about: str
    arguments: Mapping[str, Any]
    code: list[str]
    expected: str
    actual: str
    steps: Sequence[tuple[str, ...]] = ()
    call: int = 0

    def __getattr__(self, name: str) -> Any:
        """Return an attribute by its name in version 0.1, with a warning."""
        if name not in RENAMED:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        warnings.warn(
            f"Shown.{name} is now Shown.{RENAMED[name]}; the next version of mha has only that.",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(self, RENAMED[name])

    def __str__(self) -> str:
        """Return the case as lines of text."""
        lines = [part for line in self.code for part in _fold_line(line, 4)]
        lines += _fold_line(f"# expected: {self.expected}", 12, "#")
        return "\n".join(lines + _fold_line(f"# got:      {self.actual}", 12, "#"))

    @property
    def lines(self) -> list[str]:
        """The steps as lines of text."""
        lines, mark = [], "   <- the first difference"
        for expected, *actual in self.steps:
            if actual in ([expected], []):
                lines.append(f"{'both:    ' if actual else 'expected:'} {expected}")
            else:
                lines += [f"expected: {expected}", f"got:      {actual[0]}{mark}"]
                mark = ""
        return [_with_ascii_minus(line) for line in lines]


@dataclass(frozen=True, eq=False)
class Finding:
    """One finding on a function: a bug or a convention.

    Parameters
    ----------
    said : str
        The finding in sentences.
    bug : str, optional
        The name of the bug that reproduces the outputs, or the names of several such bugs; None
        if none is known, or nothing is wrong.
    convention : str, optional
        The condition under which the function is right; None if it is wrong.
    line, meant : str
        The line of code that usually causes the bug, and the correct line.
    section : str
        The section of the book that explains the finding: a page without its ending, and a label.
    right : str
        The name of the package's correct function.
    case : Shown, optional
        The smallest case with a wrong output.
    narrowed : tuple of str
        If no bug is known: the inputs for which the function is right, and similar facts.
    """

    said: str
    bug: str | None = None
    convention: str | None = None
    line: str = ""
    meant: str = ""
    section: str = ""
    right: str = ""
    case: Shown | None = None
    narrowed: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the finding as lines of text."""
        start = "Note, not counted as wrong" if self.convention else "Wrong"
        lines = textwrap.wrap(f"{start}: {self.said}", LINE_WIDTH)
        if self.line:
            lines += _fold_line(f"  wrong: {self.line}", 9) + _fold_line(
                f"  right: {self.meant}", 9
            )
        if self.right and not self.convention:
            lines.append(f"  a correct function: mha.{self.right}")
        if self.section:
            lines.append(f"  explained in: {address(self.section)}")
        if self.case is not None:
            lines.append(f"  The smallest case found ({self.case.about}), as Python:")
            lines += [f"    {line}" for line in str(self.case).split("\n")]
            call = f" in call {self.case.call} alone" if self.case.call else ""
            lines += [f"  Step by step{call}, indices from 0:"] if self.case.steps else []
            lines += [f"    {part}" for line in self.case.lines for part in _fold_line(line, 10)]
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        """Return the finding as data for JSON."""
        data = {each.name: getattr(self, each.name) for each in fields(self)}
        data |= {"narrowed": list(self.narrowed), "address": self.section and address(self.section)}
        names = ("about", "code", "expected", "actual", "lines")
        case = self.case and {name: getattr(self.case, name) for name in names}
        return data | {"case": case}


@dataclass(frozen=True, eq=False)
class Report:
    """The result of examining a function.

    Parameters
    ----------
    name : str
        The name of the function.
    cases : mapping of str to tuple of int
        For each kind of case, the number of cases that agree and the number of cases.
    findings : tuple of Finding
        Empty if every case agrees and no convention was found.
    not_tested : tuple of str
        Arguments that no case sets, and kinds of cases that the function refuses.
    """

    name: str
    cases: Mapping[str, tuple[int, int]]
    findings: tuple[Finding, ...]
    not_tested: tuple[str, ...] = ()

    @property
    def is_explained(self) -> bool:
        """Whether each finding is a known bug or a convention."""
        return all(finding.bug or finding.convention for finding in self.findings)

    @property
    def ok(self) -> bool:
        """Whether the function is right, possibly by another convention."""
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
        """Return the report as text: the verdict, the findings, and the kinds of cases."""
        total = sum(count for _, count in self.cases.values())
        differ = total - sum(agreed for agreed, _ in self.cases.values())
        verdict = "wrong" if not self.ok else "right by its conventions" if differ else "right"
        if not differ:
            summary = f"all {total} cases agree"
            summary += "" if self.ok else " otherwise"
        else:
            summary = f"{differ} of {total} cases differ" + (" by them alone" if self.ok else "")
        unknown = [name for name in self.not_tested if name.partition("=")[0].isidentifier()]
        summary += f"; not tested: {', '.join(unknown)}" if unknown and self.ok else ""
        listed = []
        differing_kinds = [
            f"{kind} ({n - a} of {n})" for kind, (a, n) in self.cases.items() if a < n
        ]
        if differing_kinds:
            listed += _format_list("differ", differing_kinds)
            listed += _format_list("agree", [k for k, (a, n) in self.cases.items() if a == n])
        if self.not_tested:
            listed += _format_list("not tested", list(self.not_tested))
        cases = ["Cases:\n" + "\n".join(listed)] if listed else []
        first = "\n".join(textwrap.wrap(f"{self.name} is {verdict}: {summary}.", LINE_WIDTH))
        return "\n\n".join([first, *map(str, self.findings), *cases])

    __repr__ = __str__

    def as_data(self) -> dict[str, Any]:
        """Return the report as data for JSON."""
        return {
            "name": self.name,
            "ok": self.ok,
            "cases": {kind: list(counts) for kind, counts in self.cases.items()},
            "findings": [finding.as_data() for finding in self.findings],
            "not_tested": list(self.not_tested),
        }

    def save(self, path: str | Path) -> None:
        """Write the report as JSON, such as `report.json`.

        Parameters
        ----------
        path : str or Path
        """
        text = json.dumps(self.as_data(), indent=1, ensure_ascii=False)
        Path(path).write_text(text + "\n", encoding="utf-8")


def address(section: str) -> str:
    """Return the address of a section of the book, or its file name and the book's title.

    The package's metadata has the address of the book, once it is published.

    Parameters
    ----------
    section : str
        A page without its ending, and a label on it.

    Examples
    --------
    >>> address("mechanism/scaling#scaling")
    'mechanism/scaling.html#scaling in the book Attention by Hand'
    """
    page, _, label = section.partition("#")
    try:
        urls = metadata("mha").get_all("Project-URL") or []
    except PackageNotFoundError:
        urls = []
    for name, _, url in (entry.partition(", ") for entry in urls):
        if name == "Homepage":
            return f"{url}{page}.html#{label}"
    return f"{page}.html#{label} in the book Attention by Hand"


def _format_list(title: str, items: Sequence[str]) -> list[str]:
    """Return a list as lines that break only between items; no lines for an empty list."""
    start, whole = f"  {title}: ", "; ".join(item.replace(" ", "\u00a0") for item in items)
    lines = textwrap.wrap(
        whole, LINE_WIDTH, initial_indent=start, subsequent_indent=" " * len(start)
    )
    return [line.replace("\u00a0", " ") for line in lines]


def _fold_line(line: str, indent: int, start: str = "") -> list[str]:
    """Return a line wrapped to a limited width, with a hanging indent."""
    return textwrap.wrap(
        line,
        LINE_WIDTH - 4,
        subsequent_indent=start.ljust(indent),
        break_on_hyphens=False,
    )


def _with_ascii_minus(text: str) -> str:
    return text.replace("\N{MINUS SIGN}", "-")


def has_own_line(x: Any) -> bool:
    """Return whether the printed case assigns an argument on a line of its own."""
    return isinstance(x, np.ndarray | MultiHeadWeights)


def python_source(x: Any) -> str:
    """Return a value as Python source."""
    if isinstance(x, np.ndarray):
        if x.size > MAX_PRINTED_ONES and x.dtype == np.float64 and (x == 1).all():
            return f"np.ones({x.shape})"
        numbers = re.sub("(nan|inf)", r"np.\1", str(x.tolist()))
        return f"np.array({numbers}{', np.float32' if x.dtype == np.float32 else ''})"
    if isinstance(x, MultiHeadWeights):
        each = (f"{name}={python_source(array)}" for name, array in x.arrays.items())
        return f"mha.MultiHeadWeights({', '.join(each)})"
    return repr(x)


def format_value(value: Any) -> str:
    """Return a value as text for reports: nested lists of short numbers.

    Examples
    --------
    >>> format_value(np.array([[1.0, 0.25], [-2.0, 1 / 3]])), format_value(np.array([True]))
    ('[[1, 0.25], [-2, 0.3333]]', '[True]')
    >>> format_value(0.5)
    '0.5'
    """
    if isinstance(value, np.ndarray) and value.ndim:
        inner = ", ".join(format_value(x) for x in value)
        return (
            f"[{inner}]" if value.size <= MAX_PRINTED_NUMBERS else f"numbers of shape {value.shape}"
        )
    value = value.item() if isinstance(value, np.ndarray | np.generic) else value
    return _with_ascii_minus(short(value)) if isinstance(value, float) else str(value)
