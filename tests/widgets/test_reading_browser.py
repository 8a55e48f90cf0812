"""Exercises, quizzes, steps and progress in a real Chromium, on a small book opened as files."""

import json

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from book_site import FRONT, ROOT
from helpers import example
from one_book import build
from playwright.sync_api import expect

from mha import load_example, short, shown, trace
from mha.practice.calculations import FORMULAS, HINTS
from mha.practice.exercise import numeric_exercise
from mha.practice.verdict import verdict
from mha.widgets.boxes import your_turn

pytestmark = pytest.mark.browser

SCRIPTS = ("scroll.js", "strings-reading.js", "progress.js", "your-turn.js", "quiz.js", "steps.js")
KEY = "attention-by-hand.progress"
SIZES = {"phone": 390, "desktop": 1280}
BOXES = {
    "query": "turn-the-cat-sat-query-1-1-2",
    "percent": "turn-the-cat-sat-weights-2-3-2",
    "output": "turn-the-cat-sat-head-outputs-1-2-1",
    "power": "turn-the-cat-sat-exponentials-1-2-2",
}
RUN = trace(load_example("the-cat-sat"))
STEPS = ["A worked page", "Queries", "Scores", "Head 1", "Head 2", "Questions", "Summary"]

WORKED = (
    FRONT
    + """# A worked page

```{read-in-steps}
```

An introduction with $x^2$.

```{code-cell}
from mha import load_example, trace
from mha.widgets.boxes import your_turn

run = trace(load_example("the-cat-sat"))
```

## Queries

Read {ref}`of-head-2` later.

```{code-cell}
your_turn(run, "query", 0, 1)
```

## Scores

A paragraph before.

### Head 1

```{code-cell}
your_turn(run, "weights", 2, 1, head=1, percent=True)
```

(of-head-2)=
### Head 2

The word aardvark stands here.

```{code-cell}
your_turn(run, "head_outputs", 1, 0)
```

```{code-cell}
your_turn(run, "exponentials", 1, 1)
```

## Questions

```{quiz} one
Which is right, $a$ or $b$?

- [ ] The first, $a$ :: No: this is the **first** note.
- [x] The second, $b$ :: Yes, it is.
- [ ] Neither :: No: this is the third note.
```

```{quiz} several
:multiple:

Which are right?

- [x] This :: Yes, this.
- [ ] That :: No, not that.
- [x] Those :: Yes, those.
```

## Summary

The end.
"""
)
OTHER = (
    "# Another page\n\nWithout steps.\n\n```{quiz} two\nWhich?\n\n- [x] A :: a\n- [ ] B :: b\n```\n"
)
INDEX = "# Index\n\n```{toctree}\nworked\nother\n```\n"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Build the small book with the book's theme, templates, style and scripts."""
    folder = tmp_path_factory.mktemp("reading")
    warnings = build(
        folder,
        {"index": INDEX, "worked": WORKED, "other": OTHER},
        execute="inline",
        html_theme="sphinx_book_theme",
        html_static_path=[str(ROOT / "book" / "_static")],
        templates_path=[str(ROOT / "book" / "_templates")],
        html_css_files=["book.css", "reading.css"],
        html_js_files=[(name, {"defer": "defer"}) for name in SCRIPTS],
        html_title="Test",
        html_theme_options={"show_navbar_depth": 1},
        mathjax_path="scroll.js",
        language="en",
    )
    assert warnings == ""
    return folder / "html"


class Reader:
    """A reader with a device that remembers: pages opened in one browser context."""

    def __init__(self, book, context, theme="light"):
        self.book, self.context = book, context
        self.requests, self.errors = [], []
        self.page = context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.add_init_script(
            f"try {{ localStorage.setItem('mode', '{theme}');"
            f" localStorage.setItem('theme', '{theme}'); }} catch (error) {{}}"
        )

    def open(self, name="worked", fragment=""):
        """Open a page anew, even where only the fragment of its address differs."""
        if self.page.url != "about:blank":
            self.carry_over()
            self.page.goto("about:blank")
        self.page.goto((self.book / f"{name}.html").as_uri() + fragment)
        self.page.wait_for_load_state("load")
        return self.page

    def carry_over(self):
        """Give the next page what this one has stored.

        The next file has a process of its own, and Chromium without a profile on disk now and
        then shows it less than what was stored.
        """
        record = self.page.evaluate(f"localStorage.getItem('{KEY}')")
        self.page.add_init_script(
            f"try {{ localStorage.setItem('{KEY}', {json.dumps(record)}) }} catch (error) {{}}"
            if record is not None
            else f"try {{ localStorage.removeItem('{KEY}') }} catch (error) {{}}"
        )

    def again(self):
        """Load the page at hand again, without the fragment of its address."""
        self.carry_over()
        self.page.evaluate("history.replaceState(null, '', location.pathname)")
        self.page.reload()
        return self.page

    def violations(self):
        # With "preload" axe asks for style sheets, which a file may not read.
        found = Axe().run(self.page, options={"preload": False}).response["violations"]
        return [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]


@pytest.fixture
def reader(book, browser):
    """Return a function that makes a reader with a screen, a theme and other options."""
    contexts, readers = [], []

    def make(*, width=1280, theme="light", broken_storage=False, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        if broken_storage:
            context.add_init_script(
                "Object.defineProperty(window, 'localStorage',"
                " {get() { throw new DOMException('no storage'); }})"
            )
        contexts.append(context)
        readers.append(Reader(book, context, theme))
        return readers[-1]

    yield make
    for context in contexts:
        context.close()
    for each in readers:
        assert each.errors == []
        outside = [url for url in each.requests if not url.startswith(("file:", "data:", "about:"))]
        assert outside == []


@pytest.fixture
def page(reader):
    return reader().open()


# ---- The whole ----


@pytest.mark.parametrize("width", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_state_and_nothing_overflows(reader, theme, width):
    seen = reader(width=width, theme=theme)
    page = seen.open()
    assert seen.violations() == []
    answer(page, "query", "0.8")
    answer(page, "output", "x")
    for _ in range(3):
        box(page, "percent").get_by_role("button", name="Hint").click()
    box(page, "percent").locator("summary").click()
    box(page, "output").get_by_role("button", name="New numbers").click()
    choose(page, "one", "Neither")
    choose(page, "several", "This", "Those")
    assert seen.violations() == []
    page.get_by_role("button", name="Read in steps").click()
    page.get_by_role("button", name="Next step").click()
    assert seen.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


PLACES = """() => { scrollTo(0, 0); return Array.from(document.querySelectorAll(
  '.bd-article :is(h1, h2, h3, p, li, section, form, label, button, input, summary, .steps-start,'
  + ' mha-your-turn, mha-quiz), nav.bd-links :is(li, a)'))
  .filter(e => !e.closest('.steps-start > *, .steps-bar, .progress-badge'))
  .map(e => [e.tagName, e.getBoundingClientRect()])
  .map(([name, box]) => [name, box.x, box.y, box.width, box.height]); }
"""


@pytest.mark.parametrize("width", SIZES.values(), ids=SIZES)
def test_nothing_moves_when_the_scripts_start(reader, width):
    without, with_ours = reader(width=width), reader(width=width)
    for name in SCRIPTS[1:]:
        without.page.route(f"**/{name}*", lambda route: route.fulfill(body=""))
    before = without.open().evaluate(PLACES)
    assert without.page.locator(".steps-start button").count() == 0
    assert with_ours.open().evaluate(PLACES) == before
    assert len(before) > 60
    # Nor when there is progress to show: its places are kept free.
    answer(with_ours.page, "query", "0.8")
    choose(with_ours.page, "one", "The second")
    with_ours.page.get_by_role("button", name="Read in steps").click()
    with_ours.page.get_by_role("button", name="Next step").click()
    after = with_ours.again().evaluate(PLACES)
    assert with_ours.page.get_by_role("button", name="Continue at step 2").is_visible()
    assert badge(with_ours.page, "A worked page").count() == 1
    assert after == before


def test_every_control_is_large_enough_to_hit(page):
    page.get_by_role("button", name="Read in steps").click()
    page.get_by_role("button", name="Whole page").click()
    controls = ".bd-article :is(button:not(.copybtn), input, summary), .progress-foot button"
    boxes = page.locator(controls).evaluate_all(
        "all => all.filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect())"
        ".map(r => [r.width, r.height])"
    )
    assert len(boxes) > 20
    assert min(min(size) for size in boxes) >= 24


def test_without_a_script_all_of_it_reads_and_nothing_is_dead(reader):
    page = reader(java_script_enabled=False).open()
    assert page.get_by_text("The word aardvark stands here.").is_visible()
    assert page.get_by_text("Compute q₂, component 2").is_visible()
    assert page.get_by_text("The second, ").first.is_visible()
    for dead in (".your-turn-form", ".quiz-controls", ".quiz-option input", ".steps-start"):
        assert not page.locator(dead).first.is_visible()
    page.locator(".your-turn-worked summary").first.click()
    assert page.get_by_text("0.2 + 0 + 0.6 + 0 = 0.8").is_visible()
    page.locator(".quiz-answer summary").first.click()
    assert page.get_by_text("(b) Right.").is_visible()
    option = page.locator(".quiz-option label").first
    assert option.inner_text().startswith("(a) The first")
    assert option.bounding_box()["width"] > 300


# ---- Your turn ----


def box(page, name):
    return page.locator(f"#{BOXES[name]}")


def answer(page, name, text):
    box(page, name).get_by_label("Your answer").fill(text)
    box(page, name).get_by_role("button", name="Check").click()


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("query", "0.8", "Right. The answer is 0.8."),
        ("query", "0,80", "Right. The answer is 0.8."),
        ("query", "4/5", "Right. The answer is 0.8."),
        ("query", "0.7", "Not yet. Check your sum, or take a hint."),
        ("query", "", "Enter a number first."),
        ("query", "eight", "This cannot be read as a number. Write it like 0.25, −1.5 or 3/7."),
        ("percent", "59 %", f"Right. The answer is {shown(100 * RUN.weights[1, 2, 1])} %."),
        (
            "percent",
            "58",
            "Close: this is a slip of rounding. Keep all digits until the last step."
            " Answer in percent, with a whole number.",
        ),
    ],
)
def test_an_answer_is_judged(page, name, text, wanted):
    answer(page, name, text)
    feedback = box(page, name).get_by_role("status")
    expect(feedback).to_have_text(wanted.replace(" %.", "\u00a0%."))
    readable = text not in ("", "eight")
    wrongly = box(page, name).get_by_label("Your answer").get_attribute("aria-invalid")
    assert wrongly == str(not readable).lower()


def test_a_box_is_worked_by_keyboard(page):
    box(page, "query").get_by_label("Your answer").focus()
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(box(page, "query").get_by_role("status")).to_contain_text("Not yet")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    hints = box(page, "query").locator(".your-turn-hints li")
    expect(hints).to_have_text(
        [
            "Multiply pair by pair: 1×0.2 + 0×0.4 + 1×0.6 + 0×0.8",
            "Add the products: 0.2 + 0 + 0.6 + 0",
        ]
    )
    page.keyboard.press("Enter")
    expect(box(page, "query").get_by_role("status")).to_contain_text("no more hints")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(box(page, "query").get_by_role("status")).to_contain_text("set 1")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert box(page, "query").locator("details").evaluate("d => d.open")


def test_exponents_are_raised(page):
    raised = box(page, "power").locator(".your-turn-worked sup")
    assert raised.text_content() == short(float(RUN.scaled_scores[0, 1, 1]))
    box(page, "power").get_by_role("button", name="Hint").click()
    assert box(page, "power").locator(".your-turn-hints sup").text_content() == "0"
    box(page, "power").get_by_role("button", name="New numbers").click()
    given = box(page, "power").locator(".your-turn-given").text_content()
    assert raised.text_content() == given != short(float(RUN.scaled_scores[0, 1, 1]))


def test_new_numbers_ask_anew_and_come_back_with_the_page(reader):
    page = (made := reader()).open()
    name = "output"
    answer(page, name, "2")
    box(page, name).get_by_role("button", name="Hint").click()
    seen = []
    for _ in range(3):
        box(page, name).get_by_role("button", name="New numbers").click()
        seen.append(box(page, name).locator(".your-turn-givens").inner_text())
        assert box(page, name).get_by_label("Your answer").input_value() == ""
        assert box(page, name).locator(".your-turn-hints li").count() == 0
    assert len(set(seen)) == 3
    line = box(page, name).locator(".your-turn-worked p").text_content()
    answer(page, name, line.split(" = ")[-1])
    expect(box(page, name).get_by_role("status")).to_contain_text("Right.")
    page = made.again()
    box(page, name).get_by_role("button", name="New numbers").click()
    assert box(page, name).locator(".your-turn-givens").inner_text() == seen[0]


# ---- The same arithmetic in the browser and in mha ----


def one_number(kind, givens, column, places, percent):
    """Return the exercise of `mha` that asks for what a task of the browser asks for."""
    n = len(givens[0])
    if kind == "products":
        start = {"query": [givens[0]], "key": [givens[1]]}
        return numeric_exercise(run_of(1, **start), "scores", 0, 0, places=places)
    if kind in ("root", "times"):
        width = int(givens[1][0]) if kind == "root" else 1
        unit = np.eye(1, width)
        scale = None if kind == "root" else givens[1][0]
        run = run_of(1, query=unit * givens[0][0], key=unit, scale=scale)
        return numeric_exercise(run, "scaled_scores", 0, 0, places=places)
    mask = np.isfinite(givens[0])
    keys = np.where(mask, givens[0], 0)[:, None]
    run = run_of(n, query=np.ones((n, 1)), key=keys, scale=1.0, mask=mask)
    stage = {"power": "exponentials", "share": "weights"}[kind]
    return numeric_exercise(run, stage, 0, column, places=places, percent=percent)


def run_of(n, **start):
    tokens = [f"token{i}" for i in range(n)]
    return trace(example(tokens=tokens, value=np.ones((n, 1)), **start))


TASKS = {
    "products": {"givens": [[1, 2, 3], [4, 5, 6]], "draw": ["whole", "whole"]},
    "signed products": {"givens": [[1] * 5, [1] * 5], "draw": ["tenths", "tenths"]},
    "one product": {"givens": [[2], [3]], "draw": ["tenths", "whole"]},
    "shares": {"givens": [[0.2] * 7, [1] * 7], "draw": ["shares", "tenths"], "places": 3},
    "root": {"givens": [[1], [3]], "draw": ["scores", "same"]},
    "times": {"givens": [[1], [0.7]], "draw": ["scores", "same"]},
    "power": {"givens": [[1]], "draw": ["exponents"], "places": 4},
    "share": {"givens": [[1, 2, 3, 4, 5]], "draw": ["exponents"], "column": 3},
    "masked share": {"givens": [[1, 2, None]], "draw": ["exponents"], "column": 1},
    "percent": {"givens": [[1, 2, 3]], "draw": ["exponents"], "percent": True, "places": 0},
}
KINDS = {"signed products": "products", "one product": "products", "shares": "products"}
KINDS |= {"masked share": "share", "percent": "share"}

VARIANTS = """([task, hints, count]) => {
  const turn = window.mhaYourTurn;
  task.givens = task.givens.map(row => row.map(x => x === null ? -Infinity : x));
  return Array.from({length: count}, (_, i) => {
    const made = turn.fresh(Object.assign({hints: hints}, task), turn.seedOf("box", i));
    return {givens: made.givens.map(row => row.map(x => Number.isFinite(x) ? x : null)),
            asked: turn.asked(made), hints: turn.hints(made), worked: turn.worked(made)};
  });
}"""


@pytest.mark.parametrize("name", TASKS)
def test_the_browser_computes_what_mha_computes(page, name):
    kind = KINDS.get(name, name)
    task = {"kind": kind, "column": 0, "places": 2, "percent": False} | TASKS[name]
    variants = page.evaluate(VARIANTS, [task, HINTS[kind], 211])
    assert len({str(variant["givens"]) for variant in variants}) > 40
    for variant in variants:
        givens = [[-np.inf if x is None else x for x in row] for row in variant["givens"]]
        made = one_number(kind, givens, task["column"], task["places"], task["percent"])
        assert variant["asked"] == pytest.approx(made.asked, rel=1e-12, abs=1e-13)
        assert variant["hints"] == list(made.hints)
        assert variant["worked"] == made.worked_line


def test_the_browser_adds_exponentials_as_mha_does(page):
    task = {"kind": "sum", "column": 0, "places": 2, "percent": False}
    task |= {"givens": [[1, 2, 0, 4]], "draw": ["exponentials"]}
    for variant in page.evaluate(VARIANTS, [task, HINTS["sum"], 211]):
        (terms,) = variant["givens"]
        total = FORMULAS["sum"]([terms], 0)
        assert terms[2] == 0, "a masked key's exponential stays 0"
        assert variant["asked"] == pytest.approx(total, rel=1e-12)
        assert variant["worked"] == " + ".join(map(shown, terms)) + " = " + shown(total)
        assert variant["hints"][1].endswith(f"{shown(sum(terms[:-1]))}. Add {shown(terms[-1])}")


def test_drawn_numbers_are_short_and_shares_add_up(page):
    for name, task in TASKS.items():
        full = {"kind": KINDS.get(name, name), "column": 0, "places": 2, "percent": False} | task
        for variant in page.evaluate(VARIANTS, [full, [], 53]):
            for values, draw in zip(variant["givens"], task["draw"], strict=True):
                finite = [x for x in values if x is not None]
                assert all(abs(round(x, 2) - x) < 1e-12 for x in finite)
                if draw == "shares":
                    assert sum(values) == pytest.approx(1)
                if draw == "exponents":
                    assert len(set(finite)) == len(finite)


def test_the_browser_shows_numbers_as_mha_does(page, rng):
    numbers = [
        *(0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 0.125, 0.375, 0.00005, -0.00005, 1e-20, 123456.78905),
        *(0.0625, 0.03125, 0.15625, 1 / 3, 2 / 3, 0.1 + 0.2, 1 - 1e-16, 0.99995, -0.99995, 9.5),
        *rng.normal(size=499).tolist(),
        *(rng.normal(size=499) * 1000).tolist(),
        *(rng.integers(-4000, 4000, 499) / 64).tolist(),
        *(rng.integers(-4000, 4000, 499) / 100).tolist(),
    ]
    for places in (0, 1, 2, 4, 5):
        got = page.evaluate(
            "([all, p]) => all.map(x => [mhaYourTurn.shown(x, p), mhaYourTurn.short(x, p)])",
            [numbers, places],
        )
        assert got == [[shown(x, places), short(x, places)] for x in numbers]


def test_the_browser_judges_answers_as_mha_does(page, rng):
    texts = ["", "x", " 1 ", "1,5", "1.5", "−1.5", "- 1.5", "+2", "3/7", "−3/7", "3/0", "3/", "1e3"]
    texts += ["50%", "50 %", "0.5%", ".5", "5.", ".", "1.2.3", "1,234.5", "9" * 400, "0,73\u202f%"]
    made = []
    for kind_percent in (False, True):
        for places in (0, 1, 2, 4):
            for answer in (*rng.normal(size=11), 0.5, 1.0, 0.125, 3 / 7, 0.7310585786, -1.5):
                run = run_of(1, query=[[float(answer)]], key=[[1.0]])
                base = numeric_exercise(run, "scores", 0, 0, places=places, percent=kind_percent)
                near = [f"{base.asked + k * 10.0**-places / 2:.9f}" for k in range(-5, 6)]
                made.append((base, [*texts, *near, shown(base.asked, 1), shown(base.asked, 3)]))
    tasks = [
        {
            "kind": base.kind,
            "givens": [list(given.values) for given in base.givens],
            "column": 0,
            "places": base.places,
            "percent": base.percent,
            "texts": tried,
        }
        for base, tried in made
    ]
    got = page.evaluate(
        "tasks => tasks.map(task => task.texts.map(text => mhaYourTurn.verdict(task, text)))", tasks
    )
    wanted = [[verdict(base, text) for text in tried] for base, tried in made]
    assert got == wanted
    assert {"right", "near", "wrong", "unreadable"} == {v for row in got for v in row}


def test_a_box_on_the_page_asks_for_its_trace_s_number(page):
    for cell, options in [
        (("query", 0, 1), {}),
        (("weights", 2, 1, 1), {"percent": True}),
        (("head_outputs", 1, 0), {}),
    ]:
        turn = your_turn(RUN, *cell, **options)
        got = page.locator(f"#{turn.name}").evaluate(
            "box => [mhaYourTurn.asked(box.task), mhaYourTurn.worked(box.task)]"
            ".concat([mhaYourTurn.hints(box.task)])"
        )
        assert got[0] == pytest.approx(turn.exercise.asked, rel=1e-12)
        assert got[1] == turn.exercise.worked_line
        assert got[2] == list(turn.exercise.hints)


# ---- Quizzes ----


def choose(page, name, *options):
    quiz = page.locator(f"#quiz-{name}")
    for option in options:
        quiz.get_by_label(option, exact=False).check()
    quiz.get_by_role("button", name="Check").click()


def status(page, name):
    return page.locator(f"#quiz-{name} .quiz-status")


def test_a_wrong_option_says_why_and_the_right_one_ends_it(page):
    choose(page, "one")
    expect(status(page, "one")).to_have_text("Choose an option first.")
    choose(page, "one", "The first")
    notes = page.locator("#quiz-one .quiz-note")
    expect(status(page, "one")).to_contain_text("Not yet.")
    expect(notes.nth(0)).to_contain_text("this is the first note")
    assert notes.nth(0).locator("strong").count() == 1
    described = page.locator("#quiz-one input").first.get_attribute("aria-describedby")
    assert described == notes.nth(0).get_attribute("id")
    page.locator("#quiz-one").get_by_label("The second").check()
    expect(notes.nth(0)).to_be_empty()
    expect(status(page, "one")).to_be_empty()
    choose(page, "one", "The second")
    expect(status(page, "one")).to_have_text("Right.")
    expect(notes.nth(1)).to_contain_text("Yes, it is.")
    expect(page.locator("#quiz-one .reading-done")).to_have_text("answered")


def test_several_options_are_judged_together(page):
    choose(page, "several", "This")
    expect(status(page, "several")).to_contain_text("it is not all")
    choose(page, "several", "That")
    expect(status(page, "several")).to_contain_text("not everything")
    assert page.locator("#quiz-several .quiz-note:not(:empty)").count() == 2
    page.locator("#quiz-several").get_by_label("That").uncheck()
    choose(page, "several", "Those")
    expect(status(page, "several")).to_have_text("Right.")


def test_a_quiz_is_worked_by_keyboard(page):
    page.locator("#quiz-one input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(status(page, "one")).to_have_text("Right.")
    page.locator("#quiz-several input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(status(page, "several")).to_have_text("Right.")


# ---- Progress ----


def badge(page, title):
    return page.locator(f"nav.bd-links li:has(> a:has-text('{title}')) .progress-badge")


def test_progress_is_kept_on_the_device_and_shown_in_the_contents(reader):
    page = (made := reader()).open()
    assert page.locator(".progress-badge").count() == 0
    assert not page.locator(".progress-foot").is_visible()
    answer(page, "query", "0.8")
    choose(page, "one", "The second")
    expect(badge(page, "A worked page").locator(".progress-line")).to_have_text("2 of 6")
    page.get_by_role("button", name="Read in steps").click()
    page = made.open("other")
    expect(badge(page, "A worked page").locator(".progress-line")).to_have_text(
        ["2 of 6", "1/7 steps"]
    )
    expect(badge(page, "A worked page").locator(".reading-unseen")).to_have_text(
        "2 of 6 questions answered, 1 of 7 steps read"
    )
    assert badge(page, "Another page").count() == 0
    choose(page, "two", "A")
    expect(badge(page, "Another page").locator(".progress-line")).to_have_text("1 of 1")
    page = made.open()
    expect(box(page, "query").locator(".reading-done")).to_have_text("answered")
    expect(box(page, "output").locator(".reading-done")).to_be_empty()


def test_a_wrong_answer_is_no_progress(page):
    answer(page, "query", "0.7")
    choose(page, "one", "Neither")
    assert page.locator(".progress-badge").count() == 0


def test_progress_is_cleared_only_after_a_question(reader):
    page = (made := reader()).open()
    answer(page, "query", "0.8")
    clear = page.get_by_role("button", name="Clear my progress")
    clear.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(clear).to_be_focused()
    assert badge(page, "A worked page").count() == 1
    clear.click()
    page.get_by_role("button", name="Clear it").click()
    expect(page.locator(".progress-foot [role=status]")).to_have_text("Your progress is cleared.")
    expect(page.locator(".progress-foot [role=status]")).to_be_focused()
    assert page.locator(".progress-badge").count() == 0
    expect(box(page, "query").locator(".reading-done")).to_be_empty()
    page = made.open("other")
    assert page.locator(".progress-badge").count() == 0
    assert not page.locator(".progress-foot").is_visible()


@pytest.mark.parametrize(
    "stored",
    [
        *(
            "nonsense",
            "null",
            "[]",
            '{"version": 2}',
            '{"version": 1, "pages": {"worked.html": 3}}',
        ),
        '{"version": 1, "pages": {"worked.html": {"total": -1, "right": "x", "read": 7}}}',
    ],
)
def test_a_strange_record_is_no_obstacle(reader, stored):
    made = reader()
    page = made.open()
    page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY, stored])
    page = made.again()
    answer(page, "query", "0.8")
    expect(badge(page, "A worked page").locator(".progress-line")).to_have_text("1 of 6")


def test_questions_that_the_page_no_longer_has_do_not_count(reader):
    made = reader()
    page = made.open()
    record = {"total": 9, "right": ["gone", "quiz-one"]}
    text = json.dumps({"version": 1, "pages": {"worked.html": record}})
    page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY, text])
    page = made.again()
    expect(badge(page, "A worked page").locator(".progress-line")).to_have_text("1 of 6")


def test_without_storage_all_works_until_the_page_is_left(reader):
    page = (made := reader(broken_storage=True)).open()
    answer(page, "query", "0.8")
    choose(page, "one", "The second")
    expect(badge(page, "A worked page").locator(".progress-line")).to_have_text("2 of 6")
    page.get_by_role("button", name="Read in steps").click()
    page.get_by_role("button", name="Next step").click()
    expect(page.locator(".steps-label")).to_have_text("Step 2 of 7: Queries")
    page.get_by_role("button", name="Clear my progress").click()
    page.get_by_role("button", name="Clear it").click()
    assert page.locator(".progress-badge").count() == 0
    # The theme's own scripts complain of the missing storage; ours do not.
    theirs = ("no storage", "theme mode")
    made.errors[:] = [e for e in made.errors if not any(part in e for part in theirs)]


# ---- Steps ----


def shown_text(page):
    """Return the paragraphs that a reader sees of the article."""
    return page.locator("article p").evaluate_all(
        "all => all.filter(p => p.checkVisibility() && p.getBoundingClientRect().height > 1)"
        ".map(p => p.textContent)"
    )


def test_the_steps_are_the_page_s_sections(page):
    page.get_by_role("button", name="Read in steps").click()
    labels = [page.locator(".steps-label").inner_text()]
    for _ in STEPS[1:]:
        page.get_by_role("button", name="Next step").click()
        labels.append(page.locator(".steps-label").inner_text())
    assert labels == [f"Step {i} of 7: {title}" for i, title in enumerate(STEPS, 1)]


def test_a_step_shows_itself_and_nothing_else(page):
    everything = page.locator("article").inner_text()
    page.get_by_role("button", name="Read in steps").click()
    assert page.get_by_text("An introduction with").is_visible()
    assert "The word aardvark stands here." not in shown_text(page)
    for _ in range(4):
        page.get_by_role("button", name="Next step").click()
    assert "The word aardvark stands here." in shown_text(page)
    assert "A paragraph before." not in shown_text(page)
    assert page.locator("h2", has_text="Scores").is_visible(), "the section's heading stays"
    page.get_by_role("button", name="Whole page").click()
    assert "The word aardvark stands here." in shown_text(page)
    assert page.locator(".step-hidden").count() == 0
    assert page.locator("article [hidden]:not(.steps-bar)").count() == 0
    again = page.locator("article").inner_text()
    expect(page.get_by_text("The whole page is shown.")).to_have_attribute("role", "status")
    again = again.replace("The whole page is shown.\n\n", "")
    assert again.replace("Continue at step 5 of 7", "Read in steps") == everything


def test_focus_goes_to_the_step_s_heading(page):
    page.get_by_role("button", name="Read in steps").click()
    expect(page.locator("article h1")).to_be_focused()
    page.get_by_role("button", name="Next step").click()
    expect(page.locator("h2", has_text="Queries")).to_be_focused()
    page.get_by_role("button", name="Next step").click()
    page.get_by_role("button", name="Next step").click()
    expect(page.locator("h3", has_text="Head 1")).to_be_focused()
    page.get_by_role("button", name="Whole page").click()
    expect(page.locator("h3", has_text="Head 1")).to_be_focused()


def test_the_ends_are_ends(page):
    page.get_by_role("button", name="Read in steps").click()
    previous = page.get_by_role("button", name="Previous step")
    assert previous.get_attribute("aria-disabled") == "true"
    previous.click(force=True)
    expect(page.locator(".steps-label")).to_contain_text("Step 1 of 7")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".steps-label")).to_contain_text("Step 1 of 7")
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".steps-label")).to_contain_text("Step 7 of 7")
    assert page.get_by_role("button", name="Next step").get_attribute("aria-disabled") == "true"
    assert page.get_by_role("progressbar", name="Steps read").evaluate("p => p.value / p.max") == 1


def test_arrow_keys_turn_steps_but_not_while_typing_or_with_a_modifier(page):
    page.keyboard.press("ArrowRight")
    assert not page.locator(".steps-bar").is_visible(), "not before steps are asked for"
    page.get_by_role("button", name="Read in steps").click()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".steps-label")).to_contain_text("Step 2 of 7")
    box(page, "query").get_by_label("Your answer").fill("12")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".steps-label")).to_contain_text("Step 2 of 7")
    page.locator("h2", has_text="Queries").focus()
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator(".steps-label")).to_contain_text("Step 2 of 7")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".steps-label")).to_contain_text("Step 1 of 7")


def test_an_address_opens_its_step_and_the_back_button_returns(reader):
    made = reader()
    page = made.open(fragment="#step-3")
    expect(page.locator(".steps-label")).to_have_text("Step 3 of 7: Scores")
    page.keyboard.press("ArrowRight")
    assert page.url.endswith("#step-4")
    page.go_back()
    expect(page.locator(".steps-label")).to_contain_text("Step 3 of 7")
    page.get_by_role("button", name="Whole page").click()
    assert page.url.endswith("worked.html")
    page = made.open(fragment="#step-99")
    expect(page.locator(".steps-label")).to_contain_text("Step 7 of 7")


def test_an_ordinary_address_leaves_the_page_whole(reader):
    page = reader().open(fragment="#of-head-2")
    assert not page.locator(".steps-bar").is_visible()
    expect(page.get_by_text("The word aardvark stands here.")).to_be_in_viewport()


@pytest.mark.parametrize("how", ["link", "address"])
def test_a_link_into_a_hidden_step_opens_it(page, how):
    page.get_by_role("button", name="Read in steps").click()
    page.get_by_role("button", name="Next step").click()
    if how == "link":
        page.get_by_role("link", name="Head 2").first.click()
    else:
        page.evaluate("location.hash = 'of-head-2'")
    expect(page.locator(".steps-label")).to_have_text("Step 5 of 7: Head 2")
    expect(page.get_by_text("The word aardvark stands here.")).to_be_in_viewport()


def test_the_place_is_remembered(reader):
    made = reader()
    page = made.open()
    page.get_by_role("button", name="Read in steps").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".steps-label")).to_contain_text("Step 3 of 7")
    page = made.again()
    assert not page.locator(".steps-bar").is_visible()
    page.get_by_role("button", name="Continue at step 3 of 7").click()
    expect(page.locator(".steps-label")).to_contain_text("Step 3 of 7")


def test_searching_the_page_shows_all_of_it(page):
    page.get_by_role("button", name="Read in steps").click()
    page.keyboard.press("Control+f")
    assert not page.locator(".steps-bar").is_visible()
    page.get_by_role("button", name="Read in steps").click()
    hidden = page.locator(".step-hidden").last
    assert hidden.get_attribute("hidden") == "until-found"
    assert page.evaluate("CSS.supports('content-visibility', 'hidden')")
    # What Chromium does when a search reaches hidden text.
    hidden.evaluate("e => e.dispatchEvent(new Event('beforematch', {bubbles: true}))")
    assert page.locator(".step-hidden").count() == 0
    assert not page.locator(".steps-bar").is_visible()


def test_printing_shows_the_whole_page_and_then_the_step_again(page):
    page.get_by_role("button", name="Read in steps").click()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".step-hidden").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".steps-label")).to_contain_text("Step 1 of 7")
    page.emulate_media(media="print")
    assert not page.locator(".steps-bar").is_visible()


def test_a_page_that_offers_no_steps_has_none(reader):
    page = reader().open("other", "#step-2")
    assert page.get_by_role("button", name="Read in steps").count() == 0
    assert page.get_by_text("Without steps.").is_visible()
