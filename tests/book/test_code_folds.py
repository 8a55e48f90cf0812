"""Code folds away at its section's end; what teaches stays open, and print has that alone."""

import pytest
from book_site import FRONT
from bs4 import BeautifulSoup
from one_book import build, on_paper

EXTENSIONS = ["myst_nb", "byhand.chapter.code_folds"]

PAGE = (
    FRONT
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

### A part

Its own words.

```{code-cell}
part = 4
```
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


def test_the_code_of_a_section_and_its_parts_is_one_fold_at_the_end_of_its_words(page):
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
                "part = 4",
            ],
        ),
    ]
    assert not any(fold.has_attr("open") for fold in folds)
    assert folds[0].find_next_sibling().name == "section"
    assert folds[1].select_one(".code-fold-part").get_text() == "A part"
    assert folds[1].find_previous_sibling().get_text() == "Its own words."
    assert folds[1].find_next_sibling() is None


def test_code_that_teaches_stays_open_up_to_its_first_assertion(page):
    visible = [b for b in page.select(".cell_input") if b.find_parent("details") is None]
    assert [block.get_text().strip() for block in visible] == ["taught = 7"]


PRINTED = ["one result", "a box", "much", "tagged to be hidden", "taught = 7"]
LEFT_OUT = ["sqrt", "preparing", "waiting", "assert", "late = 3", "print(", "In code"]


def test_print_has_every_result_and_no_code_but_what_teaches(folder):
    body = on_paper(folder, extensions=EXTENSIONS)
    assert [text for text in PRINTED if text not in body] == []
    assert [text for text in LEFT_OUT if text in body] == []
