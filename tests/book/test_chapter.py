"""A chapter's own blocks on a page and in print, and their error messages.

What the pages of the book show of them is in `test_book_pages.py`.
"""

import itertools
import re

import pytest
from book_site import FRONT, STATIC
from bs4 import BeautifulSoup
from faults import cell
from small_book import build, on_paper

from byhand.reading import results
from byhand.reading.page_code import Step
from byhand.reading.page_runner import Limits

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
    # Code that teaches is not folded up to its first assertion.
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
        "After this chapter you can … About 10 minutes to read say what it is do it"
    )
    told = [page_of(f"minutes-{i}").select_one(".aims-minutes") for i in range(len(MINUTES))]
    assert [said(one) for one in told] == [f"About {wanted}" for _, wanted in MINUTES]


# ---- Refusals, each with its line: one build reports all of them ----

GIVEN = f"{FRONT}# A page\n\n{cell('import numpy as np', 'x = np.array([[2.0, 0], [-1, 5]])')}\n\n"

PYTORCH = """\
```{pytorch}
:given: x
:prints: x / 3, np.nan
import torch

x = torch.tensor([[2.0, 0], [-1, 5]])
print(x / 3, torch.nan)
---
tensor([[ 0.6667,  0.0000],
        [-0.3333,  1.6667]]) nan
```
"""
ASKED = "```{asked} ex-one\n:answer: x.sum()\n:places: 1\nThe sum.\n```\n"


def quiz(content, options="", label="q"):
    return f"```{{quiz}} {label}\n{options}Which?\n\n{content}\n```\n"


def below_all_numbers(block):
    return f"## All numbers\n\n{block}\n"


UNASKABLE = "an exercise, a question or a dropdown cannot be inside “All numbers”"

# The block, the reported line within the block, and the message.
REFUSED = [
    (quiz("- [ ] a :: b\n- [ ] c :: d"), 1, "0 options are right; one is wanted"),
    (quiz("- [x] a :: b\n- [x] c :: d"), 1, "2 options are right; one is wanted"),
    (quiz("- [ ] a :: b\n- [ ] c :: d", ":multiple:\n\n"), 1, "at least one is wanted"),
    (quiz("- [x] a :: b\n- [ ] c"), 5, "option `c` has no feedback after `::`"),
    (quiz("- [x] a :: b\n- c :: d"), 5, "an option begins with `[x]` or `[ ]`"),
    (quiz("- [x] :: b\n- [ ] c :: d"), 4, "an option has no text"),
    (quiz("- [x] a :: b"), 4, "at least two options are wanted"),
    (quiz("No list."), 1, "a question and a list of options are wanted"),
    (quiz("- [x] a :: b\n- [ ] c :: d", label="Q1"), 1, "its label is not lower-case words"),
    (quiz("- [x] a :: b\n- [ ] c :: d") * 2, 7, "another quiz of this page has this label"),
    (quiz("- [x `x.size > 9`] a :: b\n- [ ] c :: d"), 4, "right, but `x.size > 9` is False"),
    (quiz("- [x] a :: b\n- [ `x.size == 4`] c :: d"), 5, "wrong, but `x.size == 4` is True"),
    (quiz("- [x `m`] a :: b\n- [ ] c :: d"), 4, "NameError: name 'm' is not defined"),
    (ASKED.replace("x.sum()", "y.sum()"), 1, "{asked} ex-one: NameError: name 'y'"),
    (ASKED.replace(":places: 1\n", ""), 1, ":answer:, :places: and the question are wanted"),
    (PYTORCH.replace("1.6667]]", "1.6666]]"), 1, "1.6666 differs from :prints:, which has 1.66666"),
    (PYTORCH.replace("5]])\nprint", "6]])\nprint"), 1, "6.0 differs from :given:, which has 5.0"),
    (PYTORCH.replace(", np.nan", ""), 1, "5 numbers, but :prints: has 4"),
    (PYTORCH.replace(":given: x\n", ""), 1, "the code types numbers that no :given: names"),
    (PYTORCH.replace("x / 3, np", "y / 3, np"), 1, "NameError: name 'y' is not defined"),
    (PYTORCH.replace(":prints: x / 3, np.nan\n", ""), 1, "and :prints: are wanted"),
    ("```{exercise}\n:label: ex-b\n:class: difficulty-9\nWhat?\n```", 1, "1 to 3, not 9"),
    (below_all_numbers("```{exercise}\n:label: ex-a\nWhat?\n```"), 3, UNASKABLE),
    (below_all_numbers("```{admonition} A\n:class: dropdown\nB\n```"), 3, UNASKABLE),
    (below_all_numbers(quiz("- [x] A :: a\n- [ ] B :: b")), 3, UNASKABLE),
]


def test_what_is_refused_is_told_with_its_line(tmp_path):
    text, places = GIVEN, []
    for number, (block, line, _) in enumerate(REFUSED):
        places.append(f"index.md:{text.count(chr(10)) + line}: ")
        text += block.replace("{quiz} q\n", f"{{quiz}} q{number}\n") + "\n"
    text += "## More\n\n" + "\n".join([quiz("- [x] a :: b\n- [ ] c :: d"), ASKED, PYTORCH])
    told = build(tmp_path, {"index": text}, extensions=CONFIG["extensions"]).splitlines()
    for place, (_, _, sentence) in zip(places, REFUSED, strict=True):
        assert [one for one in told if place in one and sentence in one], "\n".join(
            [place, sentence, *told]
        )
    assert len(told) == len(REFUSED), told


ENDLESS, WAITING = "while True: pass", "import time; time.sleep(999)"
BUSY = "import time; time.sleep(3)"  # as if others had the processors: 3 s by the clock
COMPUTING = "import time\nwhile time.process_time() < begun + 0.7: pass"


@pytest.mark.parametrize(
    ("cells", "limits", "faults"),
    [
        ([ENDLESS], Limits(1, 60), [(7, "it did not end within 1 seconds of processor time")]),
        (
            [WAITING],
            Limits(60, 1),
            [(7, "it did not end within 1 seconds; perhaps it waits for ever")],
        ),
        ([BUSY], Limits(1, 60), []),
        # Each cell has its own second of processor time.
        ([f"import time; begun = time.process_time()\n{COMPUTING}"] * 4, Limits(1, 60), []),
        (
            ["import os; os.kill(os.getpid(), 9)"],
            Limits(1, 60),
            [(7, "its process ended, perhaps because the memory was full")],
        ),
    ],
)
def test_a_cell_has_processor_time_and_an_endless_one_is_told(
    tmp_path, monkeypatch, cells, limits, faults
):
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "KEPT", tmp_path)
    (tmp_path / "book").mkdir()
    steps = [Step("cell", number, 7, source) for number, source in enumerate(cells)]
    found = results.compute(tmp_path / "book" / "page.md", steps, "now", limits)
    assert found.faults == faults


def test_chapters_have_more_time_than_a_slow_laptop_takes():
    assert Limits().processor >= 300
    assert Limits().clock >= 10 * Limits().processor
