"""Read a quiz that stands in a chapter, and refuse one that cannot be answered."""

import re
from string import ascii_lowercase
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import clean_astext

from byhand.quiz.elements import (
    quiz,
    quiz_answer,
    quiz_feedback,
    quiz_option,
    quiz_options,
    quiz_question,
    revealed,
)
from byhand.reading.values import NoValueError, value

logger = logging.getLogger(__name__)

LABEL = re.compile(r"[a-z][a-z0-9-]*")
MARK = re.compile(r"\[([x ])\]\s*")
MARK_WITH_CODE = re.compile(r"\[([x ])\s*")
SEPARATOR = re.compile(r"(?:^|\s+)::(?:\s+|$)")


class QuizError(ValueError):
    """A quiz is not written as it should be, at a line of its page."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line


def check_key(key: list[bool], multiple: bool) -> None:
    """Raise unless the quiz can be answered."""
    if multiple and not any(key):
        raise QuizError("no option is right; at least one is wanted")
    if not multiple and sum(key) != 1:
        raise QuizError(f"{sum(key)} options are right; one is wanted, or `:multiple:`")


class Quiz(SphinxDirective):
    """The directive ``{quiz} label``."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"multiple": directives.flag}
    explorer = ""  # of the page, whose numbers it is about

    def run(self) -> list[nodes.Node]:
        """Return the quiz, or warn at its line and leave it out."""
        try:
            return [self._quiz()]
        except QuizError as error:
            logger.warning(
                "quiz %s: %s",
                self.arguments[0],
                error,
                location=(self.env.docname, error.line or self.lineno),
                type="quiz",
            )
            return []

    def _quiz(self) -> quiz:
        body = self._question_and_list()
        options = body.pop()
        multiple = "multiple" in self.options
        label = f"quiz-{self._label()}"
        number = self.env.new_serialno("quiz") + 1
        predict = "reveals" in self.options
        listing = quiz_options(multiple=multiple, label=label, predict=predict)
        answer = quiz_answer()
        for letter, item in zip(ascii_lowercase, options.children, strict=False):
            option, feedback = self._option(item)
            for node in (option, feedback):
                node["letter"] = letter
                node["label"], node["multiple"] = label, multiple
            option["right"] = feedback["right"]
            listing += option
            answer += feedback
        check_key([bool(option["right"]) for option in listing], multiple)
        question = quiz_question(label=label)
        question += body[0].children
        whole = quiz(label=label, number=number, multiple=multiple, docname=self.env.docname)
        whole["of"] = self.explorer
        whole["predict"], whole["reveals"] = predict, self.options.get("reveals", 0)
        whole += [question, *body[1:], listing, answer]
        self.set_source_info(whole)
        return whole

    def _label(self) -> str:
        """Return the label, which no other quiz of the page may have."""
        label = self.arguments[0]
        if not LABEL.fullmatch(label):
            raise QuizError("its label is not lower-case words joined by hyphens")
        taken = self.env.temp_data.setdefault("quiz_labels", set())
        if label in taken:
            raise QuizError("another quiz of this page has this label")
        taken.add(label)
        return label

    def _question_and_list(self) -> list[nodes.Element]:
        """Return the parsed content: a paragraph, perhaps more, and a list at the end."""
        box = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, box)
        body = [node for node in box.children if not isinstance(node, nodes.comment)]
        if len(body) < 2 or not isinstance(body[-1], nodes.bullet_list):
            raise QuizError("a question and a list of options are wanted")
        if not isinstance(body[0], nodes.paragraph):
            raise QuizError("its question does not begin with a paragraph")
        if not 2 <= len(body[-1]) <= len(ascii_lowercase):
            raise QuizError("at least two options are wanted", body[-1].line)
        return body

    def _option(self, item: nodes.Element) -> tuple[quiz_option, quiz_feedback]:
        """Part an item of the list into the option and its feedback."""
        line = next((node.line for node in item.findall() if node.line), self.lineno)
        if not item.children or not isinstance(item[0], nodes.paragraph):
            raise QuizError("an option begins with `[x]` or `[ ]` and its text", line)
        try:
            right, inline = self._mark(list(item[0].children))
            before, after = _parted(inline)
        except QuizError as error:
            raise QuizError(str(error), line) from error
        option = quiz_option("", *before)
        if not option.astext().strip():
            raise QuizError("an option has no text", line)
        first = [nodes.paragraph("", "", *after)] if after else []
        feedback = quiz_feedback("", *first, *item.children[1:], right=right)
        if not feedback.children:
            raise QuizError(f"option `{clean_astext(option)}` has no feedback after `::`", line)
        return option, feedback

    def _mark(self, inline: list[nodes.Node]) -> tuple[bool, list[nodes.Node]]:
        """Return whether an option is right, by its mark, and its inline nodes after the mark."""
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
        """Raise unless the page's cells say what the mark says, where they run."""
        try:
            found = value(self.state.document, f"bool({expression})", self.lineno)
        except NoValueError as error:
            raise QuizError(f"`{expression}` cannot be evaluated: {error}") from error
        self.explorer = found.of or self.explorer
        came = [str(output["data"].get("text/plain")) for output in found.outputs]
        if came and came != [str(wanted)]:
            mark = "right" if wanted else "wrong"
            raise QuizError(f"an option is marked {mark}, but `{expression}` is {came[0]}")


class Predict(Quiz):
    """The directive ``{predict} label``: a quiz that folds away what follows it."""

    option_spec: ClassVar[dict[str, Any]] = {"reveals": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        """Return the quiz, which knows how many blocks it reveals."""
        self.options.setdefault("reveals", 1)
        return super().run()


def fold_what_follows(app: Sphinx, doctree: nodes.document) -> None:
    """Put the blocks that follow a prediction into a fold, or warn where there are none."""
    for node in list(doctree.findall(quiz)):
        if not node["reveals"]:
            continue
        siblings = node.parent.children
        first = siblings.index(node) + 1
        blocks = siblings[first : first + node["reveals"]]
        if len(blocks) < node["reveals"] or any(isinstance(b, nodes.section) for b in blocks):
            logger.warning(
                "quiz %s: %s block(s) to reveal are wanted behind it, in its section",
                node["label"],
                node["reveals"],
                location=node,
                type="quiz",
            )
            continue
        fold = revealed("", label=node["label"])
        node.parent.children[first : first + len(blocks)] = []
        node.parent.insert(first, fold)
        fold += blocks


def _parted(inline: list[nodes.Node]) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """Part an option's inline nodes where `` :: `` stands in their text."""
    for i, node in enumerate(inline):
        if isinstance(node, nodes.Text) and (found := SEPARATOR.search(node.astext())):
            text = node.astext()
            before, after = text[: found.start()], text[found.end() :]
            rest = [nodes.Text(after)] if after else []
            return [*inline[:i], nodes.Text(before)], [*rest, *inline[i + 1 :]]
    return inline, []
