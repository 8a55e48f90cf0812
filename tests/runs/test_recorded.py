"""The recordings of a decoder agree with each other, and heads compute the recorded weights."""

import numpy as np
import pytest

from mha import arithmetic, origin, trace
from mha.core.rope_scaling import rotary_speeds
from mha.examples.recorded import (
    _folder,
    recorded_head,
    recorded_heads,
    recorded_kept_layer,
    recorded_logit_shares,
    recorded_maps,
    recorded_next_tokens,
    recorded_pairs,
    recorded_scores,
    recorded_sentences,
    recorded_settings,
    recorded_stream_norms,
    recorded_vector_lengths,
    recorded_without_each,
)
from mha.runs.places import Place

SETTINGS = recorded_settings()
LAYERS, HEADS = int(SETTINGS["num_layers"]), int(SETTINGS["num_heads"])
BOUND = 0.0015
"""The largest difference of weights from 16-bit numbers, stated by `recorded_head`."""


@pytest.mark.parametrize("sentence", recorded_sentences())
def test_each_map_has_a_row_of_weights_for_each_token(sentence):
    maps = recorded_maps(sentence)
    n = len(maps.tokens)
    assert maps.weights.shape == (LAYERS, HEADS, n, n)
    assert "".join(maps.tokens) == sentence
    assert (maps.weights >= 0).all()
    assert not np.triu(maps.weights, 1).any()
    assert np.allclose(maps.weights.sum(axis=-1), 1, atol=0.0005 * n)  # each entry is rounded
    assert not maps.weights.flags.writeable


@pytest.mark.parametrize("sentence", recorded_sentences())
@pytest.mark.parametrize("place", recorded_heads())
def test_heads_compute_the_recorded_weights_from_numbers_of_16_bits(place, sentence):
    run = trace(recorded_head(*place, sentence))
    layer, head = (number - 1 for number in place)
    off = np.abs(run.weights[0] - recorded_maps(sentence).weights[layer, head])
    assert off.max() < BOUND + 0.0005  # half a unit of the last decimal
    assert run.tokens == recorded_maps(sentence).tokens
    assert np.array_equal(run.example.query, run.example.query.astype(np.float16))
    # The angles are those of the model's base.
    speeds = rotary_speeds(int(SETTINGS["d_k"]), base=SETTINGS["base"])
    assert np.allclose(run.angles, np.outer(np.arange(len(run.tokens)), speeds))


def test_a_recorded_weight_has_an_origin_and_a_line_of_arithmetic():
    run = trace(recorded_head(24, 5, "The capital of France is"))
    found = origin(run, Place("weights", head=0, row=4, column=3))
    assert found.operation == "share"
    assert str(arithmetic(run, "weights", 4, 3)).endswith(f"{run.weights[0, 4, 3]:.4f}")
    products = origin(run, Place("scores", head=0, row=4, column=3)).operands
    assert len(products) == 2 * SETTINGS["d_k"]
    assert {operand.place.stage for operand in products} == {"turned_query", "turned_key"}


def test_heads_of_one_group_share_keys_and_values():
    per_group = SETTINGS["num_heads"] // SETTINGS["num_groups"]
    assert (7 - 1) // per_group == (9 - 1) // per_group
    for sentence in recorded_sentences():
        seventh, ninth = (recorded_head(19, head, sentence) for head in (7, 9))
        assert np.array_equal(seventh.key, ninth.key)
        assert np.array_equal(seventh.value, ninth.value)
        assert not np.array_equal(seventh.query, ninth.query)


@pytest.mark.parametrize("sentence", recorded_sentences())
def test_next_tokens_are_distributions_with_a_rest(sentence):
    whole = recorded_next_tokens(sentence)
    for found in (whole, *(recorded_next_tokens(sentence, head) for head in recorded_heads())):
        assert set(found.tokens) == set(whole.tokens)
        assert (np.diff(found.probabilities) <= 0).all()
        assert 0 < found.rest < 1
        assert found.probabilities.sum() + found.rest == pytest.approx(1)
        assert found.probability(found.tokens[-1]) == found.probabilities[-1]
    with pytest.raises(ValueError, match="token is 'no such token'; one of"):
        whole.probability("no such token")


@pytest.mark.parametrize("sentence", recorded_sentences())
def test_shares_of_logits_have_the_difference_that_the_probabilities_have(sentence):
    tokens, found = recorded_logit_shares(sentence)
    assert found.shares.shape == (1 + LAYERS * (HEADS + 1), 2)
    assert len(found.names) == len(found.shares)
    whole = recorded_next_tokens(sentence)
    assert tokens == whole.tokens[:2]
    logits = found.shares.sum(axis=0)
    log_ratio = np.log(whole.probabilities[0] / whole.probabilities[1])
    assert logits[0] - logits[1] == pytest.approx(log_ratio, abs=1e-3)


def test_the_other_recordings_have_their_shapes():
    scores = recorded_scores()
    count, n = len(scores.sequences), len(scores.sequences[0])
    assert all(words[: n // 2] == words[n // 2 :] for words in scores.sequences)
    for array in (scores.induction, scores.previous, scores.first):
        assert array.shape == (count, LAYERS, HEADS)
        assert array.min() >= 0
        assert array.max() <= 1
    assert scores.losses.shape == (count, n - 1)
    assert scores.induction_without.shape == (len(scores.removed), count, LAYERS, HEADS)
    order = np.argsort(-scores.previous.mean(axis=0), axis=None)[: len(scores.removed)]
    assert [(layer - 1) * HEADS + head - 1 for layer, head in scores.removed] == order.tolist()
    for (layer, _), less in zip(scores.removed, scores.induction_without, strict=True):
        # No earlier part, and no other head of the same layer, reads a removed output.
        assert less[:, :layer] == pytest.approx(scores.induction[:, :layer], abs=1e-5)
        assert np.abs(less - scores.induction).max() > 0.01
    pairs = recorded_pairs()
    assert pairs.weights.shape == (len(pairs.endings), len(pairs.pairs), 2, 2)
    assert pairs.weights.sum(axis=-1).max() <= 1
    for one in recorded_sentences():
        n = len(recorded_maps(one).tokens)
        assert recorded_stream_norms(one).shape == (LAYERS + 1, n)


@pytest.mark.parametrize("sentence", ["The capital of France is", recorded_sentences()[5]])
def test_the_likeliest_token_without_each_head_is_that_of_the_recorded_heads(sentence):
    without = recorded_without_each(sentence)
    assert without.shape == (LAYERS, HEADS)
    likeliest = recorded_next_tokens(sentence).tokens[0]
    for layer, head in recorded_heads():
        found = recorded_next_tokens(sentence, (layer, head)).probability(likeliest)
        assert without[layer - 1, head - 1] == pytest.approx(found, abs=1e-5)


def test_only_two_sentences_were_run_without_each_head():
    with pytest.raises(ValueError, match="sentence is 'The bank near the river'; one of "):
        recorded_without_each("The bank near the river")


def test_a_feed_forward_layer_compensates_for_a_head_as_far_as_the_shares_say():
    found = recorded_kept_layer()
    sentence = found.sentence
    without = recorded_without_each(sentence)
    less = without[found.layer - 1, found.head - 1]
    assert less == pytest.approx(found.probability_without, abs=1e-5)
    _, shares = recorded_logit_shares(sentence)
    feed_forward = shares.names.index(f"block {found.layer}, feed-forward")
    assert found.share == pytest.approx(shares.shares[feed_forward, 0], abs=1e-4)
    whole = recorded_next_tokens(sentence).probabilities[0]
    assert found.probability_kept < found.probability_without < whole


@pytest.mark.parametrize("sentence", recorded_sentences())
def test_lengths_belong_to_the_stream_and_to_the_values(sentence):
    found, norms = recorded_vector_lengths(sentence), recorded_stream_norms(sentence)
    assert found.entering.shape == norms[:-1].shape
    assert (found.size <= norms[:-1, 0]).all()
    assert (found.size >= norms[:-1, 0] / np.sqrt(SETTINGS["d_model"])).all()
    assert (found.gain[12:-1] < found.median_gain[12:-1]).all()
    for place, added in zip(recorded_heads(), found.added, strict=True):
        values = np.linalg.norm(recorded_head(*place, sentence).value[0], axis=-1)
        # An output projection stretches every value by a factor of the same magnitude.
        stretch = added / values
        assert stretch.max() < 6 * stretch.min()


def test_a_pair_of_the_recorded_sentence_has_its_weight_in_the_map():
    pairs = recorded_pairs()
    first, verb, second = pairs.pairs[0]
    sentence = recorded_sentences()[0]
    assert sentence.startswith(f"The {first} {verb} the {second}{pairs.endings[0]}")
    maps = recorded_maps(sentence)
    row = maps.weights[pairs.layer - 1, pairs.head - 1, maps.tokens.index(" it")]
    kept = [row[maps.tokens.index(f" {noun}")] for noun in (first, second)]
    assert pairs.weights[0, 0, 0] == pytest.approx(kept, abs=6e-4)


def test_the_recordings_are_small_and_have_a_licence_and_an_origin():
    files = list(_folder().iterdir())
    assert sum(len(file.read_bytes()) for file in files) < 600_000
    licence, origin = (_folder().joinpath(n).read_text("utf-8") for n in ("LICENSE", "README.md"))
    assert "Apache License" in licence
    assert all(word in origin for word in ("SmolLM2-135M-Instruct", "Apache-2.0", "Q4_1"))
