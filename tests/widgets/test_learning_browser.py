"""A layer that is trained in the page: its numbers are the package's, and the curve is dragged."""

from functools import partial
from itertools import islice

import numpy as np
import pytest
from accessible import violations
from explorer_pages import reopen
from playwright.sync_api import expect
from pointer import drag, swipe

from mha.core.learning import draw_layer, training_steps
from mha.examples.learning_runs import (
    WIDTH,
    evaluate_layer,
    learning_task,
    relation_weights,
    train_layers,
)
from mha.widgets.learning import learning_layer

pytestmark = pytest.mark.browser

CLOSE = 1e-9


@pytest.fixture
def opened(open_instrument):
    """Return a function that opens the layer that learns, at an address and in a window."""
    return partial(open_instrument, learning_layer().html, width=1100, height=1000)


TRAINED = """([seed, heads, rate, steps]) => {
  const training = new modules.learning.Training({ seed, heads, rate });
  while (training.done < steps) training.advance();
  training.advance();
  const { found, layers, losses } = training;
  return { losses, layers: layers.map((layer) => [...layer]), loss: found.at(-1).loss,
    right: found.at(-1).right, roles: [...found.at(-1).roles] };
}"""


DRAWN = """([seed, count]) => {
  const draws = new modules.numpyDraws.NumpyDraws(seed);
  return Array.from({ length: count }, () => draws.normal());
}"""


def test_a_training_and_what_it_draws_are_the_package_s_at_every_step(arithmetic_page, rng):
    page = arithmetic_page
    for seed in (0, 1, 2**32 - 1):  # the tail of the distribution comes every few thousand times
        found = page.evaluate(DRAWN, [seed, 9000])
        wanted = np.random.default_rng(seed).normal(size=9000)
        assert np.abs(wanted).max() > 3.66
        assert np.allclose(found, wanted, rtol=0, atol=1e-13)
    (x, answers), *_ = learning_task()
    for heads, steps in ((3, 60), (6, 10), (1, 10), (12, 10)):
        seed, rate = int(rng.integers(2**32)), float(rng.choice([0.003, 0.03, 0.1]))
        found = page.evaluate(TRAINED, [seed, heads, rate, steps])
        start = draw_layer(np.random.default_rng(seed), x.shape[-1], heads, WIDTH, 63)
        run = islice(training_steps(start, x, answers, rate=rate), steps)
        losses, layers = zip(*run, strict=True)
        assert np.allclose(found["losses"], losses, rtol=0, atol=CLOSE)
        for got, layer in zip(found["layers"], [start, *layers], strict=True):
            matrices = (layer.w_q, layer.w_k, layer.w_v, layer.w_o)
            wanted = np.concatenate([matrix.ravel() for matrix in matrices])
            assert np.allclose(got, wanted, rtol=0, atol=CLOSE)
        last = found["loss"], found["right"]
        assert np.allclose(last, evaluate_layer(layers[-1]), rtol=0, atol=CLOSE)
        assert np.allclose(found["roles"], relation_weights(layers[-1]).ravel(), rtol=0, atol=CLOSE)


HOSTILE = "#learning=layer&seed=99999999999&rate=9&steps=1e9&step=900&word=a&head=7"


def test_a_reader_draws_the_curve_back_and_starts_again(opened):
    page = opened(HOSTILE, width=390, has_touch=True)
    layers = train_layers(np.random.default_rng(0), 3)
    expect(page.locator(".model-status")).to_have_text(
        f"Seed 0, 3 heads, rate 0.03: the loss went from {evaluate_layer(layers[0])[0]:.4f}"
        f" to {evaluate_layer(layers[-1])[0]:.4f} in 150 steps.",
        timeout=60_000,
    )
    says, given = page.locator(".time-says"), page.locator(".learning-roles td")
    assert given.all_inner_texts() == [f"{x:.2f}" for x in relation_weights(layers[-1]).flat]
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations(page, "mha-instrument") == []
    curve = page.locator(".learning-curve")
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    swipe(page, box["x"] + 2, box["y"] + 60, box["width"] / 2 - 2, steps=5)
    expect(says).to_contain_text("After step 75:")
    drag(page, box["x"] + box["width"] / 2, box["y"] + 60, -box["width"])
    expect(says).to_contain_text("After step 0:")
    assert given.all_inner_texts() == [f"{x:.2f}" for x in relation_weights(layers[0]).flat]
    assert page.locator(".learning-table .wrong").count() > 3
    steps = page.get_by_label("Steps", exact=True).and_(page.locator("input"))
    for _ in range(3):
        steps.press("ArrowRight")
    expect(says).to_contain_text("After step 3:")
    page.locator(".learning-table .model-word").nth(3).click()
    page.get_by_role("button", name="Head 2").click()
    page.get_by_role("button", name="Another seed").click()
    expect(says).to_contain_text("After step 3:")
    assert page.locator(".before-line").get_attribute("points")
    page.get_by_role("button", name="Share").click()
    hash_, said = page.evaluate("location.hash"), says.inner_text()
    for name, seed in (("Undo", 0), ("Redo", 1)):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_label("Seed")).to_have_value(str(seed))
    page.get_by_role("combobox", name="Heads").select_option("6")
    # Queries and keys of heads of two numbers stand in a plane.
    expect(page.locator(".learning-plane text:not(:empty)")).to_have_count(7)
    page.get_by_label("Seed").fill("one")
    page.get_by_label("Seed").press("Enter")
    expect(page.locator(".error")).to_have_text(
        "“one” is not a whole number. Type one from 0 to 4,294,967,295."
    )

    reopen(page, hash_)
    expect(says).to_have_text(said)
    expect(page.locator("[aria-pressed=true]")).to_have_text(["Head 2", "old-O"])


def test_without_a_script_a_table_of_steps_is_shown(opened):
    page = opened(java_script_enabled=False)
    rows = page.locator("mha-instrument table tbody tr")
    said = rows.last.inner_text().split()
    assert said == ["150", "0.0178", "99.9", "%", "0.98", "0.82", "0.60", "0.67"]
    assert rows.count() == 7
