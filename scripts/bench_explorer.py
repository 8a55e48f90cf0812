"""Measure how fast all that follows a movement is there, and how fast an instrument is built.

Each row opens an instrument on its page of the built book (scripts/build.py first) in Chromium, and
moves it sixty times, a frame each: a number of a strip or of a sentence, a tip, a slider. `update`
is from a movement until style and layout are done, by the clock, with the processor slowed down as
asked: it wants a quiet machine. `shown` is what the page's thread does from the beginning of an
instrument on a fresh page, its scripts loaded, to the frame that shows what is seen first and
answers, painting included, and compiling but for what the browser did of it while the scripts
loaded; `built`, until nothing of it waits for a slice. These two are the thread's own processor
time, unslowed, times as much: other programs on the machine lengthen them too, but by a half at
most. Needs the project's environment and a Chromium.
"""

import os
import shutil
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from mha.command_line import Parser

BOOK = Path(__file__).resolve().parent.parent / "_build" / "html"
SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
REPEAT = 60  # movements


class Row(NamedTuple):
    """An instrument of the book, and how it is moved."""

    page: str
    selector: str  # of the instrument on its page
    what: str  # is moved
    change: str  # these two are names of `bench_explorer.js`
    before: str = ""
    seen: str = ""  # a selector of what of it is on the screen

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.page.partition('/')[2]}: {self.what}"

    @property
    def address(self) -> str:
        """Where the browser finds the page."""
        return (BOOK / f"{self.page}.html").as_uri()


def strip(page: str, selector: str, what: str = "a number") -> Row:
    """Return the row of a number in the strip of an explorer."""
    return Row(page, selector, what, "field", seen=".strip")


def prose(page: str, selector: str) -> Row:
    """Return the row of a number in a sentence."""
    return Row(page, selector, "in prose", "scrub", "toProse")


def instrument(page: str, kind: str, what: str, change: str, before: str = "") -> Row:
    """Return the row of the one instrument of its kind on a page."""
    return Row(page, f"mha-instrument.of-{kind}", what, change, before)


SELF, HEADS = "mechanism/self-attention", "mechanism/multi-head-attention"
RIVER_BANK = "#explore-river-bank-scaled"
ROWS = (
    strip(SELF, RIVER_BANK),
    Row(SELF, RIVER_BANK, "a tip", "tip"),
    Row(SELF, RIVER_BANK, "a pull", "pull"),
    strip(SELF, "#explore-cat-sat", "cat sat"),
    Row("mechanism/what-attention-does", "#explore-river-bank", "a tip", "tip"),
    prose("mechanism/what-attention-does", "#explore-river-bank"),
    strip(HEADS, "#explore-it-tired"),
    prose(HEADS, "#explore-it-tired"),
    Row("mechanism/scaling", "#explore-width", "a width", "slider"),
    Row("mechanism/softmax", "#explore-river-bank", "temperature", "slider"),
    strip("examples/cat-sat", "#explore-cat-sat"),
    strip("examples/cat-sat-on-it", "#explore-cat-sat-on-it"),
    Row("examples/cat-sat-on-it", "#explore-cat-sat-on-it", "in steps", "field", "inSteps"),
    instrument("examples/work-your-own", "own", "a slider", "ownSlider"),
    instrument("examples/work-your-own", "own", "a seed", "draw"),
    instrument("transformer/depth", "letters", "a letter", "letter"),
    strip("transformer/depth", "#explore-it-tired-block"),
    prose("transformer/depth", "#explore-it-tired-block"),
    Row("transformer/order", "#explore-cat-sat-turned", "the dial", "tip"),
    instrument("transformer/order", "slope", "the slope", "slider"),
    instrument("transformer/decoding", "cache", "a step", "write"),
    instrument("transformer/cost", "cost", "tokens", "cost"),
    instrument("transformer/cost", "tiles", "a number", "edit"),
    instrument("transformer/since-2023", "sheet", "a number", "given"),
    instrument("transformer/real-heads", "heads", "another head", "choose"),
    instrument("transformer/learning", "learning", "a step", "step", "trained"),
    instrument("transformer/bugs", "bugs", "a program", "try"),
    instrument("transformer/your-own-attention", "layer", "a query", "query"),
    instrument("sources/what-the-sources-print", "pencil", "a row", "pencil"),
)


def threads_time(client: CDPSession) -> float:
    """Return for how many milliseconds the page's thread has been at work."""
    metrics = client.send("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def opened(browser: Browser, row: Row, *, still: bool = False) -> tuple[Page, CDPSession]:
    """Return a page, and what asks for times."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(SCRIPT + "mhaBench.still();" * still)
    if still:  # a page's numbers, which may come at once, would begin what they are of
        page.route("**/tied.js", lambda route: route.abort())
    page.goto(row.address)
    page.wait_for_timeout(500)
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    return page, client


def built(browser: Browser, row: Row) -> tuple[float, float]:
    """Return what the page's thread does to show an instrument, and to build all of it."""
    page, client = opened(browser, row, still=True)
    page.evaluate("selector => mhaBench.load(selector)", row.selector)
    before = threads_time(client)
    page.evaluate("selector => mhaBench.build(selector)", row.selector)
    shown = threads_time(client) - before
    page.evaluate("() => mhaBench.settle()")
    whole = threads_time(client) - before
    page.close()
    return shown, whole


def moved(browser: Browser, row: Row, slow: int) -> float:
    """Return the time from a movement to layout, slowed down: the median of many."""
    page, client = opened(browser, row)
    page.evaluate("given => mhaBench.prepare(...given)", [row.selector, row.seen, row.before])
    movement = ("given => mhaBench.move(...given)", [row.selector, row.change, REPEAT])
    page.evaluate(*movement)  # to warm up
    client.send("Emulation.setCPUThrottlingRate", {"rate": slow})
    times: list[float] = page.evaluate(*movement)
    page.close()
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    parser = Parser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--throttle", type=int, nargs="+", default=[1, 4], metavar="X",
        help="how many times slower the processor is made (default: 1 4)")  # fmt: skip
    parser.add_argument("--only", default="", metavar="TEXT",
        help="measure only rows whose name has this text")  # fmt: skip
    asked = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        sys.exit("error: Chromium is missing; name one in CHROMIUM")
    line = "{:>36}  {:>4}" + 3 * "  {:>8}"
    print(line.format("milliseconds", "slow", "update", "shown", "built"))
    wanted = [row for row in ROWS if asked.only in row.name]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for row in wanted[:1]:  # a browser that has just begun takes its time
            built(browser, row)
        for row in wanted:
            for slow in asked.throttle:
                times = moved(browser, row, slow), *(slow * ms for ms in built(browser, row))
                print(line.format(row.name, f"{slow}x", *(f"{n:.1f}" for n in times)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
