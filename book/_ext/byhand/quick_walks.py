"""Walk through documents in loops.

Docutils walks in generators within generators, one a level, and finds an element's document by
asking each of the elements around it in turn. On pages of tables that is a quarter of the build.
Here the same elements come in the same order from one loop; changes made meanwhile are seen alike.
"""

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Take the place of docutils' own ways."""
    nodes.Node._fast_findall = of_kind
    nodes.Node._superfast_findall = everything
    nodes.Node.document = property(document_of, set_document)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


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
    """Yield those of `everything` that are of a kind: a class, or a tuple of them.

    Examples
    --------
    >>> page = nodes.paragraph("", "", nodes.emphasis("", "a"), nodes.Text("b"))
    >>> list(of_kind(page, nodes.Text))
    [<#text: 'a'>, <#text: 'b'>]
    """
    levels = [iter((node,))]
    while levels:
        for found in levels[-1]:
            if isinstance(found, kind):
                yield found
            if found.children:
                levels.append(iter(found.children))
                break
        else:
            levels.pop()


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
