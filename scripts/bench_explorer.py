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

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from playwright.sync_api import Browser, CDPSession, Error, sync_playwright  # noqa: E402

from mha import (  # noqa: E402
    ModelSizes,
    MultiHeadWeights,
    layer_sizes,
    load_example,
    origin,
    trace,
    trace_layer,
)
from mha.audit.judging import Prints  # noqa: E402
from mha.command_line import Parser  # noqa: E402
from mha.runs.places import places  # noqa: E402
from mha.runs.rounding import shown  # noqa: E402
from mha.views.arithmetic import written_out  # noqa: E402
from mha.widgets.assets import ARITHMETIC, BASE, EXPLORER, publish  # noqa: E402
from mha.widgets.bugs import bugs_game  # noqa: E402
from mha.widgets.cache import growing_cache  # noqa: E402
from mha.widgets.cost import cost_calculator  # noqa: E402
from mha.widgets.explorer import explorer  # noqa: E402
from mha.widgets.heads import real_heads  # noqa: E402
from mha.widgets.learning import learning_layer  # noqa: E402
from mha.widgets.own import work_your_own  # noqa: E402
from mha.widgets.pencil import red_pencil  # noqa: E402
from mha.widgets.tiles import moving_tile  # noqa: E402

EXAMPLE = "cat-sat-on-it-wide"
IN_PROSE = "it-tired"
BOOK = ROOT / "_build" / "html"
REPEAT = 60  # movements

# ---- What is moved: `element` on the page, `view` what its `begin` gives, `turn` from 0 on ----

FIELD = """const field = element.querySelector(".strip input");
field.value = String(0.37 + (turn % 7) * 0.11);
field.dispatchEvent(new Event("input", { bubbles: true }));"""
TIP = """const { tip } = element.querySelector(".tip.main, .tip");
tip.move([0.5 + (turn % 7) / 10, (turn % 5) / 10], tip.take?.());"""
PULL = """const bar = element.querySelectorAll(".pulls input")[1];
bar.value = 60 + (turn % 20);
bar.dispatchEvent(new Event("input"));"""
SLIDER = """const slider = element.querySelector("[type=range]");
slider.value = +slider.min + (slider.max - slider.min) * (turn % 16) / 16;
slider.dispatchEvent(new Event("input", { bubbles: true }));"""
SCRUB = """if (window.scrubbed) {
  const key = turn % 16 < 8 ? "ArrowUp" : "ArrowDown"; // a hand that goes on one way
  window.scrubbed.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
} else view.edit(view.strip.numbers.find(({ given }) => given).at, 0.37 + (turn % 7) * 0.11);"""
LETTER = """const choice = element.querySelector("select");
choice.selectedIndex = turn % choice.length;
choice.dispatchEvent(new Event("change"));"""
QUERY = """const tokens = element.querySelectorAll(".layer-tokens button");
tokens[(7 * turn) % tokens.length].click();"""
PRESS = """const slider = element.querySelector(".pencil input");
if (turn % 2) {
  const numbers = element.querySelectorAll(".pencil-row .n");
  numbers[(37 * turn) % numbers.length].click();
} else {
  slider.value = String(4 * turn);
  slider.dispatchEvent(new Event("input"));
}"""
DRAW = """[...element.querySelectorAll("button")]
  .find((one) => one.textContent === "Draw others").click();"""
WRITE = "view.state.change({ text: [turn % 4, 1, 2, 3, 0, 1, 2, turn % 3], step: 30 });"
EDIT = "view.state.change({ edits: [[7, turn / 10]], step: 9 });"
GIVEN = """const field = element.querySelector("input.given");
field.value = String(turn % 9);
field.dispatchEvent(new Event("input"));"""
STEP = "view.isTraining = false; view.bar.go(turn * 2);"
TRY = "view.change({ example: 1, isCausal: turn % 2 === 1, times: turn % 3 ? 1 : 27 });"
CHOOSE = """if (turn % 2) view.chooseSentence((turn >> 1) % 6);
else view.change({ name: ["before", "next", "same", "broad", "pair"][(turn >> 1) % 5] });"""
SLIDE = "view.change({ tokens: 128 << (turn % 16) });"

# ---- What is done before ----

IN_STEPS = "view.show({ step: 12 }, ''); await view.controls.steps;"
AS_ARROWS = """[...element.querySelectorAll("summary")]
  .find((one) => one.textContent.startsWith("As arrows")).click();"""
TRAINED = "while (view.training.found.length <= 150) view.training.advance();"
# An input that is said in the text, or, where only results are, some text that says them.
TO_PROSE = """const said = [...document.querySelectorAll(
  `:is(p, li) data[data-of="${view.data.name}"]`)].filter((node) => node.getClientRects().length);
for (const node of said.slice(0, 40)) {
  node.scrollIntoView({ block: "center" });
  await new Promise((done) => setTimeout(done, 200));
  window.scrubbed = node.matches("[role]") ? node : node.querySelector("[role]");
  if (window.scrubbed) return;
}
said[said.length >> 1].scrollIntoView({ block: "center" });"""

SIZES = ModelSizes(80, layer_sizes(8192, 64, num_groups=8), 28672, 3)


class Row(NamedTuple):
    """An instrument and how it is moved: its HTML, or the name of a page and a selector there."""

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
    before = TO_PROSE if change is SCRUB else ""
    return Row(f"{page.partition('/')[2]}: {what}", selector, change, before, page, seen)


PAGES = (
    on("mechanism/self-attention", "#explore-river-bank-scaled", "a number", FIELD, seen=".strip"),
    on("mechanism/self-attention", "#explore-river-bank-scaled", "a tip", TIP),
    on("mechanism/self-attention", "#explore-river-bank-scaled", "a pull", PULL),
    on("mechanism/self-attention", "#explore-cat-sat", "a number", FIELD),
    on("mechanism/what-attention-does", "#explore-river-bank", "a tip", TIP),
    on("mechanism/what-attention-does", "#explore-river-bank", "in prose", SCRUB),
    on("mechanism/multi-head-attention", "#explore-it-tired", "a number", FIELD, seen=".strip"),
    on("mechanism/multi-head-attention", "#explore-it-tired", "in prose", SCRUB),
    on("mechanism/scaling", "#explore-width", "a width", SLIDER),
    on("mechanism/softmax", "#explore-river-bank", "temperature", SLIDER),
    on("examples/cat-sat", "#explore-cat-sat", "a number", FIELD, seen=".strip"),
    on("examples/cat-sat-on-it", "#explore-cat-sat-on-it", "a number", FIELD, seen=".strip"),
    on("transformer/depth", "mha-instrument.of-letters", "a letter", LETTER),
    on("transformer/depth", "#explore-it-tired-block", "a number", FIELD, seen=".strip"),
    on("transformer/depth", "#explore-it-tired-block", "in prose", SCRUB),
    on("transformer/order", "#explore-cat-sat-turned", "the dial", TIP),
    on("transformer/order", "mha-instrument.of-slope", "the slope", SLIDER),
    on("transformer/since-2023", "mha-instrument.of-sheet", "a number", GIVEN),
)

PAGE = """<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">
<style>html {{ --pst-color-text-base: #222; --pst-color-border: #ccc; }}
main {{ width: 700px; margin: auto; }}</style>
<link rel="stylesheet" href="explorer.css">
{scripts}<main>{body}</main></html>"""

# What is done and what is moved stand in these as text: a notebook's frame evaluates none.
BEFORE = """async ([selector, seen]) => {
  const element = document.querySelector(selector);
  element.closest("details:not([open])")?.setAttribute("open", "");
  const view = await element.begin();
  await window.mhaExplorer.later("tied.js").catch(() => {});
  (element.querySelector(seen || "*") ?? element).scrollIntoView({ block: "center" });
  await new Promise((done) => setTimeout(done, 1000));
  await (async () => { DONE })();
  await new Promise((done) => setTimeout(done, 1000));
}"""

MOVES = """async ([selector, repeat]) => {
  const element = document.querySelector(selector);
  const view = await element.begin();
  const act = (turn) => { DONE };
  const times = [];
  for (let turn = 0; turn < repeat; turn += 1) {
    await new Promise((done) => requestAnimationFrame(done));
    const start = performance.now();
    act(turn);
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times;
}"""

# Nothing begins by itself, and what waits for the first frame waits until it is counted.
STILL = """const timer = window.setTimeout;
window.held = [];
window.setTimeout = (act, ms, ...others) =>
  (window.holds && !ms ? window.held.push(act) : timer(act, ms, ...others));
window.IntersectionObserver = class { observe() {} unobserve() {} disconnect() {} };
for (const name of ["scroll", "pointerover"]) {
  addEventListener(name, (event) => event.stopImmediatePropagation(), true);
}"""

LOADED = """async (selector) => {
  const element = document.querySelector(selector);
  element.closest("details:not([open])")?.setAttribute("open", "");
  element.scrollIntoView();
  const { data, dataset: { late = "", dress = "" } } = element;
  const isViewed = data?.widths || (data?.view ?? "strip") !== "strip";
  const those = [...dress.split(" "), ...late.split(" "), data?.block && "explorer-block.js",
    ...isViewed ? ["plane.css", "explorer-views.js"] : []];
  for (const name of those.filter(Boolean)) await window.mhaExplorer.later(name);
  await new Promise((done) => setTimeout(done, 500));
}"""

BUILD = """async (selector) => {
  window.holds = true;
  await document.querySelector(selector).begin();
  for (let i = 0; i < 2; i += 1) await new Promise((done) => requestAnimationFrame(done));
}"""

SETTLE = """async () => {
  window.holds = false;
  window.held.forEach((act) => act());
  do await new Promise((done) => requestAnimationFrame(done));
  while (!window.mhaExplorer.isSettled());
}"""


def threads_time(client: CDPSession) -> float:
    """Return for how many milliseconds the page's thread has been at work."""
    metrics = client.send("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def opened(browser: Browser, address: str, *, script: str = "") -> tuple[Any, Any, CDPSession]:
    """Return a page, the frame of its instrument, and what asks for times."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(script)
    if script:  # a page's numbers, which may come at once, would begin what they are of
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
    page, frame, client = opened(browser, address, script=STILL)
    frame.evaluate(LOADED, selector)
    before = threads_time(client)
    frame.evaluate(BUILD, selector)
    shown = threads_time(client) - before
    frame.evaluate(SETTLE)
    whole = threads_time(client) - before
    page.close()
    return shown, whole


def moved(browser: Browser, address: str, row: Row, slow: int) -> tuple[list[float], float]:
    """Return the times to layout, slowed down, and the thread's for a movement."""
    page, frame, client = opened(browser, address)
    frame.evaluate(BEFORE.replace("DONE", row.before), [row.selector, row.seen])

    def work(change: str) -> float:
        before = threads_time(client)
        frame.evaluate(MOVES.replace("DONE", change), [row.selector, REPEAT])
        return (threads_time(client) - before) / REPEAT

    spent = [work(change) for change in (row.change, "", row.change)]  # the first warms up
    client.send("Emulation.setCPUThrottlingRate", {"rate": slow})
    moves = MOVES.replace("DONE", row.change)
    times: list[float] = frame.evaluate(moves, [row.selector, REPEAT])
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
        Row(EXAMPLE, example, FIELD),
        Row("the same in steps", example, FIELD, IN_STEPS),
        Row("planes: a tip", planes, TIP),
        Row("planes: a pull", planes, PULL),
        Row("a cloud, two planes", cloud, TIP, AS_ARROWS),
        Row("a page of numbers", prose, SCRUB, TO_PROSE),
        Row("a cache", growing_cache(trace(load_example("the-cat-sat-end"))).html, WRITE),
        Row("a tile", moving_tile(trace(load_example(EXAMPLE))).html, EDIT),
        Row("a large layer", large_layer(), QUERY),
        Row("the red pencil", red_pencil("apple-walkthrough").html, PRESS),
        Row("work your own", own, SLIDER.replace("[type", ".own [type")),
        Row("work your own: a seed", own, DRAW),
        Row("a layer that learns", learning_layer().html, STEP, TRAINED),
        Row("a program with a bug", bugs_game().html, TRY),
        Row("recorded heads", heads, CHOOSE),
        Row("costs", cost_calculator({"a model": SIZES}, tokens=2048).html, SLIDE),
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
