"""The opening of a chapter, and the minutes that the chapter takes.

``{lead}`` has one sentence, ``{aims}`` a list of goals. `minutes_of` computes the minutes from the
page, partly from the difficulty of its exercises, which ``:class: difficulty-1`` to
``difficulty-3`` state.
"""

import math
import re
from collections.abc import Collection, Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node

from byhand.chapter.section_folds import fold_kind
from byhand.quiz.elements import quiz, quiz_answer

logger = logging.getLogger(__name__)

WORDS_A_MINUTE = 120  # of a text with sums in it
MINUTES_PER_BOX = 2  # a number to compute, or a question to answer
MINUTES_BY_DIFFICULTY = {1: 3, 2: 5, 3: 10}  # of an exercise
MINUTES_AN_EXERCISE = 5  # of one that says nothing of its difficulty
HARDEST, MARK = max(MINUTES_BY_DIFFICULTY), "•"
BOX_ELEMENT = re.compile(r"<mha-(your-turn|build)\b")
UNREAD = (
    nodes.Invisible,
    nodes.literal_block,
    nodes.raw,
    nodes.table,
    nodes.footnote,
    quiz_answer,
    solution_node,
)


class lead(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes in lower case)
    """The opening sentence of a chapter."""

    frame = '<div class="lead">\n', "</div>\n"


class aims(nodes.General, nodes.Element):  # noqa: N801
    """The aims of a chapter, as a fold that shows the `minutes` in words.

    They are folded because they name terms that only the chapter explains.
    """

    frame = (
        '<details class="aims">\n<summary><span class="aims-title">After this chapter you can …'
        '</span> <span class="aims-minutes">$minutes</span></summary>\n',
        "</details>\n",
    )


class difficulty(nodes.Inline, nodes.Element):  # noqa: N801
    """The difficulty of an exercise: dots on the screen, words for screen readers."""

    frame = (
        '<span class="difficulty"><span aria-hidden="true">$marks</span>'
        f'<span class="reading-unseen">difficulty $level of {HARDEST}</span></span> ',
        "",
    )


FRAMES = (lead, aims, difficulty)


class Lead(SphinxDirective):
    """``{lead}``: one or two sentences below the title, in larger letters."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the sentence, and store it as the page's description."""
        node = lead("", *self.parse_content_to_nodes())
        self.env.metadata[self.env.docname]["lead"] = " ".join(node.astext().split())
        return [node]


class Aims(SphinxDirective):
    """``{aims}``: a list whose entries continue "After this chapter you can"."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the list; `count_minutes` adds the minutes later."""
        node = aims("", *self.parse_content_to_nodes())
        if [type(child) for child in node.children] != [nodes.bullet_list]:
            raise self.error("{aims} needs exactly one list of goals")
        return [node]


DIRECTIVES = {"lead": Lead, "aims": Aims}


def level_of(classes: Collection[str]) -> int:
    """Return the difficulty of an exercise from its classes, or 0 without one."""
    return next((n for n in MINUTES_BY_DIFFICULTY if f"difficulty-{n}" in classes), 0)


def mark_difficulty(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Add the difficulty to the titles of exercises, which other extensions have completed."""
    for kind in (exercise_node, exercise_enumerable_node):
        for exercise in doctree.findall(kind):
            given = [one for one in exercise["classes"] if one.startswith("difficulty-")]
            if level := level_of(given):
                exercise[0].insert(0, difficulty(level=level, marks=MARK * level))
            elif given:
                wrong = given[0].removeprefix("difficulty-")
                logger.warning("difficulty is 1 to %d, not %s", HARDEST, wrong, location=exercise)


# ---- Minutes ----


def count_minutes(app: Sphinx, doctree: nodes.document) -> None:
    """Store the minutes of a page, and add them to its aims."""
    reading, exercises = minutes_of(doctree)
    app.env.metadata[app.env.docname] |= {"minutes": reading, "exercise-minutes": exercises}
    worked = f", and {exercises} for the exercises" if exercises else ""
    for node in doctree.findall(aims):
        node["minutes"] = f"About {reading} minutes to read{worked}"


def minutes_of(page: nodes.Element) -> tuple[int, int]:
    """Return the minutes to read a page, and the minutes for its exercises, in steps of five.

    The constants above give the rates. Folds, tables, code and solutions do not count.
    """
    words, boxes, exercises = 0, 0, 0
    for node in visible_nodes(page):
        if isinstance(node, exercise_node | exercise_enumerable_node):
            level = level_of(node["classes"])
            exercises += MINUTES_BY_DIFFICULTY.get(level, MINUTES_AN_EXERCISE)
        elif isinstance(node, quiz) or is_box(node):
            boxes += 1
        elif isinstance(node, nodes.Text):
            words += len(node.astext().split())
    reading = words / WORDS_A_MINUTE + MINUTES_PER_BOX * boxes
    return 5 * max(1, math.ceil(reading / 5 - 0.5)), 5 * math.ceil(exercises / 5)


def visible_nodes(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield a node and its descendants, except folds and nodes that are not read as text."""
    if isinstance(node, UNREAD) or (isinstance(node, nodes.section) and fold_kind(node)):
        return
    yield node
    if is_cell_part(node):
        return
    for child in node.children:
        yield from visible_nodes(child)


def is_cell_part(node: nodes.Node) -> bool:
    """Return whether a node is a cell's code or its output."""
    kinds = ("cell_code_source", "cell_code_output")
    return isinstance(node, nodes.container) and node.get("nb_element") in kinds


def is_box(node: nodes.Node) -> bool:
    """Return whether a node is the output of a cell that asks for a number."""
    return is_cell_part(node) and any(
        BOX_ELEMENT.search(raw.astext()) for raw in node.findall(nodes.raw)
    )
