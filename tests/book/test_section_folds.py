"""Sections that fold: ordinary ones for labels and search, closed on the screen, and on paper."""

import re

import book_site as site
import pytest
from bs4 import BeautifulSoup
from one_book import build

EXTENSIONS = [
    "myst_nb",
    "sphinx_exercise",
    "byhand.quiz",
    "byhand.chapter.code_folds",
    "byhand.chapter.section_folds",
]

PAGE = (
    site.FRONT
    + """# A page of *cats*

Read {ref}`why`, {numref}`tbl-late` and {ref}`numbers`.

(why)=
## Deeper: why it is so

Because of aardvarks.

```{code-cell}
print("a result")
```

### Deeper: why that

Nested.

(numbers)=
## All numbers of *cat*

The word capybara.

```{table} All of them, 1 < 2
:name: tbl-late

| a | b |
| - | - |
| 1 | 2 & 3 |
```

## Summary

Nothing is Deeper: not even this.
"""
)


def made(folder, page=PAGE, *, builder="html", **config):
    config = {"extensions": EXTENSIONS, "numfig": True} | config
    return build(folder, {"index": page}, builder=builder, **config)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds")
    assert made(folder) == ""
    return folder


@pytest.fixture(scope="module")
def html(folder):
    return (folder / "html" / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html):
    return BeautifulSoup(html, "html.parser")


def words(heading):
    return heading.get_text().rstrip("¶#")


def test_a_section_folds_by_its_heading(page):
    folds = page.select("details.fold")
    assert [fold["class"] for fold in folds] == [
        ["fold", "deeper"],
        ["fold", "deeper"],
        ["fold", "all-numbers"],
    ]
    assert [words(fold.summary.find(["h2", "h3"])) for fold in folds] == [
        "Deeper: why it is so",
        "Deeper: why that",
        "All numbers of cat",
    ]
    assert not any(fold.has_attr("open") for fold in folds)
    for fold in folds:
        assert fold.parent.name == "section"
        beside = fold.parent.find_all(recursive=False)
        assert [child.name for child in beside if child.name != "span"] == ["details"]


def test_all_numbers_are_no_elements_of_a_browser_with_scripts(page, html):
    late = page.select("noscript.late")
    assert len(late) == 1
    assert late[0].parent["class"] == ["fold", "all-numbers"]
    assert late[0].find(id="tbl-late").name == "table"
    assert "capybara" in late[0].get_text()
    assert "1 &lt; 2" in html
    assert page.find(id="deeper-why-it-is-so").find("noscript") is None


def test_labels_lead_in_and_the_contents_hold_the_sections(page):
    links = {a.get_text(): a["href"] for a in page.select("a.internal")}
    assert links["Deeper: why it is so"] == "#deeper-why-it-is-so"
    assert links["All numbers of cat"] == "#all-numbers-of-cat"
    assert links["Table 1"] == "#tbl-late"


REFUSED = {
    "an exercise": "```{exercise}\n:label: ex-a\nWhat?\n```",
    "a dropdown": "```{admonition} A\n:class: dropdown\nB\n```",
    "a question": "```{quiz} q\nWhich?\n\n- [x] A :: a\n- [ ] B :: b\n```",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_reader_answers_may_not_stand_under_all_numbers(what, tmp_path):
    page = f"# Page\n\n## All numbers\n\n{REFUSED[what]}\n"
    warnings = made(tmp_path, page)
    wanted = "an exercise, a question or a dropdown cannot stand under “All numbers”"
    assert wanted in warnings
    assert re.search(r"index\.md:\d+", warnings)
    allowed = page.replace("## All numbers", "## Deeper: all")
    assert made(tmp_path, allowed) == ""
