"""The key to all quizzes of the book, by chapter."""

from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import clean_astext

from byhand.quiz.elements import LABELS, quiz, quiz_feedback, quiz_key


class QuizKey(SphinxDirective):
    """The directive ``{quiz-key}``: the key to every quiz of the book, by chapter."""

    def run(self) -> list[nodes.Node]:
        """Return where the key goes once all pages are read."""
        self.env.metadata[self.env.docname]["quiz_key"] = True
        return [quiz_key()]


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
