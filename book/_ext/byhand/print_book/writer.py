"""A page's resolved doctree as Typst markup, with the numbers of the page."""

from collections.abc import Callable, Iterable
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment

from byhand.chapter.lead_and_aims import HARDEST, MARK
from byhand.mathematics.paper import FormulaError, formula
from byhand.press.markup import Cell, array, drawing, string, table, text
from byhand.press.pdf import PressError
from byhand.print_book.references import (
    Target,
    name_of,
    names_of,
    number_in,
    number_of_chapter,
    place_of,
    source_of,
    target_of,
)
from byhand.quiz.elements import ONE, QUESTION, SEVERAL
from byhand.tables import paper
from byhand.tables.element import numbers as numbers_element

UNLISTED = ("Deeper: ", "All numbers", "Exercises", "Summary", "Read next")
"""How headings begin that the contents do without; a PDF's outline has them."""
SKIPPED = (nodes.Invisible, nodes.system_message, nodes.colspec, nodes.label)


def call_of(name: str) -> Callable[["Writer", nodes.Element], str]:
    """Return a method that writes a node as a call of one of Typst's functions."""
    return lambda writer, node: f"#{name}[{writer.children_markup(node)}]"


class Writer:
    """A writer of one page."""

    def __init__(
        self,
        env: BuildEnvironment,
        page: str,
        level: int,  # of the page's own heading
        wanted: set[Target],  # targets of references, which alone get a name
        solutions: dict[str, Target],  # the target of each solution, by the exercise's label
        *,
        opens_part: bool = False,  # whether the page is the first below a part's title
    ) -> None:
        self.env, self.page, self.wanted, self.solutions = env, page, wanted, solutions
        self.level, self.opens_part = level - 1, opens_part
        self.chapter_level = level
        self.is_boxed = False
        self.is_opened = False  # whether the chapter's first figure has been
        self.near: set[Target] = (
            set()
        )  # targets in this section, whose references need no page number
        self.prints_page_numbers = True  # false in titles, captions and tables

    # ---- The tree ----

    def write(self, node: nodes.Node) -> str:
        """Return the markup of a node."""
        if isinstance(node, nodes.Text):
            return text(node.astext())
        if isinstance(node, SKIPPED) and not isinstance(node, nodes.target):
            return ""
        kinds = (kind.__name__ for kind in type(node).__mro__)
        write: Callable[[Any], str] = next(
            getattr(self, f"write_{kind}") for kind in kinds if hasattr(self, f"write_{kind}")
        )
        try:
            return write(node)
        except FormulaError as error:
            raise PressError(f"{place_of(node)}{error}") from None

    def children_markup(self, node: nodes.Element) -> str:
        """Return the markup of a node's children."""
        return "".join(map(self.write, node.children))

    def markup_without_pages(self, node: nodes.Element) -> str:
        """Return the children's markup without page numbers: for titles, captions and tables."""
        before, self.prints_page_numbers = self.prints_page_numbers, False
        written = self.children_markup(node)
        self.prints_page_numbers = before
        return written

    def names(self, node: nodes.Element) -> list[str]:
        """Return the names by which references find a node, as Typst strings."""
        found = dict.fromkeys([*node.get("ids", []), *filter(None, [node.get("label")])])
        return [string(name_of((self.page, i))) for i in found if (self.page, i) in self.wanted]

    def number(self, kind: str, node: nodes.Element) -> str:
        """Return the number of a figure, table, equation or exercise, or "" if it has none."""
        numbers = self.env.toc_fignumbers.get(self.page, {}).get(kind, {})
        return number_in(numbers, *node.get("ids", []))

    def anchors(self, node: nodes.Element) -> str:
        """Return Typst labels for the names of a node."""
        return "".join(f"#anchor({name})" for name in self.names(node))

    def write_Element(self, node: nodes.Element) -> str:
        """Raise, since this kind of node has no form in print."""
        raise PressError(f"{place_of(node)}a {type(node).__name__} has no form for print")

    def write_container(self, node: nodes.container) -> str:
        return self.anchors(node) + self.children_markup(node)

    write_document = write_compound = write_revealed = write_container

    def write_nothing(self, node: nodes.Element) -> str:
        return ""

    write_toctree = write_meta = write_quiz_answer = write_index = write_nothing
    write_footnote = write_nothing  # written at its reference

    # ---- Headings ----

    def write_section(self, node: nodes.section) -> str:
        if next((c for c in node.children if isinstance(c, nodes.title)), None) is None:
            return self.write_container(node)  # an exercise's content
        self.level += 1
        if self.level == self.chapter_level + 1:
            self.near = set(names_of(self.page, node))
        written = self.children_markup(node)
        self.level -= 1
        return f"#ending[\n{written}]\n\n" if node.get("ends") else written

    def write_title(self, node: nodes.title) -> str:
        section = node.parent
        names = self.names(section)
        title = self.markup_without_pages(node)
        if isinstance(section.parent, nodes.document):
            if (self.page, "") in self.wanted:
                names.append(string(name_of((self.page, ""))))
            number = number_of_chapter(self.env, self.page)
            first = ", first: true" if self.opens_part else ""
            return f"#chapter({self.level}, {string(number)}, {array(names)}{first})[{title}]\n\n"
        numbers = self.env.toc_secnumbers.get(self.page, {})
        number = number_in(numbers, *(f"#{name}" for name in section["ids"]))
        is_listed = number and not node.astext().startswith(UNLISTED)
        listed = "true" if is_listed else "false"
        return (
            f"{source_comment(node)}#titled({self.level}, {self.level - self.chapter_level},"
            f" {string(number)}, {array(names)}, {listed})"
            f"[{title}]\n\n"
        )

    def heading_and_content(self, page: nodes.document) -> tuple[str, str]:
        """Return a page's heading and the content below it."""
        section = next(iter(page.findall(nodes.section)))
        self.level += 1
        title, *rest = (child for child in section.children if not isinstance(child, SKIPPED))
        return self.write(title), "".join(map(self.write, rest))

    # ---- Paragraphs and lists ----

    def write_paragraph(self, node: nodes.paragraph) -> str:
        return f"{source_comment(node)}{self.anchors(node)}{self.children_markup(node)}\n\n"

    write_quiz_question = write_paragraph

    def write_bullet_list(self, node: nodes.bullet_list) -> str:
        return f"#list{self.items(node)}\n\n"

    def write_enumerated_list(self, node: nodes.enumerated_list) -> str:
        return f"#enum(start: {node.get('start', 1)}){self.items(node)}\n\n"

    def items(self, node: nodes.Element) -> str:
        """Return the items of a list; an item with one paragraph is written inline."""
        return "".join(f"[{self.unwrapped(item)}]" for item in node.children)

    def unwrapped(self, node: nodes.Element) -> str:
        """Return the children's markup without the blank lines around it."""
        return self.children_markup(node).strip()

    def write_definition_list(self, node: nodes.definition_list) -> str:
        items = []
        for item in node.children:
            term, definition = (
                "".join(map(self.unwrapped, item.findall(kind)))
                for kind in (nodes.term, nodes.definition)
            )
            items.append(f"terms.item[{term}][{definition}]")
        return f"#terms({', '.join(items)})\n\n"

    def write_block_quote(self, node: nodes.block_quote) -> str:
        return f"#quote(block: true)[{self.children_markup(node)}]\n\n"

    def write_line_block(self, node: nodes.line_block) -> str:
        return "#linebreak()\n".join(map(self.children_markup, node.children)) + "\n\n"

    def write_lead(self, node: nodes.Element) -> str:
        return f"#lead[{self.children_markup(node).strip()}\n]\n\n"

    def write_aims(self, node: nodes.Element) -> str:
        return f"#aims({string(node['minutes'])})[\n{self.children_markup(node)}]\n\n"

    # ---- Words ----

    def write_inline(self, node: nodes.inline) -> str:
        written = self.anchors(node) + self.children_markup(node)
        if "shape" in node["classes"]:  # the shape of a step's result, at the end of its line
            return f"#h(1fr){written}"
        return f"#strong[{written}]" if "max" in node["classes"] else written

    write_emphasis, write_strong = call_of("emph"), call_of("strong")
    write_subscript, write_superscript = call_of("sub"), call_of("super")

    def write_literal(self, node: nodes.literal) -> str:
        return f"#raw({string(node.astext())})"

    def write_raw(self, node: nodes.raw) -> str:
        if "drawing" in node:
            return f"#{drawing(node['drawing'], node['alt'])}\n"
        if node["format"] == "latex" and node.astext().strip() == r"\\":  # as a line is broken
            return "#linebreak()\n"
        return ""

    def write_index_mark(self, node: nodes.Element) -> str:
        return f"#marked({string(node['entry'])})"

    # ---- References ----

    def write_reference(self, node: nodes.reference) -> str:
        target = target_of(node, self.page)
        words = self.children_markup(node)
        if target is not None:
            page = "to" if self.prints_page_numbers and target not in self.near else "link"
            return f"#{page}(label({string(name_of(target))}))[{words}]"
        address = node.get("refuri", "")
        if not address:
            return words
        noted = self.prints_page_numbers and "://" not in node.astext()
        note = f"#footnote(link({string(address)}))" if noted else ""
        return f"#link({string(address)})[{words}]{note}"

    def write_target(self, node: nodes.target) -> str:
        return self.anchors(node) + self.children_markup(node)  # the next node has the id

    def write_footnote_reference(self, node: nodes.footnote_reference) -> str:
        note = next(n for n in node.document.findall(nodes.footnote) if node["refid"] in n["ids"])
        return f"#footnote[{self.unwrapped(note)}]"

    # ---- Formulas ----

    def write_math(self, node: nodes.math) -> str:
        return f"#{formula(node.astext())}"

    def write_math_block(self, node: nodes.math_block) -> str:
        number = self.number("displaymath", node) if node.get("label") else ""
        written = formula(node.astext().strip(), display=True, number=number)
        return f"\n{source_comment(node)}#{written}{self.anchors(node)}\n\n"

    # ---- Code ----

    def write_literal_block(self, node: nodes.literal_block) -> str:
        if "output" in node["classes"]:
            return f"#printed({string(node.astext())})\n\n"
        language = "python" if "python" in node.get("language", "") else "txt"
        return f"#listing({string(node.astext().rstrip())}, {string(language)})\n\n"

    # ---- Figures and tables ----

    def write_figure(self, node: nodes.figure) -> str:
        caption = next(node.findall(nodes.caption), None)
        content = "".join(self.write(child) for child in node.children if child is not caption)
        return self.captioned("figure", node, caption, content)

    def captioned(
        self, kind: str, node: nodes.Element, caption: nodes.Element | None, content: str
    ) -> str:
        """Return content with its number and its caption."""
        number = self.number(kind, node)
        words = self.markup_without_pages(caption).strip() if caption is not None else ""
        names = array(self.names(node))
        floats = kind == "figure" and not self.is_boxed and self.is_opened
        self.is_opened = True
        options = ", float: true" if floats else ""
        arguments = f"{kind}-kind, {string(number)}, {names}, [{words}]{options}"
        return f"{source_comment(node)}#captioned({arguments})[{content}]\n\n"

    def write_table(self, node: nodes.table) -> str:
        title = next((c for c in node.children if isinstance(c, nodes.title)), None)
        head, body = (
            [[self.cell(e) for e in row.children] for part in node.findall(kind) for row in part]
            for kind in (nodes.thead, nodes.tbody)
        )
        is_numbers = "numbers" in node["classes"] and "words" not in node["classes"]
        is_shared = "colwidths-given" in node["classes"]
        widths = [c["colwidth"] for c in node.findall(nodes.colspec)] if is_shared else []
        code = "#" + table(head, body, numbers=is_numbers, widths=widths)
        if title is None:
            return f"{source_comment(node)}{self.anchors(node)}{code}\n\n"
        return self.captioned("table", node, title, code)

    def cell(self, entry: nodes.entry) -> Cell:
        """Return a cell of a table."""
        return Cell(
            self.markup_without_pages(entry).strip(),
            columns=entry.get("morecols", 0) + 1,
            rows=entry.get("morerows", 0) + 1,
        )

    def write_numbers(self, node: numbers_element) -> str:
        return self.captioned("table", node, node[0], paper.markup_of(node))

    # ---- Boxes, exercises, questions ----

    def write_Admonition(self, node: nodes.Element) -> str:
        title = next((c for c in node.children if isinstance(c, nodes.title)), None)
        words = (
            self.markup_without_pages(title)
            if title is not None
            else text(type(node).__name__.capitalize())
        )
        rest = [child for child in node.children if child is not title]
        return self.box(node, f"[{words}]", rest)

    def write_algorithm(self, node: nodes.Element) -> str:
        title, *rest = node.children
        kind = type(node).__name__
        number = self.number(kind, node)
        words = text(f"{kind.capitalize()} {number}: ") + self.markup_without_pages(title)
        return source_comment(node) + self.box(
            node, f"(whole: true)[{words}]", rest
        )  # no page ends within it

    write_proposition = write_algorithm

    def box(self, node: nodes.Element, head: str, content: Iterable[nodes.Node]) -> str:
        """Return a box with a head (options and title) and content."""
        return f"{self.anchors(node)}#boxed{head}[\n{self.box_content(content)}]\n\n"

    def box_content(self, content: Iterable[nodes.Node]) -> str:
        """Return the content of a box, in which nothing floats."""
        before, self.is_boxed = self.is_boxed, True
        written = "".join(map(self.write, content))
        self.is_boxed = before
        return written

    def write_exercise_node(self, node: nodes.Element) -> str:
        title, *rest = node.children
        target = self.solutions.get(node["label"])
        solution = string(name_of(target)) if target else "none"
        number = self.number("exercise", node)
        marks = [child for child in title.children if type(child).__name__ == "difficulty"]
        named = [child for child in title.children if child not in marks]
        words = "".join(
            [*map(self.write, marks), text(f"Exercise {number}".strip()), *map(self.write, named)]
        )
        ends = ", ends: true" if node.get("ends") else ""
        head = f"#exercise({solution}{ends})[{words}]"
        return f"{self.anchors(node)}{head}[\n{self.box_content(rest)}]\n\n"

    write_exercise_enumerable_node = write_exercise_node

    def write_solution_node(self, node: nodes.Element) -> str:
        title, *rest = node.children
        name = string(name_of((self.page, node["label"])))
        written = self.box_content(rest)
        return f"#solution({name})[{self.markup_without_pages(title)}][\n{written}]\n\n"

    def write_difficulty(self, node: nodes.Element) -> str:
        return f"#difficulty({node['level']}, {HARDEST}, {string(MARK)}) "

    def write_quiz(self, node: nodes.Element) -> str:
        title = QUESTION.format(node["number"])
        instruction = SEVERAL if node.get("multiple") else ONE
        return self.box(node, f"(how: {string(instruction)})[{text(title)}]", node.children)

    def write_quiz_options(self, node: nodes.Element) -> str:
        options = (
            f"({string(o['letter'])}, [{self.children_markup(o).strip()}])" for o in node.children
        )
        return f"#options{array(options)}\n\n"

    def write_key(self, node: nodes.Element) -> str:
        """Return an answer: a question's right letters and reasons, or the lines of a box."""
        notes = [n for n in node.findall() if type(n).__name__ == "quiz_feedback"]
        if not notes:
            lines = self.box_content(child for child in node if not isinstance(child, nodes.title))
            return f"#worked[{text(node['of'])}][\n{lines}]\n\n"
        letters = ", ".join(f"({n['letter']})" for n in notes if n["right"])
        reasons = (f"({string(n['letter'])}, [{self.unwrapped(n)}])" for n in notes)
        title = text(f"{node['of']}: {letters}")
        return f"#answered({array(reasons)})[{title}]\n\n"

    # ---- The bibliography ----

    def write_citation(self, node: nodes.citation) -> str:
        label, words = text(node[0].astext()), self.markup_without_pages(node).strip()
        return f"{self.anchors(node)}#work[{label}][{words}\n]\n\n"


def source_comment(node: nodes.Node) -> str:
    """Return the comment that gives `press` the place of a node."""
    source = source_of(node)
    return f"\n// at {source}\n" if source else ""
