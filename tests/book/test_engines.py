"""The built pages in Chromium, Firefox and WebKit: defects that only one of them may show."""

import re
import time

import printed_book
import pytest
from book_site import ROOT, SITE, path, toc_pages, until
from page_checks import BEGIN, EMPTY_BARS, HALOS, ON_PAPER, open_every_fold
from plane_labels import WRONG
from served_site import serving_below_a_path
from style_sheets import declarations

pytestmark = [pytest.mark.book, pytest.mark.browser, pytest.mark.engines, pytest.mark.slow]

WIDTHS = (390, 360, 820, 1230, 1280)  # the margin opens at 1200 px, and has its full width at 1280
SAMPLE = (
    "index", "mechanism/scaling", "mechanism/multi-head-attention", "examples/cat-sat-on-it",
    "transformer/small-model", "sources/what-the-sources-print", "claims", "search",
)  # fmt: skip
# The pages of the package's reference are alike, so one of them is enough.
IN_FIREFOX = [name for name in toc_pages() if not name.startswith("reference/")]
IN_FIREFOX += ["reference/layer", "notices", "search"]
# Declarations that an engine may reject: pages are as readable without them.
ENHANCEMENTS = {
    "firefox": {"text-wrap: pretty", "orphans: 3", "widows: 3"},
    "webkit": {
        "forced-color-adjust: none",
        "math-shift: compact",
        "scrollbar-color: #8b8478 #fff",
    },
}
REJECTED = """
(declarations) => declarations.filter(({ property, value, conditions }) =>
  conditions.every((condition) => CSS.supports(condition)) && !CSS.supports(property, value))
"""
# Formulas in sentences with a part that is not to the right of the part before it.
STACKED = """
() => [...document.querySelectorAll("math:not([display=block], .tml-display)")].filter((math) => {
  const row = math.children.length === 1 ? math.firstElementChild : math;
  const boxes = [...(row.localName === "mrow" ? row : math).children]
    .map((part) => part.getBoundingClientRect()).filter((box) => box.width);
  return boxes.some((box, i) => i > 0 && box.left < boxes[i - 1].right - 4);
}).map((math) => math.textContent)
"""
TO_FIGURE = "document.querySelector('mha-explorer').scrollIntoView()"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def address():
    with serving_below_a_path(SITE) as served:
        yield served


def test_an_engine_reads_each_declaration_of_the_style_sheets(engine):
    page = engine.open(path("index").as_uri())
    read = declarations([ROOT / "book" / "_static", ROOT / "mha"])
    assert len(read) > 4000
    rejected = page.evaluate(REJECTED, read)
    allowed = ENHANCEMENTS.get(engine.name, ())
    wrong = [d for d in rejected if f"{d['property']}: {d['value']}" not in allowed]
    assert [f"{d['file']}:{d['line']}: {d['property']}: {d['value']}" for d in wrong] == []


def faults_of_page(engine, address, name):
    """Open a page in windows of `WIDTHS`; return its stacked formulas and excess widths."""
    page = engine.open(f"{address}{name}.html", width=WIDTHS[0])
    open_every_fold(page)
    page.evaluate(BEGIN)
    wrong = [f"the parts of {formula} are stacked" for formula in page.evaluate(STACKED)]
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if excess := page.evaluate(TOO_WIDE):
            wrong.append(f"{excess} px too wide at {width} px")
    return wrong


@pytest.mark.parametrize("name", IN_FIREFOX)
def test_a_page_in_firefox_fits_and_complains_of_nothing(in_firefox, address, name):
    assert faults_of_page(in_firefox, address, name) == []
    assert in_firefox.complaints() == []


@pytest.mark.parametrize("name", SAMPLE)
def test_a_page_in_webkit_fits(in_webkit, address, name):
    assert faults_of_page(in_webkit, address, name) == []


def test_firefox_reports_a_script_that_the_policy_refuses(in_firefox, tmp_path):
    page = path("search").read_text(encoding="utf-8")
    refused = "<script>let added = 1;</script></head>"
    (tmp_path / "page.html").write_text(page.replace("</head>", refused), encoding="utf-8")
    opened = in_firefox.open((tmp_path / "page.html").as_uri())
    complaints, end = in_firefox.complaints(), time.monotonic() + 20
    while not any("script-src" in complaint for complaint in complaints):
        assert time.monotonic() < end, complaints
        opened.wait_for_timeout(50)
        complaints += in_firefox.complaints()


UNDERLINES = """
(selector) => [...new Set([...document.querySelectorAll(selector)].map((element) => {
  const style = getComputedStyle(element);
  return `${style.textDecorationLine} ${style.textDecorationStyle}`;
}))]
"""


def test_numbers_to_drag_are_underlined(engine):
    page = engine.open(path("mechanism/multi-head-attention").as_uri())
    page.evaluate(BEGIN)
    page.evaluate(TO_FIGURE)
    until(page, "document.querySelector('mha-explorer .number.given')")
    assert page.evaluate(UNDERLINES, "mha-explorer .number.given") == ["underline dotted"]
    page = engine.open(path("mechanism/self-attention").as_uri())
    page.evaluate(BEGIN)
    page.evaluate(TO_FIGURE)
    until(page, "document.querySelector('data.at[role], data .at[role]')")
    assert page.evaluate(UNDERLINES, "data.at[role], data .at[role]") == ["underline dotted"]


def test_a_number_off_by_rounding_is_marked(engine):
    page = engine.open(path("sources/what-the-sources-print").as_uri())
    page.evaluate(BEGIN)
    until(page, "document.querySelector('.pencil .n.inexact')")
    assert page.evaluate(UNDERLINES, ".pencil .n.inexact") == ["underline dotted"]
    assert page.evaluate(UNDERLINES, ".pencil .n:not(.inexact, .spoiled, .slip)") == ["none solid"]


COVERED = """
() => [...document.querySelectorAll("mha-explorer .mini")].filter((bars) => {
  const right = bars.lastElementChild.getBoundingClientRect().right;
  return right > bars.nextElementSibling.getBoundingClientRect().left;
}).length
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_the_bars_of_a_head_cover_no_number(engine, width):
    page = engine.open(path("mechanism/multi-head-attention").as_uri(), width=width)
    page.evaluate(TO_FIGURE)
    until(page, "document.querySelectorAll('mha-explorer .mini').length === 2")
    assert page.evaluate(COVERED) == 0


# The pixels between the radicand of a root at the end of a formula and the end of the formula.
BEHIND_ROOTS = """
() => [...document.querySelectorAll("p math > msqrt:last-child, p math > mrow > msqrt:last-child")]
  .map((root) => root.closest("span.math").getBoundingClientRect().right
    - root.lastElementChild.getBoundingClientRect().right)
"""


def test_a_formula_ends_where_its_last_root_ends(engine):
    page = engine.open(path("mechanism/self-attention").as_uri())
    page.evaluate("document.fonts.ready.then(() => {})")
    behind = page.evaluate(BEHIND_ROOTS)
    assert len(behind) > 3
    assert all(-0.5 < pixels < 3 for pixels in behind)


def test_grid_lines_in_forced_colours_are_grey(browser):
    context = browser.new_context(forced_colors="active", color_scheme="dark")
    page = context.new_page()
    page.goto(path("mechanism/what-attention-does").as_uri())
    page.evaluate(TO_FIGURE)
    until(page, "document.querySelector('.of-grid path')")
    strokes = page.evaluate(
        "[...document.querySelectorAll('.of-grid path, .of-axis path, .f-rule, .f-quiet')]"
        ".map((line) => getComputedStyle(line).stroke)"
    )
    context.close()
    assert len(strokes) > 10
    for stroke in strokes:
        red, green, blue, *_ = map(float, re.findall(r"[\d.]+", stroke.replace("srgb", "")))
        assert red == green == blue, stroke


PLACE = """
() => {
  const number = document.querySelector("mha-explorer .number.given");
  number.scrollIntoView({ block: "center" });
  const box = number.getBoundingClientRect();
  return { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
}
"""
VALUE = "document.querySelector('mha-explorer .number.given').value"


def test_an_underlined_number_follows_the_mouse(engine):
    page = engine.open(path("mechanism/multi-head-attention").as_uri())
    page.evaluate(BEGIN)
    page.evaluate(TO_FIGURE)
    until(page, "document.querySelector('mha-explorer .number.given')")
    until(page, f"(({{ y }}) => y > 0 && y < innerHeight)(({PLACE})())")
    place, before = page.evaluate(PLACE), page.evaluate(VALUE)
    page.mouse.move(place["x"], place["y"])
    page.mouse.down()
    for pixels in (10, 30, 60):
        page.mouse.move(place["x"] + pixels, place["y"])
    page.mouse.up()
    until(page, f"{VALUE} !== {before!r}")


FIRST_NUMBER = "document.querySelector('mha-explorer .strip input.number.given')"
CENTRE = f"""
() => {{
  {FIRST_NUMBER}.scrollIntoView({{ block: "center" }});
  const box = {FIRST_NUMBER}.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
}}
"""
# The centre of the figure's Undo, scrolled into the window.
UNDO = """
() => {
  const undo = [...document.querySelectorAll("mha-explorer button")]
    .find((button) => button.textContent.trim() === "Undo");
  undo.scrollIntoView({ block: "center" });
  const box = undo.getBoundingClientRect();
  return [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
}
"""


def at_rest(page, expression, argument=None):
    """Return the value of an expression, once the page and its figure have stopped moving."""
    before, found = None, page.evaluate(expression, argument)
    while found != before:
        page.wait_for_timeout(150)
        before, found = found, page.evaluate(expression, argument)
    return found


def test_each_typed_number_is_shown_and_undone_alone(engine):
    page = engine.open(path("mechanism/self-attention").as_uri())
    page.evaluate(BEGIN)
    until(page, FIRST_NUMBER)
    number = f"{FIRST_NUMBER}.value.replace('−', '-')"
    shown = [page.evaluate(number)]
    for typed, wanted in (("7.25", "7.25"), ("-2", "-2"), ("1/3", "0.333")):
        until(page, f"(([x, y]) => y > 0 && y < innerHeight)(({CENTRE})())")
        page.mouse.click(*page.evaluate(CENTRE))
        page.evaluate(f"() => {FIRST_NUMBER}.select()")
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        until(page, f"{number}.startsWith('{wanted}')")
        shown.append(page.evaluate(number))
    page.evaluate(f"() => {{ {FIRST_NUMBER}.focus(); {FIRST_NUMBER}.select(); }}")
    page.keyboard.type("1e400")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('mha-explorer [role=alert]').textContent.includes('1e400')")
    page.keyboard.press("Escape")
    for before in reversed(shown[:-1]):
        page.mouse.click(*at_rest(page, UNDO))
        until(page, f"{number} === '{before}'")


# The middle of a tip, scrolled into the window, and its label.
TIP = """
(name) => {
  const tip = document.querySelector(`mha-explorer .tip[aria-label^="${name}"]`);
  const { top, bottom } = tip.getBoundingClientRect();
  if (top < 150 || bottom > innerHeight - 150) scrollBy(0, top - innerHeight / 2);
  const box = tip.getBoundingClientRect();
  return [(box.left + box.right) / 2, (box.top + box.bottom) / 2, tip.getAttribute("aria-label")];
}
"""
POINTS = "[...document.querySelectorAll('mha-explorer .tip')].map((e) => e.ariaLabel).join()"
LABELLED = """
(name) => [...document.querySelectorAll("mha-explorer .plane-area text")].some((text) =>
  text.style.display !== "none" && text.textContent === name)
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_points_follow_the_mouse_with_their_labels_and_each_drag_is_undone(engine, width):
    page = engine.open(path("mechanism/self-attention").as_uri(), width=width)
    page.evaluate(BEGIN)
    page.evaluate(TO_FIGURE)
    until(page, "document.querySelector('mha-explorer .tip')")
    at_rest(page, TIP, "Embedding of river")
    shown = [page.evaluate(POINTS)]
    for name, across, down in (("river", 37, 0), ("bank", 60, 50)):
        x, y, _ = at_rest(page, TIP, f"Embedding of {name}")
        page.mouse.move(x, y)
        page.mouse.down()
        for share in (0.2, 0.6, 1):
            page.mouse.move(x + share * across, y + share * down)
        page.mouse.up()
        _, _, said = at_rest(page, TIP, f"Embedding of {name}")
        shown.append(page.evaluate(POINTS))
        at = re.match(r"Embedding of \w+, ([^,]+, [^,:]+)", said)[1]
        assert page.evaluate(LABELLED, f"{name} ({at})")
        assert page.evaluate(WRONG) == []
    assert len(set(shown)) == len(shown)
    for before in reversed(shown[:-1]):
        page.mouse.click(*at_rest(page, UNDO))
        until(page, f"{POINTS} === {before!r}")


def test_a_finger_drags_a_point_in_webkit(in_webkit):
    page = in_webkit.open(path("mechanism/self-attention").as_uri(), width=390)
    page.evaluate(TO_FIGURE)
    until(page, "document.querySelector('mha-explorer .tip')")
    x, y, before = at_rest(page, TIP, "Embedding of river")
    scrolled = page.evaluate("scrollY")
    page.finger.move(x, y)
    page.finger.down()
    for pixels in (10, 25, 37):
        page.finger.move(x + pixels, y)
    page.finger.up()
    _, _, after = at_rest(page, TIP, "Embedding of river")
    assert (before, after) == tuple(
        f"Embedding of river, {across}, 0: drag it, or use the arrow keys" for across in (3, 4)
    )
    assert page.evaluate("scrollY") == scrolled
    page.mouse.click(*at_rest(page, UNDO))
    until(page, f"{POINTS}.includes('river, 3, 0')")


# The first figure's planes: how far they reach from the first one's top, and the smallest width.
PLANES = """
() => {
  const boxes = [...document.querySelector("mha-explorer").querySelectorAll(".plane")]
    .filter((plane) => plane.checkVisibility()).map((plane) => plane.getBoundingClientRect());
  const top = Math.min(...boxes.map((box) => box.top));
  return [boxes.length, Math.max(...boxes.map((box) => box.bottom)) - top,
    Math.min(...boxes.map((box) => box.width))];
}
"""


@pytest.mark.parametrize("width", [820, 1100])
def test_the_query_is_dragged_with_the_output_in_sight(engine, width):
    page = engine.open(path("mechanism/self-attention").as_uri(), width=width)
    # The page above may still grow, and moves the figure; its planes get their widths in steps.
    fits = "([number, height, narrowest]) => number > 1 && height < 400 && narrowest > 290"
    until(page, f"(() => {{ {TO_FIGURE}; return ({fits})(({PLANES})()) }})()")
    number, height, narrowest = at_rest(page, PLANES)
    assert (number > 1, height < 400, narrowest > 290) == (True, True, True)


# Buttons with a word that are narrower than a finger needs.
NARROW = """
[...document.querySelectorAll("article button, article a.word, article .words button")]
  .filter((button) => button.checkVisibility() && button.textContent.trim())
  .map((button) => [button.textContent.trim(), button.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.width < 24 || box.height < 24)).map(([word]) => word)
"""
SMALL_LETTERS = """
[...document.querySelectorAll("article math mn, article math mi, article sub, article sup")]
  .filter((letters) => letters.checkVisibility() && letters.textContent.trim())
  .map((letters) => parseFloat(getComputedStyle(letters).fontSize)).filter((size) => size < 11)
"""


@pytest.mark.parametrize(
    ("name", "more_than"), [("mechanism/softmax", 12), ("transformer/small-model", 40)]
)
def test_word_buttons_and_indices_are_large_enough_on_a_phone(engine, name, more_than):
    page = engine.open(path(name).as_uri(), width=390)
    page.evaluate(TO_FIGURE if name == "mechanism/softmax" else BEGIN)
    until(page, f"document.querySelectorAll('article button').length > {more_than}")
    assert at_rest(page, NARROW) == []
    assert page.evaluate(SMALL_LETTERS) == []


@pytest.mark.parametrize("name", ["mechanism/self-attention", "transformer/small-model"])
def test_paper_has_filled_bars_whole_labels_and_no_buttons(engine, address, name):
    page = engine.open(f"{address}{name}.html")
    open_every_fold(page)
    page.evaluate(BEGIN)
    until(page, "document.querySelector('article svg text')")
    with engine.on_paper():
        until(page, "!document.querySelector('.bd-header-article').checkVisibility()")
        assert [page.evaluate(wrong) for wrong in (ON_PAPER, EMPTY_BARS, HALOS)] == [[], [], []]


# Labels of regular weight: in Firefox's PDF the bold glyphs have no Unicode map.
PLAIN_LABELS = """[...document.querySelectorAll("mha-explorer .plane:not([hidden]) text")]
  .filter((e) => e.checkVisibility() && Number(getComputedStyle(e).fontWeight) < 600)
  .filter((e) => getComputedStyle(e).fontStyle === "normal").map((e) => e.textContent)"""


def test_firefox_prints_the_labels_of_planes_and_the_whole_strip(in_firefox, address, tmp_path):
    page = in_firefox.open(f"{address}mechanism/what-attention-does.html")
    page.evaluate(BEGIN)
    until(page, "document.querySelector('mha-explorer .plane text')")
    labels = page.evaluate(PLAIN_LABELS)
    assert {"river (3, 3)", "bank (2, 0)", "−1"} <= set(labels)
    page.pdf(path=tmp_path / "page.pdf")
    printed = printed_book.poppler("pdftotext", "-layout", tmp_path / "page.pdf", "-")
    strip = printed[printed.index("query of bank") : printed.index("First come the arrows")]
    assert [label for label in labels if label not in printed] == []
    assert re.search(r"bank +q +1 +0", strip)
    assert printed.count("Token") == 3  # above the labels of the queries, the keys and the values


# Tables that are widened to their captions, and captions wider than the box that scrolls the table.
BY_THEIR_CAPTIONS = """
() => [...document.querySelectorAll("table.numbers:not(.words) > caption")].filter((caption) => {
  const box = caption.closest(".pst-scrollable-table-container");
  if (!box || !caption.checkVisibility() || caption.closest(".stage-part")) return false;
  const rows = caption.parentElement.tBodies[0];
  const width = rows.getBoundingClientRect().width;
  const [length, room] = [caption.getBoundingClientRect().width, box.getBoundingClientRect().width];
  caption.style.display = "none";
  const alone = rows.getBoundingClientRect().width;
  caption.style.display = "";
  return width > alone + 1 || length > room + 1;
}).map((caption) => caption.textContent)
"""


@pytest.mark.parametrize("width", [390, 1200, 1280])
def test_a_caption_is_no_wider_than_the_text_and_widens_no_table(engine, width):
    page = engine.open(path("mechanism/multi-head-attention").as_uri(), width=width)
    assert page.evaluate("document.querySelectorAll('table.numbers > caption').length") > 5
    assert page.evaluate(BY_THEIR_CAPTIONS) == []


def test_scroll_bars_of_a_dark_page_are_dark(in_firefox):
    page = in_firefox.open(path("mechanism/multi-head-attention").as_uri(), width=390, theme="dark")
    colours = page.evaluate(
        "getComputedStyle(document.querySelector('.math-scroll')).scrollbarColor"
    )
    assert all(int(part) < 140 for part in re.findall(r"\d+", colours)), colours
    assert colours != "auto"
