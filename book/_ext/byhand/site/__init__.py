"""The HTML site around the text: scripts, styles, content policy, notices and addresses.

`assets` lists the scripts and style sheets of pages. `templates` names the place of a template's
error. `theme` removes the unused part of the theme, and `highlighting` reduces the elements of
highlighted code. `policy` writes the content security policy of each page and checks every page
against it. `notices` makes the page of third-party files from `vendored.toml`: version, licence and
hash. `address` adds canonical links and cards for shared links if the book has an address. `launch`
adds links that run a page's notebook elsewhere, if the book has a repository. `affected` finds the
pages that are written again after an edit.
"""

from sphinx.application import Sphinx

PARTS = (
    *("assets", "templates", "highlighting", "theme", "policy", "notices", "address", "launch"),
    "affected",
)


def setup(app: Sphinx) -> None:
    """Load every module of the site."""
    for part in PARTS:
        app.setup_extension(f"{__name__}.{part}")
