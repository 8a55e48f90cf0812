"""Attention functions by authors who had not seen the table of bugs, and their bugs.

They wrote right functions in NumPy or in PyTorch as they knew them from code, and of each what goes
wrong in it: `examine/test_right_and_wrong.py` and
`against_frameworks/test_independent_in_pytorch.py`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import mha
from mha.examine import Report

EXAMINE = {
    "attention": mha.examine,
    "layer": mha.examine_layer,
    "decoding": mha.examine_decoding,
    "positions": mha.examine_positions,
}
A, L, D, P = EXAMINE
ROTARY = {"rotary": True}

DIVIDES = "if scores are divided by scale"
HIDES = "if True in a mask means masked"
NO_NUMBERS = "if masks are boolean: it does not add numbers to the scores"
FIRST = "if the first query has the position of the first key"
LAST = "if the last query has the position of the last key"
EMPTY = "if no query is fully masked, or its row is ignored"


@dataclass(frozen=True)
class Case:
    """A function or class, its kind, and the bug in it according to its author.

    `conditions` are those that the report of a correct function names.
    """

    function: Callable[..., Any]
    kind: str
    what: str = ""
    conditions: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.what or self.function.__name__

    def wrong(self, what: str, *texts: str, conditions: tuple[str, ...] = ()) -> "Case":
        """Return the function with a bug: each text is replaced by the text that follows it."""
        source, made = inspect.getsource(self.function), dict[str, Any]()
        for old, new in zip(texts[::2], texts[1::2], strict=True):
            assert old in source, (what, old)
            source = source.replace(old, new)
        exec(source, vars(inspect.getmodule(self.function)), made)
        function = made[self.function.__name__]
        return replace(self, function=function, what=what, conditions=conditions)

    def examined(self, asarray: Callable[..., Any]) -> Report:
        return EXAMINE[self.kind](self.function, asarray=asarray, **self.options)

    def expect_right(self, asarray: Callable[..., Any]) -> None:
        """Expect a report without a bug, and with exactly these conditions."""
        report = self.examined(asarray)
        assert report.ok, report
        assert [finding.convention for finding in report.findings] == list(self.conditions), report

    def expect_reported(self, asarray: Callable[..., Any]) -> None:
        """Expect a report of an error, which names each bug or shows its smallest case."""
        report = self.examined(asarray)
        wrong = [finding for finding in report.findings if not finding.convention]
        assert wrong, report
        assert all(finding.bug or finding.case is not None for finding in wrong), report
