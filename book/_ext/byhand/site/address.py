"""The site's address: none, until `html: baseurl:` in `_config.yml` has one.

With an address, each page has a canonical link, which Sphinx writes, and a card with the book's
picture for shared links, by the template `layout.html`; the site gets a sitemap. Nothing else in
the book depends on the address: all links are relative.
"""

import shutil
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from byhand.digests import ROOT
from byhand.document import Document

PICTURE = ROOT / "book" / "screenshot.png"
SITEMAP = """\
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{}
</urlset>
"""


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("config-inited", check_address)
    app.connect("config-inited", tell_templates)
    app.connect("build-finished", write_sitemap)


def check_address(app: Sphinx, config: Any) -> None:
    """Refuse an address that does not begin with https:// and end with a slash."""
    address = config.html_baseurl
    if address and not (address.startswith("https://") and address.endswith("/")):
        raise ExtensionError(
            f"html: baseurl: in _config.yml is {address!r};"
            " https://, a host and a last / are wanted"
        )


def tell_templates(app: Sphinx, config: Any) -> None:
    """Give `layout.html` the data of a page's card."""
    address = config.html_baseurl
    card = {"address": address, "book": Document().title, "subtitle": Document().subtitle}
    config.html_context = config.html_context | card


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Write the sitemap and the picture of the cards, if the book has an address."""
    address = app.config.html_baseurl
    if exception or not address or app.builder.format != "html":
        return
    shutil.copy(PICTURE, Path(app.outdir) / "_static" / "card.png")
    pages = map(app.builder.get_target_uri, sorted(app.env.all_docs))
    places = [f"  <url><loc>{escape(urljoin(address, page))}</loc></url>" for page in pages]
    sitemap = SITEMAP.format("\n".join(places))
    (Path(app.outdir) / "sitemap.xml").write_text(sitemap, encoding="utf-8")
