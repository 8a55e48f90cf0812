"""What a page says of its public address: nothing, until `html: baseurl:` in `_config.yml` has one.

With an address each page names its own (Sphinx writes the canonical link) and has a card with the
book's picture for those who share it, and the site has a sitemap. Nothing else in the book knows
where it is published: all links are relative.
"""

import shutil
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from byhand.digests import ROOT
from byhand.document import Document

PICTURE = ROOT / "book" / "screenshot.png"
CARD = "card.png"
LONGEST = 200  # characters of a description


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("config-inited", check_address)
    app.connect("html-page-context", add_card)
    app.connect("build-finished", write_sitemap)


def check_address(app: Sphinx, config: Any) -> None:
    """Refuse an address to which a page's name cannot be added."""
    address = config.html_baseurl
    if address and not (address.startswith("https://") and address.endswith("/")):
        raise ExtensionError(
            f"html: baseurl: in _config.yml is {address!r};"
            " https://, a host and a last / are wanted"
        )


def add_card(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Add what a page tells those who show a link to it."""
    address = app.config.html_baseurl
    if not address or pagename not in app.env.all_docs:
        return
    tags = {
        "og:type": "article",
        "og:site_name": Document().title,
        "og:title": BeautifulSoup(context["title"], "html.parser").get_text(),
        "og:description": description(context.get("body", "")),
        "og:url": urljoin(address, app.builder.get_target_uri(pagename)),
        "og:image": urljoin(address, f"_static/{CARD}"),
        "twitter:card": "summary_large_image",
    }
    context["metatags"] += "".join(
        f'\n<meta property="{name}" content="{escape(value)}" />' for name, value in tags.items()
    )


def description(body: str) -> str:
    """Return a page's first sentence, or the book's subtitle.

    Examples
    --------
    >>> description('<div class="lead"><p>One <em>sentence</em>.</p></div><p>More.</p>')
    'One sentence.'
    """
    lead = BeautifulSoup(body, "html.parser").select_one(".lead")
    text = " ".join(lead.get_text().split()) if lead else Document().subtitle
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + "…"


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Write the list of all pages, and the picture of the cards, if the book has an address."""
    address = app.config.html_baseurl
    if exception or not address or app.builder.format != "html":
        return
    shutil.copy(PICTURE, Path(app.outdir) / "_static" / CARD)
    pages = (
        urljoin(address, app.builder.get_target_uri(name)) for name in sorted(app.env.all_docs)
    )
    places = "\n".join(f"  <url><loc>{escape(page)}</loc></url>" for page in pages)
    (Path(app.outdir) / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}\n</urlset>\n',
        encoding="utf-8",
    )
