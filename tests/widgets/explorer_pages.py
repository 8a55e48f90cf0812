"""Pages with an explorer or an instrument, and the actions of a reader on an explorer.

The pages are written here, and opened as files with the book's own scripts.
"""

import json
from functools import cache

from book_site import advance_clock

from mha import load_example, trace
from mha.audit.judging import Prints
from mha.runs.rounding import shown
from mha.widgets.assets import files_of
from mha.widgets.explorer import explorer
from mha.widgets.frame import INITIAL_BUNDLES

STYLE = """
html { font-size: 16px; }
body {
  margin: 0; font-family: var(--font-interface); line-height: 1.5;
  background: var(--paper); color: var(--ink);
}
main { max-width: 992px; margin: auto; padding: 0 1rem; }
html[data-theme="light"] { color-scheme: light; }
html[data-theme="dark"] { color-scheme: dark; }
"""

PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Explorer</title>
<style>{style}</style>{links}
<script>
window.shift = 0;
// A fold moves what follows it and nothing else, also where a busy machine takes longer for it than
// the half second after a click in which the browser leaves out every shift.
const follows = ({{ node }}) => [...document.querySelectorAll("details[open]")]
  .some((fold) => fold.compareDocumentPosition(node ?? fold) === Node.DOCUMENT_POSITION_FOLLOWING);
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {{
  const isOfAFold = entry.sources.length > 0 && entry.sources.every(follows);
  const isOurs = entry.startTime >= window.begun;  // false for what the fonts have moved
  if (isOurs && !entry.hadRecentInput && !isOfAFold) window.shift += entry.value;
}})).observe({{ type: "layout-shift", buffered: true }});
const place = () => document.querySelector("#after").getBoundingClientRect().top;
// The page stands, in its fonts, before a script of the explorer comes: so one can see what moves.
const drawn = () => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)));
addEventListener("DOMContentLoaded", async () => {{
  await Promise.allSettled([...document.fonts].map((font) => font.load()));
  await drawn();
  window.placeAtFirst = place();
  window.begun = performance.now();
  document.head.append(...{scripts}.map((src) =>
    Object.assign(document.createElement("script"), {{ src, async: false }})));
  document.head.lastChild.onload = () => {{ document.documentElement.dataset.run = ""; }};
}});
</script></head>
<body><main><h1>A chapter</h1><p id="before">Before.</p><h2>Explore</h2>
{body}
<h2 id="after">After</h2><p>Text that follows.</p></main></body></html>
"""


def page_html(body, static, theme="light"):
    """Return the HTML of a page that loads the published scripts as a page of the book does."""
    names = ["loader.js", *files_of(*INITIAL_BUNDLES["mha-instrument"])]
    scripts = json.dumps([f"{static}/{name}" for name in names])
    names = ("tokens.css", "fonts.css", "heads.css", "explorer.css")
    links = "".join(f'<link rel="stylesheet" href="{static}/{name}">' for name in names)
    return PAGE.format(theme=theme, style=STYLE, links=links, body=body, scripts=scripts)


# The clipboard's answer to a copy: "resolve" or "reject".
CLIPBOARD = """answer => Object.defineProperty(navigator, "clipboard", { configurable: true,
  value: { writeText: (text) => { window.copied = text; return Promise[answer](); } } })"""


@cache
def example_explorer(name):
    """Return the run of an example, and its explorer with the numbers that the source prints."""
    run = trace(load_example(name))
    return run, explorer(run, prints=Prints(name)).html


class View:
    """An explorer on its own page, opened as a file."""

    def __init__(self, page, run, file, *, runs_scripts):
        self.page, self.run, self.file, self.runs_scripts = page, run, file, runs_scripts
        self.requests, self.errors = [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)

    def go(self, address=""):
        self.page.goto(self.file.as_uri() + address)
        if self.runs_scripts:
            self.page.locator("html[data-run]").wait_for()
        return self

    def wait_until_live(self):
        """Wait until the strip has replaced the table and shows the state in the address."""
        self.page.locator("mha-explorer.live:not([data-busy])").first.wait_for()
        return self

    def open(self):
        """Open the settings and the table of all numbers."""
        self.wait_until_live()
        for fold in ("settings", "all"):
            self.page.locator(f"details.{fold}:not([open]) > summary").first.click()
        self.page.locator(".panel").first.wait_for()
        self.page.locator(".settings .controls").first.wait_for()
        return self

    def number(self, name):
        """Return a number of the strip by its name."""
        return self.page.locator(".strip").get_by_label(name, exact=True).first

    def numbers(self, stage):
        """Return the texts of a column of the strip."""
        column = self.page.locator(f".key .at-{stage} .number")
        return column.all_text_contents()

    def cell(self, stage, *place):
        """Return the button of a number by its place: head, row and column, or row and column."""
        *head, row, column = place
        table = f'table[data-stage="{stage}"]' + (f'[data-head="{head[0]}"]' if head else "")
        row, column = row + 1, column + 1
        return self.page.locator(
            f"{table} tbody tr:nth-child({row}) td:nth-of-type({column}) .cell"
        )

    def settle(self):
        """Wait until the elements outside the window and the status message are updated."""
        self.page.wait_for_function("!document.querySelector('.body.following, [data-busy]')")

    def texts(self, stage):
        """Return the texts of a stage's cells, head after head, whether visible or not."""
        self.settle()
        return self.page.locator(f'table[data-stage="{stage}"] .cell').all_text_contents()

    def assert_shows(self, run, stages=("weights", "head_outputs", "concat", "output")):
        """Assert that the page shows the numbers of a run."""
        for stage in stages:
            array = getattr(run, stage)
            if array is not None:
                places = 2 if stage == "weights" else 4
                assert self.texts(stage) == [shown(float(x), places) for x in array.flat], stage

    def control(self, label):
        """Return a field, switch or choice by its label."""
        return self.page.get_by_label(label, exact=True).and_(self.page.locator("input"))

    def choose(self, label):
        self.control(label).click()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self):
        return self.page.evaluate("document.activeElement.getAttribute('aria-label')")

    @property
    def state(self):
        return self.page.evaluate("document.querySelector('mha-explorer').explorer.state")

    @property
    def status(self):
        self.settle()
        return self.page.locator("[role=status]").inner_text()

    def tables(self):
        """Return the texts of all tables, without those of the maps that are not selected."""
        self.settle()
        return self.page.locator("mha-explorer").evaluate(
            "e => { const map = e.querySelector('.body').dataset.map;"
            " return [...e.querySelectorAll('table')].filter((table) =>"
            " (table.closest('.map')?.dataset.map ?? map) === map).map((t) => t.textContent); }"
        )

    @property
    def panel(self):
        return self.page.locator(".panel").inner_text()

    def settled_url(self):
        advance_clock(self.page, 350)
        return self.page.url


def reopen(page, address):
    """Open the page of an instrument again, at another address."""
    file = page.url.partition("#")[0]
    page.goto("about:blank")
    page.goto(file + address)
    page.locator("mha-instrument.live").wait_for()
