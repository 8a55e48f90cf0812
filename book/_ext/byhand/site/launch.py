"""Launch links: each opens a page's notebook in Colab, on Binder or on a JupyterHub.

The theme makes the links from `repository` and `launch_buttons` in `_config.yml`. They lead to a
page's source, which is Markdown, and Colab opens no Markdown. So here they lead to the notebook
that is beside the built page: the branch in `_config.yml` has the built pages. Without a repository
there is no link. The template `launch-menu.html` draws them.
"""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

REPOSITORY = re.compile(r"https://[\w.-]+/[\w.-]+/[\w.-]+")
"""The address of a repository: a host, an owner and a name."""


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("config-inited", check_repository)
    app.connect("html-page-context", find_links, priority=900)  # when the theme has made its own


def check_repository(app: Sphinx, config: Any) -> None:
    """Refuse an address that is none of a repository; without one, take away the buttons."""
    options = config.html_theme_options
    address = options.get("repository_url") or ""
    if address and not REPOSITORY.fullmatch(address):
        raise ExtensionError(
            f"repository: url: in _config.yml is {address!r};"
            " https://, a host, an owner and a name are wanted, such as https://github.com/A/B"
        )
    if not address:
        left_out = ("repository_url", "repository_branch", "launch_buttons")
        config.html_theme_options = {k: v for k, v in options.items() if k not in left_out}


def find_links(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give the template the names and the addresses of the links of a page with a notebook."""
    context["launch_links"] = []
    if "page_notebook" not in context:
        return
    source = pagename + Path(app.env.doc2path(pagename)).suffix
    context["launch_links"] = [
        (button["text"], button["url"].replace(source, f"{pagename}.ipynb"))
        for group in context.get("header_buttons", [])
        if group.get("label") == "launch-buttons"
        for button in group["buttons"]
    ]
