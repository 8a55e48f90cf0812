"""Folded sections in a real Chromium: what opens them, what is built late, keyboard and paper."""

import re

import book_site as site
import pytest
from accessible import violations
from one_book import build
from playwright.sync_api import expect
from pypdf import PdfReader

from byhand.site.assets import SCRIPTS, STYLES, publish_together

pytestmark = pytest.mark.browser

EXTENSIONS = [
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_exercise",
    "byhand.quiz",
    "byhand.tables",
    "byhand.chapter.code_folds",
    "byhand.chapter.section_folds",
]
BOX = "turn-the-cat-sat-query-1-1-2"

PAGE = (
    site.FRONT
    + """# A page

```{read-in-steps}
```

Read {ref}`why`, {ref}`how` and {numref}`tbl-late`.

```{code-cell}
from mha import load_example, trace
from mha.widgets.boxes import your_turn
run = trace(load_example("the-cat-sat"))
```

```{code-cell}
your_turn(run, "weights", 0, 1)
```

"""
    + "A paragraph.\n\n" * 60
    + """
## Deeper: it is so

The word aardvark.

(why)=
### Why

```{math}
a + b
```

(how)=
### Deeper: how

Nested.

## All numbers of *cat*

The word capybara & 1 < 2.

(late)=
### A late heading

```{code-cell}
print("late")
```

```{code-cell}
your_turn(run, "query", 0, 1)
```

```{table} All of them
:name: tbl-late

| a | b |
| - | - |
| 1 | 2 |
```

## Summary

Back to {numref}`tbl-late`.
"""
)
OTHER = "# Another page\n\nSee {numref}`tbl-late`, {ref}`late` and {ref}`how`.\n"
THIRD = (
    site.FRONT
    + "# A third page\n\n```{read-in-steps}\n```\n\n"
    + "A paragraph.\n\n" * 40
    + "## A step\n\n"
    + "A paragraph.\n\n" * 40
    + """## Deeper: try it

```{code-cell}
from mha import load_example, trace
from mha.widgets.explorer import explorer
explorer(trace(load_example("the-cat-sat")))
```

## Summary

The end.
"""
)
INDEX = "# Index\n\n```{toctree}\npage\nother\nthird\n```\n"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds-browser")
    publish_together(folder / "html" / "_static")
    warnings = build(
        folder,
        {"index": INDEX, "page": PAGE, "other": OTHER, "third": THIRD},
        extensions=[*EXTENSIONS, "byhand.site.early"],
        html_theme="sphinx_book_theme",
        html_static_path=[str(site.ROOT / "book" / "_static")],
        templates_path=[str(site.ROOT / "book" / "_templates")],
        html_css_files=list(STYLES),
        html_js_files=[(name, {"defer": "defer"}) for name in SCRIPTS],
        html_title="Test",
        html_permalinks_icon="#",
        mathjax_path="scroll.js",
        language="en",
        numfig=True,
    )
    assert warnings == ""
    return folder / "html"


@pytest.fixture
def opened(browser, book):
    contexts, errors = [], []

    def open_page(fragment="", name="page", **settings):
        settings = {"viewport": {"width": 1280, "height": 900}} | settings
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((book / f"{name}.html").as_uri() + fragment)
        page.wait_for_load_state("load")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def fold(page, heading):
    return page.locator("details.fold", has=page.locator("> summary", has_text=heading))


def summary(page, heading):
    return page.locator("details.fold > summary", has_text=heading)


def is_open(page, heading):
    return summary(page, heading).evaluate("e => e.parentElement.open")


def elements(page):
    return page.evaluate("document.querySelector('article').querySelectorAll('*').length")


def in_sight(locator):
    box = locator.bounding_box()
    return box is not None and 0 <= box["y"] < 900


def test_all_numbers_are_built_on_opening(opened):
    page = opened()
    before = elements(page)
    assert page.locator("#tbl-late").count() == 0
    summary(page, "All numbers").click()
    page.locator("#tbl-late").wait_for()
    assert elements(page) > before + 100
    assert page.locator("noscript.late").count() == 0
    assert "capybara & 1 < 2." in page.locator("details.all-numbers").inner_text()
    summary(page, "All numbers").click()
    summary(page, "All numbers").click()
    assert page.locator("#tbl-late").count() == 1


def test_without_scripts_they_are_there_from_the_start(opened):
    page = opened(java_script_enabled=False)
    assert page.locator("#tbl-late").count() == 1
    expect(page.locator("#tbl-late")).not_to_be_visible()
    summary(page, "All numbers").click()
    expect(page.locator("#tbl-late")).to_be_visible()
    text = page.locator("noscript.late > p").first
    assert "capybara" in text.inner_text()
    expect(text).to_be_visible()


@pytest.mark.parametrize(
    ("fragment", "target", "headings"),
    [
        ("#tbl-late", "#tbl-late", ["All numbers"]),
        ("#a-late-heading", "#a-late-heading", ["All numbers"]),
        ("#all-numbers-of-cat", "#all-numbers-of-cat", ["All numbers"]),
        ("#why", "#why", ["Deeper: it is so"]),
        ("#how", "#how", ["Deeper: it is so", "Deeper: how"]),
        ("#deeper-how", "#deeper-how", ["Deeper: it is so", "Deeper: how"]),
    ],
)
def test_an_address_opens_what_it_leads_into(opened, fragment, target, headings):
    page = opened(fragment)
    for heading in ("Deeper: it is so", "Deeper: how", "All numbers"):
        assert is_open(page, heading) == (heading in headings)
    site.until(page, "scrollY > 500")
    assert in_sight(page.locator(target))


@pytest.mark.parametrize("link", ["Table 1", "A late heading", "Deeper: how"])
def test_so_does_a_link_of_another_page(opened, link):
    page = opened(name="other")
    page.locator("article").get_by_role("link", name=link, exact=True).click()
    page.wait_for_url("**/page.html#*")
    site.until(page, "scrollY > 500")
    assert in_sight(page.locator(page.evaluate("location.hash")))
    assert page.locator("details.fold[open]").count() > 0


def test_what_is_built_late_works(opened, browser):
    page = opened()
    summary(page, "All numbers").click()
    box = page.locator(f"#{BOX}")
    box.get_by_label("Your answer").fill("1")
    box.get_by_role("button", name="Check").click()
    assert box.locator(".your-turn-feedback").inner_text() != ""
    late = page.locator("details.all-numbers details.code-fold")
    assert late.count() > 0
    assert not late.first.evaluate("e => e.open")
    page.get_by_role("button", name="Code", exact=True).click()
    assert set(late.evaluate_all("all => all.map(e => e.open)")) == {True}
    codes = page.locator("div.highlight pre")
    assert len(set(codes.evaluate_all("all => all.map(e => e.id)"))) == codes.count()
    assert page.locator(".copybtn").count() == codes.count()
    late.first.locator(".copybtn").first.evaluate("e => e.click()")
    assert "success" in late.first.locator(".copybtn").first.get_attribute("class")


def test_only_what_scrolls_late_is_a_tab_stop(opened):
    page = opened(viewport={"width": 390, "height": 844})
    page.evaluate("""
        document.querySelector('noscript.late').textContent +=
          '<div class="drawing" id="wide" tabindex="0"><p style="width: 900px">x</p></div>' +
          '<div class="drawing" id="narrow" tabindex="0">x</div>'
    """)
    summary(page, "All numbers").click()
    site.until(page, "!document.getElementById('narrow')?.hasAttribute('tabindex')")
    assert page.locator("#wide").get_attribute("tabindex") == "0"


def test_an_answer_to_a_late_question_is_remembered(opened):
    page = opened()
    summary(page, "All numbers").click()
    page.locator(f"#{BOX}").wait_for()
    page.evaluate(f"window.mhaProgress.setRight('{BOX}')")
    page.reload()
    assert page.evaluate(f"window.mhaProgress.isRight('{BOX}')")
    assert page.evaluate("window.mhaProgress.entryAt(location.href).total") == 2
    summary(page, "All numbers").click()
    page.locator(f"#{BOX}").wait_for()
    assert page.evaluate("window.mhaProgress.entryAt(location.href).total") == 2


def test_a_page_with_folds_reads_in_steps(opened):
    page = opened()
    page.get_by_role("button", name="Read in steps").click()
    steps = int(re.search(r"of (\d+)", page.locator(".steps-label").inner_text())[1])
    titles = []
    for step in range(1, steps + 1):
        said, title = page.locator(".steps-label").inner_text().split(": ", 1)
        assert said == f"Step {step} of {steps}"
        titles.append(title)
        if step < steps:
            page.get_by_role("button", name="Next").click()
    wanted = ["A page", "Deeper: it is so", "All numbers of cat", "Summary"]
    assert list(dict.fromkeys(titles)) == wanted
    page.evaluate("location.hash = '#tbl-late'")
    page.locator("#tbl-late").wait_for()
    assert page.locator(".steps-label").inner_text().endswith(": All numbers of cat")


def test_a_fold_opens_by_keyboard_with_a_visible_focus(opened):
    page = opened()
    for heading in ("Deeper: it is so", "All numbers"):
        summary(page, heading).focus()
        page.keyboard.press("Enter")
        assert is_open(page, heading)
        style = summary(page, heading).evaluate("e => getComputedStyle(e).outlineStyle")
        assert style == "solid"


def test_printing_from_the_browser_opens_deeper_and_leaves_out_all_numbers(opened, tmp_path):
    page = opened()
    page.pdf(path=tmp_path / "page.pdf")
    text = "".join(sheet.extract_text() for sheet in PdfReader(tmp_path / "page.pdf").pages)
    assert "aardvark" in text
    assert "Nested" in text
    assert "capybara" not in text
    assert "open it there to print it" in text
    assert page.locator("details.fold[open]").count() == 0


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_in_what_is_open(opened, theme, width):
    page = opened("#tbl-late", viewport={"width": width, "height": 900}, color_scheme=theme)
    page.evaluate("document.querySelectorAll('details.deeper').forEach(e => { e.open = true })")
    assert violations(page, "article") == []


# ---- The built book ----


@pytest.mark.parametrize("in_steps", [False, True])
def test_an_address_of_an_explorers_state_opens_what_it_stands_in(opened, in_steps):
    address = "#explore=the-cat-sat&causal=1"
    page = opened("" if in_steps else address, name="third")
    if in_steps:
        page.get_by_role("button", name="Read in steps").click()
        expect(page.locator("mha-explorer")).not_to_be_visible()
        page.evaluate(f"location.hash = '{address}'")
    page.locator("mha-explorer.live").wait_for()
    assert is_open(page, "Deeper: try it")
    page.wait_for_timeout(200)
    assert in_sight(page.locator("mha-explorer .strip"))
    assert page.evaluate("document.querySelector('mha-explorer').explorer.state.causal")
    # It opens the fold around it, and none of its own.
    assert page.locator("mha-explorer details[open]").count() == 0
