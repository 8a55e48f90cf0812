"""The site around the text: what each page loads and may run, and whose work is in it.

`assets` says which scripts and style sheets a page loads, and in which order. `theme` takes out of
the theme what no page of this book uses, and `highlighting` keeps code to few elements. `policy`
has the few lines that stand in a page itself, forbids everything else to run or load, and looks at
every page that was written. `notices` makes the page of what the book carries of others, from
`vendored.toml`: version, licence, hash. `address` speaks to those who share a link, once the book
has an address.
"""

from sphinx.application import Sphinx

PARTS = ("assets", "highlighting", "theme", "policy", "notices", "address")


def setup(app: Sphinx) -> None:
    """Load every part."""
    for part in PARTS:
        app.setup_extension(f"{__name__}.{part}")
