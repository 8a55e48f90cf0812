r"""Pieces of Typst: text that stays as it is, strings, lists of arguments, drawings, tables."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    content: str  # Typst's markup where `code` is asked for; `text` makes it of plain text
    columns: int = 1  # how many it covers
    rows: int = 1
    bold: bool = False
    fill: str = ""  # a colour such as "#ffffff", for a tinted cell

    @property
    def code(self) -> str:
        """The cell as an argument of Typst's `table`."""
        options = [f"colspan: {self.columns}"] * (self.columns > 1)
        options += [f"rowspan: {self.rows}"] * (self.rows > 1)
        options += [f'fill: rgb("{self.fill}")'] * bool(self.fill)
        options += ["align: center"] * (self.columns > 1)
        words = f"[#strong[{self.content}]]" if self.bold else f"[{self.content}]"
        return f"table.cell({', '.join(options)}){words}" if options else words


def table(
    head: Sequence[Sequence[Cell]],
    body: Sequence[Sequence[Cell]],
    *,
    numbers: bool = True,
    long: bool = False,
    widths: Sequence[int] = (),
) -> str:
    """Return a table as Typst's code.

    Of numbers, the columns but the first are set to the right and no line wraps: where the paper is
    too narrow for that, the letters get smaller. Of words, cells wrap, and columns share the width
    as their texts want or as `widths` says. A long one may break between pages, and repeats its
    head.
    """
    first = next(iter([*head, *body]))
    count = sum(cell.columns for cell in first)
    columns = array(f"{width}fr" for width in widths) if widths else str(count)
    header = array(cell.code for row in head for cell in row)
    cells = ", ".join(cell.code for row in body for cell in row)
    kind = "numbers" if numbers else "words"
    return f"{kind}({columns}, {header}{', long: true' * long}, {cells})"
