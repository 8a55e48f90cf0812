"""What a chapter's own blocks become on a page and on paper: one small book, built once.

What the pages of the book show of them is in `test_book_pages.py`.
"""

import itertools
import re

import pytest
from book_site import FRONT, STATIC
from bs4 import BeautifulSoup
from faults import cell
from one_book import build, on_paper

CONFIG = {
    "extensions": [
        *("myst_nb", "sphinx_exercise", "byhand.quiz", "byhand.mathematics.page"),
        *("byhand.chapter", "byhand.site.assets"),
    ],
    "html_math_renderer": "temml",
    "html_static_path": [str(STATIC)],
}
CODE = [
    "First words.",
    cell("from math import sqrt"),
    cell("preparing = 1"),
    "Second words.",
    cell("waiting = sqrt(4)"),
    cell('print("one result")'),
    cell("assert waiting == 2", "assert preparing"),
    "## A section\n\nThird words.",
    cell(":tags: [teaches]", "taught = 7", "for n in [taught]:", "    assert n", "late = 3"),
    cell(":tags: [remove-input]", 'print("a box")'),
    cell(":tags: [hide-output]", 'print("much")'),
    cell(":tags: [hide-input]", 'print("tagged to be hidden")'),
    "Last words.\n\n### A part\n\nIts own words.",
    cell("part = 4"),
]
OPENING = "```{lead}\nOne sentence with $x$.\n```\n\n```{aims}\n- say *what* it is\n- do it\n```\n"
QUIZ = "\n```{quiz} NAME\nWhich?\n\n- [x] A :: a\n- [ ] B :: b\n```\n"
EXERCISE = "\n```{exercise}\n:label: ex-NAME\n:class: CLASS\nWhat?\n```\n"
EASY, HARD = (EXERCISE.replace("CLASS", f"difficulty-{level}") for level in (1, 3))
WORDS = "\n" + "word " * 120 + "\n"

# 120 words are a minute, a box or a question two, an exercise three to ten; in steps of five.
MINUTES = [
    (WORDS * 12, "10 minutes to read"),
    (WORDS * 13, "15 minutes to read"),
    (WORDS * 10 + "\n## Deeper: more\n" + WORDS * 30, "10 minutes to read"),
    (WORDS * 10 + "\n## All numbers\n" + WORDS * 30, "10 minutes to read"),
    (WORDS * 10 + "\n```python\n" + WORDS * 30 + "\n```\n", "10 minutes to read"),
    (WORDS * 9 + EASY * 4, "10 minutes to read, and 15 for the exercises"),
    (WORDS * 9 + HARD * 4, "10 minutes to read, and 40 for the exercises"),
    (WORDS * 7 + QUIZ * 3, "15 minutes to read"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    texts = {"code": "\n\n".join(CODE)}
    texts |= {f"minutes-{i}": OPENING + text for i, (text, _) in enumerate(MINUTES)}
    texts["index"] = "```{toctree}\n" + "\n".join(texts) + "\n```\n"
    number = itertools.count()  # each exercise and question has a name of its own
    pages = {
        name: f"{FRONT}# A page\n\n{re.sub('NAME', lambda _: f'n{next(number)}', text)}"
        for name, text in texts.items()
    }
    folder = tmp_path_factory.mktemp("chapter")
    assert build(folder, pages, **CONFIG) == ""
    return folder


@pytest.fixture(scope="module")
def page_of(folder):
    """Return a function that gives a page of the book."""

    def page(name):
        html = (folder / "html" / f"{name}.html").read_text(encoding="utf-8")
        return BeautifulSoup(html, "html.parser")

    return page


def said(element):
    return " ".join(element.get_text().split())


def code_of(blocks):
    return [block.get_text().strip() for block in blocks]


def test_the_code_of_a_section_and_its_parts_is_one_fold_at_the_end_of_its_words(page_of):
    page = page_of("code")
    folds = page.select("details.code-fold")
    assert [fold.summary.get_text() for fold in folds] == [
        "In code: set-up, 2 checks",
        "In code: 1 check",
    ]
    assert [code_of(fold.select(".cell_input")) for fold in folds] == [
        [
            *("from math import sqrt", "preparing = 1", "waiting = sqrt(4)"),
            *('print("one result")', "assert waiting == 2\nassert preparing"),
        ],
        [
            "for n in [taught]:\n    assert n\nlate = 3",
            *('print("much")', 'print("tagged to be hidden")', "part = 4"),
        ],
    ]
    assert not any(fold.has_attr("open") for fold in folds)
    assert folds[0].find_next_sibling().name == "section"
    assert folds[1].select_one(".code-fold-part").get_text() == "A part"
    assert folds[1].find_previous_sibling().get_text() == "Its own words."
    assert folds[1].find_next_sibling() is None
    # What teaches stays open up to its first assertion.
    assert code_of(page.select(".cell_input:not(details *)")) == ["taught = 7"]


def test_print_has_every_result_and_no_code_but_what_teaches(folder):
    body = on_paper(folder, "code", **CONFIG)
    for text in ("one result", "a box", "much", "tagged to be hidden", "taught = 7"):
        assert text in body
    for text in ("sqrt", "preparing", "waiting", "assert", "late = 3", "print(", "In code"):
        assert text not in body


def test_a_page_has_the_sentence_the_aims_and_the_minutes_of_the_rule(page_of):
    page = page_of("minutes-0")
    assert page.select_one("h1 + .lead p").get_text().startswith("One sentence with")
    assert said(page.select_one(".lead + .aims")) == (
        "After this chapter you can say what it is do it About 10 minutes to read"
    )
    told = [page_of(f"minutes-{i}").select_one(".aims-minutes") for i in range(len(MINUTES))]
    assert [said(one) for one in told] == [f"About {wanted}" for _, wanted in MINUTES]
