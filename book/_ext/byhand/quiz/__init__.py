"""Questions with options to choose from, the key to them, and where a page offers its steps.

A quiz in a chapter::

    ```{quiz} cat-sat-same-row
    :multiple:

    Which rows sum to one?

    - [x] The rows of the weights. :: Each row is divided by its own sum.
    - [x `np.allclose(run.weights.sum(axis=-1), 1)`] A row of `run.weights`. :: The same.
    - [ ] The columns of the weights. :: A column says what a token is given by all queries.
    ```

The last list is the options: ``[x]`` is right, ``[ ]`` is wrong, and `` :: `` parts an option from
its feedback, which may go on in paragraphs of its own. An expression in a mark is evaluated in the
page's kernel, and the build fails unless it is true for a right option and false for a wrong one.
Without ``:multiple:``, exactly one option is right.

``{predict}`` is a quiz that folds away the block that follows it, or with ``:reveals: 2`` the next
two, until the reader has chosen::

    ```{predict} cat-sat-louder
    Double the value of *sat*. Which weights move?

    - [x] None :: Values take no part in the weights.
    - [ ] Those of *sat* :: A weight comes from a query and a key.
    ```

    The weights are the same as before.

In print, a quiz is its question and options, and an appendix has the right ones.
``{read-in-steps}`` below a title is where the page's script offers to read it in steps.
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
