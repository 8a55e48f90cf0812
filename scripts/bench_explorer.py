"""Measure how fast the explorer follows a change, and how fast it is built.

Opens the explorer of a worked example in Chromium, slowed down as asked, and takes turns in one
run: an update (one input of the strip changes, and all of the strip follows), the building of the
strip, and the building of all numbers' tables. The trained model is measured the same way: one word
of a story of 32 changes, and all of it follows. Times go from the event until style and layout are
done. Of a large layer (width 768, 12 heads, 40 tokens) in a notebook's frame, what it takes from
`trace_layer` to the page is measured too, and another query. Needs the project's environment and a
Chromium.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

from mha import MultiHeadWeights, example_names, load_example, trace, trace_layer  # noqa: E402
from mha.audit.judging import Prints  # noqa: E402
from mha.command_line import Parser  # noqa: E402
from mha.widgets.assets import ARITHMETIC, EXPLORER, publish  # noqa: E402
from mha.widgets.explorer import explorer  # noqa: E402
from mha.widgets.model import language_model  # noqa: E402

BUDGET = 16
OPENING = 100
BUDGET_OF_THE_MODEL = 50
OPENING_OF_A_LAYER = 2000
Times = dict[str, list[float]]  # milliseconds of updates and of what is built
ROW = "{:>20}  {:>4}  {:>9}  {:>9}  {:>9}  {:>9}"

PAGE = """<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">
<style>html {{ --pst-color-text-base: #222; --pst-color-border: #ccc; }}
main {{ width: 700px; margin: auto; }}</style>
<link rel="stylesheet" href="explorer.css">
{scripts}<main>{body}</main></html>"""

MEASURE = """async ({ repeat, selector, original }) => {
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
  const times = { update: [], build: [], tables: [] };
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
      const { AllNumbers } = window.mhaExplorer;
      element.querySelector("details.all").open = true;
      element.explorer.isOpen = true;
      const body = element.querySelector("details.all .body");
      timed("tables", () => { new AllNumbers(element.explorer, body).paint(); });
      element.querySelector("details.all").open = false;
    }
    element = host.querySelector("mha-explorer");
    await settled(element);
    const field = element.querySelector(selector);
    timed("update", () => {
      field.value = String(0.37 + (turn % 7) * 0.11);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await settled(element);
  }
  return times;
}"""


STORY = (
    "ba ke saw mo nu . mo nu gave the lamp to ba ke . ba ke and ri ta walked home . "
    "ri ta met mo nu . ba ke"
)

# Turns of a model: its building, and one word after another in the third place of its story.
TURNS = """async ({ repeat, original }) => {
  const host = document.querySelector("main");
  const times = { update: [], build: [] };
  const timed = (kind, action) => {
    const start = performance.now();
    action();
    host.getBoundingClientRect();
    times[kind].push(performance.now() - start);
  };
  await host.querySelector("mha-model").begin();
  const words = ["saw", "met", "helped", "called", "thanked"];
  for (let turn = 0; turn < repeat; turn += 1) {
    if (turn % 5 === 0) {
      const element = document.createElement("div");
      element.innerHTML = original.replaceAll("mha-model", "div");
      host.replaceChildren(element);
      timed("build", () => window.mhaModel.open(element));
    }
    const form = host.querySelector("form");
    const input = form.querySelector("input");
    input.value = input.value.replace(/^(\\S+ \\S+) \\S+/, `$1 ${words[turn % 5]}`);
    await new Promise(requestAnimationFrame);
    timed("update", () => form.requestSubmit());
    await new Promise(requestAnimationFrame);
  }
  return times;
}"""


def measured_model(browser: Browser, folder: str, throttle: int, repeat: int) -> Times:
    """Return the same of the trained model: it has no tables, and its turns are both loops."""
    body = language_model(STORY).html
    file = Path(folder) / "model.html"
    names = (*ARITHMETIC, *EXPLORER, "model.js")
    scripts = "".join(f'<script defer src="{name}"></script>' for name in names)
    file.write_text(PAGE.format(scripts=scripts, body=body), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    client = page.context.new_cdp_session(page)
    page.wait_for_selector("mha-model.live")
    client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    times: Times = page.evaluate(TURNS, {"repeat": repeat, "original": body})
    page.close()
    return times | {"tables": [0.0]}


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


def measured_layer(browser: Browser, folder: str, throttle: int, repeat: int) -> Times:
    """Return how long a large layer takes to open, from its matrices on, and to follow a choice."""
    rng = np.random.default_rng(1)
    shapes = [(12, 768, 64)] * 3 + [(768, 768)]
    layer = MultiHeadWeights(*(rng.normal(size=shape) / 16 for shape in shapes))
    x = rng.normal(size=(40, 768))
    start = time.perf_counter()
    forms, _ = explorer(trace_layer(layer, x, is_causal=True))._repr_mimebundle_()
    file = Path(folder) / "layer.html"
    file.write_text(f'<!doctype html><meta charset="utf-8">{forms["text/html"]}', encoding="utf-8")
    computed = 1000 * (time.perf_counter() - start)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    start = time.perf_counter()
    page.goto(file.as_uri())
    frame = page.frames[1]
    frame.wait_for_selector("mha-model.live")
    opened = 1000 * (time.perf_counter() - start)
    update: list[float] = frame.evaluate(QUERIES, repeat)
    page.close()
    return {"update": update, "build": [computed + opened], "tables": [0.0]}


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = Parser(description=__doc__.partition("\n\n")[0])
    add = parser.add_argument
    add("--examples", nargs="+", choices=example_names(), metavar="NAME",
        default=["cat-sat", "apple", "cat-sat-on-it-wide"],
        help="worked examples (default: the smallest and the two largest)")  # fmt: skip
    add("--throttle", type=int, nargs="+", default=[1, 4], metavar="X",
        help="how many times slower the processor is made (default: 1 4)")  # fmt: skip
    add("--repeat", type=int, default=60, metavar="R",
        help="updates, with a building before every fifth (default: 60)")  # fmt: skip
    return parser.parse_args(arguments)


def page_of(name: str, folder: str) -> Path:
    """Write the page of one example beside the scripts, and return its file."""
    body = explorer(trace(load_example(name)), prints=Prints(name)).html
    file = Path(folder) / f"{name}.html"
    scripts = "".join(f'<script defer src="{name}"></script>' for name in ARITHMETIC + EXPLORER)
    file.write_text(PAGE.format(scripts=scripts, body=body), encoding="utf-8")
    return file


def measured(browser: Browser, file: Path, throttle: int, repeat: int) -> Times:
    """Return times of updates and of building."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    selector = ".strip input"
    written = file.read_text(encoding="utf-8")
    original = written.partition("<main>")[2].partition("</main>")[0]
    options = {"repeat": repeat, "selector": selector, "original": original}
    times: Times = page.evaluate(MEASURE, options)
    page.close()
    return times


def row(name: str, throttle: int, times: Times) -> str:
    """Return one line of the table."""
    middle = {kind: statistics.median(found) for kind, found in times.items()}
    return ROW.format(
        name,
        f"{throttle}x",
        f"{min(times['update']):.1f} ms",
        f"{middle['update']:.1f} ms",
        f"{middle['build']:.1f} ms",
        f"{middle['tables']:.1f} ms",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    options = parsed(arguments)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        sys.exit("error: Chromium is missing; name one in CHROMIUM")
    print(f"The budget of an update is {BUDGET} ms at 4x, that of building {OPENING} ms.")
    print(f"That of a changed word of the model is {BUDGET_OF_THE_MODEL} ms.")
    print(f"That of opening a large layer, traced before, is {OPENING_OF_A_LAYER} ms.")
    columns = ("fastest", "update", "strip", "tables")
    print(ROW.format("example", "slow", *columns))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        publish(Path(folder))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in options.examples:
            file = page_of(name, folder)
            for throttle in options.throttle:
                print(row(name, throttle, measured(browser, file, throttle, options.repeat)),
                      flush=True)  # fmt: skip
        for throttle in options.throttle:
            found = measured_model(browser, folder, throttle, options.repeat)
            print(row("the model", throttle, found), flush=True)
            found = measured_layer(browser, folder, throttle, options.repeat)
            print(row("a large layer", throttle, found), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
