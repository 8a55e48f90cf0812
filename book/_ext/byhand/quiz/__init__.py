"""Quizzes: questions with options, their answer key, and the button that shows a page in steps.

`docs/writing.md` shows ``{quiz}`` and ``{predict}``; `reading` parses them. The build evaluates the
expression in the mark of an option, and fails unless it is true for a right option and false for a
wrong one. ``{predict}`` hides the blocks after it until the reader has chosen. In print, a quiz has
its question and options, and an appendix has the right ones; `elements` defines the nodes.
``{read-in-steps}`` is the place of the button for reading in steps.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from byhand.quiz.elements import FRAMED, NODES
from byhand.quiz.reading import Predict, Quiz, fold_what_follows


class ReadInSteps(SphinxDirective):
    """The directive ``{read-in-steps}``: an empty element that a script fills."""

    def run(self) -> list[nodes.Node]:
        """Return an empty HTML element; print shows nothing."""
        return [nodes.raw("", '<div class="steps-start"></div>', format="html")]


def setup(app: Sphinx) -> None:
    """Register the directives, the nodes and their writers."""
    app.add_directive("quiz", Quiz)
    app.add_directive("predict", Predict)
    app.add_directive("read-in-steps", ReadInSteps)
    for node in NODES:
        app.add_node(node, html=FRAMED)
    app.connect("doctree-read", fold_what_follows)
