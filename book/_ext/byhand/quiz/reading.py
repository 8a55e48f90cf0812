"""Parsing of quizzes, with errors for those that cannot be answered."""

import re
from string import ascii_lowercase
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import clean_astext

from byhand.quiz import elements
from byhand.reading.values import NoValueError, expression_value

logger = logging.getLogger(__name__)

LABEL = re.compile(r"[a-z][a-z0-9-]*")
MARK = re.compile(r"\[([x ])\]\s*")
MARK_WITH_CODE = re.compile(r"\[([x ])\s*")
SEPARATOR = re.compile(r"(?:^|\s+)::(?:\s+|$)")


class QuizError(ValueError):
    """Raised if a quiz has a wrong form."""


class Quiz(SphinxDirective):
    """The directive ``{quiz} label``."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"multiple": directives.flag}
    explorer = ""  # of the page, whose numbers it is about
    line = 0  # the line that is parsed

    def run(self) -> list[nodes.Node]:
        """Return the quiz; if it is faulty, warn at its line and omit it."""
        self.line = self.lineno
        try:
            return [self._quiz()]
        except QuizError as error:
            place = (self.env.docname, self.line)
            logger.warning("quiz %s: %s", self.arguments[0], error, location=place, type="quiz")
            return []

    def _quiz(self) -> elements.quiz:
        question, *more, items = self._question_and_list()
        label, number = f"quiz-{self._label()}", self.env.new_serialno("quiz") + 1
        options, answer = elements.quiz_options(), elements.quiz_answer()
        for letter, item in zip(ascii_lowercase, items.children, strict=False):
            option, feedback = self._option(item)
            option["letter"] = feedback["letter"] = letter
            options += option
            answer += feedback
        self.line = self.lineno
        multiple, right = "multiple" in self.options, sum(bool(one["right"]) for one in answer)
        if multiple and not right:
            raise QuizError("no option is right; at least one is wanted")
        if not multiple and right != 1:
            raise QuizError(f"{right} options are right; one is wanted, or `:multiple:`")
        reveals = self.options.get("reveals", 0)
        whole = elements.quiz(label=label, number=number, multiple=multiple, reveals=reveals)
        whole["of"] = self.explorer
        whole += [elements.quiz_question("", "", *question.children), *more, options, answer]
        self.set_source_info(whole)
        return whole

    def _label(self) -> str:
        """Return the label, or raise if another quiz of the page has it."""
        label = self.arguments[0]
        if not LABEL.fullmatch(label):
            raise QuizError("its label is not lower-case words joined by hyphens")
        taken = self.env.temp_data.setdefault("quiz_labels", set())
        if label in taken:
            raise QuizError("another quiz of this page has this label")
        taken.add(label)
        return label

    def _question_and_list(self) -> list[nodes.Node]:
        """Return the parsed content: a paragraph, optional blocks, and a list."""
        parsed = self.parse_content_to_nodes()
        body = [node for node in parsed if not isinstance(node, nodes.comment)]
        if len(body) < 2 or not isinstance(body[-1], nodes.bullet_list):
            raise QuizError("a question and a list of options are wanted")
        if not isinstance(body[0], nodes.paragraph):
            raise QuizError("its question does not begin with a paragraph")
        if not 2 <= len(body[-1]) <= len(ascii_lowercase):
            self.line = body[-1].line or self.lineno
            raise QuizError("at least two options are wanted")
        return body

    def _option(self, item: nodes.Node) -> tuple[elements.quiz_option, elements.quiz_feedback]:
        """Split an item of the list into the option and its feedback."""
        self.line = next((node.line for node in item.findall() if node.line), self.lineno)
        if not item.children or not isinstance(item.children[0], nodes.paragraph):
            raise QuizError("an option begins with `[x]` or `[ ]` and its text")
        first, *more = item.children
        right, inline = self._mark(list(first.children))
        before, after = _split_option(inline)
        option = elements.quiz_option("", "", *before)
        if not option.astext().strip():
            raise QuizError("an option has no text")
        feedback = [nodes.paragraph("", "", *after)] if after else []
        if not feedback and not more:
            raise QuizError(f"option `{clean_astext(option)}` has no feedback after `::`")
        return option, elements.quiz_feedback("", *feedback, *more, right=right)

    def _mark(self, inline: list[nodes.Node]) -> tuple[bool, list[nodes.Node]]:
        """Return whether an option is marked as right, and its inline nodes after the mark."""
        first = inline[0].astext() if isinstance(inline[0], nodes.Text) else ""
        if match := MARK.match(first):
            return match[1] == "x", [nodes.Text(first[match.end() :]), *inline[1:]]
        with_code = MARK_WITH_CODE.fullmatch(first)
        is_code = with_code and len(inline) > 2 and isinstance(inline[1], nodes.literal)
        if not with_code or not is_code or not inline[2].astext().startswith("]"):
            raise QuizError("an option begins with `[x]` or `[ ]`")
        right = with_code[1] == "x"
        self._assert(inline[1].astext(), right)
        return right, [nodes.Text(inline[2].astext()[1:].lstrip()), *inline[3:]]

    def _assert(self, expression: str, wanted: bool) -> None:
        """Raise unless the expression has the wanted truth value, if the page's cells ran."""
        try:
            found = expression_value(self.state.document, f"bool({expression})", self.lineno)
        except NoValueError as error:
            raise QuizError(f"`{expression}` cannot be evaluated: {error}") from error
        self.explorer = found.explorers or self.explorer
        came = [str(output["data"].get("text/plain")) for output in found.outputs]
        if came and came != [str(wanted)]:
            mark = "right" if wanted else "wrong"
            raise QuizError(f"an option is marked {mark}, but `{expression}` is {came[0]}")


class Predict(Quiz):
    """The directive ``{predict} label``: a quiz that hides the blocks after it."""

    option_spec: ClassVar[dict[str, Any]] = {"reveals": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        """Return the quiz with the number of blocks that it hides."""
        self.options.setdefault("reveals", 1)
        return super().run()


def fold_what_follows(app: Sphinx, doctree: nodes.document) -> None:
    """Put the blocks after a prediction into a fold, or warn if there are too few."""
    for node in list(doctree.findall(elements.quiz)):
        if not node["reveals"]:
            continue
        siblings = node.parent.children
        first = siblings.index(node) + 1
        blocks = siblings[first : first + node["reveals"]]
        if len(blocks) < node["reveals"] or any(isinstance(b, nodes.section) for b in blocks):
            wanted = "quiz %s: %s block(s) to reveal are wanted behind it, in its section"
            message = (wanted, node["label"], node["reveals"])
            logger.warning(*message, location=node, type="quiz")
            continue
        node.parent[first : first + len(blocks)] = [
            elements.revealed("", *blocks, label=node["label"])
        ]


def _split_option(inline: list[nodes.Node]) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """Split an option's inline nodes at the first `` :: `` in their text."""
    for i, node in enumerate(inline):
        if isinstance(node, nodes.Text) and (found := SEPARATOR.search(node.astext())):
            text = node.astext()
            before, after = text[: found.start()], text[found.end() :]
            rest = [nodes.Text(after)] if after else []
            return [*inline[:i], nodes.Text(before)], [*rest, *inline[i + 1 :]]
    return inline, []
