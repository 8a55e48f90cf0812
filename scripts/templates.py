"""Jinja templates of XML and text formats, laid out for people and rendered without layout."""

from html import escape
from pathlib import Path

from jinja2 import Environment, FunctionLoader


def templates(folder: Path) -> Environment:
    """Return the templates of a folder, rendered without line breaks and indents except `br`.

    Values are inserted unchanged; the filter `e` escapes a text for HTML.
    """

    def source(name: str) -> str:
        return "".join(map(str.strip, (folder / name).read_text(encoding="utf-8").splitlines()))

    made = Environment(loader=FunctionLoader(source))
    made.globals["br"] = "\n"
    made.filters["e"] = escape
    return made
