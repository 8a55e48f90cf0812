r"""Small pieces of Typst: text that stays as it is, strings, lists of arguments, drawings."""

import re
from collections.abc import Iterable
from html import unescape

from byhand.press import drawings

_SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")  # all of ASCII that is no letter, digit or space


def document(template: str, *lines: str, **options: str) -> str:
    r"""Return a source of the press: a sheet with options, given as code, and what is on it.

    Examples
    --------
    >>> print(document("style", "A line.", margin="0pt", title=string("A sheet")))
    #import "/style.typ": *
    #show: sheet.with(margin: 0pt, title: "A sheet")
    A line.
    """
    given = ", ".join(f"{name}: {code}" for name, code in options.items())
    return "\n".join([f'#import "/{template}.typ": *', f"#show: sheet.with({given})", *lines])


def text(words: str) -> str:
    r"""Return a text as Typst's markup, in which no character does anything.

    Examples
    --------
    >>> print(text("a_b #c $1 // 2"))
    a\_b \#c \$1 \/\/ 2
    """
    return _SPECIAL.sub(r"\\\1", " ".join(re.split(r"[ \t\r\n]+", words)))


def string(words: str) -> str:
    r"""Return a text as a string of Typst's code.

    Examples
    --------
    >>> print(string('say "a\\b"'))
    "say \"a\\b\""
    """
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


def array(items: Iterable[str]) -> str:
    """Return pieces of code as an array.

    Examples
    --------
    >>> array(["1"]), array([])
    ('(1,)', '()')
    """
    return f"({''.join(f'{item},' for item in items)})"


def drawing(svg: str, alt: str = "") -> str:
    """Return a drawing of a page as code: an image with the book's fonts and its text.

    Without `alt` its own ``aria-label`` says what is to be seen.
    """
    width, height = drawings.size(svg)
    label = re.search(r'aria-label="([^"]*)"', svg[: svg.index(">") + 1])
    words = alt or unescape(label[1] if label else "")
    data = string(drawings.in_attributes(svg))
    return f"drawing({data}, {string(words)}, {width:g}, {height:g})"
