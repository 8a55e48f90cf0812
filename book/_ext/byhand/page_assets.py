"""What every HTML page loads, and the roles that its markup claims."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from mha.widgets.assets import ARITHMETIC, BOXES, EXPLORER, publish

# In the order in which they run: what others use comes first.
SCRIPTS = (
    *ARITHMETIC,
    *BOXES,
    "drawers.js",
    "folds.js",
    "scroll.js",
    "strings-reading.js",
    "contents.js",
    "code.js",
    "quiz.js",
    "steps.js",
    *EXPLORER,
)

# What comes later may change what came before; print.css has the last word on paper.
STYLES = (
    "fonts.css",
    "tokens.css",
    "layout.css",
    "book.css",
    "code.css",
    "folds.css",
    "blocks.css",
    "boxes.css",
    "reading.css",
    "explorer.css",
    "print.css",
)

FIRST_PAGE_STYLE = "landing.css"  # the first page alone has it, after all others

PRINTED_SWITCH = re.compile(r'<div class="printed-switch">.*?</div>', re.DOTALL)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("config-inited", declare)
    app.connect("builder-inited", write_widgets)
    app.connect("html-page-context", dress_first_page)
    app.connect("html-page-context", correct_roles)
    app.connect("html-page-context", move_printed_switch)
    app.connect("html-page-context", leave_out_late_checksums)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def declare(app: Sphinx, config: object) -> None:
    """Name our style sheet and script, in place of Jupyter Book's every file below `_static`."""
    app.config.html_css_files = list(STYLES)
    app.config.html_js_files = [(script, {"defer": "defer"}) for script in SCRIPTS]


def write_widgets(app: Sphinx) -> None:
    """Write the widgets' scripts and styles, which stand beside their Python, to `_static`."""
    if app.builder.format == "html":
        publish(Path(app.outdir) / "_static")


def dress_first_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Give the first page its own style sheet; Sphinx forgets it before the next page."""
    if pagename == app.config.root_doc:
        app.add_css_file(FIRST_PAGE_STYLE, priority=810)


def correct_roles(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Give entries of the bibliography a role that their list may hold; theirs is deprecated."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def move_printed_switch(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Move the switch of the printed numbers from the text to where a template can show it."""
    switch = PRINTED_SWITCH.search(context.get("body", ""))
    if switch:
        context["printed_switch"] = switch[0]
        context["body"] = context["body"].replace(switch[0], "", 1)


def leave_out_late_checksums(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Link the style sheets that are written after the pages without a checksum.

    Sphinx adds one where the file is there already, which depends on the build before: the same
    book would come out in two ways.
    """
    if "css_tag" in context:
        css_tag = context["css_tag"]
        context["css_tag"] = lambda sheet: re.sub(
            r"((?:mystnb\.\w+|exercise)\.css)\?v=\w+", r"\1", css_tag(sheet)
        )
