"""What the preview's process remembers stands for what it would make anew."""

import preview_memory
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst.directives.tables import ListTable
from myst_parser.docutils_ import Parser

from byhand.section_search import sections

PLAIN = """\
```{list-table} The weights: those of *apple*
:header-rows: 1
:class: numbers

* - From \\ to
  - `apple`
* - eat
  - [**0.73**]{.max}
```

"""
NAMED = PLAIN.replace(":class", ":name: tbl-weights\n:class")
LABELLED = PLAIN.replace("eat", "(eat)=\n\n    eat")
LINKED = PLAIN.replace("eat", "[eat](#tbl-weights)")
UNEVEN = PLAIN.replace("* - eat", "* - eat\n  - more")


@pytest.fixture
def made(monkeypatch):
    """Let tables be kept in this test alone; return the captions of those that are made."""
    captions, make = [], ListTable.run

    def run(self):
        captions.extend(self.arguments)
        return make(self)

    monkeypatch.setattr(ListTable, "run", run)
    return captions


def read(text):
    """Return a page, its elements' lines, and whether something is wrong with it."""
    extensions = ["attrs_inline"]
    settings = {"myst_enable_extensions": extensions, "report_level": 5, "_disable_config": True}
    page = publish_doctree(text, parser=Parser(), settings_overrides=settings)
    lines = [(node.tagname, node.line) for node in page.findall(nodes.Element)]
    return page.pformat(), lines, list(page.findall(nodes.system_message)) != []


@pytest.mark.parametrize("table", [PLAIN, NAMED, LABELLED, LINKED, UNEVEN])
def test_a_page_with_kept_tables_is_the_page(made, table):
    pages = [f"{above}{table}And more.\n\n{PLAIN}" for above in ("", "", "A line.\n\nAnother.\n\n")]
    wanted = [read(page) for page in pages]
    preview_memory._keep_tables()
    found = [read(page) for page in pages]
    assert [page[:2] for page in found] == [page[:2] for page in wanted]
    assert found == wanted


@pytest.mark.parametrize(("table", "times"), [(PLAIN, 1), (NAMED, 1), (LABELLED, 3), (UNEVEN, 3)])
def test_a_plain_table_is_made_once(made, table, times):
    preview_memory._keep_tables()
    for above in ("", "", "A line.\n\n"):
        read(f"{above}{table}")
    assert len(made) == times


def test_no_page_is_looked_through_twice(monkeypatch):
    read = []

    def read_sections(html):
        read.append(html)
        return [html]

    monkeypatch.setattr(sections, "read_sections", read_sections)
    preview_memory._keep_sections()
    found = [sections.read_sections(html) for html in ("a", "b", "a")]
    assert found == [["a"], ["b"], ["a"]]
    assert read == ["a", "b"]
