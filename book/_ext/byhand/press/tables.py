"""Tables as Typst's code: from rows of cells, whatever they were read from."""

from collections.abc import Sequence
from dataclasses import dataclass

from byhand.press import heat, markup
from byhand.press.drawings import mixed
from mha.views.colours import head_colour


@dataclass(frozen=True)
class Cell:
    """A cell."""

    content: str  # Typst's markup; `markup.text` makes it of plain text
    columns: int = 1  # how many it covers
    rows: int = 1
    fill: str = ""  # a colour such as "#ffffff", for a tinted cell

    @property
    def code(self) -> str:
        """The cell as an argument of Typst's `table`."""
        options = [f"colspan: {self.columns}"] * (self.columns > 1)
        options += [f"rowspan: {self.rows}"] * (self.rows > 1)
        options += [f'fill: rgb("{self.fill}")'] * bool(self.fill)
        options += ["align: center"] * (self.columns > 1)
        if not options:
            return f"[{self.content}]"
        return f"table.cell({', '.join(options)})[{self.content}]"


def tint(weight: float, head: int) -> str:
    """Return the colour that print gives the cell of a weight of a head, counted from 0.

    Examples
    --------
    >>> tint(0.0, 0), tint(1.0, 0)
    ('#ffffff', '#8cbad6')
    """
    colour = head_colour(head)
    return mixed(colour, heat.full(colour) * weight, "#ffffff")


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
    columns = markup.array(f"{width}fr" for width in widths) if widths else str(count)
    header = markup.array(cell.code for row in head for cell in row)
    cells = ", ".join(cell.code for row in body for cell in row)
    kind = "numbers" if numbers else "words"
    return f"{kind}({columns}, {header}{', long: true' * long}, {cells})"
