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

In print, a quiz is its question and options; ``{quiz-key}`` lists the right ones.
``{read-in-steps}`` below a title is where the page's script offers to read it in steps.
"""

import re
from collections.abc import Iterator
from string import ascii_lowercase
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from myst_nb.core.variables import RetrievalError
from myst_nb.ext.eval import retrieve_eval_data
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import clean_astext

logger = logging.getLogger(__name__)

LABELS = {
    "question": "Question {number}",
    "one": "Choose one.",
    "several": "Choose all that apply.",
    "check": "Check",
    "answer": "Answer",
    "right": "Right",
    "wrong": "Not right",
}
MARK = re.compile(r"\[([x ])\]\s*")
MARK_WITH_CODE = re.compile(r"\[([x ])\s*")
SEPARATOR = re.compile(r"(?:^|\s+)::(?:\s+|$)")


class QuizError(ValueError):
    """A quiz is not written as it should be, at a line of its page."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line


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


class quiz_key(nodes.General, nodes.Element):  # noqa: N801
    """Where the key to all quizzes goes."""


# ---- Reading ----


class Quiz(SphinxDirective):
    """The directive ``{quiz} label``."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"multiple": directives.flag}

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
        listing, answer = quiz_options(multiple=multiple, label=label), quiz_answer()
        for letter, item in zip(ascii_lowercase, options.children, strict=False):
            option, feedback = self._option(item)
            for node in (option, feedback):
                node["letter"] = letter
                node["label"], node["multiple"] = label, multiple
            option["right"] = feedback["right"]
            listing += option
            answer += feedback
        _check_key([bool(option["right"]) for option in listing], multiple)
        question = quiz_question(label=label)
        question += body[0].children
        whole = quiz(label=label, number=number, multiple=multiple, docname=self.env.docname)
        whole += [question, *body[1:], listing, answer]
        self.set_source_info(whole)
        return whole

    def _label(self) -> str:
        """Return the label, which no other quiz of the page may have."""
        label = self.arguments[0]
        if not re.fullmatch(r"[a-z][a-z0-9-]*", label):
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
        """Raise unless the page's kernel says what the mark says."""
        try:
            outputs = retrieve_eval_data(self.state.document, f"bool({expression})")
        except RetrievalError as error:
            raise QuizError(f"`{expression}` cannot be evaluated: {error}") from error
        came = [str(output.data.get("text/plain")) for output in outputs]
        if came != [str(wanted)]:
            mark = "right" if wanted else "wrong"
            raise QuizError(f"an option is marked {mark}, but `{expression}` is {came[0]}")


def _parted(inline: list[nodes.Node]) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """Part an option's inline nodes where `` :: `` stands in their text."""
    for i, node in enumerate(inline):
        if isinstance(node, nodes.Text) and (found := SEPARATOR.search(node.astext())):
            text = node.astext()
            before, after = text[: found.start()], text[found.end() :]
            rest = [nodes.Text(after)] if after else []
            return [*inline[:i], nodes.Text(before)], [*rest, *inline[i + 1 :]]
    return inline, []


def _check_key(key: list[bool], multiple: bool) -> None:
    """Raise unless the quiz can be answered."""
    if multiple and not any(key):
        raise QuizError("no option is right; at least one is wanted")
    if not multiple and sum(key) != 1:
        raise QuizError(f"{sum(key)} options are right; one is wanted, or `:multiple:`")


class QuizKey(SphinxDirective):
    """The directive ``{quiz-key}``: the key to every quiz of the book, by chapter."""

    def run(self) -> list[nodes.Node]:
        """Return where the key goes once all pages are read."""
        self.env.metadata[self.env.docname]["quiz_key"] = True
        return [quiz_key()]


class ReadInSteps(SphinxDirective):
    """The directive ``{read-in-steps}``: the place of the button, which the script fills."""

    def run(self) -> list[nodes.Node]:
        """Return an empty element of HTML; print has no steps."""
        return [nodes.raw("", '<div class="steps-start"></div>', format="html")]


# ---- The key ----


class CollectKey(SphinxPostTransform):
    """Put the key in its place."""

    default_priority = 3  # before MyST-NB chooses outputs and Sphinx resolves references

    def run(self, **kwargs: object) -> None:
        """Replace each place by a list of each chapter's questions and their right options."""
        for place in list(self.document.findall(quiz_key)):
            place.replace_self(
                [
                    node
                    for docname, quizzes in self._by_chapter()
                    for node in self._chapter(docname, quizzes)
                ]
            )

    def _by_chapter(self) -> Iterator[tuple[str, list[quiz]]]:
        """Yield the pages that have quizzes, in the order of the book."""
        in_one_file = [] if self.app.builder.name == "html" else self.document.findall(quiz)
        found: dict[str, list[quiz]] = {}
        for node in in_one_file:
            found.setdefault(node["docname"], []).append(node)
        if self.app.builder.name == "html":
            for docname in _reading_order(self.env):
                found[docname] = list(self.env.get_doctree(docname).findall(quiz))
        yield from ((docname, quizzes) for docname, quizzes in found.items() if quizzes)

    def _chapter(self, docname: str, quizzes: list[quiz]) -> list[nodes.Node]:
        """Return a chapter's title and the answers to its quizzes."""
        title = self.env.titles[docname]
        heading = nodes.paragraph("", "", nodes.strong("", clean_astext(title)))
        return [heading, nodes.bullet_list("", *(self._answer(node) for node in quizzes))]

    def _answer(self, question: quiz) -> nodes.list_item:
        """Return a question's right letters, and the feedback on every option."""
        feedback = list(question.findall(quiz_feedback))
        letters = ", ".join(f"({node['letter']})" for node in feedback if node["right"])
        name = LABELS["question"].format(number=question["number"])
        item = nodes.list_item("", nodes.paragraph("", f"{name}: {letters}"))
        notes = nodes.bullet_list()
        for node in feedback:
            copy = node.deepcopy()
            for reference in copy.findall(lambda n: "refdoc" in getattr(n, "attributes", {})):
                reference["refdoc"] = self.env.docname
            first = copy.children[0]
            first.insert(0, nodes.Text(f"({node['letter']}) "))
            notes += nodes.list_item("", *copy.children)
        item += notes
        return item


def _reading_order(env: BuildEnvironment) -> list[str]:
    """Return the names of all pages, in the order of the contents."""
    order = [env.config.root_doc]
    relations = env.collect_relations()
    while (following := relations.get(order[-1], [None, None, None])[2]) and following not in order:
        order.append(following)
    return [*order, *sorted(env.found_docs - set(order))]


def pages_with_key(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages to be written again whenever any page was read: they hold the key."""
    return [name for name, data in env.metadata.items() if data.get("quiz_key")]


# ---- HTML ----


def visit_quiz_html(self: Any, node: quiz) -> None:
    """Begin the element, the form and the group of options."""
    label = node["label"]
    kind = ' data-multiple=""' if node["multiple"] else ""
    title = LABELS["question"].format(number=node["number"])
    self.body.append(
        f'<mha-quiz id="{label}" role="group" aria-labelledby="{label}-title"{kind}>'
        f'<p class="quiz-title" id="{label}-title">{title} <span class="reading-done">'
        "</span></p>"
        '<form class="quiz-form" novalidate><fieldset>'
    )


def depart_quiz_html(self: Any, node: quiz) -> None:
    """End the element."""
    self.body.append("</mha-quiz>\n")


def visit_question_html(self: Any, node: quiz_question) -> None:
    """Begin the group's name: the question."""
    self.body.append("<legend>")


def depart_question_html(self: Any, node: quiz_question) -> None:
    """End the group's name."""
    self.body.append("</legend>\n")


def visit_options_html(self: Any, node: quiz_options) -> None:
    """Begin the options with what to choose."""
    how = LABELS["several" if node["multiple"] else "one"]
    self.body.append(f'<p class="quiz-how">{how}</p><div class="quiz-options">')


def depart_options_html(self: Any, node: quiz_options) -> None:
    """End the form with its button and where the script says how it stands."""
    self.body.append(
        f'</div></fieldset><div class="quiz-controls"><button type="submit"'
        f' class="reading-button">{LABELS["check"]}</button>'
        ' <p class="quiz-status" role="status"></p></div></form>\n'
    )


def visit_option_html(self: Any, node: quiz_option) -> None:
    """Begin an option: a button to choose it, its text, and a place for feedback."""
    kind = "checkbox" if node["multiple"] else "radio"
    field = f"{node['label']}-{node['letter']}"
    self.body.append(
        f'<div class="quiz-option"><input type="{kind}" name="{node["label"]}" id="{field}"'
        f' value="{node["letter"]}"><label for="{field}">({node["letter"]}) '
    )


def depart_option_html(self: Any, node: quiz_option) -> None:
    """End an option."""
    field = f"{node['label']}-{node['letter']}"
    self.body.append(
        f'</label><div class="quiz-note" id="{field}-note" aria-live="polite"></div></div>\n'
    )


def visit_answer_html(self: Any, node: quiz_answer) -> None:
    """Begin what reads without a script: the answer with all feedback."""
    self.body.append(f'<details class="quiz-answer"><summary>{LABELS["answer"]}</summary><ul>')


def depart_answer_html(self: Any, node: quiz_answer) -> None:
    """End the answer."""
    self.body.append("</ul></details>")


def visit_feedback_html(self: Any, node: quiz_feedback) -> None:
    """Begin the feedback on one option."""
    right = node["right"]
    verdict = LABELS["right" if right else "wrong"]
    self.body.append(
        f'<li data-option="{node["letter"]}" data-right="{"yes" if right else "no"}">'
        f'<span class="quiz-verdict">({node["letter"]}) {verdict}.</span>'
        '<div class="quiz-feedback">'
    )


def depart_feedback_html(self: Any, node: quiz_feedback) -> None:
    """End the feedback on one option."""
    self.body.append("</div></li>\n")


# ---- Print ----


def visit_quiz_latex(self: Any, node: quiz) -> None:
    """Begin a box."""
    title = LABELS["question"].format(number=node["number"])
    self.body.append(f"\n\\begin{{sphinxadmonition}}{{note}}{{{self.encode(title)}:}}\n")


def depart_quiz_latex(self: Any, node: quiz) -> None:
    """End the box."""
    self.body.append("\\end{sphinxadmonition}\n")


def visit_question_latex(self: Any, node: quiz_question) -> None:
    """Begin a paragraph."""
    self.body.append("\n\\sphinxAtStartPar\n")


def depart_question_latex(self: Any, node: quiz_question) -> None:
    """End the paragraph."""
    self.body.append("\n\n")


def visit_options_latex(self: Any, node: quiz_options) -> None:
    """Begin the list of options."""
    how = LABELS["several" if node["multiple"] else "one"]
    self.body.append(f"\n\\sphinxAtStartPar\n{self.encode(how)}\n\\begin{{itemize}}\n")


def depart_options_latex(self: Any, node: quiz_options) -> None:
    """End the list of options."""
    self.body.append("\\end{itemize}\n")


def visit_option_latex(self: Any, node: quiz_option) -> None:
    """Begin an option with its letter."""
    self.body.append(f"\\item[({node['letter']})] ")


def depart_option_latex(self: Any, node: quiz_option) -> None:
    """End an option."""
    self.body.append("\n")


def skip(self: Any, node: nodes.Element) -> None:
    """Leave a node out."""
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives, the nodes and how they are written."""
    app.add_directive("quiz", Quiz)
    app.add_directive("quiz-key", QuizKey)
    app.add_directive("read-in-steps", ReadInSteps)
    app.add_node(
        quiz,
        html=(visit_quiz_html, depart_quiz_html),
        latex=(visit_quiz_latex, depart_quiz_latex),
    )
    app.add_node(
        quiz_question,
        html=(visit_question_html, depart_question_html),
        latex=(visit_question_latex, depart_question_latex),
    )
    app.add_node(
        quiz_options,
        html=(visit_options_html, depart_options_html),
        latex=(visit_options_latex, depart_options_latex),
    )
    app.add_node(
        quiz_option,
        html=(visit_option_html, depart_option_html),
        latex=(visit_option_latex, depart_option_latex),
    )
    app.add_node(
        quiz_answer,
        html=(visit_answer_html, depart_answer_html),
        latex=(skip, None),
    )
    app.add_node(
        quiz_feedback,
        html=(visit_feedback_html, depart_feedback_html),
        latex=(skip, None),
    )
    app.add_node(quiz_key, html=(skip, None), latex=(skip, None))
    app.add_post_transform(CollectKey)
    app.connect("env-updated", pages_with_key)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
