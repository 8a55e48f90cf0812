"""Mark exercises by difficulty: ``:class: difficulty-1`` to ``difficulty-3``."""

import re
from collections.abc import Iterable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node

from byhand.quiz.elements import FRAMED

logger = logging.getLogger(__name__)

HARDEST = 3
LEVELS = [str(level) for level in range(1, HARDEST + 1)]
MARK = "•"
CLASS = re.compile(r"difficulty-(.*)")


class difficulty(nodes.Inline, nodes.Element):  # noqa: N801 (docutils names nodes in lower case)
    """The marks of an exercise for the eyes, words for the ears."""

    frame = (
        '<span class="difficulty"><span aria-hidden="true">$marks</span>'
        f'<span class="reading-unseen">difficulty $level of {HARDEST}</span></span> ',
        "",
    )


class MarkDifficulty(SphinxPostTransform):
    """Put the marks into the titles, which are complete by now."""

    default_priority = 400

    def run(self, **kwargs: object) -> None:
        """Change the document in place."""
        for kind in (exercise_node, exercise_enumerable_node):
            for exercise in self.document.findall(kind):
                mark(exercise)


def level_of(classes: Iterable[str]) -> int:
    """Return how difficult an exercise is by its classes, 0 where they do not say it."""
    given = (found[1] for found in map(CLASS.fullmatch, classes) if found)
    return next((int(level) for level in given if level in LEVELS), 0)


def mark(exercise: nodes.Element) -> None:
    """Mark one exercise, if it has a class that says how difficult it is."""
    for given in filter(None, map(CLASS.fullmatch, exercise["classes"])):
        if given[1] in LEVELS:
            level = int(given[1])
            exercise[0].insert(0, difficulty(level=level, marks=MARK * level))
        else:
            logger.warning("difficulty is 1 to %d, not %s", HARDEST, given[1], location=exercise)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_node(difficulty, html=FRAMED)
    app.add_post_transform(MarkDifficulty)
