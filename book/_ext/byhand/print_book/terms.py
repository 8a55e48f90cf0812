"""The index: where each term is introduced, treated and mentioned."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from docutils import nodes

from byhand.terms import Term, load

EVERYWHERE = 9  # a term mentioned in more sections is listed where it is introduced or treated


class index_mark(nodes.Inline, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """The position of an index entry."""


def mark(pages: Iterable[nodes.document]) -> list[tuple[str, str]]:
    """Insert a mark before each paragraph that introduces, treats or mentions a term.

    The entries are returned in order, each with the entry that it refers to, or "".
    """
    terms, see = load()
    sections = [section for page in pages for section in indexed_sections(page)]
    entries: list[tuple[str, str]] = []
    for term in terms:
        mentions = [section for section in sections if term.is_in(section.text)]
        is_rare = len(mentions) <= EVERYWHERE
        places = [p for section in mentions for p in section.places(term, is_rare=is_rare)]
        for paragraph in places:
            paragraph.insert(0, index_mark(entry=term.entry))
        if places:
            entries.append((term.entry, ""))
    printed = {entry.partition(",")[0] for entry, _ in entries}
    entries += [(entry, other) for entry, other in see.items() if other in printed]
    return sorted(entries, key=lambda found: found[0].lower())


Paragraph = tuple[nodes.paragraph, str, set[str]]
"""A paragraph, its text, and its bold words, in lower case."""


@dataclass(frozen=True)
class Section:
    """A heading with its paragraphs up to the next heading."""

    title: str
    paragraphs: list[Paragraph]

    @cached_property
    def text(self) -> str:
        """The title and the paragraphs, one per line."""
        return "\n".join([self.title, *(text for _, text, _ in self.paragraphs)])

    def places(self, term: Term, *, is_rare: bool) -> list[nodes.paragraph]:
        """Return a list with the paragraph to mark for a term, if there is one."""
        found = [node for node, _, bold in self.paragraphs if not bold.isdisjoint(term.spellings)]
        if not found and term.is_in(self.title):
            found = [node for node, *_ in self.paragraphs]
        elif not found and is_rare:
            found = [node for node, text, _ in self.paragraphs if term.is_in(text)]
        return found[:1]


def indexed_sections(page: nodes.document) -> Iterator[Section]:
    """Yield a page's sections, without tables, captions and exercises."""
    for section in page.findall(nodes.section):
        title = next((child for child in section if isinstance(child, nodes.title)), None)
        if title is not None:
            paragraphs = [
                (p, p.astext().lower(), {bold.astext().lower() for bold in p.findall(nodes.strong)})
                for p in paragraphs_of(section)
            ]
            yield Section(title.astext().lower(), paragraphs)


def paragraphs_of(node: nodes.Element) -> Iterator[nodes.paragraph]:
    """Yield the paragraphs below a node that belong to its own heading."""
    for child in node.children:
        if isinstance(child, nodes.paragraph):
            yield child
        elif isinstance(child, nodes.Element) and not isinstance(
            child, nodes.section | nodes.table | nodes.figure | nodes.Admonition
        ):
            yield from paragraphs_of(child)
