"""The built site without what no page of this book uses.

Neither the theme nor Sphinx has an option for it. The icons are drawn by the templates in
``book/_templates``, which load neither Font Awesome nor Bootstrap's script: their files go. The
style sheets of the theme and of the extensions lose the rules that reach nothing on any page; the
book's own lose only their comments. In code, only what is to stand out has an element of its own.
"""

import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
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
from sphinx.errors import ExtensionError

from byhand.site.unused_rules import (
    without_comments,
    without_unread,
    without_unused,
    words_of_page,
    words_of_script,
)
from mha.widgets.assets import published

THEME_SHEET = "styles/pydata-sphinx-theme.css"
UNUSED = ("vendor/fontawesome", "scripts/fontawesome.js", "scripts/bootstrap.js")
ICON_FONT = re.compile(r"@font-face\s*{[^}]*Font ?Awesome[^}]*}")
OWN = Path(__file__).resolve().parents[3] / "_static"
OWN_WIDGETS = {name for name in published() if name.endswith(".css")}
STANDS_OUT = (Comment, Keyword, String, Number, Operator.Word)  # of code; the rest is as text


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    for name, lexer in QUIET.items():
        app.add_lexer(name, lexer)
    app.connect("build-finished", slim, priority=900)  # when the theme has written everything
    return {"parallel_read_safe": True, "parallel_write_safe": True}


# ---- Code ----


class _Quiet:
    """Code whose names and signs are as plain text: most of a page's elements would be theirs."""

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
    if kind in Generic or kind in Error:  # a console's prompt and output
        return kind
    return next((wide for wide in STANDS_OUT if kind in wide), Token)


# ---- Files ----


def slim(app: Sphinx, exception: Exception | None) -> None:
    """Make the built site smaller, if it is in this book's theme."""
    static = Path(app.outdir) / "_static"
    if exception or app.builder.format != "html" or not (static / THEME_SHEET).is_file():
        return
    for name in UNUSED:
        if (static / name).is_dir():
            shutil.rmtree(static / name)
        for file in static.glob(f"{name}*"):
            file.unlink()
    slim_sheets(Path(app.outdir))
    for file in static.rglob("*.js"):
        script = file.read_text(encoding="utf-8")
        if script != (said_nothing := without_chatter(script)):
            file.write_text(said_nothing, encoding="utf-8")


def without_chatter(script: str) -> str:
    """Return a script that tells the console nothing of what it does; errors it still tells.

    Examples
    --------
    >>> without_chatter("a(), console.log('[theme]: a', b);")
    "a(), void ('[theme]: a', b);"
    """
    return re.sub(r"console\.(?:log|debug)\((?!\s*\))", "void (", script)


def slim_sheets(site: Path) -> None:
    """Cut what nothing uses out of every style sheet that is not the book's own.

    Raises
    ------
    ExtensionError
        If the theme's icon font would still be loaded: the theme has changed.
    """
    static = site / "_static"
    words = used_words(site)
    sheets = {
        file: without_comments(file.read_text(encoding="utf-8")) for file in static.rglob("*.css")
    }
    foreign = {
        file: ICON_FONT.sub("", sheet) for file, sheet in sheets.items() if not is_own(file, static)
    }
    short = {file: without_unused(sheet, words) for file, sheet in foreign.items()}
    for file, sheet in without_unread(sheets | short, words, foreign).items():
        if "fa-solid-900" in sheet:
            raise ExtensionError(f"the style sheet {file.name} still loads the theme's icon font")
        file.write_text(sheet, encoding="utf-8")


def used_words(site: Path) -> set[str]:
    """Return the elements, classes and ids of all pages, and what their scripts may add."""
    words = {"html", "body"}
    for page in site.rglob("*.html"):
        words |= words_of_page(page.read_text(encoding="utf-8"))
    for script in (site / "_static").rglob("*.js"):
        words |= words_of_script(script.read_text(encoding="utf-8"))
    return words


def is_own(file: Path, static: Path) -> bool:
    """Tell whether a style sheet was written for this book."""
    return (OWN / file.relative_to(static)).is_file() or file.name in OWN_WIDGETS
