"""How much room tables want, from the lengths of their texts; what sources print is not counted."""

from collections.abc import Sequence

from byhand.tables.element import Part, numbers, repeats
from byhand.tables.marks import bare

CHARACTER, PADDING, GAP = 0.52, 0.64, 1.2  # of a table's text, in its own size
HEADING = 0.56  # a character of the heading above a part's columns, which is heavier


def column_lengths(part: Part) -> list[int]:
    """Return the number of characters of each column's longest text.

    Examples
    --------
    >>> column_lengths(Part([], ["Query ← key", "z"], [["a", "0.25"], ["b", "1"]]))
    [5, 4]
    """
    rows = [part.header, *part.rows]
    first, *others = zip(*rows, strict=True)
    words = [*bare(first[0]).split(), *map(bare, first[1:])]  # the corner's title wraps
    return [max(map(len, words)), *(max(len(bare(text)) for text in column) for column in others)]


def width(row: Sequence[Part]) -> float:
    """Return how wide parts are beside each other, in the size of their letters."""
    total = GAP * (len(row) - 1)
    for i, part in enumerate(row):
        labels, *others = (n * CHARACTER + PADDING for n in column_lengths(part))
        total += max(sum(others), len(bare(part.title)) * HEADING + PADDING)
        total += 0 if repeats(list(row), i) else labels
    return total


def pair_width(block: numbers) -> float | None:
    """Return how wide two parts of a row of three are, None where a row is never two and one.

    Rows of three become two and one each, so that no part stands in another row's pair.
    """
    rows = list(block.in_rows())
    one_row = block["columns"] == len(block["parts"]) > 2
    if not (one_row or block["columns"] == 3):
        return None
    if not all(repeats(row, i) for row in rows for i in range(1, len(row))):
        return None
    return max(width(row[i : i + 2]) for row in rows for i in range(0, len(row), 2))
