"""Traces of a decoder's layers hold the numbers of its run, and shares sum to its logits."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import raises

import mha
from mha.core.decoder import draw_decoder
from mha.core.language import draw_model
from mha.core.norm import rms_norm
from mha.runs.logit_attribution import logit_shares, trace_text

LAYERS, HEADS, GROUPS, WORDS = 3, 6, 2, 17
IDS = (5, 0, 16, 2, 2, 7, 11)


@pytest.fixture
def model(rng):
    drawn = draw_decoder(rng, WORDS, num_layers=LAYERS, num_heads=HEADS, num_groups=GROUPS)
    return replace(drawn, base=50.0, eps=1e-3)


@pytest.mark.parametrize("layer", range(LAYERS))
def test_a_trace_has_the_weights_and_outputs_of_the_run(model, layer):
    trace, run = trace_text(model, IDS, layer=layer), model.run(IDS)
    np.testing.assert_allclose(trace.weights, run.weights[layer], rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(trace.head_outputs, run.head_outputs[layer], rtol=1e-10)
    start = rms_norm(run.stream[layer], model.layers[layer].attention_gain, model.eps)
    np.testing.assert_allclose(trace.embeddings, start, rtol=1e-10)
    attended = trace.output + run.stream[layer]
    gain = model.layers[layer].feed_forward_gain
    gate, up = np.split(rms_norm(attended, gain, model.eps) @ model.layers[layer].w_gate_up, 2, 1)
    fed = gate / (1 + np.exp(-gate)) * up @ model.layers[layer].w_down
    np.testing.assert_allclose(attended + fed, run.stream[layer + 1], rtol=1e-9)
    assert trace.example.name == f"text-{layer + 1}"


def test_each_number_of_any_head_has_its_line_of_arithmetic(model):
    trace = trace_text(model, IDS, layer=1, name="words")
    stages = "query", "turned_key", "scores", "scaled_scores", "exponentials", "weights"
    for head in range(HEADS):
        for stage in (*stages, "head_outputs"):
            place = mha.Place(stage, head=head, row=4, column=2)
            origin = mha.origin(trace, place)
            assert origin.operands
            assert str(mha.arithmetic(trace, stage, 4, 2, head=head))
    by_group = trace.key.reshape(GROUPS, HEADS // GROUPS, *trace.key.shape[1:])
    assert (by_group == by_group[:, :1]).all()
    assert trace.tokens == tuple(f"token {i}" for i in IDS)


def test_tokens_are_labelled_by_their_texts(model):
    class Signs:
        def decode(self, ids, skip_special_tokens=True):
            return " \n" if ids == [5] else f" {ids[0]}"

    trace = trace_text(replace(model, read_tokenizer=Signs), IDS[:2], layer=0)
    assert trace.tokens == (" \\n", " 0")


def test_single_precision_is_traced_in_double(rng):
    single = draw_decoder(rng, WORDS, num_heads=HEADS, num_groups=GROUPS, dtype=np.float32)
    trace, run = trace_text(single, IDS, layer=1), single.run(IDS)
    assert trace.weights.dtype == np.float64
    np.testing.assert_allclose(trace.weights, run.weights[1], atol=1e-5)


def test_a_layer_is_wanted_of_a_decoder_and_may_be_chosen_of_a_language_model(model):
    with raises(
        ValueError,
        "layer is None; a number from 0 to 2 is wanted, since the traces of all layers of a Decoder"
        " are large",
    ):
        trace_text(model, IDS)
    with raises(ValueError, "layer is 3; an index from 0 to 2 is wanted"):
        trace_text(model, IDS, layer=3)
    small = draw_model(np.random.default_rng(3), ["a", "b", "c"], 4)
    whole = trace_text(small, "a b a")
    np.testing.assert_array_equal(trace_text(small, "a b a", layer=1).logits, whole[1].logits)
    with raises(ValueError, "layer is 2; an index from 0 to 1 is wanted"):
        trace_text(small, "a b a", layer=2)


@pytest.mark.parametrize("without", [(), ((1, 4),)])
def test_shares_sum_to_the_logits(model, without):
    run = model.run(IDS, without)
    found = logit_shares(run, 4)
    np.testing.assert_allclose(found.shares.sum(axis=0), run.logits[4], rtol=1e-9)
    assert len(found.names) == len(found.shares) == 1 + LAYERS * (HEADS + 1)
    assert found.names[:2] == ("embedding", "block 1, head 1")
    assert found.names[HEADS + 1] == "block 1, feed-forward"
    silent = found.names.index("block 2, head 5")
    assert (not found.shares[silent].any()) == bool(without)
    some = logit_shares(run, 4, words=[3, 0])
    np.testing.assert_allclose(some.shares, found.shares[:, [3, 0]], rtol=1e-12)


def test_a_head_s_share_is_its_contribution_through_the_last_norm(model):
    run, trace = model.run(IDS), trace_text(model, IDS, layer=2)
    root = np.sqrt((run.stream[-1][6] ** 2).mean() + model.eps)
    wanted = trace.head_contributions[3, 6] / root * model.final_gain @ model.unembedding
    found = logit_shares(run, 6)
    np.testing.assert_allclose(
        found.shares[found.names.index("block 3, head 4")], wanted, rtol=1e-9
    )


def test_a_position_or_word_that_is_not_there_is_refused(model):
    run = model.run(IDS)
    with raises(ValueError, "row is 7; an index from 0 to 6 is wanted"):
        logit_shares(run, 7)
    with raises(ValueError, "words is 17; an index from 0 to 16 is wanted"):
        logit_shares(run, 0, words=[17])
