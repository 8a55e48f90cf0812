"""The nodes of quizzes, and the words that are written around them."""

from docutils import nodes

QUESTION = "Question {}"
ONE, SEVERAL = "Choose one.", "Choose all that apply."


class quiz(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes in lower case)
    """A quiz: its question, more of it, its options, its answer."""


class quiz_question(nodes.General, nodes.TextElement):  # noqa: N801
    """The first paragraph of the question."""


class quiz_options(nodes.General, nodes.Element):  # noqa: N801
    """The options to choose from."""


class quiz_option(nodes.General, nodes.TextElement):  # noqa: N801
    """One option: inline nodes."""


class quiz_answer(nodes.General, nodes.Element):  # noqa: N801
    """All feedback, below the question; in print it waits for the key."""


class quiz_feedback(nodes.General, nodes.Element):  # noqa: N801
    """What there is to say to one option."""


class revealed(nodes.General, nodes.Element):  # noqa: N801
    """What follows a prediction, folded away until there is one; in print it stands open."""
