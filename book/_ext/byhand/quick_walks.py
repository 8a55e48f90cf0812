"""Walk through documents in loops, and not at all for what cannot be there.

Docutils walks in generators within generators, one a level, and finds an element's document by
asking each of the elements around it in turn. On pages of tables that is a quarter of the build.
Here the same elements come in the same order from one loop; changes made meanwhile are seen alike.
Extensions look on every page for elements of their own, which most books never make: a walk for a
kind of which this process has made no element ends before it begins, and any walk for a kind goes
past tables that hold none: cells are two thirds of a long page. And Sphinx sets the quotation marks
and dashes of every paragraph and cell anew, of which most are a number.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxSmartQuotes
from sphinx.transforms.post_transforms.code import HighlightLanguageVisitor
from sphinx.util.nodes import NodeMatcher

MADE: set[type] = set()  # the kinds of elements that this process has made or loaded
PRESENT: dict[type, bool] = {}  # what `is_made` has found so far
KINDS = "kinds_within"  # the name under which a table keeps them
CODE = (nodes.literal_block, addnodes.highlightlang, addnodes.start_of_file)
# What quotation marks, dashes and ellipses are made of, and what escapes them.
MARKS = re.compile(r"""["'`\\\0]|--|\.\.\.|\. \.""")

whole_walk = nodes.Node.findall
set_up = nodes.Node.setup_child
set_each = SphinxSmartQuotes.apply


def setup(app: Sphinx) -> dict[str, bool]:
    """Take the place of docutils' own ways."""
    nodes.Node.__new__ = make
    nodes.Node.setup_child = set_up_child
    nodes.Node.findall = found_below
    nodes.Node._fast_findall = of_kind
    nodes.Node._superfast_findall = everything
    nodes.Node.document = property(document_of, set_document)
    SphinxSmartQuotes.apply = set_marks  # type: ignore[method-assign, assignment]
    HighlightLanguageVisitor.unknown_visit = past_tables  # type: ignore[method-assign, assignment]
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def make(kind: type, *args: Any, **kwargs: Any) -> Any:
    """Make an element, and note its kind."""
    if kind not in MADE:
        MADE.add(kind)
        PRESENT.clear()
    return object.__new__(kind)


@contextmanager
def of_new_elements() -> Iterator[None]:
    """Let walks meanwhile look for nothing that was made before: a page is read into new elements.

    Examples
    --------
    >>> before = make(nodes.emphasis)
    >>> with of_new_elements():
    ...     page = make(nodes.paragraph)
    ...     is_made(nodes.paragraph), is_made(nodes.emphasis)
    (True, False)
    >>> is_made(nodes.emphasis)
    True
    """
    before = set(MADE)
    MADE.clear()
    PRESENT.clear()
    try:
        yield
    finally:
        MADE.update(before)
        PRESENT.clear()


def is_made(kind: type | tuple[type, ...]) -> bool:
    """Tell whether an element of a kind can be anywhere: `make` knows all but texts.

    Examples
    --------
    >>> is_made(nodes.Text), is_made(nodes.Node), is_made((nodes.Text, nodes.paragraph))
    (True, True, True)
    """
    if isinstance(kind, tuple):
        return any(map(is_made, kind))
    if kind not in PRESENT:
        PRESENT[kind] = issubclass(nodes.Text, kind) or any(issubclass(made, kind) for made in MADE)
    return PRESENT[kind]


def found_below(
    node: nodes.Node,
    condition: type | Callable[[nodes.Node], bool] | None = None,
    include_self: bool = True,
    descend: bool = True,
    siblings: bool = False,
    ascend: bool = False,
) -> Iterator[nodes.Node]:
    """Yield what docutils' `findall` does.

    Examples
    --------
    >>> page = nodes.paragraph("", "", nodes.emphasis("", "a"), nodes.Text("b"))
    >>> [type(node).__name__ for node in found_below(page, lambda node: "b" in node.astext())]
    ['paragraph', 'Text']
    """
    if not (include_self and descend) or siblings or ascend:
        return whole_walk(node, condition, include_self, descend, siblings, ascend)
    if condition is None:
        return everything(node)
    if isinstance(condition, type):
        return of_kind(node, condition)
    if isinstance(condition, NodeMatcher) and condition.classes:
        return filter(condition, of_kind(node, condition.classes))
    return filter(condition, everything(node))


def everything(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield a node and all below it, each before what it holds.

    Examples
    --------
    >>> page = nodes.paragraph("", "", nodes.emphasis("", "a"), nodes.Text("b"))
    >>> [type(node).__name__ for node in everything(page)]
    ['paragraph', 'emphasis', 'Text', 'Text']
    """
    levels = [iter((node,))]
    while levels:
        for found in levels[-1]:
            yield found
            if found.children:
                levels.append(iter(found.children))
                break
        else:
            levels.pop()


def of_kind(node: nodes.Node, kind: Any) -> Iterator[nodes.Node]:
    """Yield those of `everything` that are of a kind.

    Examples
    --------
    >>> page = nodes.paragraph("", "", nodes.emphasis("", "a"), nodes.Text("b"))
    >>> list(of_kind(page, nodes.Text))
    [<#text: 'a'>, <#text: 'b'>]
    """
    levels = [iter((node,))] if is_made(kind) else []
    while levels:
        for found in levels[-1]:
            if isinstance(found, kind):
                yield found
            if found.children and not (found.__class__ is nodes.table and lacks(found, kind)):
                levels.append(iter(found.children))
                break
        else:
            levels.pop()


def lacks(table: nodes.table, kind: Any) -> bool:
    """Tell whether a table is known to hold nothing of a kind.

    The kinds in it are looked up once, until `set_up_child` forgets them.

    Examples
    --------
    >>> table = nodes.table("", nodes.row("", nodes.entry()))
    >>> lacks(table, nodes.row), lacks(table, nodes.emphasis)
    (False, True)
    """
    kinds: set[type] | None = table.__dict__.get(KINDS)
    if kinds is None:
        kinds = table.__dict__[KINDS] = {type(node) for node in everything(table)}
    return not any(issubclass(held, kind) for held in kinds)


def past_tables(visitor: HighlightLanguageVisitor, node: nodes.Node) -> None:
    """Let the walk that sets the language of code go past tables without any."""
    if node.__class__ is nodes.table and lacks(node, CODE):
        raise nodes.SkipNode


def set_up_child(parent: nodes.Node, child: nodes.Node) -> None:
    """Do what docutils does when an element is given a child; the tables around it hold more now.

    Examples
    --------
    >>> table = nodes.table("", nodes.entry())
    >>> lacks(table, nodes.Text)
    True
    >>> set_up_child(table[0], nodes.Text("0.5"))
    >>> KINDS in vars(table)
    False
    """
    set_up(parent, child)
    place: nodes.Node | None = parent
    while place is not None:
        place.__dict__.pop(KINDS, None)
        place = place.parent


def document_of(node: nodes.Node) -> nodes.document | None:
    """Return the document that a node stands in, if any.

    Examples
    --------
    >>> page = nodes.paragraph("", "", nodes.Text("b"))
    >>> document_of(page[0]) is None
    True
    """
    place: nodes.Node | None = node
    while place is not None:
        if place._document is not None:
            return place._document
        place = place.parent
    return None


def set_document(node: nodes.Node, document: nodes.document | None) -> None:
    """Set a node's document."""
    node._document = document


def set_marks(transform: SphinxSmartQuotes, **options: Any) -> None:
    """Set quotation marks, dashes and ellipses where a text has what they are made of."""
    whole = transform.document
    transform.document = WithMarks(whole)
    try:
        set_each(transform, **options)
    finally:
        transform.document = whole


class WithMarks:
    """A document as if it held those elements alone whose text has a mark.

    Examples
    --------
    >>> page = nodes.section("", nodes.paragraph("", "0.7"), nodes.paragraph("", "so--called"))
    >>> [element.astext() for element in WithMarks(page).findall(nodes.TextElement)]
    ['so--called']
    """

    def __init__(self, document: Any) -> None:
        self.document = document

    def __getattr__(self, name: str) -> Any:
        """Return what the document has."""
        return getattr(self.document, name)

    def findall(self, kind: type) -> Iterator[nodes.Node]:
        """Yield what the document has of a kind, as far as a mark stands in it."""
        marked = set()
        for text in self.document.findall(nodes.Text):
            place = text if MARKS.search(text) else None
            while place is not None and id(place) not in marked:
                marked.add(id(place))
                place = place.parent
        return (found for found in self.document.findall(kind) if id(found) in marked)
