"""What the pages' process does not do twice: most pieces of a page that is edited stay as they are.

Most of a page are its tables and its code. Markdown that was taken apart once is kept as tokens,
a table of plain numbers as elements, coloured code as HTML, and a page as the sections in which a
search looks.
"""

import hashlib
import pickle
import re
from collections.abc import Hashable
from typing import Any

from docutils import nodes
from docutils.parsers.rst.directives.tables import ListTable
from markdown_it import MarkdownIt
from markdown_it.token import Token
from nbformat.v4 import nbbase
from sphinx import highlighting

from byhand.section_search import sections

MANY = 10_000  # pieces of a kind, after which all that are kept are forgotten
# What may do more in a cell than stand there: roles, directives, links, targets, headings, HTML;
# but not a class that a piece of text is given.
ACTS = re.compile(r"[{}\[\]<>|#]|^\W*:|\)=|\$\$")
CLASSED = re.compile(r"\[([^\[\]]*)\]\{\.[\w .-]+\}")


class Memory(dict[Hashable, Any]):
    """Pieces by what they were made from; begins anew where there are too many."""

    def __setitem__(self, key: Hashable, piece: Any) -> None:
        if len(self) >= MANY:
            self.clear()
        super().__setitem__(key, piece)


def keep_pieces() -> None:
    """Let this process remember pieces of pages."""
    _keep_tokens()
    _keep_tables()
    _keep_coloured()
    _keep_sections()
    _trust_cells()


def _keep_tokens() -> None:
    """Take no piece of Markdown apart twice.

    What a bracket means may depend on the links that the page has defined before; what defines one,
    or a footnote, is always taken apart anew.
    """
    take_apart = MarkdownIt.parse
    kept = Memory()

    def parse(self: MarkdownIt, src: str, env: Any = None) -> list[Token]:
        if "]:" in src or "[^" in src:
            return take_apart(self, src, env)
        defined = repr((env or {}).get("references")) if "[" in src else ""
        key = src, repr(self.get_active_rules()), defined
        if key not in kept:
            kept[key] = pickle.dumps(take_apart(self, src, env))
        found: list[Token] = pickle.loads(kept[key])
        return found

    MarkdownIt.parse = parse  # type: ignore[method-assign]


def _keep_tables() -> None:
    """Make the elements of a plain table once; a copy of them stands where the table stands."""
    make = ListTable.run
    kept = Memory()

    def run(self: ListTable) -> list[nodes.Node]:
        words = [*self.arguments, *self.content]
        if any(ACTS.search(CLASSED.sub(r"\1", word)) for word in words):
            return make(self)
        name = {key: self.options.pop(key) for key in ("name",) if key in self.options}
        options = repr(sorted(self.options.items())), self.content_offset
        key = self.state.document["source"], *words, *options
        if key in kept:
            line, found = pickle.loads(kept[key])
            for node in found[0].findall():
                if node.line is not None:
                    node.line += self.lineno - line
        else:
            found = make(self)
            if all(isinstance(node, nodes.table) for node in found):  # else something is wrong
                kept[key] = pickle.dumps((self.lineno, found))
        self.options |= name
        for table in found:
            if isinstance(table, nodes.table):
                self.add_name(table)
        return found

    ListTable.run = run


def _keep_coloured() -> None:
    """Colour no piece of code twice; one that cannot be taken apart is refused each time."""
    colour = highlighting.highlight  # type: ignore[attr-defined]
    kept = Memory()

    def highlight(code: str, lexer: Any, formatter: Any) -> str:
        ways = [type(part) for part in (lexer, formatter, *lexer.filters)]
        key = code, *ways, repr(lexer.options), repr(formatter.options)
        if key not in kept:
            kept[key] = colour(code, lexer, formatter)
        found: str = kept[key]
        return found

    highlighting.highlight = highlight  # type: ignore[attr-defined]


def _keep_sections() -> None:
    """Look for the sections of no page twice."""
    read = sections.read_sections
    kept = Memory()

    def read_sections(html: str) -> list[sections.Section]:
        key = hashlib.sha256(html.encode()).digest()
        if key not in kept:
            kept[key] = read(html)
        found: list[sections.Section] = kept[key]
        return found

    sections.read_sections = read_sections


def _trust_cells() -> None:
    """Compare no cell that is made here with a notebook's schema: builds do so."""
    nbbase.validate = lambda *cell: None
