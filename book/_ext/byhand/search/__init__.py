"""Search by section: the index of all sections, and the page, dialog and library that search it.

The index is a script that sets one variable, because a page opened from a file may not fetch data.
No page loads the index or the library until a reader opens the search. `ranking.toml` has the
weights and the synonyms; `reading/search.ts` searches.

Sphinx's own index, which the theme loads on every page, is not made, and `disable_search` in
`_config.yml` switches off the theme's dialog.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from byhand.digests import ROOT
from byhand.reuse import compute_changed
from byhand.search import sections as reading
from byhand.terms import load
from mha.widgets.data_scripts import data_script

HERE = Path(__file__).parent
RANKING = HERE / "ranking.toml"
INDEX = "search-index"


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("builder-inited", replace_sphinx_search)
    app.connect("html-collect-pages", search_page)
    app.connect("build-finished", write_index)
    app.add_css_file("search.css")
    app.add_js_file(
        "search.js", priority=900, defer="defer"
    )  # after reading.js, which has the loader


def replace_sphinx_search(app: Sphinx) -> None:
    """Prevent Sphinx from making its own index."""
    if app.builder.format != "html":
        return
    app.builder.search = False  # type: ignore[attr-defined]


def search_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the search page, which lists the chapters if scripts are off."""
    titles = app.env.titles
    chapters = [(app.builder.get_target_uri(n), titles[n].astext()) for n in _pages(app)]
    yield "search", {"title": "Search", "chapters": chapters}, "search.html"


def write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write the search index of the built pages."""
    if exception or app.builder.format != "html":
        return
    file = Path(app.outdir) / "_static" / f"{INDEX}.js"
    file.write_text(data_script(INDEX, make_index(app)), encoding="utf-8")


def make_index(app: Sphinx) -> dict[str, Any]:
    """Return the data of the search: pages, sections, synonyms and stop words.

    Each of `pages` has an address, a title, a number or an empty text, and a factor. Each of
    `sections` has the index of its page in `pages`, an anchor, a heading, a text, a factor and
    names. `synonyms` and `stop` are those of `ranking.toml`. Lists without keys save bytes.
    """
    read = {}
    for name in _pages(app):
        # The builder knows the address; at the end of a build it has no page to be relative to.
        address = app.builder.get_target_uri(name)
        html = (Path(app.outdir) / address).read_text(encoding="utf-8")
        number = ".".join(map(str, app.env.toc_secnumbers.get(name, {}).get("", ())))
        read[name] = Page(address, html, number)
    texts = {name: page.html for name, page in read.items()}
    file = Path(app.doctreedir) / f"{INDEX}.json"
    found = compute_changed(file, texts, lambda html: reading.as_data(*reading.read_page(html)))
    return index_of(read, {name: reading.from_data(data) for name, data in found.items()})


@dataclass(frozen=True)
class Page:
    """A built page: its address from the book's first page, its HTML, and its number if any."""

    address: str
    html: str
    number: str = ""


def index_of(
    read: dict[str, Page], found_on: dict[str, reading.Words] | None = None
) -> dict[str, Any]:
    """Return the data of the search for pages, which are given by name in reading order.

    `found_on` has the words of each page, if they have been read.
    """
    ranking = tomllib.loads(RANKING.read_text(encoding="utf-8"))
    if found_on is None:
        found_on = {name: reading.read_page(page.html) for name, page in read.items()}
    sections_of = {name: found for name, (found, _) in found_on.items()}
    rows_of = {name: rows for name, (_, rows) in found_on.items()}
    refuse_unknown_sections(sections_of, ranking["asked"])
    names = names_of_sections(read, sections_of, rows_of, ranking["asked"])
    pages: list[list[Any]] = []
    sections: list[list[Any]] = []
    for name, found in sections_of.items():
        if not found:
            continue
        page = read[name]
        pages.append(
            [page.address, found[0].heading, page.number, factor_of(name, ranking["pages"])]
        )
        for section in found:
            if section.anchor and not section.text:
                continue  # only sections are below this heading
            factor = factor_of(section.heading, ranking["headings"])
            factor *= 1 if section.anchor else ranking["first"]["factor"]
            words = [section.anchor, section.heading, section.text]
            own_names = ", ".join({n.lower(): n for n in names[name, section.anchor]}.values())
            sections.append([len(pages) - 1, *words, factor, own_names])
    return {
        "pages": pages,
        "sections": sections,
        "synonyms": ranking["synonyms"],
        "stop": ranking["stop"],
    }


def refuse_unknown_sections(
    sections_of: dict[str, list[reading.Section]], asked: dict[str, str]
) -> None:
    """Raise an error if `asked` names a section that its page does not have."""
    for key in asked:
        name, _, anchor = key.partition("#")
        if name in sections_of and anchor not in [one.anchor for one in sections_of[name]]:
            before = RANKING.read_text(encoding="utf-8").partition(f'"{key}"')[0]
            place = f"{RANKING.relative_to(ROOT)}:{before.count(chr(10)) + 1}"
            raise ExtensionError(f"{place}: {name} has no section #{anchor}; its anchor is wanted")


def names_of_sections(
    read: dict[str, Page],
    sections_of: dict[str, list[reading.Section]],
    rows_of: dict[str, list[reading.Named]],
    asked: dict[str, str],
) -> dict[tuple[str, str], list[str]]:
    """Return the names by which each section is found, by the page's name and the section's anchor.

    These are the terms that the section introduces; their other spellings in `terms.toml`, unless
    another section introduces them; the names in the rows of tables of names that link to the
    section; and its words in `ranking.toml`.
    """
    introduced = {
        term.lower()
        for found in sections_of.values()
        for section in found
        for term in section.terms
    }
    other_spellings = {
        spelling: [other for other in term.spellings if other not in introduced]
        for term in load()[0]
        for spelling in term.spellings
    }
    places = {  # by address and label
        (read[name].address, label): (name, section.anchor)
        for name, found in sections_of.items()
        for section in found
        for label in (section.anchor, *section.labels)
    }
    of_tables: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, rows in rows_of.items():
        for row in rows:
            address, label = urldefrag(urljoin(read[name].address, row.address))
            of_tables[places[address, label]] += row.names
    placed = {name.lower() for found in of_tables.values() for name in found}
    names: dict[tuple[str, str], list[str]] = defaultdict(list)
    for page_name, found in sections_of.items():
        for section in found:
            place = page_name, section.anchor
            for term in section.terms:
                names[place] += [term, *other_spellings.get(term.lower(), ())]
            # The table decides which section explains a name; others may have it in bold too.
            names[place] = [name for name in names[place] if name.lower() not in placed]
            names[place] += of_tables.get(place, [])
            if words := asked.get(f"{page_name}#{section.anchor}".rstrip("#")):
                names[place] += words.split(", ")
    return names


def factor_of(name: str, factors: dict[str, float]) -> float:
    """Return the factor of a page or a section: that of the longest beginning of its name.

    Examples
    --------
    >>> factor_of("sources/one", {"sources/": 0.5, "sources/one": 0.25})
    0.25
    >>> factor_of("mechanism/softmax", {"sources/": 0.5})
    1.0
    """
    fitting = [start for start in factors if name.startswith(start)]
    return factors[max(fitting, key=len)] if fitting else 1.0


def _pages(app: Sphinx) -> list[str]:
    """Return the pages in the order of the contents, followed by pages outside the contents."""
    ordered = app.env.collect_relations()
    return [*ordered, *sorted(set(app.env.all_docs) - set(ordered))]
