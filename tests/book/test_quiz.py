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


def quiz(content, options="", label="q"):
    """Return a page with one quiz, which begins on line 3."""
    return f"# Page\n\n```{{quiz}} {label}\n{options}Which?\n\n{content}\n```\n"


REFUSED = [
    (quiz("- [ ] a :: b\n- [ ] c :: d"), 3, "0 options are right; one is wanted"),
    (quiz("- [x] a :: b\n- [x] c :: d"), 3, "2 options are right; one is wanted"),
    (
        quiz("- [ ] a :: b\n- [ ] c :: d", options=":multiple:\n\n"),
        3,
        "no option is right; at least one is wanted",
    ),
    (quiz("- [x] a :: b\n- [ ] c"), 7, "option `c` has no feedback after `::`"),
    (quiz("- [x] a :: b\n- [ ] c ::"), 7, "option `c` has no feedback after `::`"),
    (quiz("- [x] a :: b\n- c :: d"), 7, "an option begins with `[x]` or `[ ]`"),
    (quiz("- [x] a :: b\n- [y] c :: d"), 7, "an option begins with `[x]` or `[ ]`"),
    (quiz("- [x] :: b\n- [ ] c :: d"), 6, "an option has no text"),
    (quiz("- [x] a :: b"), 6, "at least two options are wanted"),
    (quiz("No list."), 3, "a question and a list of options are wanted"),
    (quiz("- [x] a :: b\n- [ ] c :: d", label="Q1"), 3, "its label is not lower-case words"),
    (
        quiz("- [x] a :: b\n- [ ] c :: d") * 2,
        11,
        "another quiz of this page has this label",
    ),
]


def test_a_quiz_that_cannot_be_answered_is_refused_with_its_line(tmp_path):
    pages = {
        f"page-{i:02}": f"---\norphan: true\n---\n{text}" for i, (text, *_) in enumerate(REFUSED)
    }
    warnings = build(tmp_path, {"index": "# Index\n"} | pages).splitlines()
    assert len(warnings) == len(REFUSED), warnings
    for i, (_, line, sentence) in enumerate(REFUSED):
        told = f"page-{i:02}.md:{3 + line}: WARNING: quiz "
        assert [w for w in warnings if told in w and sentence in w], (told, sentence, warnings)


def test_a_mark_that_the_kernel_denies_is_refused(tmp_path):
    text = FRONT + "```{code-cell}\nn = 2\n```\n\n" + quiz("- [x `n > 2`] a :: b\n- [ ] c :: d")
    text += "\n" + quiz("- [x] a :: b\n- [ `n == 2`] c :: d", label="r")
    text += "\n" + quiz("- [x `m`] a :: b\n- [ ] c :: d", label="s")
    warnings = build(tmp_path, {"index": text})
    assert "quiz q: an option is marked right, but `n > 2` is False" in warnings
    assert "quiz r: an option is marked wrong, but `n == 2` is True" in warnings
    assert "quiz s: `m` cannot be evaluated: NameError: name 'm' is not defined" in warnings


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
