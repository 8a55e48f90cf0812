r"""Typst source: text, strings, arrays, drawings and tables."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape

from byhand.press import drawings

_SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")  # all of ASCII that is no letter, digit or space


def document(template: str, *lines: str, **options: str) -> str:
    r"""Return Typst source that imports a template and applies it with `options` to a content.

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
    r"""Return words as Typst markup, with special characters escaped.

    Examples
    --------
    >>> print(text("a_b #c $1 // 2"))
    a\_b \#c \$1 \/\/ 2
    """
    return _SPECIAL.sub(r"\\\1", " ".join(re.split(r"[ \t\r\n]+", words)))


def string(words: str) -> str:
    r"""Return words as a string literal of Typst.

    Examples
    --------
    >>> print(string('say "a\\b"'))
    "say \"a\\b\""
    """
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


def array(items: Iterable[str]) -> str:
    """Return pieces of code as an array of Typst.

    Examples
    --------
    >>> array(["1"]), array([])
    ('(1,)', '()')
    """
    return f"({''.join(f'{item},' for item in items)})"


def drawing(svg: str, alt: str = "") -> str:
    """Return Typst code for a page's drawing: an image with alternative text, in the book's fonts.

    Without `alt`, its own ``aria-label`` is the alternative text.
    """
    width, height = drawings.size(svg)
    label = re.search(r'aria-label="([^"]*)"', svg[: svg.index(">") + 1])
    words = alt or unescape(label[1] if label else "")
    data = string(drawings.in_attributes(svg))
    return f"drawing({data}, {string(words)}, {width:g}, {height:g})"


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    content: str  # Typst markup; `text` converts plain text
    columns: int = 1  # how many it covers
    rows: int = 1
    bold: bool = False
    fill: str = ""  # a colour such as "#ffffff", for a tinted cell

    @property
    def code(self) -> str:
        """The cell as an argument of Typst's function `table`."""
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
    """Return Typst code for a table.

    In a table of numbers, columns after the first are aligned right and no line wraps; the letters
    shrink if the paper is too narrow. In a table of words, cells wrap, and the columns share the
    width in proportion to their texts or as `widths` gives. A long table may break between pages,
    and then repeats its header.
    """
    first = next(iter([*head, *body]))
    count = sum(cell.columns for cell in first)
    columns = array(f"{width}fr" for width in widths) if widths else str(count)
    header = array(cell.code for row in head for cell in row)
    cells = ", ".join(cell.code for row in body for cell in row)
    kind = "numbers" if numbers else "words"
    return f"{kind}({columns}, {header}{', long: true' * long}, {cells})"
