"""Response times of the interactive figures on built pages.

Each row of `bench_explorer.js` is a figure on its page of the built book (scripts/build.py first).
Chromium opens the page and changes the figure sixty times, once per frame. `update` is the elapsed
time from a change to the end of style and layout, with the processor slowed down as asked; it needs
a quiet machine. `shown` is the processor time of the page's thread from the start of a figure, with
its scripts loaded, to the first frame that reacts, including painting and compilation that the
browser had not done before. It is measured at full speed and multiplied by the slowdown. Other
programs lengthen it by half at most. Needs the packages and the Chromium that scripts/test.py
installs.
"""

import os
import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from mha.command_line import Parser

BOOK = Path(__file__).resolve().parent.parent / "_build" / "html"
SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
Row = dict[str, str]  # an instrument, and how it is moved, as the script has it


def threads_time(client: CDPSession) -> float:
    """Return the processor time of the page's thread, in milliseconds."""
    metrics = client.send("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def open_page(browser: Browser, row: Row, *, still: bool = False) -> tuple[Page, CDPSession]:
    """Return a page, and a client for the browser's time measurements."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(SCRIPT + "bench.still();" * still)
    if still:  # live numbers of the page would start their figure
        page.route("**/tied.js*", lambda route: route.abort())
    page.goto((BOOK / f"{row['page']}.html").as_uri())
    page.wait_for_timeout(500)
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    return page, client


def time_to_show(browser: Browser, row: Row) -> float:
    """Return the processor time that the page's thread needs to show a figure."""
    page, client = open_page(browser, row, still=True)
    page.evaluate("row => bench.load(row)", row)
    before = threads_time(client)
    page.evaluate("row => bench.build(row)", row)
    time = threads_time(client) - before
    page.close()
    return time


def time_to_update(browser: Browser, row: Row, slow: int) -> float:
    """Return the median time from a change to layout, with the processor slowed down."""
    page, client = open_page(browser, row)
    page.evaluate("row => bench.prepare(row)", row)
    page.evaluate("row => bench.move(row)", row)  # to warm up
    client.send("Emulation.setCPUThrottlingRate", {"rate": slow})
    times: list[float] = page.evaluate("row => bench.move(row)", row)
    page.close()
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    parser = Parser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--throttle", type=int, nargs="+", default=[1, 4], metavar="X",
        help="how many times slower the processor is made (default: 1 4)")  # fmt: skip
    parser.add_argument("--only", default="", metavar="TEXT",
        help="measure only rows whose name has this text")  # fmt: skip
    arguments = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        sys.exit("error: Chromium is missing; name one in CHROMIUM")
    line = "{:>36}  {:>4}" + 2 * "  {:>8}"
    print(line.format("milliseconds", "slow", "update", "shown"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.evaluate(SCRIPT)
        rows: list[Row] = page.evaluate("bench.rows")
        time_to_show(browser, rows[0])  # a browser that has just begun takes its time
        for row in rows:
            name = f"{row['page'].partition('/')[2]}: {row['what']}"
            if arguments.only not in name:
                continue
            for slow in arguments.throttle:
                times = time_to_update(browser, row, slow), slow * time_to_show(browser, row)
                print(line.format(name, f"{slow}x", *(f"{n:.1f}" for n in times)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
