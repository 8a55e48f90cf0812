"""Values of expressions where a page's text has them: ``{eval}``, and the marks of questions."""

from typing import Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from myst_nb.core.variables import VariableOutput, render_variable_outputs
from sphinx.util import logging

from byhand.reading.results import Results
from byhand.reading.steps import one_line

logger = logging.getLogger(__name__)

RESULTS = "results of the page"  # their name in Sphinx's memory of the page that is read


class NoValueError(ValueError):
    """An expression has no value; the text says why."""


def value(document: nodes.document, expression: str, line: int) -> list[dict[str, Any]]:
    """Return what an expression gave, as a notebook's outputs; nothing after a cell that failed.

    Parameters
    ----------
    document : document
    expression : str
    line : int
        Where it stands.

    Raises
    ------
    NoValueError
        Saying what is wrong.
    """
    env = getattr(document.settings, "env", None)
    results: Results | None = env.temp_data.get(RESULTS) if env else None
    number = None if results is None else _step(results, one_line(expression), line)
    if results is None or number is None:
        raise NoValueError("nothing runs here")
    if number in results.errors:
        raise NoValueError(results.errors[number])
    return results.outputs[number] if number < len(results.outputs) else []


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
    return render_variable_outputs(shown, document, line, document["source"], inline=True), []
