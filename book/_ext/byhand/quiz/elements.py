"""The nodes of quizzes, and their HTML.

Each node has a `frame`: the HTML before and after its content, in which placeholders are replaced
by the result of `words`.
"""

from string import Template
from typing import Any

from docutils import nodes

QUESTION = "Question {}"
ONE, SEVERAL = "Choose one.", "Choose all that apply."


class quiz(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes in lower case)
    """A quiz: a question, optional paragraphs, options and answer."""

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
    """The list of options."""

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
    """All feedback, below the question; in print it is in the answer key."""

    frame = (
        '<details class="quiz-answer"><summary>Answer</summary><ul>',
        "</ul></details>",
    )


class quiz_feedback(nodes.General, nodes.Element):  # noqa: N801
    """The feedback to one option."""

    frame = (
        '<li data-option="$letter" data-right="$right">'
        '<span class="quiz-verdict">($letter) $verdict.</span><div class="quiz-feedback">',
        "</div></li>\n",
    )


class revealed(nodes.General, nodes.Element):  # noqa: N801
    """The blocks that a prediction hides; print shows them."""

    frame = (
        '<details class="quiz-revealed" id="$label-revealed"><summary>What happens</summary>\n',
        "</details>\n",
    )


NODES = (quiz, quiz_question, quiz_options, quiz_option, quiz_answer, quiz_feedback, revealed)


def words(node: nodes.Element) -> dict[str, Any]:
    """Return the values of a frame's placeholders: attributes of a node and of its quiz."""
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
