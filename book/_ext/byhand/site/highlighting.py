"""Highlighted code with few elements: names and signs, most of the tokens, get none.

Keywords, strings, numbers and comments keep an element of their own.
"""

from collections.abc import Iterable, Iterator
from functools import cache, partial

from pygments.filter import Filter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Literal, Token, _TokenType
from sphinx.application import Sphinx

STANDS_OUT = (Token.Comment, Token.Keyword, Literal.String, Literal.Number, Token.Operator.Word)
CONSOLE = (Token.Generic, Token.Error)  # prompts and output of a console


class FewTokens(Filter):
    """A Pygments filter that merges most kinds of tokens."""

    def filter(
        self, lexer: Lexer, stream: Iterable[tuple[_TokenType, str]]
    ) -> Iterator[tuple[_TokenType, str]]:
        """Yield kind and text of each token."""
        yield from ((reduced_kind(kind), piece) for kind, piece in stream)


QUIET = {
    name: partial(get_lexer_by_name, name, filters=[FewTokens()])
    for name in ("python", "ipython3", "pycon", "bash", "toml")
}


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    for name, lexer in QUIET.items():
        app.add_lexer(name, lexer)  # type: ignore[arg-type]


@cache
def reduced_kind(kind: _TokenType) -> _TokenType:
    """Return the kind to which a kind of token is reduced.

    Examples
    --------
    >>> reduced_kind(Literal.Number.Float), reduced_kind(Token.Name.Builtin)
    (Token.Literal.Number, Token)
    """
    if any(kind in wide for wide in CONSOLE):
        return kind
    return next((wide for wide in STANDS_OUT if kind in wide), Token)
