"""Name what a reference leads to where the document at hand leaves it out."""

from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.builders.latex.nodes import math_reference
from sphinx.environment import BuildEnvironment

from byhand.contents import ON_SCREEN, read_contents
from byhand.print_book import numbers


def name_in_place(env: BuildEnvironment, book: nodes.document, printed: set[str]) -> None:
    """Replace each reference without a target by its text and the place in the whole book."""
    targets = set(labels(book))
    for file in list(book.findall(addnodes.start_of_file)):
        for node in list(file.findall(nodes.Element)):
            target = target_of(node, file["docname"])
            if target is not None and target not in targets:
                text = nodes.inline("", "", *said(env, node))
                if target[0] not in printed and target[0] in read_contents().chapters:
                    text += nodes.Text(f" ({place(env, target[0], text.astext())})")
                node.replace_self(text)


def labels(book: nodes.document) -> Iterator[tuple[str, str]]:
    """Yield page and identifier of everything that the document holds."""
    for file in book.findall(addnodes.start_of_file):
        yield file["docname"], ""
        for node in file.findall(nodes.Element):
            for identifier in node.get("ids", []):
                yield file["docname"], identifier
            if "label" in node:
                yield file["docname"], node["label"]
            if node.get("refid") and isinstance(node, nodes.target):
                yield file["docname"], node["refid"]


def target_of(node: nodes.Element, page: str) -> tuple[str, str] | None:
    """Return page and identifier that a reference on a page leads to, None for another node."""
    if isinstance(node, math_reference):
        return node["docname"], node["target"]
    if not isinstance(node, nodes.reference | addnodes.number_reference):
        return None
    if node.get("refid"):
        return page, node["refid"]
    if node.get("refuri", "").startswith("%"):
        page, _, identifier = node["refuri"][1:].partition("#")
        return page, identifier
    return None


def said(env: BuildEnvironment, node: nodes.Element) -> list[nodes.Node]:
    """Return what a reference says."""
    if isinstance(node, math_reference):
        equation = nodes.Element(ids=[f"equation-{node['target']}"])
        return [nodes.Text(f"({numbers.of(env, node['docname'], 'displaymath', equation)})")]
    return [child.deepcopy() for child in node.children]


def place(env: BuildEnvironment, page: str, text: str) -> str:
    """Return where in the whole book a page stands, without repeating what the text says.

    A reader does not have that page, so its title is given beside its number.
    """
    if page in ON_SCREEN:
        return "on the book's site"
    number, title = numbers.of_chapter(env, page), env.titles[page].astext()
    if not number:
        return "in the whole book"
    if text == title:
        return f"chapter {number} of the whole book"
    return f"in the whole book, chapter {number}, {title}"
