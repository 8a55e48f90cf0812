"""What is written before and after the nodes of a quiz, on pages.

A frame is a pair of templates, which `words` fills from the node.
"""

from collections.abc import Callable
from string import Template
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from byhand.quiz.elements import (
    ONE,
    QUESTION,
    SEVERAL,
    quiz,
    quiz_answer,
    quiz_feedback,
    quiz_option,
    quiz_options,
    quiz_question,
    revealed,
)

Handler = Callable[[Any, nodes.Element], None]
Frame = tuple[str, str]

ON_PAGES: dict[type[nodes.Element], Frame] = {
    quiz: (
        '<mha-quiz id="$label" role="group" aria-labelledby="$label-title"$multiple$predict$of>'
        '<p class="quiz-title" id="$label-title">$title <span class="reading-done"></span></p>'
        '<form class="quiz-form" novalidate><fieldset>',
        "</mha-quiz>\n",
    ),
    quiz_question: ("<legend>", "</legend>\n"),
    quiz_options: (
        '<p class="quiz-how">$how</p><div class="quiz-options">',
        '</div></fieldset><div class="quiz-controls"><button type="submit"'
        ' class="reading-button">$check</button>'
        ' <p class="quiz-status" role="status"></p></div></form>\n',
    ),
    quiz_option: (
        '<div class="quiz-option"><input type="$kind" name="$label" id="$label-$letter"'
        ' value="$letter"><label for="$label-$letter">($letter) ',
        '</label><div class="quiz-note" id="$label-$letter-note" aria-live="polite"></div></div>\n',
    ),
    quiz_answer: (
        '<details class="quiz-answer"><summary>Answer</summary><ul>',
        "</ul></details>",
    ),
    revealed: (
        '<details class="quiz-revealed" id="$label-revealed"><summary>What happens</summary>\n',
        "</details>\n",
    ),
    quiz_feedback: (
        '<li data-option="$letter" data-right="$right">'
        '<span class="quiz-verdict">($letter) $verdict.</span><div class="quiz-feedback">',
        "</div></li>\n",
    ),
}


def add_nodes(app: Sphinx) -> None:
    """Register every node with its frame."""
    for node, frame in ON_PAGES.items():
        app.add_node(node, html=handlers(frame))


def handlers(frame: Frame) -> tuple[Handler, Handler]:
    """Return the two functions that Sphinx calls before and after a node's content."""
    before, after = map(Template, frame)

    def visit(self: Any, node: nodes.Element) -> None:
        self.body.append(before.substitute(words(node)))

    def depart(self: Any, node: nodes.Element) -> None:
        self.body.append(after.substitute(words(node)))

    return visit, depart


def words(node: nodes.Element) -> dict[str, str]:
    """Return what the templates name."""
    several, predict = node.get("multiple", False), node.get("predict", False)
    how = SEVERAL if several else ONE
    return {
        "label": node.get("label", ""),
        "letter": node.get("letter", ""),
        "title": QUESTION.format(node.get("number", "")),
        "how": "Choose one, then see what happens." if predict else how,
        "check": "See what happens" if predict else "Check",
        "verdict": "Right" if node.get("right") else "Not right",
        "right": "yes" if node.get("right") else "no",
        "kind": "checkbox" if several else "radio",
        "multiple": ' data-multiple=""' * several,
        "predict": ' data-predict=""' * predict,
        "of": f' class="tag_of-{node["of"]}"' if node.get("of") else "",  # as a cell's element
    }
