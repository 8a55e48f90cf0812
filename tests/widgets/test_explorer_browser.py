"""The explorer in a real Chromium: its arithmetic against the package, and every control driven.

The pages are written here, one an example, and opened as files with the book's own scripts.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from book_site import ROOT
from conftest import SEED
from helpers import MASK, QUERIES, example, projected
from playwright.sync_api import expect

from mha import MultiHeadWeights, example_names, load_example, short, shown, trace
from mha.core.attention import attention_scores, masked_scores, scaled_scores
from mha.audit.judging import Prints
from mha.core.checks import as_scale
from mha.widgets.explorer import explorer
from mha.core.softmax import softmax

pytestmark = pytest.mark.browser

STATIC = ROOT / "book" / "_static"
CLOSE = 1e-12
# Below this, the gap between neighbouring numbers is no longer in proportion to their size.
SMALLEST = 1e-290

THEME = """
html { font-size: 16px; }
body {
  margin: 0; font-family: sans-serif; line-height: 1.5;
  background: var(--pst-color-background); color: var(--pst-color-text-base);
}
main { max-width: 700px; margin: auto; padding: 0 1rem; }
html[data-theme="light"] {
  color-scheme: light; --pst-color-primary: #0a7d91; --pst-color-accent: #c132af;
  --pst-color-text-base: #222832; --pst-color-text-muted: #48566b; --pst-color-border: #d1d5da;
  --pst-color-background: #fff; --pst-color-surface: #f3f4f5; --pst-color-link: #1158c7;
  --pst-color-danger: #d72d47;
}
html[data-theme="dark"] {
  color-scheme: dark; --pst-color-primary: #3fb1c5; --pst-color-accent: #e47fd7;
  --pst-color-text-base: #ced6dd; --pst-color-text-muted: #9ca4af; --pst-color-border: #48566b;
  --pst-color-background: #14181e; --pst-color-surface: #29313d; --pst-color-link: #3fb1c5;
  --pst-color-danger: #e78894;
}
"""

PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Explorer</title>
<style>{style}</style><link rel="stylesheet" href="{static}/explorer.css">
<script>
window.shift = 0;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {{
  if (!entry.hadRecentInput) window.shift += entry.value;
}})).observe({{ type: "layout-shift", buffered: true }});
const place = () => document.querySelector("#after").getBoundingClientRect().top;
// Fires when the page is read and no deferred script has run yet.
document.addEventListener("readystatechange", () => {{ window.placeAtFirst ??= place(); }});
</script>
<script defer src="{static}/strings-explorer.js"></script>
<script defer src="{static}/attention.js"></script>
<script defer src="{static}/explorer.js"></script></head>
<body><main><h1>A chapter</h1><p id="before">Before.</p><h2>Explore</h2>
{body}
<h2 id="after">After</h2><p>Text that follows.</p></main></body></html>
"""


class View:
    """One explorer on a page of its own, opened as a file."""

    def __init__(self, page, run, file):
        self.page, self.run, self.file = page, run, file
        self.requests, self.errors = [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)

    def go(self, address=""):
        self.page.goto(self.file.as_uri() + address)
        self.page.wait_for_load_state("load")
        return self

    def open(self):
        self.page.locator("summary").first.click()
        self.page.locator(".panel").wait_for()
        return self

    def cell(self, stage, *place):
        """Return the button of a number: head, row, column, or row, column."""
        *head, row, column = place
        table = f'table[data-stage="{stage}"]' + (f'[data-head="{head[0]}"]' if head else "")
        row, column = row + 1, column + 1
        return self.page.locator(
            f"{table} tbody tr:nth-child({row}) td:nth-of-type({column}) .cell"
        )

    def settle(self):
        """Wait until what is out of sight has followed, and the sentence that ends a change."""
        self.page.wait_for_function("!document.querySelector('.body.following')")

    def texts(self, stage):
        """Return the texts of a stage's cells, head after head, in sight or not."""
        self.settle()
        return self.page.locator(f'table[data-stage="{stage}"] .cell').all_text_contents()

    def holds(self, run, stages=("weights", "head_outputs", "concat", "output")):
        """Assert that the page shows the numbers of a run."""
        for stage in stages:
            array = getattr(run, stage)
            if array is not None:
                places = 2 if stage == "weights" else 4
                assert self.texts(stage) == [shown(float(x), places) for x in array.flat], stage

    def choose(self, label):
        self.page.get_by_label(label, exact=True).click()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self):
        return self.page.evaluate("document.activeElement.getAttribute('aria-label')")

    @property
    def status(self):
        self.settle()
        return self.page.locator("[role=status]").inner_text()

    def tables(self):
        """Return the texts of all tables but those of the maps that are not chosen."""
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
        self.page.wait_for_timeout(350)
        return self.page.url


@pytest.fixture
def view(browser, tmp_path):
    """Return a function that puts an explorer on a page, in a theme and at a width."""
    contexts = []

    def put(run, *, theme="light", width=1280, address="", **options):
        if isinstance(run, str):
            run = trace(load_example(run), prints=Prints(run))
        body = explorer(run).html
        file = tmp_path / f"page{len(contexts)}.html"
        page = PAGE.format(theme=theme, style=THEME, static=STATIC.as_uri(), body=body)
        file.write_text(page, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        return View(context.new_page(), run, file).go(address)

    yield put
    for context in contexts:
        context.close()


# ---- The port against the package ----


def random_mask(rng, n):
    """Return no mask, a boolean one or one of numbers, some with rows that allow nothing."""
    kind = rng.integers(4)
    if kind == 0:
        return None
    allowed = rng.random((n, n)) < rng.choice([0.3, 0.8])
    if kind == 1:
        allowed[rng.integers(n)] = False
    return allowed if kind < 3 else np.where(allowed, rng.normal(size=(n, n)), -np.inf)


def as_plain(mask):
    """Return a mask as JSON has it: None for minus infinity."""
    if mask is None or mask.dtype == bool:
        return None if mask is None else mask.tolist()
    return [[None if np.isneginf(x) else float(x) for x in row] for row in mask]


def random_case(rng):
    """Return query, key, value, mask and so on: of ordinary, huge, tiny or mixed size."""
    n, m, d_k, d_v = rng.integers(1, 8, size=4)
    m = n if rng.random() < 0.8 else m
    sizes = rng.choice([1.0, 30.0, 1e150, 1e-150, 1e-10])
    mixed = 10.0 ** rng.integers(-12, 1, size=(m, d_k)) if rng.random() < 0.3 else 1
    return {
        "query": rng.normal(size=(n, d_k)) * sizes,
        "key": rng.normal(size=(m, d_k)) * sizes * mixed,
        "value": rng.normal(size=(m, d_v)) * rng.choice([1.0, 1e150, 1e-150]),
        "mask": random_mask(rng, n) if m == n else None,
        "causal": bool(rng.random() < 0.3),
        "scale": [None, 1.0, float(rng.normal()), 0.0, 1e-3][rng.integers(5)],
        "temperature": float([1.0, 0.5, 2.0, 10.0 ** rng.integers(-3, 4)][rng.integers(4)]),
    }


def plain(case):
    """Return a case as data for JSON."""
    arrays = {key: x.tolist() if isinstance(x, np.ndarray) else x for key, x in case.items()}
    return arrays | {"mask": as_plain(case["mask"])}


def in_browser(page, function, cases):
    """Run a function of the page on each case; null in a result is minus infinity."""
    code = f"(text) => JSON.stringify(JSON.parse(text).map({function}))"
    return json.loads(page.evaluate(code, json.dumps(cases)))


def as_array(rows):
    return np.array(rows, dtype=object).astype(float) if rows else np.array(rows)


def infinite(rows):
    return np.array([[-np.inf if x is None else x for x in row] for row in rows])


def near(found, wanted, size):
    """Assert equality to 1e-12 of `size`: the sum of the absolute products that were added."""
    assert np.shape(found) == wanted.shape
    assert (np.abs(np.asarray(found) - wanted) <= CLOSE * size + SMALLEST).all()


@pytest.fixture
def blank(browser):
    context = browser.new_context()
    page = context.new_page()
    for name in ("attention.js", "strings-explorer.js", "explorer.js"):
        page.add_script_tag(path=STATIC / name)
    yield page
    context.close()


def test_each_step_agrees_with_the_package_on_random_inputs(blank):
    """Each step starts from the package's own numbers, so that errors of one do not hide another.

    Where numbers are added, the difference is measured against the sum of the absolute products:
    two orders of adding may differ by that where terms cancel. The scale and the mask agree to
    the last bit, weights to 1e-12 of themselves.
    """
    rng = np.random.default_rng(SEED)
    cases, wanted = [], []
    for _ in range(4000):
        case = random_case(rng)
        query, key, value = case["query"], case["key"], case["value"]
        scores = attention_scores(query, key)
        factor = as_scale(case["scale"], query.shape[1]) / case["temperature"]
        scaled = scaled_scores(scores, query.shape[1], factor)
        masked = masked_scores(scaled, case["mask"], case["causal"])
        weights = softmax(masked)
        cases.append(plain(case) | {"scores": scores.tolist(), "weights": weights.tolist()})
        wanted.append((case, scores, masked, weights))
    found = in_browser(
        blank,
        """(c) => {
          const A = window.mhaAttention;
          const by = A.factor(c.query[0].length, c.scale, c.temperature);
          const masked = A.maskedScores(A.scaledScores(c.scores, by), c.mask, c.causal);
          return {
            scores: A.attentionScores(c.query, c.key), masked, weights: A.softmax(masked),
            outputs: A.matmul(c.weights, c.value),
          };
        }""",
        cases,
    )
    empty = 0
    for result, (case, scores, masked, weights) in zip(found, wanted, strict=True):
        query, key, value = case["query"], case["key"], case["value"]
        near(result["scores"], scores, np.abs(query) @ np.abs(key).T)
        assert np.array_equal(infinite(result["masked"]), masked)
        near(result["weights"], weights, weights)
        near(result["outputs"], weights @ value, weights @ np.abs(value))
        empty += (weights.sum(axis=1) == 0).any()
    assert empty > 200


def random_example(rng):
    """Return an example with heads, at random from embeddings or from query, key and value.

    The numbers are whole multiples of a power of two, so that every score is exact however large:
    whatever differs then is the arithmetic after it.
    """
    n, heads, d_model, d_k, d_v, d_out = map(int, rng.integers(1, 6, size=6))
    size = 2.0 ** rng.choice([-60, -3, 0, 200])

    def whole(*shape):
        return rng.integers(-3, 4, size=shape).astype(float)

    given = {
        "tokens": [f"t{i}" for i in range(n)],
        "head_names": [f"h{i}" for i in range(heads)],
        "mask": random_mask(rng, n),
        "is_causal": bool(rng.random() < 0.3),
        "scale": [None, 1.0, 0.25, 3.0][rng.integers(4)],
    }
    if rng.random() < 0.3:
        query, key = whole(heads, n, d_k) * size, whole(heads, n, d_k) * size
        return example(**given, query=query, key=key, value=whole(heads, n, d_v) / 8)
    weights = MultiHeadWeights(
        whole(heads, d_model, d_k) / 4, whole(heads, d_model, d_k) / 4,
        whole(heads, d_model, d_v) / 8,
        rng.normal(size=(heads * d_v, d_out)) if rng.random() < 0.7 else None,
    )  # fmt: skip
    start = dict.fromkeys(("query", "key", "value"))
    return example(**given | start, embeddings=whole(n, d_model) * size, weights=weights)


def inputs_of(worked, temperature):
    """Return an example as the port takes it."""
    shape = (worked.num_heads, len(worked.tokens), len(worked.tokens))
    weights = worked.layer
    names = ("embeddings", "query", "key", "value")
    arrays = {name: getattr(worked, name) for name in names}
    if weights is not None:
        arrays |= {name: getattr(weights, name) for name in ("w_q", "w_k", "w_v", "w_o")}
    mask = worked.mask
    masks = None if mask is None else [as_plain(one) for one in np.broadcast_to(mask, shape)]
    return {name: array.tolist() for name, array in arrays.items() if array is not None} | {
        "masks": masks,
        "isCausal": worked.is_causal,
        "scale": worked.scale,
        "temperature": temperature,
    }


def test_whole_runs_agree_with_the_package_on_random_examples(blank):
    rng = np.random.default_rng(SEED + 1)
    cases, runs = [], []
    for _ in range(1500):
        worked = random_example(rng)
        temperature = float(rng.choice([1.0, 0.5, 4.0]))
        start = worked.query if worked.layer is None else worked.layer.w_q
        scale = as_scale(worked.scale, start.shape[-1]) / temperature
        runs.append(trace(replace(worked, scale=scale)))
        cases.append(inputs_of(worked, temperature))
    found = in_browser(blank, "(c) => window.mhaAttention.trace(c)", cases)
    for result, run in zip(found, runs, strict=True):
        for stage in ("query", "key", "value", "scores"):
            assert np.array_equal(result[stage], getattr(run, stage)), stage
        scaled = [infinite(head) for head in result["scaled_scores"]]
        assert np.array_equal(scaled, run.scaled_scores)
        near(result["exponentials"], run.exponentials, run.exponentials)
        near(result["row_sums"], run.row_sums, run.row_sums)
        near(result["weights"], run.weights, run.weights)
        mixed = run.weights @ np.abs(run.value)
        near(result["head_outputs"], run.head_outputs, mixed)
        near(result["concat"], run.concat, np.concatenate(list(mixed), axis=1))
        if run.output is None:
            assert "output" not in result
            continue
        sizes = np.abs(run.example.layer.w_o).reshape(run.num_heads, -1, run.output.shape[1])
        shares = mixed @ sizes
        near(result["head_contributions"], run.head_contributions, shares)
        near(result["output"], run.output, shares.sum(axis=0))


def test_ordinary_random_runs_agree_end_to_end(blank):
    rng = np.random.default_rng(SEED + 2)
    runs = [trace(projected(rng, is_causal=bool(i % 2))) for i in range(100)]
    found = in_browser(
        blank,
        "(c) => window.mhaAttention.trace(c)",
        [inputs_of(run.example, 1.0) for run in runs],
    )
    for result, run in zip(found, runs, strict=True):
        near(result["weights"], run.weights, run.weights)
        w_o = np.abs(run.example.layer.w_o)
        near(result["output"], run.output, np.abs(run.concat).max() * w_o.sum(axis=0))


@pytest.mark.parametrize(
    "changed",
    [
        {"query": [[1e200]]},
        {"scale": 1e200},
        {"mask": np.array([[1.7e308]]), "query": [[1e108]]},
        {"query": [[0.0]], "value": [[1.7e308]], "w_o": [[2.0]]},
    ],
    ids=["scores", "scale", "mask", "output"],
)
def test_the_port_refuses_what_the_package_refuses(blank, changed):
    parts = {"query": [[1e100]], "key": [[1e200]], "value": [[1.0]], "scale": 1.0} | changed
    w_o = parts.pop("w_o", None)
    one = {"tokens": ["a"], "head_names": ["h"]}
    if w_o is None:
        worked = example(**one | parts)
    else:
        matrices = [[parts.pop(name)] for name in ("query", "key", "value")]
        start = dict.fromkeys(("query", "key", "value")) | {"embeddings": [[1.0]]}
        worked = example(**one | parts | start, weights=MultiHeadWeights(*matrices, w_o))
    with pytest.raises(ValueError, match=r"overflow|finite"):
        trace(worked)
    found = in_browser(
        blank,
        "(c) => { try { window.mhaAttention.trace(c); return 'computed'; }"
        " catch (error) { return error.name; } }",
        [inputs_of(worked, 1.0)],
    )
    assert found == ["RangeError"]


def test_a_head_that_is_off_leaves_zeros_and_a_key_that_is_padding_gets_no_weight(blank, rng):
    run = trace(projected(rng))
    allowed = np.ones(QUERIES, bool)
    allowed[1] = False
    case = inputs_of(run.example, 1.0)
    case |= {"headOff": [False, True, False], "keyAllowed": allowed.tolist()}
    (found,) = in_browser(blank, "(c) => window.mhaAttention.trace(c)", [case])
    wanted = trace(replace(run.example, mask=np.broadcast_to(allowed, (QUERIES, QUERIES))))
    near(found["weights"], wanted.weights, wanted.weights)
    width = run.value.shape[-1]
    concat = wanted.concat.copy()
    concat[:, width : 2 * width] = 0
    np.testing.assert_allclose(found["concat"], concat, rtol=CLOSE, atol=CLOSE)
    np.testing.assert_allclose(
        found["output"], concat @ run.example.layer.w_o, rtol=CLOSE, atol=CLOSE
    )
    np.testing.assert_allclose(
        found["head_contributions"], wanted.head_contributions, rtol=CLOSE, atol=CLOSE
    )


def test_numbers_are_written_as_the_book_writes_them(blank):
    rng = np.random.default_rng(SEED + 3)
    ties = [m / 32 for m in range(-321, 322)] + [m / 8 for m in range(-81, 82)]
    values = [*ties, 0.0, -0.0, -0.00001, 0.00005, 999_999.5, 0.1 + 0.2, 1 / 3]
    values += [float(x) for x in rng.normal(size=3000) * 10.0 ** rng.integers(-6, 5, size=3000)]
    values += [round(float(x), i % 6) for i, x in enumerate(9 * rng.normal(size=500))]
    assert max(map(abs, values)) < 1e6
    found = in_browser(
        blank,
        "(x) => [mhaExplorer.shown(x), mhaExplorer.shown(x, 2), mhaExplorer.short(x)]",
        values,
    )
    wanted = [[shown(x), shown(x, 2), short(x)] for x in values]
    assert [(x, f, w) for x, f, w in zip(values, found, wanted, strict=True) if f != w] == []


def test_texts_are_read_as_numbers_or_not_at_all(blank):
    good = {"0.5": 0.5, "−2": -2, "-.5": -0.5, "1e-3": 0.001, " +7. ": 7}
    bad = ["", "abc", "1,5", "0x10", "Infinity", "NaN", "1 2", "--1", "."]
    assert in_browser(blank, "(x) => mhaExplorer.parsed(x)", list(good)) == list(good.values())
    assert in_browser(blank, "(x) => mhaExplorer.parsed(x)", bad) == [None] * len(bad)


# ---- The page as it comes, and as it starts ----


def violations(page):
    found = Axe().run(page).response["violations"]
    return [(v["id"], [node["html"][:160] for node in v["nodes"]]) for v in found]


@pytest.mark.parametrize("name", example_names())
def test_starting_and_opening_moves_nothing_and_asks_for_nothing(view, name):
    seen = view(name)
    assert seen.page.evaluate("[window.placeAtFirst - place(), window.placeAtFirst > 200]") == [
        0,
        True,
    ]
    seen.open()
    # Beyond the half second after a click in which a shift does not count.
    seen.page.wait_for_timeout(600)
    seen.page.locator("#after").scroll_into_view_if_needed()
    seen.page.locator("table:visible").nth(2).scroll_into_view_if_needed()
    seen.page.wait_for_timeout(200)
    assert seen.page.evaluate("window.shift") == 0
    assert seen.errors == []
    local = (STATIC.as_uri(), seen.file.as_uri())
    assert [url for url in seen.requests if not url.startswith(local)] == []


def test_opening_from_the_address_moves_nothing_in_sight(view):
    seen = view("apple", address="#explore=apple&focus=1")
    seen.page.locator(".panel").wait_for()
    assert seen.page.evaluate("window.shift") == 0
    later = view("apple")
    later.page.wait_for_timeout(200)
    later.page.evaluate("location.hash = '#explore=apple&focus=1'")
    later.page.locator(".panel").wait_for()
    later.page.wait_for_timeout(200)
    assert later.page.evaluate("window.shift") == 0
    assert later.page.locator("#after").is_visible()


@pytest.mark.parametrize("name", example_names())
def test_every_number_is_there_without_javascript(view, name):
    seen = view(name, java_script_enabled=False)
    seen.page.locator("summary").first.click()
    for fold in seen.page.locator(".fold > summary").all():
        fold.click()
    for stage in ("query", "key", "value", "scores", "weights", "head_outputs", "concat", "output"):
        array = getattr(seen.run, stage)
        cells = seen.page.locator(f'table[data-stage="{stage}"] td')
        texts = cells.all_inner_texts()
        given = f'"{stage}":[' in seen.page.locator("mha-explorer script").inner_text()
        write = short if given else shown
        wanted = [] if array is None else [write(float(x)) for x in array.flat]
        assert texts == wanted, stage
        assert all(cell.is_visible() for cell in cells.all()[:3])
    assert not seen.page.locator(".explorer > summary .intro").is_visible()


@pytest.mark.parametrize("name", example_names())
def test_the_started_explorer_shows_the_numbers_of_the_trace(view, name):
    seen = view(name).open()
    seen.holds(seen.run)
    if seen.run.embeddings is not None:
        seen.holds(seen.run, ("query", "key", "value"))


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["cat-sat", "the-cat-sat", "apple"])
def test_axe_finds_nothing_and_the_page_fits(view, name, theme, width):
    seen = view(name, theme=theme, width=width)
    assert violations(seen.page) == []
    seen.open()
    seen.page.locator(".fold > summary").evaluate_all("all => all.forEach(s => s.click())")
    seen.cell("weights", 0, 0, 1).click()
    assert violations(seen.page) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_nothing_when_much_is_changed(view, theme, width):
    seen = view("the-cat-sat", theme=theme, width=width).open()
    seen.choose("Show what the source prints")
    assert violations(seen.page) == []
    seen.choose("Focus head 2")
    seen.choose("Head 1 on")
    seen.choose("Causal: no later keys")
    seen.choose("the is padding")
    seen.page.get_by_label("Temperature").fill("nothing")
    seen.cell("embeddings", 0, 0).click()
    seen.page.get_by_label("Change to").fill("0.25")
    assert violations(seen.page) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_targets_are_large_enough(view, width):
    seen = view("the-cat-sat", width=width).open()
    seen.cell("output", 0, 0).click()
    boxes = seen.page.locator("mha-explorer :is(button, input):visible").evaluate_all(
        "all => all.map(e => { const b = e.getBoundingClientRect();"
        " return [e.outerHTML.slice(0, 80), b.width, b.height]; })"
    )
    assert len(boxes) > 100
    assert [box for box in boxes if min(box[1:]) < 24] == []


# ---- Controls, by mouse and by keyboard ----


def by_mouse(seen, label):
    seen.page.get_by_label(label, exact=True).click()


def by_keyboard(seen, label):
    seen.page.get_by_label(label, exact=True).focus()
    seen.press("Space")


WAYS = pytest.mark.parametrize("act", [by_mouse, by_keyboard])


def clicked(control):
    control.click()


def pressed(control):
    control.focus()
    control.press("Enter")


PRESSES = pytest.mark.parametrize("press", [clicked, pressed])


def filled(field, text):
    field.click()
    field.fill(text)


def typed(field, text):
    field.focus()
    field.press("Control+A")
    field.press_sequentially(text)


ENTRIES = pytest.mark.parametrize("enter", [filled, typed])


@WAYS
def test_a_head_can_be_switched_off_and_on(view, act):
    seen = view("the-cat-sat").open()
    act(seen, "Head 2 on")
    concat = seen.run.concat.copy()
    concat[:, 2:] = 0
    w_o = seen.run.example.layer.w_o
    assert seen.texts("concat") == [shown(float(x)) for x in concat.flat]
    assert seen.texts("output") == [shown(float(x)) for x in (concat @ w_o).flat]
    share = [shown(float(x)) for x in seen.run.head_contributions.flat]
    assert seen.texts("head_contributions") == share
    assert seen.status.startswith("Head 2 is switched off. The weights move by up to 0.0000, the")
    amount = shown(float(np.abs(seen.run.head_contributions[1]).max()))
    note = f"Switched off: Head 2. The output loses its share, up to {amount} in size."
    assert seen.page.get_by_text(note).is_visible()
    act(seen, "Head 2 on")
    seen.holds(seen.run)
    assert not seen.page.get_by_text("Switched off").is_visible()


@WAYS
def test_a_head_in_focus_shows_its_exact_share(view, act):
    seen = view("the-cat-sat").open()
    act(seen, "Focus head 2")
    assert seen.page.locator(".lane.dim").count() == seen.page.locator(".lane.head-0").count() > 3
    assert seen.page.locator(".lane.head-1.dim").count() == 0
    assert seen.page.locator('table[data-stage="concat"] .cell.dim').count() == 3 * 2
    share, whole = (
        ", ".join(shown(float(x)) for x in row)
        for row in (seen.run.head_contributions[1, 0], seen.run.output[0])
    )
    note = f"In focus: Head 2. Its share of the output of the is ({share}) of ({whole})."
    assert seen.page.get_by_text(note).is_visible()
    assert seen.status == "Head 2 is in focus."
    seen.holds(seen.run)
    act(seen, "Show all")
    assert seen.page.locator(".dim").count() == 0


def test_radio_buttons_follow_the_arrow_keys(view):
    seen = view("the-cat-sat").open()
    seen.page.get_by_label("Show all").focus()
    seen.press("ArrowRight", "ArrowRight")
    assert seen.page.get_by_label("Focus head 2").is_checked()
    assert seen.status == "Head 2 is in focus."


def test_without_an_output_projection_the_columns_of_a_head_are_named(view):
    seen = view("apple").open()
    seen.choose("Focus head 2")
    note = "It fills columns 5 to 8 of the concatenation."
    assert seen.page.get_by_text(note).is_visible()
    seen.choose("Head 2 on")
    assert seen.page.get_by_text("Columns 5 to 8 are lost.").is_visible()
    assert seen.texts("concat")[4:8] == ["0.0000"] * 4


def test_one_head_has_no_switches(view):
    assert view("cat-sat").open().page.get_by_text("Show all").count() == 0


@WAYS
@pytest.mark.parametrize(
    ("stage", "label"),
    [("scores", "Scores"), ("scaled_scores", "Scaled scores"), ("exponentials", "Exponentials")],
)
def test_maps_can_be_switched(view, act, stage, label):
    seen = view("cat-sat").open()
    assert seen.texts("weights") == ["0.73", "0.27", "0.27", "0.73"]
    act(seen, label)
    assert seen.page.locator(".map:visible").count() == 1
    array = getattr(seen.run, stage)[0]
    if stage == "exponentials":
        array = np.column_stack([array, seen.run.row_sums[0]])
    assert seen.texts(stage) == [shown(float(x), 2) for x in array.flat]
    assert seen.status == f"The maps show {label.lower()}."


@WAYS
def test_scale_of_one(view, act):
    seen = view("the-cat-sat").open()
    act(seen, "1")
    seen.holds(trace(replace(seen.run.example, scale=1.0)))
    assert seen.status.startswith("The scale is now 1. The weights move by up to 0.")
    act(seen, "1/√2 = 0.7071")
    seen.holds(seen.run)


@ENTRIES
def test_free_scale_and_temperature(view, enter):
    seen = view("the-cat-sat").open()
    seen.page.get_by_label("Other", exact=True).click()
    assert seen.page.evaluate("document.activeElement.type") == "text"
    enter(seen.page.get_by_label("Other scale"), "0.3")
    assert seen.page.get_by_label("Other", exact=True).is_checked()
    seen.holds(trace(replace(seen.run.example, scale=0.3)))
    enter(seen.page.get_by_label("Temperature"), "2.5")
    seen.holds(trace(replace(seen.run.example, scale=0.3 / 2.5)))
    assert seen.status.startswith("The temperature is now 2.5.")
    seen.press("ArrowUp")
    assert seen.page.get_by_label("Temperature").input_value() == "2.6"
    seen.holds(trace(replace(seen.run.example, scale=0.3 / 2.6)))
    seen.press("ArrowDown", "ArrowDown")
    assert seen.page.get_by_label("Temperature").input_value() == "2.4"


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("Temperature", "0", "0 is not a temperature; a number above 0 is wanted."),
        ("Temperature", "-1", "-1 is not a temperature; a number above 0 is wanted."),
        ("Temperature", "warm", "warm is not a number; a number such as 0.5 is wanted."),
        ("Other scale", "", "“” is not a number; a number such as 0.5 is wanted."),
        ("Other scale", "1e999", "1e999 is not a number; a number such as 0.5 is wanted."),
        (
            "Other scale",
            "1e308",
            "1e308 makes a result too large to compute; a smaller number is wanted.",
        ),
    ],
)
def test_what_is_no_good_number_is_refused_beside_its_field(view, field, text, message):
    seen = view("the-cat-sat").open()
    before = seen.tables()
    box = seen.page.get_by_label(field)
    box.fill(text)
    assert seen.page.get_by_text(message, exact=True).is_visible()
    assert box.get_attribute("aria-invalid") == "true"
    described = box.get_attribute("aria-describedby")
    assert seen.page.locator(f"#{described}").inner_text() == message
    assert seen.tables() == before
    assert seen.status == ""
    box.fill("0.5")
    assert box.get_attribute("aria-invalid") is None
    assert not seen.page.get_by_text(message, exact=True).is_visible()


@WAYS
def test_causal_mask(view, act):
    seen = view("apple").open()
    act(seen, "Causal: no later keys")
    seen.holds(trace(replace(seen.run.example, is_causal=True)))
    assert seen.status.startswith("The causal mask is on.")
    seen.choose("Scaled scores")
    assert seen.texts("scaled_scores")[1] == "−∞"
    seen.choose("Weights")
    act(seen, "Causal: no later keys")
    seen.holds(seen.run)


@WAYS
def test_padding_mask_and_a_row_that_may_attend_to_no_key(view, act):
    seen = view("the-cat-sat").open()
    act(seen, "the is padding")
    mask = np.array([[False, True, True]] * 3)
    seen.holds(trace(replace(seen.run.example, mask=mask)))
    act(seen, "Causal: no later keys")
    empty = trace(replace(seen.run.example, mask=mask, is_causal=True))
    seen.holds(empty)
    assert seen.texts("output")[:4] == ["0.0000"] * 4
    assert seen.page.get_by_text("the may attend to no key: its weights and its").is_visible()
    seen.cell("weights", 1, 0, 2).click()
    assert "the query may attend to no key, so all its weights are zero" in seen.panel
    act(seen, "the is padding")
    assert not seen.page.get_by_text("may attend to no key").is_visible()


def test_the_order_of_tokens_by_mouse_and_keyboard(view):
    seen = view("the-cat-sat").open()
    seen.page.get_by_label("Move sat earlier").click()
    swapped = replace(
        seen.run.example, tokens=("the", "sat", "cat"),
        embeddings=seen.run.embeddings[[0, 2, 1]],
    )  # fmt: skip
    seen.holds(trace(swapped))
    labels = seen.page.locator('table[data-stage="weights"]').first.locator("th")
    assert labels.all_inner_texts()[1:] == ["the", "sat", "cat", "the", "sat", "cat"]
    assert seen.status == "The order is now the, sat, cat."
    assert seen.focused() == "Move sat earlier"
    seen.press("Enter")
    assert seen.status == "The order is now sat, the, cat."
    seen.press("Enter")
    assert seen.status == "The order is now sat, the, cat."
    seen.choose("Causal: no later keys")
    order = [2, 0, 1]
    moved = replace(
        seen.run.example, tokens=("sat", "the", "cat"), is_causal=True,
        embeddings=seen.run.embeddings[order],
    )  # fmt: skip
    seen.holds(trace(moved))


def test_padding_and_edits_stay_with_their_token(view):
    seen = view("the-cat-sat").open()
    seen.choose("cat is padding")
    seen.cell("embeddings", 1, 2).click()
    seen.page.get_by_label("Change to").fill("0.5")
    seen.page.get_by_label("Move cat earlier").click()
    embeddings = seen.run.embeddings[[1, 0, 2]].copy()
    embeddings[0, 2] = 0.5
    mask = np.array([[False, True, True]] * 3)
    seen.holds(trace(replace(
        seen.run.example, tokens=("cat", "the", "sat"), embeddings=embeddings, mask=mask,
    )))  # fmt: skip


def test_a_mask_of_the_example_stays_in_its_place(view):
    rng = np.random.default_rng(SEED)
    given = projected(rng, mask=MASK, tokens=list("abcde"))
    seen = view(trace(given)).open()
    seen.holds(seen.run)
    assert seen.page.get_by_text("c may attend to no key").is_visible()
    seen.page.get_by_label("Move a later").click()
    order = [1, 0, 2, 3, 4]
    seen.holds(trace(replace(given, tokens=list("bacde"), embeddings=given.embeddings[order])))


# ---- Changing inputs ----


def test_an_embedding_can_be_changed_by_keyboard_alone(view):
    seen = view("the-cat-sat").open()
    seen.cell("embeddings", 0, 0).focus()
    seen.press("ArrowRight", "ArrowDown", "Enter", "Enter")
    assert seen.page.evaluate("document.activeElement.value") == "1"
    seen.press("Control+A")
    seen.page.keyboard.insert_text("−0.75")
    embeddings = seen.run.embeddings.copy()
    embeddings[1, 1] = -0.75
    changed = trace(replace(seen.run.example, embeddings=embeddings))
    seen.holds(changed, ("query", "key", "value", "weights", "head_outputs", "concat", "output"))
    assert seen.cell("embeddings", 1, 1).text_content() == "−0.75"
    moved = shown(float(np.abs(changed.weights - seen.run.weights).max()))
    ended = shown(float(np.abs(changed.output - seen.run.output).max()))
    assert seen.status == (
        f"Embedding of cat, x₂ is now −0.75. The weights move by up to {moved}, the output by up"
        f" to {ended}."
    )
    assert "changed" in seen.cell("embeddings", 1, 1).get_attribute("class")
    assert "It was 1 at first." in seen.panel
    seen.press("Escape")
    assert seen.focused().startswith("−0.75, Embedding of cat, x₂")


@pytest.mark.parametrize("matrix", ["w_q", "w_k", "w_v"])
def test_a_matrix_entry_can_be_changed(view, matrix):
    seen = view("the-cat-sat").open()
    seen.page.get_by_text("Projection matrices").click()
    seen.cell(matrix, 1, 3, 0).click()
    seen.page.get_by_label("Change to").fill("1.5")
    weights = seen.run.example.layer
    array = getattr(weights, matrix).copy()
    array[1, 3, 0] = 1.5
    seen.holds(trace(replace(seen.run.example, layer=replace(weights, **{matrix: array}))))


@PRESSES
def test_the_output_projection_can_be_changed_in_steps(view, press):
    seen = view("the-cat-sat").open()
    press(seen.page.locator("summary", has_text="Output projection"))
    press(seen.cell("w_o", 2, 1))
    press(seen.page.get_by_label("More by 0.1"))
    press(seen.page.get_by_label("More by 0.1"))
    press(seen.page.get_by_label("Less by 0.1"))
    weights = seen.run.example.layer
    w_o = weights.w_o.copy()
    w_o[2, 1] = 1.1
    seen.holds(trace(replace(seen.run.example, layer=replace(weights, w_o=w_o))))
    assert seen.page.get_by_label("Change to").input_value() == "1.1"


@pytest.mark.parametrize("stage", ["query", "key", "value"])
def test_an_example_that_starts_at_queries_keys_and_values_can_be_changed_there(view, stage):
    seen = view("cat-sat").open()
    seen.cell(stage, 0, 1, 0).click()
    seen.page.get_by_label("Change to").fill("2.25")
    array = getattr(seen.run, stage).copy()
    array[0, 1, 0] = 2.25
    seen.holds(trace(replace(seen.run.example, **{stage: array})))


def test_a_bad_input_changes_nothing(view):
    seen = view("cat-sat").open()
    seen.cell("query", 0, 0, 0).click()
    field = seen.page.get_by_label("Change to")
    for text in ("", "two", "1e309"):
        field.fill(text)
        assert "is not a number; a number such as 0.5 is wanted." in seen.panel
    seen.holds(seen.run)
    field.fill("1e308")
    seen.cell("key", 0, 0, 0).click()
    field.fill("1e308")
    assert "1e308 makes a result too large to compute" in seen.panel
    assert seen.cell("key", 0, 0, 0).inner_text() == "1"


@PRESSES
def test_reset_brings_everything_back(view, press):
    seen = view("the-cat-sat").open()
    before = seen.tables()
    for label in ("Focus head 2", "Head 1 on", "Causal: no later keys", "sat is padding", "Scores"):
        seen.choose(label)
    seen.page.get_by_label("Move cat earlier").click()
    seen.page.get_by_label("Other scale").fill("7")
    seen.page.get_by_label("Temperature").fill("3")
    seen.cell("embeddings", 0, 0).click()
    seen.page.get_by_label("Change to").fill("9")
    assert seen.tables() != before
    press(seen.page.get_by_role("button", name="Reset"))
    assert seen.tables() == before
    assert seen.status == "Everything is as at first."
    for label in ("Show all", "Head 1 on", "Head 2 on", "Weights", "1/√2 = 0.7071"):
        assert seen.page.get_by_label(label, exact=True).is_checked()
    for label in ("Causal: no later keys", "sat is padding"):
        assert not seen.page.get_by_label(label, exact=True).is_checked()
    assert seen.page.get_by_label("Temperature").input_value() == "1"
    assert seen.page.locator(".dim, .off, .changed, .selected, .source").count() == 0
    assert "#" not in seen.settled_url()


# ---- Where a number comes from ----


def lit(seen):
    """Return the texts and tables of the outlined cells."""
    return seen.page.locator(".cell.source").evaluate_all(
        "all => all.map(e => [e.closest('table').dataset.stage,"
        " e.closest('tr').rowIndex, e.closest('td').cellIndex])"
    )


def test_a_score_is_traced_down_to_the_inputs(view):
    seen = view("the-cat-sat").open()
    seen.choose("Scores")
    seen.cell("scores", 0, 1, 2).click()
    score = shown(float(seen.run.scores[0, 1, 2]))
    assert f"Score of query cat with key sat, Head 1: {score}" in seen.panel
    assert lit(seen) == [["query", 2, 1], ["query", 2, 2], ["key", 3, 1], ["key", 3, 2]]
    terms = seen.page.locator(".panel .sum li").all_inner_texts()
    products = [seen.run.query[0, 1, k] * seen.run.key[0, 2, k] for k in range(2)]
    for k, (term, product) in enumerate(zip(terms, products, strict=False)):
        q, key = short(float(seen.run.query[0, 1, k])), short(float(seen.run.key[0, 2, k]))
        assert term.split() == [q, "×", key, "=", short(float(product))]
    assert terms[-1] == f"= {shown(float(seen.run.scores[0, 1, 2]))}"
    seen.page.locator(".panel .operand").first.click()
    assert "Query of cat, q₁, Head 1" in seen.panel
    assert seen.focused().endswith("Query of cat, q₁, Head 1")
    assert [place[0] for place in lit(seen)] == ["embeddings"] * 4 + ["w_q"] * 4
    seen.page.locator(".panel .operand").nth(1).click()
    assert "Query projection, x₁ to q₁, Head 1" in seen.panel
    assert seen.cell("w_q", 0, 0, 0).is_visible()
    assert "An input: you can change it." in seen.panel
    seen.press("Escape")
    assert "Query of cat, q₁, Head 1" in seen.panel
    seen.press("Escape")
    assert "Score of query cat with key sat" in seen.panel
    seen.press("Escape")
    assert "Select a number" in seen.panel
    assert lit(seen) == []


def test_from_the_output_to_an_embedding_by_keyboard_alone(view):
    seen = view("the-cat-sat").open()
    seen.cell("output", 0, 0).focus()
    path = ["Output of the, y₁"]
    seen.press("ArrowDown", "Enter")
    for stage in ("Concatenation of cat", "Output of the head for cat", "Weight that cat gives",
                  "Exponential of query cat", "Scaled score of query cat", "Score of query cat",
                  "Query of cat", "Embedding of cat"):  # fmt: skip
        seen.press("Enter", "Enter")
        path.append(seen.focused())
        assert stage in path[-1], path
    assert "Embedding of cat, x₁: 0" in seen.panel
    for _ in range(8):
        seen.press("Escape")
    assert "Output of cat, y₁" in seen.focused()
    seen.press("Escape")
    assert "Select a number" in seen.panel


@pytest.mark.parametrize("name", ["cat-sat", "the-cat-sat", "cat-sat-on-it-wide"])
def test_every_sum_in_the_panel_adds_up_to_its_cell(view, name):
    """Every number of the example is selected; its terms, recomputed here, give it."""
    seen = view(name).open()
    found = seen.page.evaluate(
        """() => [...document.querySelectorAll("table .cell")].map((button) => {
          button.click();
          const read = (text) => Number(text.replaceAll("−", "-").replace(/[()]/g, ""));
          const terms = [...document.querySelectorAll(".panel .sum")].slice(0, 1)
            .flatMap((list) => [...list.querySelectorAll("li:not(.total)")])
            .map((li) => [...li.querySelectorAll(".operand")].map((b) => read(b.textContent)));
          const rule = document.querySelector(".panel p:nth-of-type(2)")?.textContent ?? "";
          return [button.closest("table").dataset.stage, button.textContent, rule, terms];
        })"""
    )
    sums = 0
    for stage, text, rule, terms in found:
        value = float(text.replace("−", "-").rstrip("*"))
        if stage in ("scores", "query", "key", "value", "head_outputs", "output",
                     "head_contributions") and terms:  # fmt: skip
            # Operands are shown to four places, and so is their sum.
            size = sum(abs(a) + abs(b) for a, b in terms)
            tolerance = 0.006 if stage == "scores" else 1e-4
            assert abs(sum(a * b for a, b in terms) - value) < tolerance + 1e-4 * size
            sums += 1
        elif not terms:
            assert rule == "An input: you can change it."
        elif stage == "weights":
            assert abs(terms[0][0] / terms[0][1] - value) < 0.0051
        elif stage == "exponentials":
            assert abs(sum(x for (x,) in terms) - value) < 0.02 or "power" in rule
    run = seen.run
    computed = ("scores", "head_outputs", "output", "head_contributions")
    computed += () if run.embeddings is None else ("query", "key", "value")
    arrays = [getattr(run, stage) for stage in computed]
    assert sums == sum(array.size for array in arrays if array is not None)


def test_an_output_names_each_heads_share(view):
    seen = view("the-cat-sat").open()
    seen.cell("output", 2, 3).click()
    for head in range(2):
        share = short(float(seen.run.head_contributions[head, 2, 3]))
        assert f"Head {head + 1}: {share}" in " ".join(seen.panel.split())
    seen.page.locator(".panel .operand").last.click()
    assert "Share of the output of sat, y₄, Head 2" in seen.panel


def test_selecting_again_goes_to_the_sum(view):
    seen = view("cat-sat").open()
    seen.cell("weights", 0, 0, 0).click()
    seen.cell("weights", 0, 0, 0).click()
    assert seen.focused().startswith("2.7183, Exponential of query cat with key cat")


def test_arrow_keys_stay_in_the_table_which_is_one_tab_stop(view):
    seen = view("the-cat-sat").open()
    stops = seen.page.locator("table").evaluate_all(
        "all => all.map(t => t.querySelectorAll('.cell[tabindex=\"0\"]').length)"
    )
    assert set(stops) == {1}
    seen.cell("embeddings", 0, 0).focus()
    seen.press("ArrowUp", "ArrowLeft")
    assert seen.focused() == "1, Embedding of the, x₁"
    seen.press("End")
    assert seen.focused() == "0, Embedding of the, x₄"
    seen.press("ArrowDown", "ArrowDown", "ArrowDown", "Home")
    assert seen.focused() == "1, Embedding of sat, x₁"
    seen.press("Tab", "Shift+Tab")
    assert seen.focused() == "1, Embedding of sat, x₁"
    seen.press("Space")
    assert seen.page.locator(".cell[aria-current=true]").count() == 1
    assert seen.status == "Embedding of sat, x₁: 1.0000."


def test_what_is_selected_follows_a_change(view):
    seen = view("cat-sat").open()
    seen.cell("weights", 0, 0, 0).click()
    seen.choose("1")
    wanted = trace(replace(seen.run.example, scale=1.0)).weights[0, 0, 0]
    assert shown(float(wanted)) in seen.panel


# ---- What the source prints ----


@WAYS
def test_the_source_prints_stand_beside_the_numbers_while_nothing_is_changed(view, act):
    seen = view("the-cat-sat").open()
    prints = Prints("the-cat-sat")
    act(seen, "Show what the source prints")
    marks = seen.page.locator('table[data-stage="output"] .source-print').all_text_contents()
    wanted = [prints("output", i, j) for i in range(3) for j in range(4)]
    signs = {True: "≈", False: "≠"}
    assert marks == [
        ", ".join(f"{signs[agrees]} {text.replace('-', '−')}" for text, agrees in found)
        for found in wanted
    ]
    assert all(wanted)
    seen.cell("query", 0, 0, 0).click()
    assert "the source prints ≈ 0.1" in seen.panel
    seen.choose("Causal: no later keys")
    assert seen.page.locator(".source-print").count() == 0
    paused = seen.page.get_by_label("Show what the source prints (reset first)")
    assert paused.is_disabled()
    seen.choose("Causal: no later keys")
    assert seen.page.locator(".source-print").count() > 50
    act(seen, "Show what the source prints")
    assert seen.page.locator(".source-print").count() == 0


def test_without_prints_there_is_no_switch(view):
    assert view("cat-sat-on-it-wide").open().page.get_by_text("source prints").count() == 0


# ---- The state in the address ----


def test_the_state_is_in_the_address_and_comes_back(view):
    seen = view("the-cat-sat").open()
    for label in ("Focus head 1", "Head 2 on", "Causal: no later keys", "sat is padding"):
        seen.choose(label)
    seen.page.get_by_label("Move cat earlier").click()
    seen.page.get_by_label("Other scale").fill("0.3")
    seen.page.get_by_label("Temperature").fill("1.5")
    seen.cell("embeddings", 0, 0).click()
    seen.page.get_by_label("Change to").fill("0.123456789012345")
    seen.choose("Scaled scores")
    seen.cell("scaled_scores", 1, 2, 0).click()
    url = seen.settled_url()
    address = url.partition("#")[2]
    assert address.startswith("explore=the-cat-sat&")
    assert "embeddings.1.0=0.123456789012345" in address
    before = seen.tables()
    panel = seen.panel
    again = view("the-cat-sat", address="#" + address)
    assert again.tables() == before
    assert again.panel == panel
    assert again.page.get_by_label("Focus head 1").is_checked()
    assert again.page.get_by_label("Temperature").input_value() == "1.5"
    assert again.settled_url().partition("#")[2] == address
    assert again.errors == []


@pytest.mark.parametrize(
    "address",
    [
        "scale=wide", "temperature=0", "temperature=-1", "causal=2", "padding=7", "order=0.0.1",
        "order=0.1", "off=9", "focus=5", "map=sums", "at=weights.9.9.9", "embeddings.0.9=1",
        "embeddings.0.0=x", "query.0.0.0=1", "__proto__=1", "edit=1", "nothing=1",
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_read_is_left_out(view, address):
    seen = view("the-cat-sat", address=f"#explore=the-cat-sat&{address}&prints=1")
    assert seen.status == (
        "The address holds something that this explorer cannot read; it was left out."
    )
    seen.holds(seen.run)
    assert seen.page.locator(".source-print").count() > 50
    assert seen.errors == []


def test_an_address_with_a_number_too_large_is_left_out(view):
    seen = view("the-cat-sat", address="#explore=the-cat-sat&embeddings.0.0=1e308&w_q.0.0.0=1e308")
    assert "cannot read" in seen.status
    seen.holds(seen.run)
    assert seen.errors == []


def test_a_new_address_is_taken_over_and_anchors_still_work(view):
    seen = view("the-cat-sat", address="#after")
    assert not seen.page.locator(".panel").is_visible()
    seen.page.evaluate("location.hash = '#explore=the-cat-sat&causal=1'")
    seen.page.locator(".panel").wait_for()
    causal = trace(replace(seen.run.example, is_causal=True))
    seen.holds(causal)
    seen.page.evaluate("location.hash = '#after'")
    assert seen.page.evaluate("document.querySelector('#after').matches(':target')")
    seen.holds(causal)
    assert seen.settled_url().endswith("#after")
    seen.page.evaluate("location.hash = '#explore=another-example&causal=0'")
    seen.holds(causal)


def test_two_explorers_on_a_page_keep_apart(view):
    seen = view("cat-sat")
    run = trace(load_example("cat-sat"))
    body = explorer(run, name="first").html + explorer(run, name="second").html
    page = PAGE.format(theme="light", style=THEME, static=STATIC.as_uri(), body=body)
    seen.file.write_text(page, encoding="utf-8")
    seen.page.goto("about:blank")
    seen.go("#explore=second&causal=1")
    expect(seen.page.locator("details[open]")).to_have_count(1)
    seen.page.locator("#explore-first summary").first.click()
    choices = seen.page.get_by_label("Causal: no later keys")
    expect(choices).to_have_count(2)  # both are live
    assert [choice.is_checked() for choice in choices.all()] == [False, True]
    seen.page.get_by_label("1", exact=True).first.click()
    checked = [choice.is_checked() for choice in seen.page.get_by_label("1", exact=True).all()]
    assert checked == [True, False]
    assert "explore=first" in seen.settled_url()


@PRESSES
@pytest.mark.parametrize("allowed", [True, False])
def test_the_link_can_be_copied(view, allowed, press):
    seen = view("cat-sat").open()
    seen.choose("Causal: no later keys")
    answer = "(text) => { window.copied = text; return Promise.resolve(); }"
    refuse = "() => Promise.reject(new Error('not allowed'))"
    seen.page.evaluate(
        "Object.defineProperty(navigator, 'clipboard',"
        f" {{ value: {{ writeText: {answer if allowed else refuse} }} }})"
    )
    press(seen.page.get_by_role("button", name="Copy link"))
    link = seen.file.as_uri() + "#explore=cat-sat&causal=1"
    if allowed:
        assert seen.page.evaluate("window.copied") == link
        assert seen.status == "The link is copied."
    else:
        field = seen.page.get_by_label("Link to this state")
        assert field.input_value() == link
        assert seen.page.evaluate("document.activeElement.selectionEnd") == len(link)
        assert seen.status == "Copy the link from the field."
