"""A page loads the scripts and styles that stand beside the widgets' Python."""

import pytest
from book_site import ROOT
from bs4 import BeautifulSoup
from one_book import build

from byhand.site.assets import SCRIPTS, is_used

# A page that has something of every kind.
EVERYTHING = """# A page

```python
code = 1
```

<mha-explorer></mha-explorer><mha-your-turn></mha-your-turn><mha-build></mha-build><mha-quiz></mha-quiz>
<mha-instrument></mha-instrument>
<div class="steps-start stage-block names-of-the-package exercise toggle sd-tab-set"></div>
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Build a book of one page with the book's own scripts."""
    folder = tmp_path_factory.mktemp("assets")
    warnings = build(
        folder,
        {"index": EVERYTHING + "\n```{toctree}\nplain\n```\n", "plain": "# Plain\n\nText.\n"},
        extensions=["myst_nb", "byhand.site.assets"],
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
