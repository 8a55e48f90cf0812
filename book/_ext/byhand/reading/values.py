"""Values of expressions where a page's text has them: ``{eval}``, and the marks of questions."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from myst_nb.core.variables import VariableOutput, render_variable_outputs
from sphinx.util import logging

from byhand.reading.results import Results
from byhand.reading.steps import claim_of, one_line
from byhand.reading.ties import OWN

if TYPE_CHECKING:
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

RESULTS = "results of the page"  # their name in Sphinx's memory of the page that is read


class NoValueError(ValueError):
    """An expression has no value; the text says why."""


class tied(nodes.inline):  # noqa: N801 - as docutils names its nodes
    """A number of a run that an explorer of the page shows.

    It has its `formula`, `how` it is written, and which explorer's it is, `of`. On a page it is a
    ``data`` element, which a script may write anew.
    """


def visit_tied(self: HTML5Translator, node: tied) -> None:
    """Write the start of a tied number."""
    marks = {"value": node["formula"], "data-as": node["how"], "data-of": node["of"]}
    self.body.append("<data " + " ".join(f'{k}="{escape(v)}"' for k, v in marks.items()) + ">")


def depart_tied(self: HTML5Translator, node: tied) -> None:
    """Write the end of a tied number."""
    self.body.append("</data>")


def value(document: nodes.document, expression: str, line: int) -> list[dict[str, Any]]:
    """Return what an expression gave, as a notebook's outputs; nothing after a cell that failed.

    Raises
    ------
    NoValueError
        Saying what is wrong.
    """
    results, number = _ran(document, expression, line)
    if number in results.errors:
        raise NoValueError(results.errors[number])
    return results.outputs[number] if number < len(results.outputs) else []


def whose(document: nodes.document, expression: str, line: int) -> str:
    """Return the name of the explorer whose numbers an expression has something of, or nothing."""
    results, number = _ran(document, expression, line)
    return results.ties.get(str(number), ("", []))[0]


def _ran(document: nodes.document, expression: str, line: int) -> tuple[Results, int]:
    """Return the page's results, and the number of the step that an expression is."""
    env = getattr(document.settings, "env", None)
    results: Results | None = env.temp_data.get(RESULTS) if env else None
    number = None if results is None else _step(results, one_line(expression), line)
    if results is None or number is None:
        raise NoValueError("nothing runs here")
    return results, number


def _step(results: Results, expression: str, line: int) -> int | None:
    """Return the number of the step that an expression at a line is: the last before it."""
    found = [
        (step.line <= line, number)
        for number, step in enumerate(results.steps)
        if (step.kind, step.source) == ("expression", expression)
    ]
    before = [number for is_before, number in found if is_before]
    return before[-1] if before else found[0][1] if found else None


def show(
    name: str, rawtext: str, text: str, line: int, inliner: Inliner, *_: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Show what an expression gives, as ``{eval}``."""
    document = inliner.document
    try:
        outputs = value(document, text, line)
    except NoValueError as error:
        place = (document.settings.env.docname, line)
        logger.warning("{eval}`%s`: %s", text, error, location=place, type="eval")
        return [], []
    for output in outputs:
        plain = output.get("data", {}).get("text/plain", "")
        if plain.startswith("np."):  # as NumPy writes a scalar of its own
            wanted = "{eval}`%s` would show %s; text or one of Python's numbers is wanted"
            logger.warning(wanted, text, plain, location=(document.settings.env.docname, line))
    how = {"strip_text_quotes": True}
    shown = [
        VariableOutput(output.get("data", {}), how, document["nb_renderer"], "eval", place)
        for place, output in enumerate(outputs)
    ]
    found = render_variable_outputs(shown, document, line, document["source"], inline=True)
    return _with_ties(found, *_ran(document, text, line)), []


def _with_ties(shown: list[nodes.Node], results: Results, number: int) -> list[nodes.Node]:
    """Return what an expression shows, each number of an explorer's run as such."""
    of, parts = results.ties.get(str(number), ("", []))
    if len(parts) == 1:
        ((_, formula, how),) = parts
        return [tied("", "", *shown, formula=formula, how=how, of=of)]
    texts = [(nodes.Text(text), formula, how) for text, formula, how in parts]
    return [
        tied("", "", text, formula=formula, how=how, of=of) if formula else text
        for text, formula, how in texts
    ] or shown


def claim(
    name: str, rawtext: str, text: str, line: int, inliner: Inliner, *_: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Show words that a comparison bears out, as ``{holds}``; one that does not hold is a fault."""
    document = inliner.document
    words, expression = claim_of(text)
    children, messages = inliner.parse(words, line, inliner, nodes.inline())
    try:
        outputs = value(document, expression, line)
    except NoValueError as error:
        outputs, why = [], str(error)
    else:
        why = "it does not hold"
    if not any(o.get("data", {}).get("text/plain", "").startswith("[True,") for o in outputs):
        place = (document.settings.env.docname, line)
        logger.warning("{holds}`%s`: %s", text, why, location=place, type="holds")
        return children, messages
    results, number = _ran(document, expression, line)
    of, parts = results.ties.get(str(number), ("", []))
    if not parts:
        return children, messages
    formula = " | ".join(part[1] for part in parts)
    how = " ".join("holds" if part[2] == OWN else part[2] for part in parts)
    return [tied("", "", *children, formula=formula, how=how, of=of)], messages
