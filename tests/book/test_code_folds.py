"""Code folds away at its section's end; what teaches stays open, and print has that alone."""

import re

import book_site as site
import pytest
from bs4 import BeautifulSoup
from one_book import build

from byhand.document import Document

MOST = 4  # places of a chapter where code stands open
FENCE = re.compile(r"^(`{3,})(\{?)([\w-]*)\}?[^\n]*\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
TAGGED = re.compile(r"^:?tags:.*\bteaches\b", re.MULTILINE)

# ---- The chapters' sources ----


def fences(text, line=1):
    """Yield the fences of a page with their lines, and those inside of what holds a text."""
    for fence in FENCE.finditer(text):
        at = line + text.count("\n", 0, fence.start())
        yield fence, at
        if fence[2] and fence[3] not in ("code-cell", "literalinclude"):
            yield from fences(fence[4], at + 1)


INDENTED = re.compile(r"\n\n((?: {4}.*\n)+)")


def open_code(name, text):
    """Return file and line of each place of a page where code stands open."""
    found = []
    for fence, line in fences(text):
        if fence[3] == "exercise":
            at = [
                line + fence[4].count("\n", 0, m.start(1)) + 1 for m in INDENTED.finditer(fence[4])
            ]
            found += [f"book/{name}.md:{number}" for number in at]
        kind, is_directive = fence[3], bool(fence[2])
        is_open = kind == "literalinclude" or not is_directive
        if is_open or (kind == "code-cell" and TAGGED.search(fence[4])):
            found.append(f"book/{name}.md:{line}")
    return found


@pytest.mark.parametrize("name", site.toc_pages())
def test_code_stands_open_at_few_places_of_a_chapter(name):
    places = open_code(name, site.source(name))
    assert len(places) <= MOST, f"code stands open at {len(places)} places: {', '.join(places)}"


@pytest.mark.parametrize("name", site.notebooks())
def test_the_first_cell_of_a_chapter_never_stays_open(name):
    first = next(fence for fence, _ in fences(site.source(name)) if fence[3] == "code-cell")
    assert "import" in first[4]
    assert not TAGGED.search(first[4])


def test_every_mechanism_chapter_shows_some_code_but_the_first_which_comes_before_all_notation():
    first, *others = (n for n in site.toc_pages() if n.startswith("mechanism/"))
    assert not open_code(first, site.source(first))
    assert all(open_code(name, site.source(name)) for name in others)


def test_a_place_is_named_by_file_and_line():
    text = "A\n\n```{code-cell}\n:tags: [teaches]\n1\n```\n\n```python\n2\n```\n```{math}\nx\n```\n"
    text += "````{exercise}\n```bash\nls\n```\n````\n"
    assert open_code("a", text) == ["book/a.md:3", "book/a.md:8", "book/a.md:15"]


# ---- A small book ----

EXTENSIONS = ["myst_nb", "byhand.code_folds"]

PAGE = (
    site.FRONT
    + """# A page

First words.

```{code-cell}
from math import sqrt
```

```{code-cell}
preparing = 1
```

Second words.

```{code-cell}
waiting = sqrt(4)
```

```{code-cell}
print("one result")
```

```{code-cell}
assert waiting == 2
assert preparing
```

## A section

Third words.

```{code-cell}
:tags: [teaches]
taught = 7
for number in [taught]:
    assert number
late = 3
```

```{code-cell}
:tags: [remove-input]
print("a box")
```

```{code-cell}
:tags: [hide-output]
print("much")
```

```{code-cell}
:tags: [hide-input]
print("tagged to be hidden")
```

Last words.

## A section without code

No more.
"""
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds")
    warnings = build(folder, {"index": PAGE}, extensions=EXTENSIONS)
    assert warnings == ""
    return folder


@pytest.fixture(scope="module")
def page(folder):
    html = (folder / "html" / "index.html").read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser")


def code_of(fold):
    return [block.get_text().strip() for block in fold.select(".cell_input")]


def test_a_section_s_code_folds_at_the_end_of_its_own_words(page):
    folds = page.select("details.code-fold")
    assert [(fold.summary.get_text(), code_of(fold)) for fold in folds] == [
        (
            "In code: set-up, 2 checks",
            [
                "from math import sqrt",
                "preparing = 1",
                "waiting = sqrt(4)",
                'print("one result")',
                "assert waiting == 2\nassert preparing",
            ],
        ),
        (
            "In code: 1 check",
            [
                "for number in [taught]:\n    assert number\nlate = 3",
                'print("much")',
                'print("tagged to be hidden")',
            ],
        ),
    ]
    assert not any(fold.has_attr("open") for fold in folds)
    assert folds[0].find_next_sibling().name == "section"
    assert folds[1].find_previous_sibling().get_text() == "Last words."
    assert folds[1].find_next_sibling() is None


def test_code_that_teaches_stays_open_up_to_its_first_assertion(page):
    visible = [b for b in page.select(".cell_input") if b.find_parent("details") is None]
    assert [block.get_text().strip() for block in visible] == ["taught = 7"]


def test_nothing_is_lost_and_the_words_keep_their_order(page):
    said = page.get_text()
    wanted = ["First words", "Second words", "one result", "set-up", "Third words", "Last words"]
    places = [said.index(word) for word in wanted]
    assert places == sorted(places)
    for fence, _ in fences(PAGE):
        for line in fence[4].splitlines():
            hidden = line.startswith(":tags") or "a box" in line
            assert hidden or line in said, line
    assert "a box" in said


PRINTED = ["one result", "a box", "much", "tagged to be hidden", "taught = 7"]
LEFT_OUT = ["sqrt", "preparing", "waiting", "assert", "late = 3", "print(", "In code"]


def test_print_has_every_result_and_no_code_but_what_teaches(folder):
    assert build(folder, {}, builder="latex", extensions=EXTENSIONS) == ""
    (tex,) = (folder / "latex").glob("*.tex")
    body = tex.read_text(encoding="utf-8").partition(r"\begin{document}")[2]
    body = re.sub(r"\\PYG\{[^}]*\}\{([^}]*)\}", r"\1", body)
    assert [text for text in PRINTED if text not in body] == []
    assert [text for text in LEFT_OUT if text in body] == []


def test_so_has_the_accessible_edition(folder, tmp_path, monkeypatch):
    document = Document(edition="accessible")
    for name, value in document.save(tmp_path / "document.json").items():
        monkeypatch.setenv(name, value)
    warnings = build(tmp_path, {"index": PAGE}, extensions=EXTENSIONS)
    assert warnings == ""
    html = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    said = BeautifulSoup(html, "html.parser").select_one("[role=main]").get_text()
    assert [text for text in PRINTED if text not in said] == []
    assert [text for text in LEFT_OUT if text in said] == []


# ---- The built book ----


@pytest.mark.book
@pytest.mark.parametrize("name", site.notebooks())
def test_every_cell_of_a_page_is_there_once(name):
    article = site.soup(name).find("article")
    shown = "\n".join(block.get_text() for block in article.select(".cell_input"))
    wanted = [
        fence[4]
        for fence, _ in fences(site.source(name))
        if fence[3] == "code-cell" and "remove-input" not in fence[4]
    ]
    asserted = sum(len(re.findall(r"^\s*assert\b", code, re.MULTILINE)) for code in wanted)
    assert len(re.findall(r"^\s*assert\b", shown, re.MULTILINE)) == asserted


@pytest.mark.book
@pytest.mark.parametrize("name", site.toc_pages())
def test_what_stands_open_in_a_page_is_what_its_source_says(name):
    article = site.soup(name).find("article")
    blocks = [
        block
        for block in article.select("div.highlight")
        if block.find_parent(class_="cell_output") is None
        and block.find_parent("details", class_="code-fold") is None
        and block.find_parent("section", class_="api") is None  # of the reference
    ]
    assert len(blocks) == len(open_code(name, site.source(name)))
    assert not any(re.search(r"^\s*assert\b", b.get_text(), re.MULTILINE) for b in blocks)
