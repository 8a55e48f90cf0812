"""The scripts and style sheets of HTML pages, and corrections of their markup."""

import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from byhand.digests import ROOT
from mha.views.figures import STYLE
from mha.widgets.assets import ARITHMETIC, BOXES, EXPLORER, published

OWN = ROOT / "book" / "_static"

# In the order in which they run: modules that others use come first.
SCRIPTS = (
    "reading.js",
    *ARITHMETIC,
    *BOXES,
    "lessons.js",
    *EXPLORER,
    "instrument.js",
)

# Later style sheets override earlier ones; print.css is last.
STYLES = (
    "fonts.css",
    "tokens.css",
    "heads.css",
    "layout.css",
    "book.css",
    "code.css",
    "api.css",
    "folds.css",
    "blocks.css",
    "figures.css",
    "boxes.css",
    "reading.css",
    "explorer.css",
    "print.css",
    "landing.css",
)

FIRST_PAGE = "<!-- the first page -->"  # as if its text began so

# The files that a page loads only if its text has one of some marks. All other files are on every
# page.
FILES_BY_MARKS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("<mha-explorer", "<mha-your-turn", "<mha-build", "<mha-instrument"): ARITHMETIC,
    ("<mha-explorer", "<mha-instrument"): (*EXPLORER, "explorer.css"),
    ("<mha-instrument",): ("instrument.js",),
    ("<mha-your-turn", "<mha-build"): ("boxes.js",),
    ("<mha-your-turn", "<mha-build", "<mha-quiz", "steps-start"): ("boxes.css",),
    ("<mha-quiz", "steps-start"): ("lessons.js",),
    ('class="highlight',): ("clipboard.min.js", "copybutton.js", "copybutton.css", "pygments.css"),
    ("toggle", "dropdown"): ("togglebutton.js", "togglebutton.css"),
    ("exercise",): ("exercise.css",),
    ('class="sd-', " sd-"): ("sphinx-design.min.css",),
    ("sd-tab",): ("design-tabs.js",),
    ("stage-block",): ("blocks.css",),
    (FIRST_PAGE,): ("landing.css",),
    ('class="api', "names-of-the-package", " api-link"): ("api.css",),
}

# Scripts of Sphinx that nothing here calls: the first marks the words that its own search found,
# the other has shortcuts that the theme turns off.
UNUSED_SCRIPTS = ("sphinx_highlight.js", "doctools.js")

# Fonts that are loaded before text is drawn in them, by the mark of a page with such text.
FONTS_OF_ALL_PAGES = ("STIX Two Text Book", "Attention Interface Book")
FONTS_BY_MARK = {"<math": "STIX Two Math Book", "<pre": "JetBrains Mono Book"}


# The scripts that a page holds as text (see `policy`), and those that only a notebook's frame has.
EARLY_SCRIPTS = ("early.js", "early-fonts.js")
INLINE_SCRIPTS = (*EARLY_SCRIPTS, "loader.js", "frame-inside.js", "frame-around.js")


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("config-inited", add_assets)
    app.connect("builder-inited", write_assets)
    app.connect("html-page-context", finish_page, priority=900)  # when all have added theirs


def add_assets(app: Sphinx, config: Any) -> None:
    """Add the book's style sheets and scripts; Jupyter Book would add all files in `_static`."""
    config.html_css_files = list(STYLES)
    config.html_js_files = [(script, {"defer": "defer"}) for script in SCRIPTS]


def write_assets(app: Sphinx) -> None:
    """Write the bundled scripts and styles to `_static`."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in published().items():
        if name not in INLINE_SCRIPTS:
            (folder / name).write_text(text, encoding="utf-8")
    shutil.copy(STYLE, folder / STYLE.name)


def finish_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Correct the markup of extensions, and keep the scripts and styles that the page uses.

    Entries of the bibliography get a role that their list may contain; theirs is deprecated. The
    link beside a heading appears under the mouse only, so it is no tab stop.
    """
    body = context.get("body", "").replace('role="doc-biblioentry"', 'role="listitem"')
    context["body"] = body.replace('class="headerlink"', 'class="headerlink" tabindex="-1"')
    wanted = [font for mark, font in FONTS_BY_MARK.items() if mark in body]
    context["early_fonts"] = [*FONTS_OF_ALL_PAGES, *wanted]
    begin = FIRST_PAGE if pagename == app.config.root_doc else ""
    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context.get(kind, ()) if is_used(file, begin + body)]


def is_used(file: Any, body: str) -> bool:
    """Return whether a page with this text uses a script or style sheet.

    Examples
    --------
    >>> is_used("_static/lessons.js", "<p>Text</p>"), is_used("_static/book.css", "<p>Text</p>")
    (False, True)
    """
    name = str(getattr(file, "filename", None) or file).partition("?")[0].removeprefix("_static/")
    if name in UNUSED_SCRIPTS:
        return False
    conditions = (marks for marks, names in FILES_BY_MARKS.items() if name in names)
    return all(any(mark in body for mark in marks) for marks in conditions)
