"""The page `notices.html`: what the site carries of others, and under which licence.

The template of that name writes it from `vendored.toml`, so that it names what is there. Every
page's foot leads to it, and no contents list.
"""

from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

from byhand.site.vendored import ROOT, carried_packages, vendored_files


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("html-collect-pages", page)


def page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page as Sphinx wants one that no source has."""
    files = vendored_files()
    licences = [
        {
            "holder": holder,
            "names": ", ".join(file.name for file in files if file.text == path),
            "text": (ROOT / path).read_text(encoding="utf-8"),
        }
        for path, holder in dict.fromkeys((file.text, file.copyright) for file in files)
    ]
    context = {"files": files, "packages": carried_packages(), "licences": licences}
    yield "notices", {"title": "Notices", **context}, "notices.html"
