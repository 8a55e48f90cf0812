"""A page loads the scripts and styles that stand beside the widgets' Python."""

import pytest
from book_site import ROOT
from bs4 import BeautifulSoup
from one_book import build

from byhand.page_assets import NEVER, PARTS, SCRIPTS, STYLES, TOGETHER, WANTED_BY, is_used
from mha.widgets.assets import LATE_PARTS, published

# A page that has something of every kind.
EVERYTHING = """# A page

```python
code = 1
```

<mha-explorer></mha-explorer><mha-your-turn></mha-your-turn><mha-build></mha-build><mha-quiz></mha-quiz>
<mha-model></mha-model>
<div class="steps-start stage-block names-of-the-package exercise toggle sd-tab-set"></div>
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Build a book of one page with the book's own scripts."""
    folder = tmp_path_factory.mktemp("assets")
    warnings = build(
        folder,
        {"index": EVERYTHING + "\n```{toctree}\nplain\n```\n", "plain": "# Plain\n\nText.\n"},
        extensions=["myst_nb", "byhand.page_assets"],
        html_static_path=[str(ROOT / "book" / "_static")],
    )
    assert warnings == ""
    return folder / "html"


def test_a_page_loads_every_script_in_its_order_and_waits_for_none(book):
    page = BeautifulSoup((book / "index.html").read_text(encoding="utf-8"), "html.parser")
    loaded = [s for s in page.find_all("script", src=True) if s.has_attr("defer")]
    names = [script["src"].partition("?")[0] for script in loaded]
    assert names == [f"_static/{name}" for name in SCRIPTS]
    assert all((book / name).is_file() for name in names)
    # A page that is opened as a file may not load modules.
    assert not any(script.get("type") == "module" for script in page.find_all("script"))


def test_a_plain_page_loads_nothing_that_it_has_no_use_for(book):
    page = BeautifulSoup((book / "plain.html").read_text(encoding="utf-8"), "html.parser")
    links = [*page.find_all("script", src=True), *page.select("link[rel=stylesheet]")]
    names = {(link.get("src") or link["href"]).partition("?")[0][8:] for link in links}
    sometimes = {name for names in WANTED_BY.values() for name in names}
    assert names & (sometimes | set(NEVER)) == set()
    assert names >= (set(SCRIPTS) | set(STYLES)) - sometimes


@pytest.mark.parametrize(
    ("text", "used", "unused"),
    [
        (
            "<mha-explorer",
            "arithmetic.js explorer.js explorer.css",
            "boxes.js boxes.css lessons.js",
        ),
        ("<mha-your-turn", "arithmetic.js boxes.js boxes.css", "explorer.js explorer.css"),
        ("<mha-build", "arithmetic.js boxes.js boxes.css", "explorer.js lessons.js"),
        ("<mha-quiz", "lessons.js boxes.css", "arithmetic.js explorer.js boxes.js"),
        ("steps-start", "lessons.js boxes.css", "arithmetic.js explorer.js boxes.js"),
        ('<div class="highlight-python', "copybutton.js clipboard.min.js", "togglebutton.js"),
        ("<math", "math/temml.css", "blocks.css doctools.js sphinx_highlight.js"),
    ],
)
def test_a_page_loads_what_its_text_asks_for(text, used, unused):
    assert all(is_used(f"_static/{name}?v=1", text) for name in used.split())
    assert not any(is_used(f"_static/{name}", text) for name in unused.split())


def test_a_page_loads_the_style_sheets_in_their_order(book):
    page = BeautifulSoup((book / "index.html").read_text(encoding="utf-8"), "html.parser")
    linked = [link["href"].partition("?")[0] for link in page.select("link[rel=stylesheet]")]
    ours = [f"_static/{name}" for name in STYLES]
    assert [address for address in linked if address in ours] == ours
    assert all((book / name).is_file() for name in ours)


def test_the_widgets_files_are_published_as_they_are_loaded(book):
    texts = {name: text for name, text in published().items() if name not in PARTS}
    for name, text in texts.items():
        assert (book / "_static" / name).read_text(encoding="utf-8") == text
    assert set(texts) >= {"arithmetic.js", "boxes.js", "explorer.js", "explorer.css"}
    assert list((book / "_static").glob("*.d.ts")) == []


def test_the_pages_scripts_are_put_together_and_do_not_stand_alone(book):
    for name, parts in TOGETHER.items():
        text = (book / "_static" / name).read_text(encoding="utf-8")
        assert text.count('"use strict";') == len(parts)
        assert "/**" not in text
        assert not any((book / "_static" / part).exists() for part in parts)


def test_every_script_of_the_widgets_is_loaded_or_asked_for_later():
    scripts = {name for name in published() if name.endswith(".js")}
    assert scripts - set(LATE_PARTS) <= set(SCRIPTS) | PARTS
    assert not set(LATE_PARTS) & set(SCRIPTS)
    asking = published()["explorer.js"] + published()["model.js"]
    assert all(f'later("{name}")' in asking for name in LATE_PARTS)
