"""PyTorch code and answers of exercises, compared with the run of their page.

`docs/writing.md` shows how ``{pytorch}`` and ``{asked}`` are written. The build does not run
PyTorch; `tests/against_torch/test_pytorch_folds.py` runs the code and compares its output with the
output on the page. The build compares numbers: those typed into tensors with the arrays of
``given``, and those of the output with the arrays of ``prints``, rounded as printed, in the same
order.

The page does not show ``{asked}``. The doctree keeps it for the question bank
(`scripts/packs/standalone_questions.py`).
"""

import ast
import math
import re
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from byhand.digests import ROOT
from byhand.reading.page_code import answer_expression, numbers_expression
from byhand.reading.values import NoValueError, expression_value

logger = logging.getLogger(__name__)

BETWEEN = "\n---\n"
PRINTED = re.compile(r"(?<![\w.])(?:nan|-?inf|-?\d+(?:\.\d*)?)(?!\w)")
LOCK = ROOT / "requirements-frameworks.lock"  # of the environment in which the tests run the code
INTEGER_TOLERANCE = 1e-5
"""How far off a number may be that is printed without decimals: PyTorch computes in float32."""


class InPyTorch(SphinxDirective):
    """The directive ``{pytorch}``."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "given": directives.unchanged_required,
        "prints": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return code, output and version; warn of a number that differs from the run."""
        code, _, output = "\n".join(self.content).partition(BETWEEN)
        if not output or "prints" not in self.options:
            raise self.error("code, a line ---, its output, and :prints: are wanted")
        try:
            self._compare("given", typed_numbers(code), math.isclose)
            self._compare("prints", PRINTED.findall(output), is_printed)
        except ValueError as error:
            logger.warning("in PyTorch: %s", error, location=(self.env.docname, self.lineno))
        self.env.note_dependency(str(LOCK))
        return [
            nodes.literal_block(code, code, language="python"),
            nodes.literal_block(output, output, language="text"),
            nodes.paragraph("", f"Run with PyTorch {torch_version()}, on a CPU."),
        ]

    def _compare(self, option: str, found: list[Any], fits: Callable[[Any, float], bool]) -> None:
        """Raise unless the numbers match those of an option, if the page's cells ran."""
        arrays = self.options.get(option, "")
        if not arrays:
            if found:
                raise ValueError(f"the code types numbers that no :{option}: names")
            return
        try:
            result = expression_value(self.state.document, numbers_expression(arrays), self.lineno)
        except NoValueError as error:
            raise ValueError(f"`{arrays}` cannot be evaluated: {error}") from error
        for output in result.outputs:
            wanted = ast.literal_eval(output["data"]["text/plain"])
            if len(found) != len(wanted):
                raise ValueError(f"{len(found)} numbers, but :{option}: has {len(wanted)}")
            for text, number in zip(found, wanted, strict=True):
                if not fits(text, float(number)):
                    raise ValueError(f"{text} differs from :{option}:, which has {number}")


def torch_version() -> str:
    """Return the version of PyTorch that runs the code in the tests.

    Examples
    --------
    >>> torch_version().count(".")
    2
    """
    found = re.search(r"^torch==([\d.]+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{LOCK.name} has no line torch==...; the version of PyTorch is wanted")
    return found[1]


def typed_numbers(code: str) -> list[float]:
    """Return the numbers in the tensors of some code, in their order.

    Examples
    --------
    >>> typed_numbers("x = torch.tensor([[1.0, 0], [2, -0.5]]) @ torch.tensor(w)")
    [1.0, 0.0, 2.0, -0.5]
    """
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    numbers: list[float] = []
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        if ast.unparse(call.func) == "torch.tensor":
            try:
                numbers += np.ravel(ast.literal_eval(call.args[0])).tolist()
            except ValueError:  # an array of the page
                continue
    return numbers


def is_printed(text: str, number: float) -> bool:
    """Return whether a text is `number` rounded to the text's decimals.

    Examples
    --------
    >>> is_printed("0.2689", 0.26894142), is_printed("2.", 2.0), is_printed("2.", 2.4)
    (True, True, False)
    """
    decimals = len(text.partition(".")[2])
    tolerance = 0.51 * 10.0**-decimals if decimals else INTEGER_TOLERANCE
    printed = float(text)
    return repr(printed) == repr(number) or abs(printed - number) <= tolerance


class Asked(SphinxDirective):
    """The directive ``{asked} label``."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "answer": directives.unchanged_required,
        "places": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        """Store the question in the doctree; warn if the answer has no value."""
        if set(self.options) != set(self.option_spec) or not self.content:
            raise self.error(":answer:, :places: and the question are wanted")
        document, question = self.state.document, "\n".join(self.content)
        label, places = self.arguments[0], self.options["places"]
        try:
            found = expression_value(
                document, answer_expression(self.options["answer"]), self.lineno
            )
        except NoValueError as error:
            place = (self.env.docname, self.lineno)
            logger.warning("{asked} %s: %s", label, error, location=place)
            return []
        for output in found.outputs:  # one, but after a cell that failed
            number = float(output["data"]["text/plain"])
            asked = document.setdefault("asked", {}).setdefault(label, [])
            asked.append((self.lineno, question, number, places))
        return []


DIRECTIVES = {"pytorch": InPyTorch, "asked": Asked}
