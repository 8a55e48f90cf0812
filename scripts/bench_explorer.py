"""Measure how fast the explorer follows a change, and how fast it is built.

Opens the explorer of the largest worked example in Chromium, slowed down as asked: an update (one
input of the strip changes, and all of the strip follows) takes turns with the building of the
strip. Times go from the event until style and layout are done. Of the recorded heads, another name
is put to the test, of all 432 maps, and another sentence is chosen. Of a large layer (width 768, 12
heads, 40 tokens) in a notebook's frame, what it takes from `trace_layer` to the page is measured
too, and another query; of a page's text, how fast its numbers follow a change with the strip; of
twelve words of one's own, a slider, and another seed, which makes the whole example anew; of the
red pencil the longest sheet: numbers that are pressed, a slip corrected and put back, and the sheet
built. Needs the project's environment and a Chromium.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

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
from mha.widgets.instrument import Explorer  # noqa: E402
from mha.widgets.learning import learning_layer  # noqa: E402
from mha.widgets.own import work_your_own  # noqa: E402
from mha.widgets.pencil import red_pencil  # noqa: E402
from mha.widgets.tiles import moving_tile  # noqa: E402

EXAMPLE = "cat-sat-on-it-wide"
IN_PROSE = "it-tired"
REPEAT = 60  # updates, with a building before every fifth
CACHE = growing_cache(trace(load_example("the-cat-sat-end")))
WRITES = "view.state.change({ text: [turn % 4, 1, 2, 3, 0, 1, 2, turn % 3], step: 30 })"
TILE = moving_tile(trace(load_example(EXAMPLE)))
HEADS = real_heads("I play football", "play", "football", heads=((1, 5), (1, 3)))
CHOOSES = """turn % 2 ? view.chooseSentence((turn >> 1) % 6)
  : view.change({ name: ["before", "next", "same", "broad", "pair"][(turn >> 1) % 5] })"""
SIZES = ModelSizes(80, layer_sizes(8192, 64, num_groups=8), 28672, 3)
COST = cost_calculator({"a model": SIZES}, tokens=2048)
SLIDES = "view.change({ tokens: 128 << (turn % 16) })"
EDITS = "view.state.change({ edits: [[7, turn / 10]], step: 9 })"
TRAINS = """while (view.training.found.length <= 150) view.training.advance();
view.isTraining = false; view.bar.go(turn * 2)"""
TRIES = "view.change({ example: 1, isCausal: turn % 2 === 1, times: turn % 3 ? 1 : 27 })"
Times = dict[str, list[float]]  # milliseconds of updates and of what is built
ROW = "{:>20}  {:>4}  {:>9}  {:>9}  {:>9}"

PAGE = """<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">
<style>html {{ --pst-color-text-base: #222; --pst-color-border: #ccc; }}
main {{ width: 700px; margin: auto; }}</style>
<link rel="stylesheet" href="explorer.css">
{scripts}<main>{body}</main></html>"""

MEASURE = """async ({ repeat, original, inSteps }) => {
  const frame = () => new Promise((done) => {
    requestAnimationFrame(() => { const channel = new MessageChannel();
      channel.port1.onmessage = done; channel.port2.postMessage(0); });
  });
  const settled = async (element) => {
    do await frame(); while (element.querySelector(".following"));
  };
  const folder = document.querySelector("script[src]").src.replace(/[^/]*$/, "");
  await new Promise((done) => {
    const script = document.createElement("script");
    Object.assign(script, { src: `${folder}explorer-all.js`, onload: done });
    document.head.append(script);
  });
  const host = document.querySelector("main");
  const times = { update: [], build: [] };
  const timed = (kind, action) => {
    const start = performance.now();
    action();
    host.getBoundingClientRect();
    times[kind].push(performance.now() - start);
  };
  for (let turn = 0; turn < repeat; turn += 1) {
    let element;
    if (turn % 5 === 0) {
      // What was written into the address would be read again.
      await new Promise((done) => setTimeout(done, 300));
      history.replaceState(null, "", location.pathname);
      host.innerHTML = original;
      element = host.querySelector("mha-explorer");
      timed("build", () => element.begin());
      await settled(element);
      if (inSteps) {
        const { explorer } = element;
        explorer.show({ step: 12 }, "");
        await explorer.controls.steps;
        await settled(element);
      }
    }
    element = host.querySelector("mha-explorer");
    await settled(element);
    const field = element.querySelector(".strip input");
    timed("update", () => {
      field.value = String(0.37 + (turn % 7) * 0.11);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await settled(element);
  }
  return times;
}"""


# In a plane: a tip is moved, and all that follows it; a weight is pulled; built with its planes.
PLANE = """async (repeat) => {
  const host = document.querySelector("main");
  const times = { update: [], build: [] };
  for (let turn = 0; turn < repeat; turn += 1) {
    const { tip } = host.querySelector(".tip.main");
    const bar = host.querySelectorAll(".pulls input")[1];
    const start = performance.now();
    if (turn % 2) tip.move([0.5 + (turn % 7) / 10, (turn % 5) / 10]);
    else {
      bar.value = 70 + (turn % 20);
      bar.dispatchEvent(new Event("input"));
      bar.dispatchEvent(new Event("change"));
    }
    host.getBoundingClientRect();
    times.update.push(performance.now() - start);
    await new Promise((done) => requestAnimationFrame(done));
  }
  return times;
}"""


# Of a large layer: one query after another, each with all that follows it.
QUERIES = """(repeat) => {
  const tokens = document.querySelectorAll(".layer-tokens button");
  return Array.from({ length: repeat }, (_, turn) => {
    const start = performance.now();
    tokens[(7 * turn) % tokens.length].click();
    document.body.getBoundingClientRect();
    return performance.now() - start;
  });
}"""


# Of an example of one's own: a slider moves, in turns with another seed, which makes it all anew.
OWN = """async (repeat) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const times = { update: [], build: [] };
  const timed = async (kind, action) => {
    await frame();
    const start = performance.now();
    action();
    document.body.getBoundingClientRect();
    times[kind].push(performance.now() - start);
  };
  const draw = [...document.querySelectorAll(".own button")].find((one) =>
    one.textContent === "Draw others");
  for (let turn = 0; turn < repeat; turn += 1) {
    if (turn % 5 === 0) await timed("build", () => draw.click());
    const slider = document.querySelector(".own [type=range]");
    await timed("update", () => {
      slider.value = String((turn % 4) / 2);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
  return times;
}"""


# Of a page's text: a number in a sentence is scrubbed, and strip and text follow.
SCRUBBED = """async (repeat) => {
  const element = document.querySelector("mha-explorer");
  const number = element.explorer.strip.numbers.find(({ given }) => given);
  const times = [];
  for (let turn = 0; turn < repeat; turn += 1) {
    await new Promise((done) => setTimeout(done, 300));
    const start = performance.now();
    element.explorer.edit(number.at, 0.37 + (turn % 7) * 0.11);
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times;
}"""


def measured_own(browser: Browser, folder: Path, throttle: int) -> Times:
    """Return how long an example of twelve words takes to follow a slider, and to be made."""
    body = work_your_own("the tired cat drinks tea on the mat in the hot garden").html
    file = folder / "own.html"
    names = (*ARITHMETIC, *EXPLORER, "instrument.js")
    scripts = "".join(f'<script defer src="{name}"></script>' for name in names)
    file.write_text(PAGE.format(scripts=scripts, body=body), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    page.wait_for_selector("mha-instrument.live")
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    times: Times = page.evaluate(OWN, REPEAT)
    page.close()
    return times


def measured_layer(browser: Browser, folder: Path, throttle: int) -> Times:
    """Return how long a large layer takes to open, from its matrices on, and to follow a choice."""
    rng = np.random.default_rng(1)
    shapes = [(12, 768, 64)] * 3 + [(768, 768)]
    layer = MultiHeadWeights(*(rng.normal(size=shape) / 16 for shape in shapes))
    x = rng.normal(size=(40, 768))
    start = time.perf_counter()
    forms, _ = explorer(trace_layer(layer, x, is_causal=True))._repr_mimebundle_()
    file = folder / "layer.html"
    file.write_text(f'<!doctype html><meta charset="utf-8">{forms["text/html"]}', encoding="utf-8")
    computed = 1000 * (time.perf_counter() - start)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    start = time.perf_counter()
    page.goto(file.as_uri())
    frame = page.frames[1]
    frame.wait_for_selector("mha-instrument.live")
    opened = 1000 * (time.perf_counter() - start)
    update: list[float] = frame.evaluate(QUERIES, REPEAT)
    page.close()
    return {"update": update, "build": [computed + opened]}


# Of what goes in steps: one change of it, with all that follows.
CHANGES = """async ([repeat, change]) => {
  const view = await document.querySelector("mha-instrument").coming;
  const act = new Function("view", "turn", change);
  return Array.from({ length: repeat }, (_, turn) => {
    const start = performance.now();
    act(view, turn);
    document.body.getBoundingClientRect();
    return performance.now() - start;
  });
}"""


def measured_steps(
    browser: Browser, folder: Path, throttle: int, *, made: Explorer, change: str
) -> Times:
    """Return how long an instrument in steps takes to open, and to follow a change."""
    names = (*ARITHMETIC, *EXPLORER, "instrument.js")
    scripts = "".join(f'<script defer src="{name}"></script>' for name in names)
    file = folder / "steps.html"
    file.write_text(PAGE.format(scripts=scripts, body=made.html), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    start = time.perf_counter()
    page.goto(file.as_uri())
    page.wait_for_selector("mha-instrument.live")
    opened = 1000 * (time.perf_counter() - start)
    update: list[float] = page.evaluate(CHANGES, [REPEAT, change])
    page.close()
    return {"update": update, "build": [opened]}


def measured_plane(
    browser: Browser, folder: Path, throttle: int, *, example: str = "river-bank"
) -> Times:
    """Return how long planes take to open, and to follow a query that is moved or pulled."""
    run = trace(load_example(example))
    file = folder / "plane.html"
    scripts = "".join(f'<script defer src="{name}"></script>' for name in ARITHMETIC + EXPLORER)
    body = explorer(run, view="plane").html
    file.write_text(PAGE.format(scripts=scripts, body=body), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    start = time.perf_counter()
    page.goto(file.as_uri())
    if run.num_heads == 2:
        page.get_by_text("As arrows").click()
    page.wait_for_selector(".tip.main")
    opened = 1000 * (time.perf_counter() - start)
    times: Times = page.evaluate(PLANE, REPEAT)
    page.close()
    return times | {"build": [opened]}


# Of the red pencil: the longest sheet is built, numbers are pressed, the slips corrected in turn.
PENCIL = """(repeat) => {
  const times = { update: [], build: [] };
  const timed = (kind, action) => {
    const start = performance.now();
    action();
    document.body.getBoundingClientRect();
    times[kind].push(performance.now() - start);
  };
  const element = document.querySelector("mha-instrument");
  for (let turn = 0; turn < 9; turn += 1) {
    timed("build", () => {
      const { node } = window.mhaInstruments.pencil({ first: "apple-walkthrough" }, element);
      element.querySelector(".pencil").replaceWith(node);
    });
  }
  const numbers = document.querySelectorAll(".pencil-row .n");
  const slider = document.querySelector(".pencil input");
  for (let turn = 0; turn < repeat; turn += 1) {
    timed("update", () => numbers[(37 * turn) % numbers.length].click());
    timed("update", () => {
      slider.value = String(4 * turn);
      slider.dispatchEvent(new Event("input"));
    });
  }
  return times;
}"""


def measured_pencil(browser: Browser, folder: Path, throttle: int) -> Times:
    """Return how long the longest sheet takes to be built, and to follow a press or the slider."""
    file = folder / "pencil.html"
    names = (*BASE, *ARITHMETIC, *EXPLORER, "instrument.js")
    scripts = "".join(f'<script defer src="{name}"></script>' for name in names)
    body = red_pencil("apple-walkthrough").html
    file.write_text(PAGE.format(scripts=scripts, body=body), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    page.wait_for_selector("mha-instrument.live")
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    times: Times = page.evaluate(PENCIL, REPEAT)
    page.close()
    return times


def measured_example(
    browser: Browser, folder: Path, throttle: int, *, in_steps: bool = False
) -> Times:
    """Return how long an example's explorer takes to follow a change, and to be built.

    In steps, the change is followed by the line of one step and by what is covered too.
    """
    body = explorer(trace(load_example(EXAMPLE)), prints=Prints(EXAMPLE)).html
    file = folder / "example.html"
    scripts = "".join(f'<script defer src="{name}"></script>' for name in ARITHMETIC + EXPLORER)
    file.write_text(PAGE.format(scripts=scripts, body=body), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    asked = {"repeat": REPEAT, "original": body, "inSteps": in_steps}
    times: Times = page.evaluate(MEASURE, asked)
    page.close()
    return times


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


def measured_prose(browser: Browser, folder: Path, throttle: int) -> Times:
    """Return how long all that a page says of a run takes to follow a number that is scrubbed."""
    body = explorer(trace(load_example(IN_PROSE))).html + prose_of(IN_PROSE)
    file = folder / "prose.html"
    scripts = "".join(f'<script defer src="{name}"></script>' for name in ARITHMETIC + EXPLORER)
    file.write_text(PAGE.format(scripts=scripts, body=body), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    start = time.perf_counter()
    page.keyboard.press("Shift")
    page.wait_for_selector("p data .at")
    built = 1000 * (time.perf_counter() - start)
    page.evaluate("document.querySelector('p').scrollIntoView()")
    page.wait_for_timeout(600)
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    update: list[float] = page.evaluate(SCRUBBED, REPEAT)
    page.close()
    return {"update": update, "build": [built]}


def main() -> None:
    """Print the table."""
    parser = Parser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--throttle", type=int, nargs="+", default=[1, 4], metavar="X",
        help="how many times slower the processor is made (default: 1 4)")  # fmt: skip
    throttles: list[int] = parser.parse_args().throttle
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        sys.exit("error: Chromium is missing; name one in CHROMIUM")
    print(ROW.format("milliseconds", "slow", "fastest", "update", "built"))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        publish(folder)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        rows = (
            (EXAMPLE, measured_example),
            ("the same in steps", partial(measured_example, in_steps=True)),
            ("planes", measured_plane),
            ("a cloud, two planes", partial(measured_plane, example="it-tired")),
            ("a page of numbers", measured_prose),
            ("a cache", partial(measured_steps, made=CACHE, change=WRITES)),
            ("a tile", partial(measured_steps, made=TILE, change=EDITS)),
            ("a large layer", measured_layer),
            ("the red pencil", measured_pencil),
            ("work your own", measured_own),
            ("a layer that learns", partial(measured_steps, made=learning_layer(), change=TRAINS)),
            ("a program with a bug", partial(measured_steps, made=bugs_game(), change=TRIES)),
            ("recorded heads", partial(measured_steps, made=HEADS, change=CHOOSES)),
            ("costs", partial(measured_steps, made=COST, change=SLIDES)),
        )
        for what, measured in rows:
            for throttle in throttles:
                times = measured(browser, folder, throttle)
                update, build = times["update"], times["build"]
                found = (min(update), statistics.median(update), statistics.median(build))
                print(ROW.format(what, f"{throttle}x", *(f"{n:.1f}" for n in found)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
