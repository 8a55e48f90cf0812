"""References in print: each leads to a target on paper, or names its place in the whole book.

A target is a page and an id on it; the id of the page itself is empty. The numbers are those that
Sphinx assigned when it read the book.

Pages have all tables of a run under "All numbers"; paper has those that something cites.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment

from byhand.chapter.section_folds import ALL_NUMBERS, fold_kind, folded_sections
from byhand.contents import SCREEN_ONLY_CHAPTERS, read_contents
from byhand.digests import ROOT
from byhand.press.pdf import PressError

Target = tuple[str, str]
Roots = list[
    tuple[str, nodes.Element]
]  # printed trees: a page's name, and the page or a part of it


def name_of(target: Target) -> str:
    """Return the name of a target in the document."""
    return "#".join(target)


def names_of(page: str, root: nodes.Element) -> Iterator[Target]:
    """Yield the names of all targets in a tree."""
    if isinstance(root, nodes.document):
        yield page, ""
    for node in root.findall(nodes.Element):
        for identifier in node.get("ids", []):
            yield page, identifier
        if "label" in node:
            yield page, node["label"]


def target_of(node: nodes.Element, page: str) -> Target | None:
    """Return the target of a reference inside the book, or None for another node."""
    if not isinstance(node, nodes.reference):
        return None
    if node.get("refid"):
        return page, node["refid"]
    if node.get("refuri", "").startswith("%"):
        page, _, identifier = node["refuri"][1:].partition("#")
        return page, identifier
    return None


def source_of(node: nodes.Node | None) -> str:
    """Return the file and the line of a node or of the nearest node around it."""
    while node is not None and not (node.source and node.line):
        node = node.parent
    return f"{str(node.source).removeprefix(f'{ROOT}/')}:{node.line}" if node is not None else ""


def place_of(node: nodes.Node) -> str:
    """Return file and line of a node as the beginning of a message."""
    source = source_of(node)
    return f"{source}: " if source else ""


def number_in(numbers: dict[str, Any], *names: str) -> str:
    """Return the number of the first name that has one, or ""."""
    return ".".join(map(str, next((numbers[name] for name in names if numbers.get(name)), ())))


def number_of_chapter(env: BuildEnvironment, page: str) -> str:
    """Return a chapter's number, or "" if it has none."""
    return number_in(env.toc_secnumbers.get(page, {}), "")


# ---- Printed targets, and omitted parts ----


def names_in(roots: Roots) -> set[Target]:
    """Return the names of all printed targets."""
    return {target for page, root in roots for target in names_of(page, root)}


def cited_in(roots: Roots) -> Counter[Target]:
    """Return how often the references in some trees lead to each target."""
    found = (
        target_of(node, page) for page, root in roots for node in root.findall(nodes.reference)
    )
    return Counter(target for target in found if target is not None)


def remove_uncited_tables(roots: Roots) -> None:
    """Remove from the "All numbers" sections the parts that nothing cites."""
    waiting: Roots = []  # parts that are omitted unless cited
    for page, root in roots:
        for section, beginning in list(folded_sections(root)):
            if beginning == ALL_NUMBERS:
                waiting += [(page, unit) for unit in parts_below(section)]
    left_out = {id(unit) for _, unit in waiting}
    cited = set(cited_in(roots) - cited_in(waiting))
    while found := [(p, u) for p, u in waiting if id(u) in left_out and is_cited(p, u, cited)]:
        for page, unit in found:
            for kept in [unit, *paragraphs_before(unit)]:
                left_out.discard(id(kept))
                cited |= set(cited_in([(page, kept)]))
    for _, unit in waiting:
        if id(unit) in left_out:
            remove(unit)


def is_cited(page: str, unit: nodes.Element, cited: set[Target]) -> bool:
    """Return whether a part of "All numbers", or the section around it, is cited."""
    section = unit.parent
    while not isinstance(section, nodes.document):
        if any((page, identifier) in cited for identifier in section["ids"]):
            return True
        if fold_kind(section):
            break
        section = section.parent
    return not cited.isdisjoint(names_of(page, unit))


def parts_below(section: nodes.Element) -> Iterator[nodes.Element]:
    """Yield the parts below a heading and below the headings inside its section."""
    for child in section.children:
        if isinstance(child, nodes.section):
            yield from parts_below(child)
        elif not isinstance(child, nodes.title):
            yield child


def paragraphs_before(unit: nodes.Element) -> Iterator[nodes.Element]:
    """Yield the paragraph before a part, and a list inside the paragraph."""
    place = unit.parent.index(unit)
    while place and isinstance(unit.parent[place - 1], nodes.paragraph | nodes.bullet_list):
        place -= 1
        yield unit.parent[place]
        if isinstance(unit.parent[place], nodes.paragraph):
            return


def remove(unit: nodes.Element) -> None:
    """Remove a node, and sections that become empty."""
    parent = unit.parent
    parent.remove(unit)
    while isinstance(parent, nodes.section) and all(isinstance(c, nodes.title) for c in parent):
        parent, emptied = parent.parent, parent
        parent.remove(emptied)


def resolve(
    env: BuildEnvironment, roots: Roots, pages: Iterable[str], known: set[Target]
) -> set[Target]:
    """Replace references to omitted parts of the book by the names of their places.

    `pages` are those of the document, or of one that belongs to it and has the targets `known`. The
    targets of the remaining references are returned.

    Raises
    ------
    PressError
        If a reference leads to a part of this document that is not printed.
    """
    there, pages = names_in(roots), set(pages)
    wanted: set[Target] = set()
    faults: list[str] = []
    for page, root in roots:
        for node in list(root.findall(nodes.reference)):
            target = target_of(node, page)
            if target is None or node.parent is None:
                continue
            if target in there:
                wanted.add(target)
                continue
            text = nodes.inline("", "", *node.children)
            if target[0] in pages and target not in known:
                faults.append(f"{place_of(node)}{text.astext()} is nowhere on paper")
            elif target[0] not in pages and target[0] in read_contents().pages:
                text += nodes.Text(f" ({place_in_book(env, target[0], text.astext())})")
            node.replace_self(text)
    if faults:
        raise PressError("\n".join(dict.fromkeys(faults)))
    return wanted


def place_in_book(env: BuildEnvironment, page: str, text: str) -> str:
    """Return the place of a page in the whole book, without words that the text already has.

    The page is not in the document, so its title is given with its number.
    """
    if page in SCREEN_ONLY_CHAPTERS or page not in read_contents().chapters:
        return "on the book's site"
    number, title = number_of_chapter(env, page), env.titles[page].astext()
    if not number:
        return "in the whole book"
    if text == title:
        return f"chapter {number} of the whole book"
    return f"in the whole book, chapter {number}, {title}"
