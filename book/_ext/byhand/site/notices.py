"""The page `notices.html`: third-party files of the site and their licences.

Its template writes it from `vendored.toml`. The foot of every page links to it, and no table of
contents does.
"""

import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from byhand.digests import ROOT

LIST = Path(__file__).with_name("vendored.toml")


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("html-collect-pages", notices_page)


def third_party() -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return the files and packages of the list, packages with their installed versions."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return listed["file"], [one | {"version": version(one["name"])} for one in listed["package"]]


def notices_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page in the form that Sphinx needs for pages without a source."""
    files, packages = third_party()
    licences = [
        {
            "holder": holder,
            "names": ", ".join(file["name"] for file in files if file["text"] == path),
            "text": (ROOT / path).read_text(encoding="utf-8"),
        }
        for path, holder in dict.fromkeys((file["text"], file["copyright"]) for file in files)
    ]
    context = {"files": files, "packages": packages, "licences": licences}
    yield "notices", {"title": "Notices", **context}, "notices.html"
