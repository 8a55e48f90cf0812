"""The page `notices.html`: what the site carries of others, of which version, under which licence.

It is made from `vendored.toml`, so that it names what is there. No contents list has
it: every page's foot leads to it.
"""

from collections.abc import Iterator
from html import escape
from typing import Any

from sphinx.application import Sphinx

from byhand.site.vendored import ROOT, carried_packages, vendored_files

NAME = "notices"
TITLE = "Notices"

BODY = """\
<section id="{name}">
<h1>{title}</h1>
<p>This book loads nothing from elsewhere. What it carries of others is listed here, with thanks.
Text and figures of the book are under CC BY 4.0, its code under the MIT licence.</p>
<h2 id="files">Fonts, programs and data</h2>
{files}
<h2 id="packages">What the site has of the programs that build it</h2>
{packages}
<h2 id="licences">Their licences</h2>
{licences}
</section>
"""


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("html-collect-pages", page)


def page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page as Sphinx wants one that no source has."""
    yield NAME, {"title": TITLE, "body": body()}, "page.html"


def body() -> str:
    """Return the page's text as HTML."""
    files = vendored_files()
    texts = dict.fromkeys((file.text, file.copyright) for file in files)
    return BODY.format(
        name=NAME,
        title=TITLE,
        files=table(
            ("What", "Version", "For", "From", "Licence"),
            [(file.name, file.version, file.use, file.source, file.licence) for file in files],
        ),
        packages=table(
            ("Package", "Version", "What", "Licence"),
            [(one.name, one.version, one.gives, one.licence) for one in carried_packages()],
        ),
        licences="\n".join(licence(path, holder, files) for path, holder in texts),
    )


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table as HTML."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    lines = [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows]
    return (
        '<div class="pst-scrollable-table-container"><table class="table">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def licence(path: str, holder: str, files: list[Any]) -> str:
    """Return a licence's text, folded away below the names of what it covers."""
    names = ", ".join(file.name for file in files if file.text == path)
    text = (ROOT / path).read_text(encoding="utf-8")
    return (
        f"<details><summary>{escape(names)}: © {escape(holder)}</summary>\n"
        f"<pre>{escape(text)}</pre></details>"
    )
