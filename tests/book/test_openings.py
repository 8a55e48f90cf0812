"""How a chapter opens: the sentence, the aims, and the minutes, on pages and in print."""

import re

import book_site as site
import pytest
from bs4 import BeautifulSoup
from one_book import build, on_paper

EXTENSIONS = ["myst_nb", "sphinx_exercise", "byhand.quiz", "byhand.chapter.section_folds"]
EXTENSIONS += ["byhand.chapter.openings", "byhand.chapter.difficulty", "byhand.chapter.teaching"]

PAGE = (
    site.FRONT
    + """# A page

```{lead}
One sentence with $x$.
```

```{aims}
- say *what* it is
- work it
- tell them apart
```

"""
)
QUIZ = "\n```{quiz} q\nWhich?\n\n- [x] A :: a\n- [ ] B :: b\n```\n"
EXERCISE = "\n```{exercise}\n:label: ex-NAME\n:class: CLASS\nWhat?\n```\n"
WORDS = "\n" + "word " * 120 + "\n"


# 120 words are a minute, a box or a question two, an exercise three to ten; in steps of five.
MINUTES = [
    (WORDS * 12, "10 minutes to read"),
    (WORDS * 13, "15 minutes to read"),
    (WORDS * 10 + "\n## Deeper: more\n" + WORDS * 30, "10 minutes to read"),
    (WORDS * 10 + "\n## All numbers\n" + WORDS * 30, "10 minutes to read"),
    (WORDS * 10 + "\n```python\n" + WORDS * 30 + "\n```\n", "10 minutes to read"),
    (WORDS * 9 + EXERCISE * 3, "10 minutes to read, and 15 for the exercises"),
    (
        WORDS * 9 + EXERCISE.replace("CLASS", "difficulty-1") * 4,
        "10 minutes to read, and 15 for the exercises",
    ),
    (
        WORDS * 9 + EXERCISE.replace("CLASS", "difficulty-3") * 4,
        "10 minutes to read, and 40 for the exercises",
    ),
    (WORDS * 7 + QUIZ * 3, "15 minutes to read"),
]
LEVELS = ("difficulty-1", "difficulty-3", "other")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Build a book: a page of exercises, and one for each rule of the minutes."""
    folder, pages = tmp_path_factory.mktemp("openings"), {}
    for i, (text, _) in enumerate(MINUTES):
        for number in range(text.count("NAME")):
            text = text.replace("NAME", f"{i}-{number}", 1)
        for number in range(text.count("{quiz} q\n")):
            text = text.replace("{quiz} q\n", f"{{quiz}} other-{number}\n", 1)
        pages[f"page-{i}"] = PAGE.replace("---\n", "---\norphan: true\n", 1) + text
    exercises = [EXERCISE.replace("NAME", level).replace("CLASS", level) for level in LEVELS]
    pages["index"] = "# A\n" + "".join(exercises)
    assert build(folder, pages, extensions=EXTENSIONS) == ""
    return folder


def soup_of(folder, name):
    text = (folder / "html" / f"{name}.html").read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser")


def test_a_page_has_the_sentence_and_the_aims(folder):
    page = soup_of(folder, "page-0")
    assert page.select_one("h1 + .lead p").get_text().startswith("One sentence with")
    aims = page.select_one(".lead + .aims")
    assert aims.select_one("p").get_text() == "After this chapter you can"
    items = [item.get_text() for item in aims.select("ul > li")]
    assert items == ["say what it is", "work it", "tell them apart"]


def test_the_minutes_follow_the_rule(folder):
    for i, (_, wanted) in enumerate(MINUTES):
        told = soup_of(folder, f"page-{i}").select_one(".aims-minutes").get_text()
        assert told == f"About {wanted}"


# ---- Exercises ----


def test_an_exercise_shows_and_says_how_difficult_it_is(folder):
    page = soup_of(folder, "index")
    titles = [" ".join(t.get_text(" ").split()) for t in page.select(".exercise .admonition-title")]
    assert titles == [
        "Exercise 1 • difficulty 1 of 3",
        "Exercise 2 ••• difficulty 3 of 3",
        "Exercise 3",
    ]
    hidden = [mark.get_text() for mark in page.select(".difficulty [aria-hidden=true]")]
    assert hidden == ["•", "•••"]
    said = on_paper(folder, extensions=EXTENSIONS)
    assert '#difficulty(3, 3, "•") Exercise 2' in said


@pytest.mark.book
def test_the_page_for_teachers_has_every_exercise_and_the_minutes_of_each_chapter():
    table = site.soup("teaching").find(id="exercise-times").find_next("table")
    listed = [link["href"].partition("#")[2] for link in table.select("a[href*='#ex-']")]
    labels = re.compile(r"^`{3,}\{exercise(?:-start)?\}\n:label: (ex-\S+)$", re.MULTILINE)
    pages = site.toc_pages()
    assert sorted(listed) == sorted(x for name in pages for x in labels.findall(site.source(name)))
    for row in table.select("tbody tr"):
        name = row.a["href"].partition(".html")[0]
        told = site.soup(name).select_one(".aims-minutes")
        if told is not None:
            minutes = row.select("td")[-1].get_text(strip=True)
            assert told.get_text().endswith(f"and {minutes} for the exercises")
