"""What the pages' process does not do twice: most pieces of a page that is edited stay as they are.

Most of a page are its tables and its code. Markdown that was taken apart once is kept as tokens,
and coloured code as HTML.
"""

import pickle
from collections.abc import Hashable
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from sphinx import highlighting

MANY = 10_000  # pieces of a kind, after which all that are kept are forgotten


class Memory(dict[Hashable, Any]):
    """Pieces by what they were made from; begins anew where there are too many."""

    def __setitem__(self, key: Hashable, piece: Any) -> None:
        if len(self) >= MANY:
            self.clear()
        super().__setitem__(key, piece)


def keep_pieces() -> None:
    """Let this process remember pieces of pages."""
    _keep_tokens()
    _keep_coloured()


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
