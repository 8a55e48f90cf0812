"""What a system of learning can mark of an exercise: ``{asked}``, a number that the page computes.

Behind the solution of an exercise::

    ```{asked} ex-softmax-fill
    :answer: softmax([0, np.log(2), np.log(2)])[2]
    :places: 1
    The third weight.
    ```

Nothing of it stands on the page: it is noted in the doctree, where the question bank
(`scripts/packs/alone.py`) finds it.
"""

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from byhand.reading.steps import number_of
from byhand.reading.values import NoValueError, value

logger = logging.getLogger(__name__)


class Asked(SphinxDirective):
    """The directive ``{asked} label``."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "answer": directives.unchanged_required,
        "places": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        """Note the number, and warn where the answer has no value."""
        if set(self.options) != set(self.option_spec) or not self.content:
            raise self.error(":answer:, :places: and what is asked for are wanted")
        document, what = self.state.document, "\n".join(self.content)
        label, places = self.arguments[0], self.options["places"]
        try:
            outputs = value(document, number_of(self.options["answer"]), self.lineno)
        except NoValueError as error:
            place = (self.env.docname, self.lineno)
            logger.warning("{asked} %s: %s", label, error, location=place)
            return []
        for output in outputs:  # one, but after a cell that failed
            number = float(output["data"]["text/plain"])
            asked = document.setdefault("asked", {}).setdefault(label, [])
            asked.append((self.lineno, what, number, places))
        return []


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_directive("asked", Asked)
