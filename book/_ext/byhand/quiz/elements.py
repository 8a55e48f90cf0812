"""The nodes of quizzes, and the words that are written around them.

On a page each has a `frame`: what is written before and after its content, in which `words` fills
in what it is.
"""

from string import Template
from typing import Any

from docutils import nodes

QUESTION = "Question {}"
ONE, SEVERAL = "Choose one.", "Choose all that apply."


class quiz(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes in lower case)
    """A quiz: its question, more of it, its options, its answer."""

    frame = (
        '<mha-quiz id="$label" role="group" aria-labelledby="$label-title"$multiple$predict$of>'
        '<p class="quiz-title" id="$label-title">$title <span class="reading-done"></span></p>'
        '<form class="quiz-form" novalidate><fieldset>',
        "</mha-quiz>\n",
    )


class quiz_question(nodes.General, nodes.TextElement):  # noqa: N801
    """The first paragraph of the question."""

    frame = "<legend>", "</legend>\n"


class quiz_options(nodes.General, nodes.Element):  # noqa: N801
    """The options to choose from."""

    frame = (
        '<p class="quiz-how">$how</p><div class="quiz-options">',
        '</div></fieldset><div class="quiz-controls"><button type="submit"'
        ' class="reading-button">$check</button>'
        ' <p class="quiz-status" role="status"></p></div></form>\n',
    )


class quiz_option(nodes.General, nodes.TextElement):  # noqa: N801
    """One option: inline nodes."""

    frame = (
        '<div class="quiz-option"><input type="$kind" name="$label" id="$label-$letter"'
        ' value="$letter"><label for="$label-$letter">($letter) ',
        '</label><div class="quiz-note" id="$label-$letter-note" aria-live="polite"></div></div>\n',
    )


class quiz_answer(nodes.General, nodes.Element):  # noqa: N801
    """All feedback, below the question; in print it waits for the key."""

    frame = (
        '<details class="quiz-answer"><summary>Answer</summary><ul>',
        "</ul></details>",
    )


class quiz_feedback(nodes.General, nodes.Element):  # noqa: N801
    """What there is to say to one option."""

    frame = (
        '<li data-option="$letter" data-right="$right">'
        '<span class="quiz-verdict">($letter) $verdict.</span><div class="quiz-feedback">',
        "</div></li>\n",
    )


class revealed(nodes.General, nodes.Element):  # noqa: N801
    """What follows a prediction, folded away until there is one; in print it stands open."""

    frame = (
        '<details class="quiz-revealed" id="$label-revealed"><summary>What happens</summary>\n',
        "</details>\n",
    )


NODES = (quiz, quiz_question, quiz_options, quiz_option, quiz_answer, quiz_feedback, revealed)


def words(node: nodes.Element) -> dict[str, Any]:
    """Return what frames name: attributes of a node and of its quiz, and how they are said."""
    whole = node
    while not isinstance(whole, quiz) and isinstance(whole.parent, NODES):
        whole = whole.parent
    several, predict = whole.get("multiple", False), bool(whole.get("reveals"))
    return {
        **whole.attributes,
        **node.attributes,
        "title": QUESTION.format(whole.get("number", "")),
        "how": "Choose one, then see what happens." if predict else SEVERAL if several else ONE,
        "check": "See what happens" if predict else "Check",
        "verdict": "Right" if node.get("right") else "Not right",
        "right": "yes" if node.get("right") else "no",
        "kind": "checkbox" if several else "radio",
        "multiple": ' data-multiple=""' * several,
        "predict": ' data-predict=""' * predict,
        "of": f' class="tag_of-{whole["of"]}"' if whole.get("of") else "",  # as a cell's element
    }


def _visit(self: Any, node: nodes.Element) -> None:
    self.body.append(Template(node.frame[0]).substitute(words(node)))


def _depart(self: Any, node: nodes.Element) -> None:
    self.body.append(Template(node.frame[1]).substitute(words(node)))


FRAMED = _visit, _depart
"""What Sphinx calls to write a node that has a frame."""
