"""Strange words are text wherever they come out: pages, explorer, printed book."""

import json

import printed_book
import pytest
from bs4 import BeautifulSoup
from printed_book import build, squeezed, text_of

from mha.views.table import as_written, no_tags

pytestmark = pytest.mark.pdf

# Markup of HTML and of Markdown, quotes, a role that would run, TeX's own signs, and a letter whose
# accent is a character of its own. Characters that turn the text around are no tokens at all.
STRANGE = (
    "</script><b>hm</b>",
    "\"a' & &lt;",
    "{eval}`open(1)`",
    "*a* $c$ \\d_e^f",
    "e\u0301#%~{",
)
TITLE = "<b>A</b> {eval}`1` & \\x"
VIEWS = [
    'show.stage("weights", name="tbl-strange-weights-{head}", head=0)',
    'show.stage("scores", name="tbl-strange-scores")',
    'show.strongest(name="tbl-strange-strongest")',
    "show.maps()",
    "show.lanes()",
    "show.query(2)",
    "show.strips()",
    "show.explorer()",
    'show.turn("scores", 0, 1, head=0)',
    'show.row("weights", 2, head=1)',
]


# Signs of GIFT, XML, TeX and Markdown, in what a teacher takes from a page.
HEADING = 'Beta "all" & </script> {x}=~#:%'
ASKED = 'Is </script> {a}=~#: "so" & <b> a% \\x?'
WRITTEN = no_tags(as_written(ASKED))
OPENING = f"""(beta)=
# {no_tags(as_written(HEADING))}

```{{lead}}
What {WRITTEN}
```

```{{aims}}
- say `</b>`
- do {{x}}
- tell "&"
```

## A section

```{{quiz}} strange-quiz
{WRITTEN}

- [x] `</p>=~` :: Right: {{=}} &lt;i>
- [ ] {{no}} # :: Wrong ~ "so"
```
"""
DRAWN = """---
mystnb:
  figure:
    name: fig-strange
    caption: What </script> attends to
---
show.maps()"""
CLOSING = f"""```{{exercise}}
:label: ex-strange
{WRITTEN}
```

```{{solution}} ex-strange
:class: dropdown
Yes: {{=~#}} `</div>`
```
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a small book about an example of strange words, built and printed."""
    project = printed_book.small_book(tmp_path_factory.mktemp("book"))
    examples = project / "mha" / "examples"
    text = (examples / "apple.toml").read_text(encoding="utf-8")
    tokens, title = (next(x for x in text.splitlines() if x.startswith(n)) for n in ("tok", "tit"))
    text = text.replace(tokens, f"tokens = {json.dumps(STRANGE)}")
    text = text.replace(title, f"title = {json.dumps(TITLE)}")
    (examples / "strange.toml").write_text(text, encoding="utf-8")
    start = 'from mha.chapters import *\nrun, show = open_example("strange")'
    cells = [f"```{{code-cell}}\n{code}\n```" for code in (start, *VIEWS, DRAWN)]
    (project / "book" / "beta.md").unlink()
    (project / "book" / "mechanism").mkdir()
    contents = printed_book.TOC.replace("file: beta", "file: mechanism/beta")
    (project / "_toc.yml").write_text(contents, encoding="utf-8")
    printed_book.write(project, "mechanism/beta", "\n\n".join([OPENING, *cells, CLOSING]))
    done = build(project, "pdf")
    assert done.returncode == 0, done.stderr
    return project


@pytest.fixture(scope="module")
def page(project):
    html = (project / "_build" / "html" / "mechanism" / "beta.html").read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser")


def test_a_page_shows_every_token_as_it_is_written(page):
    headers = [found.get_text(strip=True) for found in page.select("article th")]
    drawn = " ".join(found.get_text("") for found in page.select("article svg text"))
    for token in STRANGE:
        assert headers.count(token) >= 2, token
        assert token in drawn, token
    assert not page.select("article th :is(em, b, .math), article svg :is(b, script)")
    assert page.find("b", string="hm") is None


def test_the_explorer_s_data_are_whole(page):
    data = json.loads(page.select_one("mha-explorer script").string)
    assert tuple(data["tokens"]) == STRANGE


@pytest.mark.browser
def test_no_word_runs_and_the_explorer_shows_them(project, browser):
    context = browser.new_context()
    errors = []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
    page.goto((project / "_build" / "html" / "mechanism" / "beta.html").as_uri())
    explorer = page.locator("mha-explorer")
    explorer.scroll_into_view_if_needed()
    page.locator("mha-explorer.live").wait_for()
    assert explorer.locator("b", has_text="hm").count() == 0
    shown = explorer.text_content() + explorer.evaluate(
        "e => [...e.querySelectorAll('[aria-label]')].map((x) => x.ariaLabel).join(' ')"
    )
    assert all(token in shown for token in STRANGE)
    assert errors == []
    context.close()


def test_the_printed_book_has_them_letter_by_letter(project):
    (pdf,) = (project / "_build" / "pdf").glob("attention-by-hand.pdf")
    text = squeezed("".join(text_of(pdf)))
    # A PDF may join the letter and its accent, and has typographer's quotes of TeX.
    for token in STRANGE[:1] + STRANGE[2:4]:
        assert squeezed(token) in text, token
    assert text.count(squeezed("#%~{")) >= 2
    assert squeezed("& &lt;") in text
