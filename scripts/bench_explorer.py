"""Measure how fast all that follows a movement is there, and how fast an instrument is built.

Each row opens one instrument in Chromium, alone or on its page of the built book
(scripts/build.py first), and moves it sixty times, a frame each: a number of a strip or of a
sentence, a tip, a slider. `update` is from a movement until style and layout are done, by the
clock, with the processor slowed down as asked: it wants a quiet machine. `frame` is all that the
page's thread does for a movement, painting included. `shown` is what it does from the beginning of
an instrument on a fresh page, its scripts loaded, to the frame that shows what is seen first and
answers, painting included, and compiling but for what the browser did of it while the scripts
loaded; `built`, until nothing of it waits for a slice.
These three are the thread's own processor time, unslowed, times as much: other programs on the
machine lengthen them too, but by a half at most.
Needs the project's environment and a Chromium.
"""

import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from playwright.sync_api import Browser, CDPSession, Error, sync_playwright

from mha import (
    ModelSizes,
    MultiHeadWeights,
    layer_sizes,
    load_example,
    origin,
    trace,
    trace_layer,
)
from mha.audit.judging import Prints
from mha.command_line import Parser
from mha.runs.places import places
from mha.runs.rounding import shown
from mha.views.arithmetic import written_out
from mha.widgets.assets import ARITHMETIC, BASE, EXPLORER, publish
from mha.widgets.bugs import bugs_game
from mha.widgets.cache import growing_cache
from mha.widgets.cost import cost_calculator
from mha.widgets.explorer import explorer
from mha.widgets.heads import real_heads
from mha.widgets.learning import learning_layer
from mha.widgets.own import work_your_own
from mha.widgets.pencil import red_pencil
from mha.widgets.tiles import moving_tile

EXAMPLE = "cat-sat-on-it-wide"
IN_PROSE = "it-tired"
BOOK = Path(__file__).resolve().parent.parent / "_build" / "html"
SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
REPEAT = 60  # movements

SIZES = ModelSizes(80, layer_sizes(8192, 64, num_groups=8), 28672, 3)


class Row(NamedTuple):
    """An instrument and how it is moved: its HTML, or the name of a page and a selector there.

    What is moved and what is done before are names of `bench_explorer.js`.
    """

    name: str
    made: Any
    change: str
    before: str = ""
    page: str = ""
    seen: str = ""

    @property
    def selector(self) -> str:
        """What finds the instrument on its page."""
        return self.made if self.page else "mha-explorer, mha-instrument"


def on(page: str, selector: str, what: str, change: str, *, seen: str = "") -> Row:
    """Return a row of an instrument on a page of the book; `seen` is what is on the screen."""
    before = "toProse" if change == "scrub" else ""
    return Row(f"{page.partition('/')[2]}: {what}", selector, change, before, page, seen)


PAGES = (
    on(
        "mechanism/self-attention", "#explore-river-bank-scaled", "a number", "field", seen=".strip"
    ),
    on("mechanism/self-attention", "#explore-river-bank-scaled", "a tip", "tip"),
    on("mechanism/self-attention", "#explore-river-bank-scaled", "a pull", "pull"),
    on("mechanism/self-attention", "#explore-cat-sat", "a number", "field"),
    on("mechanism/what-attention-does", "#explore-river-bank", "a tip", "tip"),
    on("mechanism/what-attention-does", "#explore-river-bank", "in prose", "scrub"),
    on("mechanism/multi-head-attention", "#explore-it-tired", "a number", "field", seen=".strip"),
    on("mechanism/multi-head-attention", "#explore-it-tired", "in prose", "scrub"),
    on("mechanism/scaling", "#explore-width", "a width", "slider"),
    on("mechanism/softmax", "#explore-river-bank", "temperature", "slider"),
    on("examples/cat-sat", "#explore-cat-sat", "a number", "field", seen=".strip"),
    on("examples/cat-sat-on-it", "#explore-cat-sat-on-it", "a number", "field", seen=".strip"),
    on("transformer/depth", "mha-instrument.of-letters", "a letter", "letter"),
    on("transformer/depth", "#explore-it-tired-block", "a number", "field", seen=".strip"),
    on("transformer/depth", "#explore-it-tired-block", "in prose", "scrub"),
    on("transformer/order", "#explore-cat-sat-turned", "the dial", "tip"),
    on("transformer/order", "mha-instrument.of-slope", "the slope", "slider"),
    on("transformer/since-2023", "mha-instrument.of-sheet", "a number", "given"),
)

PAGE = """<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">
<style>html {{ --pst-color-text-base: #222; --pst-color-border: #ccc; }}
main {{ width: 700px; margin: auto; }}</style>
<link rel="stylesheet" href="explorer.css">
{scripts}<main>{body}</main></html>"""


def threads_time(client: CDPSession) -> float:
    """Return for how many milliseconds the page's thread has been at work."""
    metrics = client.send("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def opened(browser: Browser, address: str, *, still: bool = False) -> tuple[Any, Any, CDPSession]:
    """Return a page, the frame of its instrument, and what asks for times."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(SCRIPT + "mhaBench.still();" * still)
    if still:  # a page's numbers, which may come at once, would begin what they are of
        page.route("**/tied.js", lambda route: route.abort())
    page.goto(address)
    page.wait_for_timeout(500)
    frame = page.frames[-1]
    try:
        client = page.context.new_cdp_session(frame)  # a notebook's may have a thread of its own
    except Error:
        client = page.context.new_cdp_session(page)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    return page, frame, client


def built(browser: Browser, address: str, selector: str) -> tuple[float, float]:
    """Return what the page's thread does to show an instrument, and to build all of it."""
    page, frame, client = opened(browser, address, still=True)
    frame.evaluate("selector => mhaBench.load(selector)", selector)
    before = threads_time(client)
    frame.evaluate("selector => mhaBench.build(selector)", selector)
    shown = threads_time(client) - before
    frame.evaluate("() => mhaBench.settle()")
    whole = threads_time(client) - before
    page.close()
    return shown, whole


def moved(browser: Browser, address: str, row: Row, slow: int) -> tuple[list[float], float]:
    """Return the times to layout, slowed down, and the thread's for a movement."""
    page, frame, client = opened(browser, address)
    frame.evaluate("given => mhaBench.prepare(...given)", [row.selector, row.seen, row.before])

    def move(change: str) -> tuple[list[float], float]:
        before = threads_time(client)
        given = [row.selector, change, REPEAT]
        times: list[float] = frame.evaluate("given => mhaBench.move(...given)", given)
        return times, (threads_time(client) - before) / REPEAT

    spent = [move(change)[1] for change in (row.change, "nothing", row.change)]  # one warms up
    client.send("Emulation.setCPUThrottlingRate", {"rate": slow})
    times, _ = move(row.change)
    page.close()
    return times, spent[2] - spent[1]


def prose_of(name: str) -> str:
    """Return paragraphs that say numbers and lines of arithmetic of a run, as a page does."""
    run = trace(load_example(name))
    said = []
    for stage in ("scores", "scaled_scores", "exponentials", "weights", "head_outputs"):
        for place in places(run, stage):
            line = str(written_out(origin(run, place))).replace("^", "")
            number = shown(place.value(run))
            said.append(
                f'<p>So <data value="{place}" data-as="line:4" data-of="{name}">{line}</data>, or'
                f' <data value="{place}" data-as="shown:4" data-of="{name}">{number}</data>.</p>'
            )
    return "".join(said)


def large_layer() -> str:
    """Return a large layer as a notebook shows it."""
    rng = np.random.default_rng(1)
    shapes = [(12, 768, 64)] * 3 + [(768, 768)]
    layer = MultiHeadWeights(*(rng.normal(size=shape) / 16 for shape in shapes))
    x = rng.normal(size=(40, 768))
    forms, _ = explorer(trace_layer(layer, x, is_causal=True))._repr_mimebundle_()
    return f'<!doctype html><meta charset="utf-8">{forms["text/html"]}'


def rows() -> tuple[Row, ...]:
    """Return what is measured, alone and then on its page."""
    example = explorer(trace(load_example(EXAMPLE)), prints=Prints(EXAMPLE)).html
    planes = explorer(trace(load_example("river-bank")), view="plane").html
    cloud = explorer(trace(load_example(IN_PROSE)), view="plane").html
    prose = explorer(trace(load_example(IN_PROSE))).html + prose_of(IN_PROSE)
    own = work_your_own("the tired cat drinks tea on the mat in the hot garden").html
    heads = real_heads("I play football", "play", "football", heads=((1, 5), (1, 3))).html
    return (
        Row(EXAMPLE, example, "field"),
        Row("the same in steps", example, "field", "inSteps"),
        Row("planes: a tip", planes, "tip"),
        Row("planes: a pull", planes, "pull"),
        Row("a cloud, two planes", cloud, "tip", "asArrows"),
        Row("a page of numbers", prose, "scrub", "toProse"),
        Row("a cache", growing_cache(trace(load_example("the-cat-sat-end"))).html, "write"),
        Row("a tile", moving_tile(trace(load_example(EXAMPLE))).html, "edit"),
        Row("a large layer", large_layer(), "query"),
        Row("the red pencil", red_pencil("apple-walkthrough").html, "pencil"),
        Row("work your own", own, "ownSlider"),
        Row("work your own: a seed", own, "draw"),
        Row("a layer that learns", learning_layer().html, "step", "trained"),
        Row("a program with a bug", bugs_game().html, "try"),
        Row("recorded heads", heads, "choose"),
        Row("costs", cost_calculator({"a model": SIZES}, tokens=2048).html, "cost"),
        *PAGES,
    )


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
    names = (*BASE, *ARITHMETIC, *EXPLORER, "instrument.js")
    scripts = "".join(f'<script defer src="{name}"></script>' for name in names)
    line = "{:>36}  {:>4}" + 4 * "  {:>8}"
    columns = ("update", "frame", "shown", "built")
    print(line.format("milliseconds", "slow", *columns))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        publish(folder)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        wanted = [row for row in rows() if asked.only in row.name]
        for i, row in enumerate(wanted):
            file = BOOK / f"{row.page}.html" if row.page else folder / "page.html"
            if not row.page:
                whole = row.made.startswith("<!doctype")
                file.write_text(row.made if whole else PAGE.format(scripts=scripts, body=row.made),
                    encoding="utf-8")  # fmt: skip
            if not i:  # a browser that has just begun takes its time
                built(browser, file.as_uri(), row.selector)
            for slow in asked.throttle:
                times, work = moved(browser, file.as_uri(), row, slow)
                builds = [slow * ms for ms in built(browser, file.as_uri(), row.selector)]
                found = (statistics.median(times), slow * work, *builds)
                print(line.format(row.name, f"{slow}x", *(f"{n:.1f}" for n in found)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
