"""The figure of latent vectors in Chromium: its numbers and its controls."""

import json
from functools import partial

import numpy as np
import pytest
from accessible import violations
from book_site import advance_clock
from helpers import example
from playwright.sync_api import expect
from ports import CLOSE
from worked_runs import TIRED

from mha import trace
from mha.core.latent import LatentWeights, latent_attention
from mha.core.multihead import MultiHeadWeights
from mha.widgets.latent import latent_forms, latent_widths

pytestmark = pytest.mark.browser

ORDER = [0, 1, 3, 2]


@pytest.fixture
def latent(open_instrument):
    """Return a function that opens the figure, at an address and in a window."""
    return partial(open_instrument, latent_widths(TIRED, ORDER, width=3, head=1).html)


NUMBERS = """([data, width]) => {
  const heads = modules.latentForms.tablesOf(data, width);
  const roles = ["latent", "key", "value", "scores", "absorbed_scores", "weights", "output",
    "absorbed_output"];
  const { difference, ranksOf } = modules.latentForms;
  return [heads.map((of) => roles.map((role) => of(role))), Object.values(ranksOf(heads)),
    difference(heads), roles];
}"""


def drawn(rng, d_model=5, heads=2, n=6):
    """Return a run with random numbers, and the order of its dimensions."""
    layer = MultiHeadWeights(
        *rng.normal(size=(2, heads, d_model, 3)), rng.normal(size=(heads, d_model, 2)),
        np.eye(heads * 2, d_model),
    )  # fmt: skip
    run = trace(example(
        query=None, key=None, value=None, embeddings=rng.normal(size=(n, d_model)), layer=layer,
        tokens=[str(i) for i in range(n)], head_names=["a", "b"], focus=None,
    ))  # fmt: skip
    return run, rng.permutation(d_model).tolist()


def test_at_every_width_each_number_is_the_package_s(latent, modules, rng):
    page = latent()
    page.add_script_tag(path=modules)
    for run, order in ((TIRED, ORDER), *(drawn(rng) for _ in range(5))):
        html = latent_widths(run, order, width=1).html
        data = json.loads(html.partition('json">')[2].partition("</script>")[0])
        layer = run.example.layer
        for width in range(1, len(order) + 1):
            tables, ranks, difference, roles = page.evaluate(NUMBERS, [data, width])
            forms = latent_forms(run, order, width)
            for found, wanted in zip(tables, forms.heads, strict=True):
                for role, array in zip(roles, found, strict=True):
                    np.testing.assert_allclose(array, wanted[role], rtol=CLOSE, atol=CLOSE)
            assert tuple(ranks) == forms.ranks
            assert difference < 1e-12 > forms.difference
            # The same by the function on heads, with rotated parts of zeros.
            none = np.zeros((len(layer.w_q), layer.w_q.shape[1], 2))
            by_heads = latent_attention(run.embeddings, LatentWeights(
                w_dkv=np.eye(len(order))[:, order[:width]], w_kr=none[0], w_qr=none,
                w_uk=layer.w_k[:, order[:width]], w_uv=layer.w_v[:, order[:width]],
                w_uq=layer.w_q * np.sqrt(1 + 2 / layer.w_q.shape[-1]),
                w_o=np.eye(len(layer.w_q) * layer.w_v.shape[-1]),
            ), angles=np.zeros((len(run.tokens), 1)))  # fmt: skip
            joined = np.hstack([head["output"] for head in forms.heads])
            np.testing.assert_allclose(by_heads.output, joined, atol=1e-12)


def test_the_width_is_moved_by_keyboard_shared_and_undone(latent):
    page = latent()
    slider, said = page.get_by_role("slider"), page.get_by_role("status").first
    stored = page.locator(".latent p", has_text="Stored per token")
    ranks = page.locator(".latent-ranks tbody tr").first.locator("td")
    scores = page.locator(".latent-scores tbody .at-plain")
    absorbed = page.locator(".latent-scores tbody .at-absorbed")
    expect(scores).to_have_text(["0", "0", "0", "2"])
    expect(ranks).to_have_text(["3", "3", "3"])
    slider.press("ArrowRight")
    expect(scores).to_have_text(["0", "0", "1", "2"])
    expect(absorbed).to_have_text(["0", "0", "1", "2"])
    expect(ranks).to_have_text(["4", "3", "4"])
    expect(said).to_contain_text("No score of tired changes, nor does its output.")
    expect(page.locator(".latent-scores .changed")).to_have_count(0)
    for _ in range(2):
        slider.press("ArrowLeft")
    expect(stored).to_contain_text("2 numbers, 4 bytes, instead of a key and a value per head, 8 ")
    expect(page.locator(".latent-scores .changed")).to_have_count(2)
    expect(said).to_contain_text("Width 2: 4 bytes per token. The scores of tired change by")
    expect(page.get_by_text("The two forms differ by at most 0, over all heads")).to_be_visible()
    page.get_by_role("button", name="Head 1").click()
    page.get_by_role("button", name="it", exact=True).click()
    expect(scores).to_have_text(["6", "2", "0", ""])
    advance_clock(page, 350)
    again = latent("#" + page.url.partition("#")[2], width=390)
    expect(again.locator(".latent-scores tbody .at-plain")).to_have_text(["6", "2", "0", ""])
    assert again.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(again, "mha-instrument") == []
    undo = page.get_by_role("button", name="Undo")
    for _ in range(2):
        undo.click()
    expect(scores).to_have_text(["0", "0", "0", "0"])
    page.get_by_role("button", name="Reset").click()
    expect(page.locator(".latent-width")).to_have_text("3 of 4")
