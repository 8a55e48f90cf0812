"""Tables of numbers on paper: the parts of a row join as far as the paper goes.

What sources print beside the numbers stays on the screen.
"""

from collections.abc import Iterator, Sequence

from byhand.mathematics.paper import formula
from byhand.press import markup
from byhand.press.tables import Cell, table
from byhand.tables import element
from byhand.tables.element import Part, joined_rows, numbers, repeats
from byhand.tables.marks import pieces
from byhand.tables.widths import column_lengths

PAPER = 112  # characters of a printed line, about, in the smaller letters of a wide table
CALLS = {"em": "emph", "strong": "strong", "sup": "super", "sub": "sub"}
LONG = 26  # rows; a table of more may have to break between pages


def content(node: numbers) -> str:
    """Return what stands below the caption, as Typst's markup."""
    if "columns" not in node:
        (part,) = node["parts"]
        return "#" + joined([part], title=False, long=_is_long(part))
    if any(map(_is_long, node["parts"])):
        return "\n".join(_one_below_the_other(node["parts"]))
    groups = [group for row in node.in_rows() for group in groups_that_fit(row)]
    titled = len(node["parts"]) > 1
    return "\n\n".join("#" + joined(group, title=titled) for group in groups)


def _is_long(part: Part) -> bool:
    return len(part.rows) > LONG


def _one_below_the_other(parts: Sequence[Part]) -> Iterator[str]:
    """Yield parts that may break between pages, each below its title."""
    for part in parts:
        if len(parts) > 1:
            yield f"#strong[{as_typst(part.title)}]\n"
        yield f"#{joined([part], title=False, long=True)}\n"


def groups_that_fit(row: Sequence[Part]) -> list[list[Part]]:
    """Return the parts of a row in groups, each as wide as the paper allows.

    Examples
    --------
    >>> part = Part([], ["Token", "z"], [["a", "0.25"]])
    >>> [len(group) for group in groups_that_fit([part] * 20)]
    [17, 3]
    """
    groups: list[list[Part]] = []
    for i, part in enumerate(row):
        if groups and repeats(list(row), i) and _characters([*groups[-1], part]) <= PAPER:
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def _characters(group: Sequence[Part]) -> int:
    """Return about how many characters wide parts are beside each other, row labels once."""
    first, *others = map(column_lengths, group)
    return sum(length + 2 for columns in [first, *(o[1:] for o in others)] for length in columns)


def joined(group: Sequence[Part], *, title: bool, long: bool = False) -> str:
    """Return one table of several parts, the row labels once, as Typst's code."""
    first = group[0]
    corner = as_typst(first.header[0])
    names = [Cell(as_typst(name)) for part in group for name in part.header[1:]]
    head = [[Cell(corner), *names]]
    if title:
        titles = [Cell(as_typst(p.title), columns=len(p.header) - 1) for p in group]
        head = [[Cell(corner, rows=2), *titles], names]
    body = [list(map(_written, row)) for row in joined_rows(group)]
    return table(head, body, numbers="words" not in first.classes, long=long)


def _written(cell: element.Cell) -> Cell:
    """Return a cell whose marks are Typst's."""
    words = as_typst(cell.text)
    return Cell(f"#strong[{words}]" if cell.bold else words, fill=cell.fill)


def as_typst(text: str) -> str:
    """Return a text that may hold marks as Typst's markup."""
    return "".join(_piece(kind, piece) for kind, piece in pieces(text))


def _piece(kind: str, piece: str) -> str:
    if kind == "math":
        return "#" + formula(piece)
    if kind == "code":
        return f"#raw({markup.string(piece)})"
    words = markup.text(piece)
    return words if kind == "text" else f"#{CALLS[kind]}[{words}]"
