"""Templates of what other programs read: laid out for people, written without their layout."""

from html import escape
from pathlib import Path

from jinja2 import Environment, FunctionLoader


def templates(folder: Path) -> Environment:
    """Return the templates of a folder; what they make has no line break or indent but `br`.

    What is given to them is put in as it is; the filter `e` makes HTML of a text.
    """

    def source(name: str) -> str:
        return "".join(map(str.strip, (folder / name).read_text(encoding="utf-8").splitlines()))

    made = Environment(loader=FunctionLoader(source))
    made.globals["br"] = "\n"
    made.filters["e"] = escape
    return made
