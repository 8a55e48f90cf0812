"""Explorers and figures in a notebook: they follow its theme, and need no network.

HTML is inserted as Jupyter's renderer does: its scripts are created anew, so that they run.
"""

import numpy as np
import pytest
from accessible import violations
from helpers import random_layer
from playwright.sync_api import expect
from ports import random_block

from mha import explorer, figures, load_example, origin, rotary_angles, trace, trace_layer
from mha.runs.places import Place
from mha.runs.rounding import short, shown
from mha.views.colours import PAGE_COLOURS

pytestmark = pytest.mark.browser

SMALL = trace(load_example("the-cat-sat"))
INSERT = """(html) => {
  const host = document.createElement("div");
  document.body.append(host);
  host.innerHTML = html;
  host.querySelectorAll("script").forEach((old) => {
    const script = document.createElement("script");
    script.textContent = old.textContent;
    old.replaceWith(script);
  });
}"""
MARKS = {
    ("Jupyter", "light"): ("", 'data-jp-theme-light="true"'),
    ("Jupyter", "dark"): ("", 'data-jp-theme-light="false"'),
    ("Colab", "dark"): ('theme="dark"', ""),
    ("VS Code", "dark"): ("", 'class="vscode-dark"'),
    ("none", "dark"): ("", ""),
}
"""The attributes of the root and the body that mark the theme of each kind of notebook."""


def rgb(colour):
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


@pytest.fixture
def notebook(browser):
    """Return a function that opens a notebook in a theme and shows objects in it."""
    pages, said = [], []

    def put(*shown_objects, where="Jupyter", theme="light", system="light", width=1280):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=system)
        pages.append(page)
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
        page.on("request", lambda request: said.append(request.url))
        of_html, of_body = MARKS[where, theme]
        page.set_content(f'<!doctype html><html {of_html}><meta charset="utf-8"><body {of_body}>')
        for made in shown_objects:
            is_figure = hasattr(made, "_repr_html_")
            html = made._repr_html_() if is_figure else made._repr_mimebundle_()[0]["text/html"]
            page.evaluate(INSERT, html)
        return page

    yield put
    for page in pages:
        page.close()
    assert said == []  # no error, and nothing asked of a network


def frame_of(page, number=0):
    element = page.locator("iframe").nth(number)
    element.scroll_into_view_if_needed()
    frame = element.element_handle().content_frame()
    frame.locator(".live").wait_for()
    return element, frame


@pytest.mark.parametrize(("where", "theme"), MARKS)
def test_figures_and_explorers_follow_the_notebook_s_theme_and_width(notebook, where, theme):
    opposite = {"light": "dark", "dark": "light"}[theme]
    system = theme if where == "none" else opposite
    figure = figures.weight_maps(SMALL)
    page = notebook(figure, explorer(SMALL), where=where, theme=theme, system=system)
    _, frame = frame_of(page)
    place = ["light", "dark"].index(theme)
    paper, ink = (rgb(PAGE_COLOURS[name][place]) for name in ("paper", "ink"))
    look = "(e) => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
    assert page.locator("div.mha").evaluate(look) == [paper, ink]
    assert page.locator(".f-number").first.evaluate("(e) => getComputedStyle(e).fill") == ink
    expect(frame.locator("html")).to_have_attribute("data-theme", theme)
    assert frame.locator("html").evaluate(look) == [paper, ink]
    # On a phone the figure's narrow layout is uncut, whatever the notebook's styles for images.
    page.set_viewport_size({"width": 360, "height": 900})
    page.add_style_tag(content=":root svg { max-width: 100%; height: auto }")
    drawing = page.locator("svg").first
    bottom = "(e) => e.getBoundingClientRect().bottom"
    drawn = [group.evaluate(bottom) for group in drawing.locator("> g").all()]
    assert 200 < max(drawn) <= drawing.evaluate(bottom) + 1


def test_an_open_explorer_follows_a_change_of_the_theme_and_its_frame_its_height(notebook, rng):
    block = trace(random_block(rng, "before", "relu"))
    page = notebook(explorer(SMALL), explorer(block))
    for number in (0, 1):
        element, frame = frame_of(page, number)
        for fold in (".settings", ".all"):
            frame.locator(f"details{fold} > summary").click()
        frame.locator(".panel").wait_for()
        frame.locator(".controls").first.wait_for()
        page.wait_for_function(
            "(i) => document.querySelectorAll('iframe')[i].clientHeight > 1000", arg=number
        )
        assert element.evaluate("(e) => e.sandbox.value") == "allow-scripts"
        fits = "innerHeight === document.documentElement.offsetHeight"  # it evaluates none
        assert any(frame.evaluate(fits) or page.wait_for_timeout(50) for _ in range(100))
        assert frame.get_by_text("Share", exact=True).count() == 0  # a frame has no address
    assert frame.locator(".around .end-row").count() > 3  # of the block
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")


# ---- A large layer ----

N, HEADS, D_K = 23, 7, 30


def seen(frame):
    """Return the texts of a query's keys: scores, scaled, exponentials, weights and shares."""
    rows = frame.locator(".layer-keys tbody tr").all()
    return [row.locator("button").all_text_contents() for row in rows]


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_large_layer_has_the_trace_s_numbers_and_says_where_they_come_from(
    notebook, rng, is_turned
):
    options = {"mask": rng.random((HEADS, N, N)) < 0.8}
    if is_turned:
        angles = rotary_angles(np.arange(N), D_K)
        options = {"mask": rng.normal(size=(HEADS, N, N)), "is_causal": True, "angles": angles}
    layer = random_layer(rng, HEADS, w_o=False, biases=True, d_model=37, d_k=D_K, d_v=29)
    run = trace_layer(layer, rng.normal(size=(N, 37)), **options)
    theme, width = ("dark", 1280) if is_turned else ("light", 390)
    _, frame = frame_of(notebook(explorer(run), theme=theme, width=width))
    for head, row in ((0, 0), (3, 11), (HEADS - 1, N - 1)):
        frame.locator(".layer-tokens button").nth(row).click()
        frame.locator(".model-maps button").nth(head).click()
        columns = [
            getattr(run, stage)[head, row]
            for stage in ("scores", "scaled_scores", "exponentials", "weights")
        ]
        output = run.head_outputs[head, row]
        columns.append(run.weights[head, row] * (run.value[head] @ output) / (output @ output))
        assert seen(frame) == [[shown(float(x)) for x in line] for line in np.transpose(columns)]
        sums = frame.locator(".layer-keys tfoot").inner_text().split()
        assert sums == ["sum", shown(float(run.row_sums[head, row])), "1.0000", "1.0000"]
    a_long_line_says_what_it_leaves_out(frame, run)
    frame.wait_for_function("(t) => document.documentElement.dataset.theme === t", arg=theme)
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(frame, "mha-instrument") == []


def a_long_line_says_what_it_leaves_out(frame, run):
    """Show a score's origin, and choose a head and a query on a map, by mouse and keyboard."""
    frame.locator(".layer-keys tbody tr").nth(4).locator("button").first.click()
    terms = origin(run, Place("scores", HEADS - 1, N - 1, 4)).terms
    products = [term[0].value * term[1].value for term in terms]
    rest = short(sum(products) - sum(sorted(products, key=abs)[-8:]))
    line = frame.locator(".model-line")
    text = line.inner_text()
    assert text.count("×") == 8
    assert text.endswith(f"≈ {short(run.scores[HEADS - 1, N - 1, 4])}")
    assert f"({D_K - 8} more, together {rest})" in text
    line.locator("button").first.click()
    expect(line).to_contain_text("arithmetic(run, ")
    frame.get_by_text("Back").click()
    assert line.inner_text() == text
    maps, title = frame.locator(".model-map"), frame.locator(".strip-title")
    box = maps.nth(2).bounding_box()
    maps.nth(2).click(position={"x": 5, "y": (10.5 / N) * box["height"]})
    expect(title).to_contain_text("11 (11) attend to? Head 3")
    frame.locator(".layer-keys tbody tr").nth(21).locator("button").nth(2).click()
    assert line.inner_text().startswith("Masked") == run.example.is_causal
    maps.nth(5).press("ArrowDown")
    expect(title).to_contain_text("12 (12) attend to? Head 6")
