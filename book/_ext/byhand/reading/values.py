"""Values of expressions in a page's text: the roles ``{eval}`` and ``{holds}``."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from myst_nb.core.variables import VariableOutput, render_variable_outputs
from sphinx.util import logging

from byhand.reading.page_code import one_line, split_holds
from byhand.reading.results import Results, StepResult
from byhand.reading.traced_numbers import FIXED

if TYPE_CHECKING:
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

MAX_SHOWN = 2_000  # characters of one value in a sentence
SHOWN = re.compile(r"""['"]|-?\d+\Z""")  # a text or a whole number, as Python writes it
NOT_A_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:nan|inf|infinity)(?!\w)", re.IGNORECASE)

RESULTS = "results of the page"  # the key in Sphinx's data of the page that is read


RoleResult = tuple[list[nodes.Node], list[nodes.system_message]]
"""The nodes and the messages that a role returns."""


class NoValueError(ValueError):
    """Raised if an expression has no value; the message gives the reason."""


class live_number(nodes.inline):  # noqa: N801 - as docutils names its nodes
    """A number of a run that an explorer of the page shows.

    The node has the attributes `formula`, `how` (its format) and `of` (its explorer). On a page it
    is a ``data`` element that a script can rewrite.
    """


def visit_live_number(self: HTML5Translator, node: live_number) -> None:
    """Write the start of a live number."""
    marks = {"value": node["formula"], "data-as": node["format"], "data-of": node["of"]}
    self.body.append("<data " + " ".join(f'{k}="{escape(v)}"' for k, v in marks.items()) + ">")


def depart_live_number(self: HTML5Translator, node: live_number) -> None:
    """Write the end of a live number."""
    self.body.append("</data>")


def expression_value(document: nodes.document, expression: str, line: int) -> StepResult:
    """Return the value of an expression from its last evaluation before a line.

    Raises
    ------
    NoValueError
        If there is none; the message gives the reason.
    """
    env = getattr(document.settings, "env", None)
    results: Results | None = env.temp_data.get(RESULTS) if env else None
    source = one_line(expression)
    steps = enumerate(results.steps if results else ())
    found = [
        (step.line, number)
        for number, step in steps
        if step.kind == "expression" and step.source == source
    ]
    if results is None or not found:
        raise NoValueError("this expression was not evaluated; is it on a page with cells?")
    # The last evaluation that begins at or before the line. Docutils may report an earlier line for
    # a caption; then it is the first one.
    number = [found[0][1], *(number for begins, number in found if begins <= line)][-1]
    if number in results.errors:
        raise NoValueError(results.errors[number])
    return results.result_of(number)


def eval_role(
    name: str, rawtext: str, text: str, line: int, inliner: Inliner, *_: object
) -> RoleResult:
    """Show the value of an expression: the role ``{eval}``."""
    document = inliner.document
    place = (document.settings.env.docname, line)
    try:
        found = expression_value(document, text, line)
    except NoValueError as error:
        logger.warning("{eval}`%s`: %s", text, error, location=place, type="eval")
        return [], []
    for output in found.outputs or [{}]:
        if fault := value_fault(output.get("data", {})):
            logger.warning("{eval}`%s` %s", text, fault, location=place)
            return [], []
    render, options = document["nb_renderer"], {"strip_text_quotes": True}
    shown = [
        VariableOutput(output.get("data", {}), options, render, "eval", i)
        for i, output in enumerate(found.outputs)
    ]
    words = render_variable_outputs(shown, document, line, document["source"], inline=True)
    if len(found.parts) == 1:
        return [_live_number(words, *found.parts[0][1:], found.explorers)], []
    texts = [
        ([nodes.Text(text)], formula, format_name) for text, formula, format_name in found.parts
    ]
    return [
        _live_number(words_of_part, formula, format_name, found.explorers)
        if formula
        else words_of_part[0]
        for words_of_part, formula, format_name in texts
    ] or words, []


def value_fault(data: dict[str, Any]) -> str:
    """Return why a value, which is given in the formats of a notebook, is not shown, or "".

    Examples
    --------
    >>> value_fault({"text/plain": "'0.7311'"})
    ''
    >>> value_fault({"text/plain": "nan"})
    'would show nan; a finite number is wanted'
    >>> value_fault({"text/plain": "0.7310585786300049"})
    'would show 0.7310585786300049; text or a whole number is wanted, as shown(...) gives it'
    """
    plain = str(data.get("text/plain", "None"))
    if len(plain) > MAX_SHOWN:
        return f"has {len(plain):,} characters; at most {MAX_SHOWN:,} are wanted"
    if found := NOT_A_NUMBER.search(plain):
        return f"would show {found[0]}; a finite number is wanted"
    if "text/markdown" in data or SHOWN.match(plain):
        return ""
    return f"would show {plain[:60]}; text or a whole number is wanted, as shown(...) gives it"


def _live_number(
    words: list[nodes.Node], formula: str, format_name: str, explorers: str
) -> live_number:
    return live_number("", "", *words, formula=formula, format=format_name, of=explorers)


def holds_role(
    name: str, rawtext: str, text: str, line: int, inliner: Inliner, *_: object
) -> RoleResult:
    """Show words that a comparison proves: ``{holds}``; warn if the comparison is false."""
    document = inliner.document
    words, expression = split_holds(text)
    children, messages = inliner.parse(words, line, inliner, nodes.inline())
    found, why = StepResult([], "", []), "it does not hold"
    try:
        found = expression_value(document, expression, line)
    except NoValueError as error:
        why = str(error)
    if not any(o.get("data", {}).get("text/plain", "").startswith("[True,") for o in found.outputs):
        place = (document.settings.env.docname, line)
        logger.warning("{holds}`%s`: %s", text, why, location=place, type="holds")
    elif found.parts:
        formula = " | ".join(part[1] for part in found.parts)
        formats = " ".join("holds" if part[2] == FIXED else part[2] for part in found.parts)
        children = [_live_number(children, formula, formats, found.explorers)]
    return children, messages
