"""The quiz directive: what it reads, refuses, and writes for the screen and for print."""

import re

import pytest
from book_site import FRONT
from bs4 import BeautifulSoup
from one_book import build, on_paper

PAGE = (
    FRONT
    + """# A page & its quizzes

```{read-in-steps}
```

```{code-cell}
weights = (0.25, 0.75)
```

```{code-cell}
from mha import load_example, trace
from mha.widgets.boxes import your_turn

your_turn(trace(load_example("the-cat-sat-end")), "exponentials", 3, 0)
```

(here)=
## A section

```{quiz} largest
Which is the largest of {eval}`len(weights)` weights, $w_1$ or $w_2$ ({ref}`here`)?

- [x `max(weights) == weights[1]`] $w_2$, which is {eval}`weights[1]` :: Yes, see {ref}`here`.
- [ `weights[0] > weights[1]`] $w_1$ :: No: *smaller*.

  It is {eval}`weights[0]`.
- [ ] Neither; they are equal, see {ref}`here`

  That would be a flat row.
```

```{quiz} several
:multiple:

Which are weights?

They are `floats`.

- [x] The first :: It is one.
- [ ] Their sum :: It is their sum.
- [x] The second :: So is this: a 50% & more_of_it.
```
"""
)

INDEX = "# Index\n\n```{toctree}\npage\n```\n"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quiz")
    pages = {"index": INDEX, "page": PAGE}
    assert build(folder, pages) == ""
    return folder


@pytest.fixture(scope="module")
def page(book):
    return BeautifulSoup((book / "html" / "page.html").read_text("utf-8"), "html.parser")


def text_of(element):
    return " ".join(element.get_text().split())


def test_options_and_feedback_hold_what_markdown_says(page):
    options = page.find("mha-quiz").find_all("label")
    assert "0.75" in text_of(options[0])
    assert "w_2" in text_of(options[0])
    assert "::" not in text_of(page.find("mha-quiz"))
    feedback = page.find("mha-quiz").find_all("div", class_="quiz-feedback")
    assert feedback[0].find("a")["href"] == "#here"
    assert feedback[1].find("em").get_text() == "smaller"
    assert "It is 0.25." in text_of(feedback[1])
    assert text_of(feedback[2]) == "That would be a flat row."
    assert text_of(page.find("legend")).startswith("Which is the largest of 2 weights")


def test_on_paper_the_question_has_its_options_and_waits_for_the_key(book):
    said = on_paper(book, "page")
    assert said.count("#boxed(how: ") == 2
    assert len(re.findall(r'\("[abc]", \[', said)) == 6
    assert "flat row" not in said
    assert "Check" not in said


PREDICT = """# Page

```{predict} doubled
:reveals: 2

What happens?

- [ ] This :: No.
- [x] That :: Yes.
```

First block.

- Second block.

Third block.
"""


def test_a_prediction_folds_the_blocks_that_follow_and_print_has_them_open(tmp_path):
    assert build(tmp_path, {"index": PREDICT}) == ""
    page = BeautifulSoup((tmp_path / "html" / "index.html").read_text("utf-8"), "html.parser")
    fold = page.find("details", id="quiz-doubled-revealed")
    assert fold.find_previous_sibling("mha-quiz").has_attr("data-predict")
    assert text_of(fold) == "What happens First block. Second block."
    assert text_of(fold.find_next_sibling("p")) == "Third block."
    assert text_of(page.find("mha-quiz").find("button")) == "See what happens"
    said = on_paper(tmp_path)
    order = [said.index(text) for text in ("What happens", "First block", "Second", "Third")]
    assert order == sorted(order)
    assert 'how: "Choose one."' in said
