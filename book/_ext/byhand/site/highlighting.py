"""Code whose names and signs are plain text: most of a page's elements would be theirs.

What is to stand out keeps an element of its own: keywords, strings, numbers, comments.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from pygments.lexers import get_lexer_by_name
from pygments.token import (
    Comment,
    Error,
    Generic,
    Keyword,
    Number,
    Operator,
    String,
    Token,
    _TokenType,
)
from sphinx.application import Sphinx

STANDS_OUT = (Comment, Keyword, String, Number, Operator.Word)
CONSOLE = (Generic, Error)  # a prompt, and what a console puts out


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    for name, lexer in QUIET.items():
        app.add_lexer(name, lexer)


class _Quiet:
    """A lexer whose kinds of pieces are few."""

    def get_tokens_unprocessed(
        self, text: str, *options: Any
    ) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield place, kind and text of each piece."""
        for place, kind, piece in super().get_tokens_unprocessed(text, *options):  # type: ignore[misc]
            yield place, quiet(kind), piece


QUIET = {
    name: type(f"Quiet_{name}", (_Quiet, type(get_lexer_by_name(name))), {})
    for name in ("python", "ipython3", "pycon", "bash", "toml")
}


@cache
def quiet(kind: _TokenType) -> _TokenType:
    """Return what a piece of code counts as.

    Examples
    --------
    >>> quiet(Number.Float), quiet(Token.Name.Builtin)
    (Token.Literal.Number, Token)
    """
    if any(kind in wide for wide in CONSOLE):
        return kind
    return next((wide for wide in STANDS_OUT if kind in wide), Token)
