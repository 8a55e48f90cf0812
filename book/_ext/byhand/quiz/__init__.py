"""Questions with options to choose from, the key to them, and where a page offers its steps.

`docs/writing.md` shows how ``{quiz}`` and ``{predict}`` are written; `reading` reads and refuses
them. An expression in the mark of an option is evaluated in the page's kernel, and the build fails
unless it is true for a right option and false for a wrong one. ``{predict}`` folds away what
follows until the reader has chosen. In print, a quiz is its question and options, and an appendix
has the right ones; `elements` are the nodes. ``{read-in-steps}`` below a title is where the page's
script offers to read it in steps.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from byhand.quiz.elements import FRAMED, NODES
from byhand.quiz.reading import Predict, Quiz, fold_what_follows


class ReadInSteps(SphinxDirective):
    """The directive ``{read-in-steps}``: the place of the button, which the script fills."""

    def run(self) -> list[nodes.Node]:
        """Return an empty element of HTML; print has no steps."""
        return [nodes.raw("", '<div class="steps-start"></div>', format="html")]


def setup(app: Sphinx) -> None:
    """Register the directives, the nodes and how they are written."""
    app.add_directive("quiz", Quiz)
    app.add_directive("predict", Predict)
    app.add_directive("read-in-steps", ReadInSteps)
    for node in NODES:
        app.add_node(node, html=FRAMED)
    app.connect("doctree-read", fold_what_follows)
