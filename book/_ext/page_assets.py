"""What every HTML page loads, and the roles that its markup claims."""

from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("config-inited", declare)
    app.connect("html-page-context", correct_roles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def declare(app: Sphinx, config: object) -> None:
    """Name our style sheet and script, in place of Jupyter Book's every file below `_static`."""
    app.config.html_css_files = ["book.css"]
    app.config.html_js_files = [("scroll.js", {"defer": "defer"})]


def correct_roles(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Give entries of the bibliography a role that their list may hold; theirs is deprecated."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')
