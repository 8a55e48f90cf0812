"""The numbers in the text, tables and pictures of one exported question."""

import re

import numpy as np
from bs4 import BeautifulSoup

UP_TO_TWELVE = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
WORDS = {word: number for number, word in enumerate(UP_TO_TWELVE)}
WORDS |= {"fourth": 4, "sixteen": 16, "half": 0.5, "quarter": 0.25, "tenth": 0.1}
NUMBER = re.compile(rf"(?<![\w.])−?\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{'|'.join(WORDS)})\b")


SHAPE = re.compile(r"\(\d+(?:, \d+)+\)")


def number(text):
    """Return a printed number, or None where a cell has words."""
    try:
        return float(text.strip().replace("−", "-"))
    except ValueError:
        return None


class Given:
    """The numbers of one question.

    `prose` has the numbers of the text in order, number words included. `rows` has those of each
    table, by the table's position and the row's name; further rows of the same name are numbered.
    `shapes` has the shapes of a table of shapes, `pictures` the alternative text of each picture.
    """

    def __init__(self, html):
        soup = BeautifulSoup(html, "html.parser")
        self.rows, self.shapes = [], {}
        self.pictures = [picture["alt"] for picture in soup.find_all("img")]
        for table in soup.find_all("table"):
            rows = {}
            for line in table.find_all("tr"):
                name, *cells = (cell.get_text().strip() for cell in line.find_all(["th", "td"]))
                numbers = [number(cell) for cell in cells]
                if numbers and None not in numbers:
                    rows[name if name not in rows else f"{name} {len(rows)}"] = np.array(numbers)
                if cells and SHAPE.fullmatch(cells[0]):
                    self.shapes[name] = tuple(map(int, cells[0].strip("()").split(", ")))
            self.rows.append(rows)
            table.decompose()
        for fraction in soup.find_all("mfrac"):
            top, bottom = (part.get_text() for part in fraction.find_all(True, recursive=False))
            fraction.replace_with(f" {top}/{bottom} ")
        text = " ".join(soup.get_text(" ").split()).replace("− ", "−")
        self.text, self.prose = text, []
        for found in NUMBER.findall(text.partition("Enter:")[0]):
            self.prose.append(WORDS.get(found, number(found.replace(",", ""))))
