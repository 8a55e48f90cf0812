"""Checks that hold for every page of the built book: weight, length, legibility and layout."""

import gzip
import re
import time
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from book_site import soup, until
from strips import sums_hold

WEIGHT_KIB = 320  # of a page as first opened, compressed, with fonts
LANDING_KIB = 210
LOOK_KIB = 170  # fonts and style sheets alone
MOST_ELEMENTS = 7000
LONGEST, LONGEST_CHAPTER = 25_000, 18_000
"""The largest height in pixels of any page, and of a teaching page, at a width of 1280."""

# Builds the figures that a page builds only when a reader scrolls to them.
BEGIN = """
() => Promise.all([...document.querySelectorAll("mha-explorer, mha-instrument")]
  .map((figure) => figure.begin())).then(() => {})
"""

OPEN_BLOCKS = """[...document.querySelectorAll('article div.highlight')]
    .filter(e => e.checkVisibility() && !e.closest('.cell_output')).length"""
SECTIONS = """[...document.querySelectorAll("article > section > section")].map((section) =>
    [section.querySelector("h2").innerText, section.querySelectorAll("*").length,
     section.offsetHeight])"""
LINES = "document.querySelector('article').innerText.split('\\n').map(line => line.trim())"

# Texts below 12 pixels, also indices and exponents.
SMALL = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement;
    const skipped = "script, style, noscript, .reading-unseen, dialog:not([open])";
    if (!text.data.trim() || element.closest(skipped) || !element.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    if (range.getBoundingClientRect().width < 2) continue;  // for those who listen
    const drawn = element.closest("svg") && element.getScreenCTM();
    const scale = drawn ? Math.hypot(drawn.a, drawn.b) : 1;  // of a turned word, too
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (size < 11.99) found.push(`${size} ${text.data.trim().slice(0, 40)}`);
  }
  return found;
}"""

# Targets below 24 by 24 pixels (WCAG 2.2, 2.5.8). A target in a line of text, or inside a larger
# label, may be smaller.
SMALL_TARGETS = """() => [...document.querySelectorAll(
    "button, input, select, textarea, summary, [role=slider], [role=button], label:has(input)")]
  .filter((e) => e.checkVisibility({ visibilityProperty: true }))
  .filter((e) => !e.closest("dialog:not([open])"))
  .filter((e) => !e.closest("p, figcaption, caption, h1, h2, h3") || !e.matches("button"))
  .map((e) => [e, e.getBoundingClientRect(), e.closest("label")?.getBoundingClientRect()])
  .filter(([, box]) => box.width > 1 && box.height > 1)
  .filter(([e, box, label]) => [box, label]
    .every((one) => !one || one.width < 23.9 || one.height < 23.9))
  .map(([e, box]) => `${box.width} by ${box.height}: ${e.outerHTML.slice(0, 90)}`)"""

NAMELESS = """() => [...document.querySelectorAll("th")]
  .filter((e) => !e.textContent.trim() && !e.getAttribute("aria-label"))
  .map((e) => e.closest("table").textContent.trim().slice(0, 60))"""

# Texts that cross the edge of their drawing, and pairs of texts that overlap. The box of a text is
# rotated with it, and as high as its letters, without the room for accents.
MEETING = """() => [...document.querySelectorAll(".drawing > svg")].flatMap((svg) => {
  const whole = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll("text")]
    .filter((text) => text.checkVisibility() && text.textContent.trim()
      && text.getBoundingClientRect().width > 0)  // a hidden layout has no boxes
    .map((text) => {
      const { x, y, width, height } = text.getBBox();
      const half = 0.42 * parseFloat(getComputedStyle(text).fontSize);
      const [top, bottom] = [y + height / 2 - half, y + height / 2 + half];
      const corners = [[x, top], [x + width, top], [x + width, bottom], [x, bottom]];
      const matrix = text.getScreenCTM();
      return { text: text.textContent, corners: corners.map((corner) => {
        const point = new DOMPoint(...corner).matrixTransform(matrix);
        return [point.x, point.y];
      }) };
    });
  const out = words.filter(({ corners }) => corners.some(([x, y]) => x < whole.left - 1.5
    || x > whole.right + 1 || y < whole.top - 1 || y > whole.bottom + 1)).map(({ text }) => text);
  // Two boxes are disjoint if their projections on a side of one of them are.
  const sides = ([a, b, c]) => [[a, b], [b, c]].map(([from, to]) => {
    const [x, y] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(x, y);
    return [x / length, y / length];
  });
  const shared = (one, other) => Math.min(...[...sides(one), ...sides(other)].map(([x, y]) => {
    const [a, b] = [one, other].map((corners) => corners.map(([i, j]) => i * x + j * y));
    return Math.min(Math.max(...a), Math.max(...b)) - Math.max(Math.min(...a), Math.min(...b));
  }));
  const meet = words.flatMap((one, i) => words.slice(i + 1)
    .filter((other) => shared(one.corners, other.corners) > 1)
    .map((other) => `${one.text} | ${other.text}`));
  return [...out, ...meet];
})"""

# The labels of points in the planes of drawings, and whether each is nearer to its own point than
# to other points and ticks. A point is a dot or an arrow's tip, drawn just before its label.
LABELS = """() => [...document.querySelectorAll(".drawing > svg")].flatMap((svg) => {
  const at = (e, x, y) => {
    const point = new DOMPoint(Number(x), Number(y)).matrixTransform(e.getScreenCTM());
    return [point.x, point.y];
  };
  const end = (e) => e.localName === "circle"
    ? at(e, e.getAttribute("cx"), e.getAttribute("cy"))
    : at(e, ...e.getAttribute("d").match(/-?[\\d.]+/g));
  const labels = [...svg.querySelectorAll("text.f-token")]
    .filter((text) => text.getBoundingClientRect().width > 0
    && text.previousElementSibling?.matches("circle, path:is(.f-ink, .f-head, .f-key)"));
  const ticks = [...svg.querySelectorAll("[data-axis] path")]
    .filter((e) => e.getClientRects().length);
  const dots = labels.map((text) => text.previousElementSibling);
  const points = [...dots, ...ticks].map(end);
  return labels.map((text, i) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const distance = ([x, y]) => Math.hypot(Math.max(left - x, 0, x - right),
      Math.max(top - y, 0, y - bottom));
    const [own, ...others] = [points[i], ...points.filter((_, other) => other !== i)].map(distance);
    return [text.textContent, own <= Math.min(...others) + 0.5];
  });
})"""

# The distance by which visible figures and explorers of full width extend beyond the text.
FULL_MEASURE = """() => {
  const text = document.querySelector(".bd-article h1").getBoundingClientRect().right;
  return [...document.querySelectorAll(".cell.tag_full-width figure:has(> .drawing), mha-explorer")]
    .filter((e) => e.checkVisibility())
    .map((e) => e.getBoundingClientRect().right - text);
}"""

# The largest horizontal distance of the decimal points in each column of a block's table.
POINTS = """() => [...document.querySelectorAll(".stage-block table")].flatMap((table) => {
  const columns = [];
  const own = ".//text()[contains(., '.') and not(ancestor::*[contains(@class, 'printed')])]";
  for (const cell of table.querySelectorAll("tbody td")) {
    const found = document.evaluate(own, cell, null, XPathResult.FIRST_ORDERED_NODE_TYPE);
    const text = found.singleNodeValue;
    if (!text) continue;
    const range = document.createRange();
    range.setStart(text, text.data.indexOf("."));
    range.setEnd(text, text.data.indexOf(".") + 1);
    (columns[cell.cellIndex] ??= []).push(range.getBoundingClientRect().left);
  }
  return columns.filter(Boolean).map((points) => Math.max(...points) - Math.min(...points));
})"""

# The vertical distance of row labels from the line of their numbers.
OFF_THE_LINE = """rows => rows.filter((row) => row.checkVisibility()).map((row) => {
  const [label, number] = ["th", "td"].map((cell) => {
    const texts = document.createTreeWalker(row.querySelector(cell), NodeFilter.SHOW_TEXT);
    while (texts.nextNode() && !texts.currentNode.data.trim());
    const mark = document.createElement("span");
    mark.style.display = "inline-block";
    texts.currentNode.parentElement.insertBefore(mark, texts.currentNode);
    const line = mark.getBoundingClientRect().bottom;
    mark.remove();
    return line;
  });
  return Math.abs(label - number);
})"""

GAPS = """all => all.filter((e) => e.checkVisibility()).map((e) => {
  const below = e.nextElementSibling?.getBoundingClientRect();
  return below ? below.top - e.getBoundingClientRect().bottom : 99;
})"""

# Elements that still scroll sideways on a wide screen, where they may extend into the margin.
CUT = """(what) => [...document.querySelectorAll(`.bd-article :is(${what})`)]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .filter((e) => !e.closest(".admonition"))
  .map((e) => e.textContent.trim().slice(0, 40))"""
TABLES, OPEN_CODE = ".pst-scrollable-table-container", "pre:not(details.code-fold *)"
CODE = "div.highlight pre"

# Controls on paper. A button without words and without a frame prints as the number or the drawing
# inside it. The named controls show data: words, typed texts and maps.
ON_PAPER = """() => [...document.querySelectorAll(
    "article :is(button, select, input, [role=slider])")]
  .filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .filter((e) => e.getBoundingClientRect().width > 1)
  .filter((e) => !e.matches("button") || /\\p{L}{2}/u.test(e.textContent)
    || getComputedStyle(e).borderTopStyle !== "none")
  .filter((e) => !e.matches(".model-word, [type=text], [type=number], .model-map"))
  .filter((e) => !e.matches(".learning-blocks, .own-word, .bugs-choice"))
  .filter((e) => !e.closest("mha-quiz, table, .model-next, .width-bars, .heads, .bugs, .pencil"))
  .map((e) => e.outerHTML.slice(0, 90))"""

# Bars whose fill would not be printed.
EMPTY_BARS = """() => [...document.querySelectorAll("article *")].filter((e) => e.checkVisibility())
  .filter((e) => getComputedStyle(e).backgroundImage.includes("gradient")
    && getComputedStyle(e).printColorAdjust !== "exact").map((e) => e.outerHTML.slice(0, 90))"""

HALOS = """() => [...document.querySelectorAll("article svg text")]
  .filter((e) => e.checkVisibility())
  .filter((e) => getComputedStyle(e).stroke !== "none").map((e) => e.textContent)"""

WIDE_BLOCK = ".stage-block.full-width:not(details *, .admonition *)"  # folds have their own edge


def nothing_is_cut_but_what_scrolls(page):
    cut = page.evaluate(
        """() => [...document.querySelectorAll("article *, .bd-header-article *")].filter((e) => {
             const box = e.getBoundingClientRect();
             if (!box.width || box.right <= 391 || e.closest(".reading-unseen")) return false;
             if (!e.checkVisibility()) return false;
             for (let up = e.parentElement; up; up = up.parentElement) {
               if (/auto|scroll/.test(getComputedStyle(up).overflowX)) return false;
               if (getComputedStyle(up).clipPath !== "none") return false;
             }
             return true;
           }).map((e) => e.outerHTML.slice(0, 120))"""
    )
    assert cut == [], cut[:3]


def build_explorers(page):
    """Build every explorer of a page, and wait until all have loaded."""
    page.evaluate(
        "Promise.all([...document.querySelectorAll('mha-explorer')].map((e) => e.begin()))"
        ".then(() => {})"
    )
    until(page, "document.querySelector('mha-explorer:not(.live)') === null")
    until(
        page,
        "[...document.querySelectorAll('mha-explorer, mha-instrument')]"
        ".every((e) => e.isSettled !== false)",
    )


def text_of_twice_the_size_widens_nothing(page):
    """Double the font size on a phone-sized page with its explorers built, and reset it."""
    build_explorers(page)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    nothing_is_cut_but_what_scrolls(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("document.documentElement.style.fontSize = ''")


def is_light_and_not_long(page, name):
    page.evaluate("document.fonts.ready")
    assert not [url for url in page.requests if re.search("fontawesome|fa-solid|bootstrap", url)]
    whole, look = sizes_in_kib(page.requests)
    assert look <= LOOK_KIB
    assert whole <= (LANDING_KIB if name == "index" else WEIGHT_KIB)
    elements = page.evaluate("document.querySelectorAll('*').length")
    told = f"book/{name}.md: {elements} elements; at most {MOST_ELEMENTS} are wanted"
    assert elements <= MOST_ELEMENTS, f"{told}; {largest_sections(page, 1)}"
    teaches = name.startswith(("mechanism/", "examples/", "transformer/"))
    height = page.evaluate("document.documentElement.scrollHeight")
    highest = LONGEST_CHAPTER if teaches else LONGEST
    told = f"book/{name}.md: {height} pixels high; at most {highest} are wanted"
    assert height <= highest, f"{told}; {largest_sections(page, 2)}"


def largest_sections(page, measure):
    """Return the three largest sections: by elements if `measure` is 1, by height if it is 2."""
    sections = sorted(page.evaluate(SECTIONS), key=lambda section: -section[measure])
    return "largest: " + ", ".join(f"{one[0]} ({one[measure]})" for one in sections[:3])


def the_sums_of_its_strips_hold(page, name):
    """Build each explorer, and check every sum in its strip."""
    build_explorers(page)
    # That of an example of one's own is made on the page.
    strips = page.locator("mha-explorer:not(mha-instrument *) .strip").count()
    widths = page.locator("mha-explorer .width-bars").count()  # its sums are no one query's
    assert strips + widths == len(soup(name).select("mha-explorer .before table"))
    assert len(sums_hold(page)) >= 2 * strips


def its_code_is_folded_and_its_assertions_too(page, name):
    assert [line for line in page.evaluate(LINES) if line.startswith("assert ")] == []
    if not name.startswith("reference/"):  # there each name has its example
        assert page.evaluate(OPEN_BLOCKS) <= 4


def colour_of(page, name):
    """Return the computed colour of a CSS variable."""
    return page.evaluate(
        """(name) => { const e = document.body.appendChild(document.createElement("i"));
                       e.style.color = `var(${name})`; return getComputedStyle(e).color; }""",
        name,
    )


def open_every_fold(page):
    """Open every fold, and wait until its elements exist."""
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    until(page, "!document.querySelector('details > noscript')")


def finds_nothing(page, search, seconds=10):
    """Assert that a search finds nothing, retrying while a fold's styles load."""
    end = time.monotonic() + seconds
    while found := page.evaluate(search):
        assert time.monotonic() < end, found[:5]
        page.wait_for_timeout(50)


def no_word_is_small_or_covered(page):
    finds_nothing(page, SMALL)
    finds_nothing(page, MEETING)
    assert [label for label, is_nearest in page.evaluate(LABELS) if not is_nearest] == []


def every_target_can_be_hit_and_every_header_has_a_name(page):
    finds_nothing(page, SMALL_TARGETS)
    finds_nothing(page, NAMELESS)


def one_to_three_figures_own_the_full_measure(page):
    beyond = page.evaluate(FULL_MEASURE)
    told = f"{len(beyond)} figures and explorers of full width; 1 to 3 are wanted (tag full-width)"
    assert 1 <= len(beyond) <= 3, told
    assert min(beyond) > 200, "a figure of full width is not wider than the text"


def the_contents_mark_the_open_page_alone(page):
    weights = "all => all.map((e) => getComputedStyle(e).fontWeight)"
    assert page.locator("nav.bd-links li > a").evaluate_all(weights).count("600") == 1
    padding = "all => all.map((e) => parseFloat(getComputedStyle(e).paddingRight))"
    assert max(page.locator("nav.bd-links li > a").evaluate_all(padding)) < 20


def numbers_stand_below_each_other_and_labels_on_their_line(page):
    assert max(page.evaluate(POINTS), default=0) < 1
    rows = page.locator(".bd-article .stage-part tbody tr")
    assert max(rows.evaluate_all(OFF_THE_LINE), default=0) < 0.5


def figures_captions_and_folded_code_keep_their_distance(page, *, beside=".none"):
    """Check the distances. `beside` are figures with text beside them."""
    drawings = page.locator(f".bd-article figure > .drawing:not({beside})")
    assert min(drawings.evaluate_all(GAPS), default=0) >= 0
    padding = "all => all.map((e) => parseFloat(getComputedStyle(e).paddingTop))"
    captions = page.locator(".drawing + figcaption")
    assert min(captions.evaluate_all(padding), default=10) >= 10
    folded = page.locator(".bd-article details.code-fold")
    assert min(folded.evaluate_all(GAPS), default=10) >= 10


def wide_things_use_the_margin(page, name):
    """Check tables, code and blocks on a wide screen, and the captions of narrow tables."""
    code = CODE if name.startswith("examples/") else OPEN_CODE
    assert page.evaluate(CUT, f"{TABLES}, {code}") == []
    text = page.locator("article h1").bounding_box()
    for box in [block.bounding_box() for block in page.locator(WIDE_BLOCK).all()]:
        assert abs(box["x"] - text["x"]) < 1
        assert text["width"] < box["width"] <= 62 * 16
        assert box["x"] + box["width"] <= 1280
    widths = "all => all.map((e) => e.getBoundingClientRect().width)"
    captions = page.locator(".bd-article table.numbers > caption:visible")
    assert min(captions.evaluate_all(widths), default=600) >= 600


def formulas_touch_neither_their_number_nor_each_other(page):
    covered = page.locator("div.math:has(> .eqno):visible").evaluate_all(
        """all => all.filter((box) => {
             const [number, formula] = [".eqno", ".math-scroll"].map((part) =>
               box.querySelector(part).getBoundingClientRect());
             return number.left < formula.right && formula.left < number.right
                 && number.top < formula.bottom && formula.top < number.bottom;
           }).map((box) => box.textContent)"""
    )
    assert covered == []
    boxes = page.locator(".bd-article mfrac:visible").evaluate_all(
        "all => all.map((e) => e.getBoundingClientRect()).map((r) => [r.top, r.bottom])"
    )
    gaps = [b[0] - a[1] for a in boxes for b in boxes if a[1] - 5 < b[0] < a[1] + 20]
    assert min(gaps, default=3) > 2


def only_what_scrolls_is_a_tab_stop(page):
    boxes = page.locator(".math-scroll, .drawing, .stage-part .pst-scrollable-table-container")
    wrong = boxes.evaluate_all(
        """all => all.filter((e) => (e.scrollWidth > e.clientWidth) !== (e.tabIndex === 0))
             .map((e) => e.outerHTML.slice(0, 90))"""
    )
    assert wrong == []


def is_as_wide_as_the_screen(page, sizes):
    """Assert that nothing is wider than the screen, at each width in pixels and size of letters."""
    for width, size in sizes:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(f"document.documentElement.style.fontSize = '{size}%'")
        excess = page.evaluate("document.documentElement.scrollWidth") - width
        assert excess <= 0, f"{excess} px too wide at {width} px with letters of {size} %"
    page.evaluate("document.documentElement.style.fontSize = ''")


@cache
def compressed(file):
    """Return a file's bytes as a server sends them. Fonts are already compressed."""
    data = file.read_bytes()
    return len(data if file.suffix == ".woff2" else gzip.compress(data, 9, mtime=0))


def sizes_in_kib(requests):
    """Return the size in KiB of all requested files, and of the styles and fonts alone."""
    files = {unquote(urlsplit(url).path) for url in requests if url.startswith("file:")}
    weights = {file: compressed(Path(file)) / 1024 for file in files}
    look = (weight for file, weight in weights.items() if file.endswith((".css", ".woff2")))
    return sum(weights.values()), sum(look)
