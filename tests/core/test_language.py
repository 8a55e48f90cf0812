"""A language model: what it is made of, what it writes, and what turning a part off leaves."""

from itertools import islice

import numpy as np
import pytest

from mha import layer_norm, rotate_by, softmax, transformer
from mha.core.language import draw_model, run_model
from mha.core.language_training import train_model

WORDS = ("ant", "bee", "cow", "dog", "elk", "fox", "gnu")
TEXT = "ant bee cow ant bee elk gnu gnu ant"


@pytest.fixture
def model():
    return draw_model(np.random.default_rng(5), WORDS, 12, num_blocks=2, num_heads=3, base=50.0)


def test_a_model_is_its_blocks_between_two_tables(model):
    x = transformer(
        model.embedding[model.indices(TEXT)], model.blocks, is_causal=True, angles=model.angles(9)
    )
    assert np.allclose(model.logits(TEXT), layer_norm(x) @ model.unembedding, atol=1e-12)


def test_what_is_kept_gives_the_words_that_reading_anew_gives(model):
    text = TEXT.split()
    for written in islice(model.write(TEXT), 13):
        logits = model.logits(text)
        assert np.allclose(written.probabilities, softmax(logits[-1]), atol=1e-12)
        assert written.word == WORDS[int(logits[-1].argmax())]
        assert [len(cache) for cache in written.caches] == [len(text)] * 2
        text.append(written.word)


def test_temperature_and_draws(model):
    logits = model.logits(TEXT)[-1]
    for temperature in (0.3, 1, 7.0):
        first = next(model.write(TEXT, temperature=temperature))
        assert np.allclose(first.probabilities, softmax(logits / temperature))
    texts = [
        [word.word for word in islice(model.write(TEXT, rng=np.random.default_rng(seed)), 17)]
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]
    drawn = np.random.default_rng(3)
    words = [next(model.write(TEXT, rng=drawn)).word for _ in range(500)]
    shares = [words.count(word) / 500 for word in WORDS]
    assert np.allclose(shares, softmax(logits), atol=0.08)


def test_a_head_that_is_off_adds_nothing(model):
    off = model.without((0, 1), (1, 2))
    runs = [run_model(m, model.indices(TEXT)) for m in (model, off)]
    assert np.array_equal(runs[0].passes[0].weights, runs[1].passes[0].weights)
    assert not np.allclose(runs[0].passes[1].weights, runs[1].passes[1].weights)
    bare = model.without(*np.ndindex(2, 3))
    embedded = layer_norm(model.embedding[model.indices(TEXT)])
    assert np.allclose(bare.logits(TEXT), embedded @ model.unembedding)


def test_a_cut_takes_one_head_out_of_the_keys_of_another(model):
    ids = model.indices(TEXT)
    whole, cut = run_model(model, ids), run_model(model, ids, cut=(1, 2))
    for same in ("weights", "output"):
        assert np.array_equal(getattr(whole.passes[0], same), getattr(cut.passes[0], same))
    first, second = (run.passes[1] for run in (whole, cut))
    for same in ("query", "value", "x"):
        assert np.array_equal(getattr(first, same), getattr(second, same))
    assert np.array_equal(first.key[:2], second.key[:2])
    assert not np.allclose(first.key[2], second.key[2])
    silent = model.without((0, 1))
    assert np.allclose(run_model(silent, ids).logits, run_model(silent, ids, cut=(1, 2)).logits)


def test_the_parts_that_a_key_is_cut_into_add_up_to_it(model):
    # Without all three heads of the first block the key is that of the embedding alone.
    ids = model.indices(TEXT)
    whole = run_model(model, ids).passes[1]
    lost = sum(whole.key[1] - run_model(model, ids, cut=(h, 1)).passes[1].key[1] for h in range(3))
    x = model.embedding[ids]
    normed = (x - x.mean(axis=1, keepdims=True)) / run_model(model, ids).spreads[1][:, None]
    alone = normed @ model.blocks[1].attention.w_k[1]
    assert np.allclose(whole.key[1] - lost, rotate_by(alone, model.angles(9)))


def test_training_lowers_the_loss_and_repeats_itself(model):
    texts = [[model.indices(TEXT)]] * 20
    losses = [[step.loss for step in train_model(model, texts, [0.01] * 20)] for _ in range(2)]
    assert losses[0] == losses[1]
    assert losses[0][-1] < losses[0][0] / 2
