"""The scripts that stand in a page itself: what has to run before anything is drawn.

From a file they would come too late. The theme and the extensions add small scripts of their own to
each page; `early.js` has what they set, and they go.
"""

import re
from typing import Any

from sphinx.application import Sphinx

from byhand.site.assets import OWN
from mha.widgets.assets import bare

EARLY = ("early.js", "early-fonts.js")

# What the theme and sphinx_togglebutton set by a script in the page; of the first two nothing here
# makes use.
SET_IN_PAGE = re.compile(
    r"DOCUMENTATION_OPTIONS\.(?:pagename|search_as_you_type) = [^;]*;"
    r"|(?:let|var) toggle(?:HintShow|HintHide|OpenOnPrint|buttonSelector) = '[^']*';"
)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("html-page-context", put_into_page, priority=850)  # when all have added theirs
    app.connect("config-inited", keep_from_static)


def keep_from_static(app: Sphinx, config: Any) -> None:
    """Have Sphinx copy none of them, for no page loads them."""
    config.exclude_patterns = [*config.exclude_patterns, *EARLY]


def early_scripts() -> dict[str, str]:
    """Return the scripts that stand in a page, by their name, as they stand there."""
    return {name: bare((OWN / name).read_text(encoding="utf-8")) for name in EARLY}


def put_into_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Give a page its early scripts, and take out what others set in it."""
    context["early_scripts"] = early_scripts()
    context["script_files"] = [
        file for file in context.get("script_files", []) if not is_set_in_page(file)
    ]


def is_set_in_page(file: Any) -> bool:
    """Tell whether a script of a page is one that `early.js` stands for."""
    body = getattr(file, "attributes", {}).get("body", "")
    return SET_IN_PAGE.fullmatch(body) is not None
