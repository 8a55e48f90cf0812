"""What a chapter's own blocks become on a page and on paper: one small book, built once."""

import itertools
import re

import pytest
from book_site import FRONT, ROOT
from bs4 import BeautifulSoup
from faults import cell
from one_book import ASKED, PYTORCH, build, on_paper

from byhand.notebooks.text import plain
from byhand.site.assets import SCRIPTS, is_used

CONFIG = {
    "extensions": [
        *("myst_nb", "sphinx_exercise", "byhand.quiz", "byhand.mathematics.page"),
        *("byhand.chapter", "byhand.site.assets"),
    ],
    "html_math_renderer": "temml",
    "html_static_path": [str(ROOT / "book" / "_static")],
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
OF_PYTORCH = [
    cell("import numpy as np", "x = np.array([[2.0, 0], [-1, 5]])"),
    f"{ASKED}\n## In PyTorch\n\n{PYTORCH}\nWords of its own.\n\n## Summary\n\nNo more.",
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
    (WORDS * 9 + EXERCISE * 3, "10 minutes to read, and 15 for the exercises"),
    (WORDS * 9 + EASY * 4, "10 minutes to read, and 15 for the exercises"),
    (WORDS * 9 + HARD * 4, "10 minutes to read, and 40 for the exercises"),
    (WORDS * 7 + QUIZ * 3, "15 minutes to read"),
]

QUESTIONS = r"""
```{code-cell}
from mha import load_example, trace
from mha.widgets.boxes import your_turn
weights = (0.25, 0.75)
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
FORMULAS = r"""
In a sentence, $Q \in \mathbb{R}^{n}$ and $\operatorname{Attention}(Q, K, V) = A V = O$.

$$
\frac{QK^\top}{\sqrt{d_k}}
$$ (attention)

See {eq}`attention` and {eq}`second`.

```{math}
:label: second

a = b
```

$$ x = 1 $$
"""
EVERYTHING = """
```python
code = 1
```

<mha-explorer></mha-explorer><mha-your-turn></mha-your-turn><mha-build></mha-build><mha-quiz></mha-quiz>
<mha-instrument></mha-instrument>
<div class="steps-start stage-block names-of-the-package exercise toggle sd-tab-set"></div>
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    exercises = EXERCISE.replace("CLASS", "other")
    texts = {
        "code": "\n\n".join(CODE), "pytorch": "\n\n".join(OF_PYTORCH), "questions": QUESTIONS,
        "formulas": FORMULAS, "everything": EVERYTHING, "exercises": EASY + HARD + exercises,
    } | {f"minutes-{i}": OPENING + text for i, (text, _) in enumerate(MINUTES)}  # fmt: skip
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


# ---- Code ----


def test_the_code_of_a_section_and_its_parts_is_one_fold_at_the_end_of_its_words(page_of):
    folds = page_of("code").select("details.code-fold")
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


def test_code_that_teaches_stays_open_up_to_its_first_assertion(page_of):
    blocks = page_of("code").select(".cell_input")
    visible = [block for block in blocks if block.find_parent("details") is None]
    assert code_of(visible) == ["taught = 7"]


def test_print_has_every_result_and_no_code_but_what_teaches(folder):
    body = on_paper(folder, "code", **CONFIG)
    for text in ("one result", "a box", "much", "tagged to be hidden", "taught = 7"):
        assert text in body
    for text in ("sqrt", "preparing", "waiting", "assert", "late = 3", "print(", "In code"):
        assert text not in body


def test_code_for_pytorch_and_what_it_prints_wait_in_a_fold_that_paper_leaves_out(folder, page_of):
    code, output = page_of("pytorch").select("details.in-pytorch noscript.late pre")
    assert code.get_text().startswith("import torch\n\nx = torch.tensor(")
    assert output.get_text().strip().endswith("[-0.3333,  1.6667]]) nan")
    body = on_paper(folder, "pytorch", **CONFIG)
    assert "No more" in body
    assert "Words of its own" not in body


def test_a_notebook_has_both_and_nothing_of_what_is_asked_for_elsewhere(page_of, tmp_path):
    texts = [plain(text, lambda role, inside: inside, tmp_path) for text in (PYTORCH, ASKED)]
    assert texts == [
        "```python\nimport torch\n\nx = torch.tensor([[2.0, 0], [-1, 5]])\n"
        "print(x / 3, torch.nan)\n```\n\n"
        "```text\ntensor([[ 0.6667,  0.0000],\n        [-0.3333,  1.6667]]) nan\n```",
        "",
    ]
    assert "The sum" not in said(page_of("pytorch"))


# ---- How a chapter opens, and its exercises ----


def test_a_page_has_the_sentence_and_the_aims(page_of):
    page = page_of("minutes-0")
    assert page.select_one("h1 + .lead p").get_text().startswith("One sentence with")
    assert said(page.select_one(".lead + .aims")) == (
        "After this chapter you can say what it is do it About 10 minutes to read"
    )


def test_the_minutes_follow_the_rule(page_of):
    for i, (_, wanted) in enumerate(MINUTES):
        told = page_of(f"minutes-{i}").select_one(".aims-minutes").get_text()
        assert told == f"About {wanted}"


def test_an_exercise_shows_and_says_how_difficult_it_is(folder, page_of):
    page = page_of("exercises")
    titles = [title.get_text(" ") for title in page.select(".exercise .admonition-title")]
    assert [re.sub(r"\s*Exercise\s+\d+\s*|\s+", " ", title).strip() for title in titles] == [
        "• difficulty 1 of 3",
        "••• difficulty 3 of 3",
        "",
    ]
    hidden = page.select(".difficulty [aria-hidden=true]")
    assert [mark.get_text() for mark in hidden] == ["•", "•••"]
    assert '#difficulty(3, 3, "•") Exercise' in on_paper(folder, "exercises", **CONFIG)


# ---- Questions ----


def test_options_and_feedback_hold_what_markdown_says(page_of):
    quiz = page_of("questions").find("mha-quiz")
    assert said(quiz.find("legend")).startswith("Which is the largest of 2 weights")
    assert said(quiz.find("label")) == "(a) w2, which is 0.75"
    assert "::" not in said(quiz)
    feedback = quiz.find_all("div", class_="quiz-feedback")
    assert feedback[0].find("a")["href"] == "#here"
    assert feedback[1].find("em").get_text() == "smaller"
    assert "It is 0.25." in said(feedback[1])
    assert said(feedback[2]) == "That would be a flat row."


def test_a_prediction_folds_the_blocks_that_follow(page_of):
    page = page_of("questions")
    fold = page.find("details", id="quiz-doubled-revealed")
    assert said(fold) == "What happens First block. Second block."
    assert said(fold.find_next_sibling("p")) == "Third block."
    quiz = fold.find_previous_sibling("mha-quiz")
    assert quiz.has_attr("data-predict")
    assert said(quiz.find("button")) == "See what happens"


def test_on_paper_a_question_waits_for_the_key_and_a_prediction_is_open(folder):
    body = on_paper(folder, "questions", **CONFIG)
    assert body.count('#boxed(how: "Choose one."') == 2
    assert len(re.findall(r'\("[abc]", \[', body)) == 3 + 2
    assert "flat row" not in body
    assert "Check" not in body
    order = [body.index(text) for text in ("What happens", "First block", "Second", "Third")]
    assert order == sorted(order)


# ---- Formulas ----


def test_equations_have_numbers_labels_permalinks_and_a_named_box_that_keys_can_scroll(page_of):
    page = page_of("formulas")
    first, second, bare = page.select("div.math")
    assert [said(block.select_one(".eqno"))[:3] for block in (first, second)] == ["(1)", "(2)"]
    assert first["id"] == "equation-attention"
    assert first.select_one(".eqno a.headerlink")["href"] == "#equation-attention"
    assert "2" in page.select_one("p a[href='#equation-second']").get_text()
    assert bare.select_one(".eqno") is None
    boxes = [block.select_one(".math-scroll:has(> math[display=block])")
             for block in (first, second, bare)]  # fmt: skip
    assert [box["aria-label"] for box in boxes] == ["Equation 1", "Equation 2", "Equation"]
    assert {(box["role"], box["tabindex"]) for box in boxes} == {("group", "0")}


def test_only_a_long_formula_may_scroll_and_the_mark_behind_one_stays_with_it(page_of):
    short, long = page_of("formulas").select("span.math:has(> math)")
    assert ["math-wide" in span["class"] for span in (short, long)] == [False, True]
    assert short.parent.name == "p"  # a word follows
    assert "math-held" in long.parent["class"]
    assert long.next_sibling == "."


# ---- What a page loads ----


def test_a_page_loads_every_script_in_its_order_and_waits_for_none(folder, page_of):
    page = page_of("everything")
    loaded = [script for script in page.find_all("script", src=True) if script.has_attr("defer")]
    names = [script["src"].partition("?")[0] for script in loaded]
    assert names == [f"_static/{name}" for name in SCRIPTS]
    assert all((folder / "html" / name).is_file() for name in names)
    # A page that is opened as a file may not load modules.
    assert not any(script.get("type") == "module" for script in page.find_all("script"))


@pytest.mark.parametrize(
    ("text", "used", "unused"),
    [
        ("<mha-explorer", "arithmetic.js explorer.js explorer.css", "boxes.js boxes.css"),
        ("<mha-your-turn", "arithmetic.js boxes.js boxes.css", "explorer.js explorer.css"),
        ("<mha-build", "arithmetic.js boxes.js boxes.css", "explorer.js lessons.js"),
        ("<mha-quiz", "lessons.js boxes.css", "arithmetic.js explorer.js boxes.js"),
        ("stage-block", "blocks.css", "lessons.js"),
        ("steps-start", "lessons.js boxes.css", "arithmetic.js explorer.js boxes.js"),
        ('<div class="highlight-python', "copybutton.js clipboard.min.js", "togglebutton.js"),
        ("<math", "math/temml.css", "blocks.css doctools.js sphinx_highlight.js"),
    ],
)
def test_a_page_loads_what_its_text_asks_for(text, used, unused):
    assert all(is_used(f"_static/{name}?v=1", text) for name in used.split())
    assert not any(is_used(f"_static/{name}", text) for name in unused.split())
