"""Tables of numbers as Typst; parts of a row are joined as far as the paper's width allows.

Print omits the printed numbers of sources.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from byhand.mathematics.paper import formula
from byhand.press import markup
from byhand.press.markup import Cell, table
from byhand.tables.element import Part, column_lengths, join_parts, numbers, repeats
from byhand.tables.marks import pieces

PAPER = 112  # characters of a printed line, about, in the smaller letters of a wide table
CALLS = {"em": "emph", "strong": "strong", "sup": "super", "sub": "sub"}
LONG_TABLE_LENGTH = 26  # rows; a table of more may have to break between pages


def markup_of(node: numbers) -> str:
    """Return the Typst markup of a table or block without its caption."""
    if "columns" not in node:
        (part,) = node["parts"]
        return "#" + joined_table([part], title=False, long=_is_long(part))
    if any(map(_is_long, node["parts"])):
        return "\n".join(_stacked(node["parts"]))
    groups = [group for row in node.in_rows() for group in groups_that_fit(row)]
    titled = len(node["parts"]) > 1
    return "\n\n".join("#" + joined_table(group, title=titled) for group in groups)


def _is_long(part: Part) -> bool:
    return len(part.rows) > LONG_TABLE_LENGTH


def _stacked(parts: Sequence[Part]) -> Iterator[str]:
    """Yield parts below each other, each with its title; they may break between pages."""
    for part in parts:
        if len(parts) > 1:
            yield f"#strong[{as_typst(part.title)}]\n"
        yield f"#{joined_table([part], title=False, long=True)}\n"


def groups_that_fit(row: Sequence[Part]) -> list[list[Part]]:
    """Return the parts of a row in groups that fit the paper's width.

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
    """Return the approximate width of joined parts in characters, row labels counted once."""
    first, *others = map(column_lengths, group)
    return sum(length + 2 for columns in [first, *(o[1:] for o in others)] for length in columns)


def joined_table(group: Sequence[Part], *, title: bool, long: bool = False) -> str:
    """Return Typst code of one table that joins several parts."""
    head, body = map(_written, join_parts(group, titled=title))
    return table(head, body, numbers="words" not in group[0].classes, long=long)


def _written(rows: list[list[Cell]]) -> list[list[Cell]]:
    return [[replace(cell, content=as_typst(cell.content)) for cell in row] for row in rows]


def as_typst(text: str) -> str:
    """Return a text with marks as Typst markup."""
    return "".join(_piece(kind, piece) for kind, piece in pieces(text))


def _piece(kind: str, piece: str) -> str:
    if kind == "math":
        return "#" + formula(piece)
    if kind == "code":
        return f"#raw({markup.string(piece)})"
    words = markup.text(piece)
    return words if kind == "text" else f"#{CALLS[kind]}[{words}]"
