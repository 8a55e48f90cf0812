"""A text's runs are runs like any other, down to the probabilities of the next word."""

import numpy as np
import pytest
from put_together import check_all

from mha import softmax, tables
from mha.core.language import draw_model
from mha.runs.stories import logit_shares, trace_text

WORDS = ("ant", "bee", "cow", "dog", "elk")


@pytest.fixture(scope="module")
def model():
    return draw_model(np.random.default_rng(5), WORDS, 6, num_blocks=3, num_heads=3, base=50.0)


def test_every_number_of_a_text_comes_from_others(model):
    for run in trace_text(model, "ant bee cow ant"):
        check_all(run, read_lines=False)


def test_the_last_run_has_the_model_s_logits(model):
    last = trace_text(model, "ant bee cow ant")[-1]
    assert np.allclose(last.logits, model.logits("ant bee cow ant"), atol=1e-12)
    assert np.allclose(last.probabilities, softmax(last.logits))


def test_a_table_of_words_is_headed_by_them(model):
    last = trace_text(model, "ant bee", name="animals")[-1]
    table = tables.stage_table(last, "probabilities")
    assert table.header == ("Token", *WORDS)


def test_the_shares_of_a_logit_add_up_to_it(model):
    runs = trace_text(model, "ant bee cow ant")
    for row in range(4):
        found = logit_shares(runs, row)
        assert len(found.names) == len(found.shares) == 1 + 9
        assert np.allclose(found.shares.sum(axis=0), runs[-1].logits[row], atol=1e-12)
        off = model.without((2, 1))
        silent = logit_shares(trace_text(off, "ant bee cow ant"), row)
        assert not silent.shares[found.names.index("block 3, head 2")].any()
