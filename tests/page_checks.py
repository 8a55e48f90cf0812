"""What holds of any page of the built book as it is opened: how heavy, long and legible it is."""

import gzip
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from book_site import soup, until
from explorer_pages import sums_hold

WEIGHT_KIB = 320  # of a page as first opened, compressed, with fonts
LANDING_KIB = 206
LOOK_KIB = 170  # fonts and style sheets alone
MOST_ELEMENTS = 7000
LONGEST, LONGEST_CHAPTER = 25_000, 18_000
"""How many pixels any page, and a page that teaches, may be high at 1280 as first opened."""

OPEN_BLOCKS = """[...document.querySelectorAll('article div.highlight')]
    .filter(e => e.checkVisibility() && !e.closest('.cell_output')).length"""
LINES = "document.querySelector('article').innerText.split('\\n').map(line => line.trim())"

# Texts below 12 pixels. Indices and exponents of mathematics are small by their nature.
SMALL = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement;
    const skipped = "math, script, style, noscript, .reading-unseen, dialog:not([open])";
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

# Words of a drawing that leave it, and pairs of words of which one covers the other. A turned word
# has a box of another kind.
MEETING = """() => [...document.querySelectorAll(".drawing > svg")].flatMap((svg) => {
  const whole = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll("text:not([transform])")]
    .filter((text) => text.checkVisibility() && text.textContent.trim())
    .map((text) => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0);
  const out = words.filter(([, box]) => box.left < whole.left - 1.5 || box.right > whole.right + 1
    || box.top < whole.top - 2 || box.bottom > whole.bottom + 4).map(([text]) => text);
  const meet = words.flatMap(([a, one], i) => words.slice(i + 1).filter(([, other]) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 8
  ).map(([b]) => `${a} | ${b}`));
  return [...out, ...meet];
})"""


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
    assert cut == []


def build_explorers(page):
    """Build every explorer of a page; some wait for a script."""
    page.evaluate(
        "Promise.all([...document.querySelectorAll('mha-explorer')].map((e) => e.begin()))"
        ".then(() => {})"
    )
    until(page, "document.querySelector('mha-explorer:not(.live)') === null")
    until(page, "window.mhaExplorer?.isSettled() ?? true")


def text_of_twice_the_size_widens_nothing(page):
    """Enlarge the text of a phone, explorers built, and make it small again."""
    build_explorers(page)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    nothing_is_cut_but_what_scrolls(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("document.documentElement.style.fontSize = ''")


def is_light_and_not_long(page, name):
    page.evaluate("document.fonts.ready")
    assert not [url for url in page.requests if re.search("fontawesome|fa-solid|bootstrap", url)]
    whole, look = kib(page.requests)
    assert look <= LOOK_KIB
    assert whole <= (LANDING_KIB if name == "index" else WEIGHT_KIB)
    elements = page.evaluate("document.querySelectorAll('*').length")
    assert elements <= MOST_ELEMENTS, elements
    teaches = name.startswith(("mechanism/", "examples/", "transformer/"))
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height <= (LONGEST_CHAPTER if teaches else LONGEST), height


def the_sums_of_its_strips_hold(page, name):
    """Build each explorer, and add up what stands above every sum of its strip."""
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


def open_every_fold(page):
    """Open what is folded away, and wait until its elements are there."""
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    until(page, "!document.querySelector('details > noscript')")


def open_code_is_whole(page):
    code = page.locator(".bd-article pre:not(details.code-fold *)")
    cut = code.evaluate_all("all => all.map((e) => e.scrollWidth - e.clientWidth)")
    assert max(cut, default=0) <= 1


def no_word_is_small(page):
    assert page.evaluate(SMALL) == []


def no_word_of_a_drawing_covers_another(page):
    assert page.evaluate(MEETING) == []


@cache
def compressed(file):
    """Return a file's bytes as a server sends them; a font is compressed already."""
    data = file.read_bytes()
    return len(data if file.suffix == ".woff2" else gzip.compress(data, 9, mtime=0))


def kib(requests):
    """Return the weight of what a page asked for: all of it, and its look alone."""
    files = {unquote(urlsplit(url).path) for url in requests if url.startswith("file:")}
    weights = {file: compressed(Path(file)) / 1024 for file in files}
    look = (weight for file, weight in weights.items() if file.endswith((".css", ".woff2")))
    return sum(weights.values()), sum(look)
