"""Random examples for any sentence: numbers for hand computation, stable under additions."""

import numpy as np
import pytest

from mha import load_example, trace
from mha.examples import example_names
from mha.runs.random_examples import MEANINGS, VOCABULARY, bare_word, draw_example


@pytest.mark.parametrize(("numbers", "unit"), [("meanings", 1), ("whole", 1), ("tenths", 10)])
def test_numbers_can_be_worked_by_hand_and_stay_when_a_word_or_a_head_is_added(numbers, unit):
    for seed in range(30):
        few = draw_example("the hungry zebra ran", seed=seed, numbers=numbers, num_heads=1)
        more = draw_example("Zebra the the hungry zebra, ran", seed=seed, numbers=numbers,
                            num_heads=3)  # fmt: skip
        for array in (more.embeddings, *more.layer.arrays.values()):
            assert (np.abs(array) <= 2).all()
            assert np.allclose(unit * array, np.round(unit * array))
        assert np.array_equal(more.embeddings[2:], few.embeddings)
        assert np.array_equal(more.embeddings[[0, 1]], few.embeddings[[2, 0]])
        assert more.head_names[0] == few.head_names[0]
        assert np.array_equal(more.layer.w_q[0], few.layer.w_q[0])


def test_a_word_that_asks_finds_the_word_that_answers():
    run = trace(draw_example("the tired cat drinks tea"))
    assert run.head_names == ("Head 1: state → animal", "Head 2: doing → thing")
    assert run.weights[0, 1, 2] > 0.8
    assert run.weights[1, 3, 4] > 0.8
    assert np.allclose(run.weights[:, 0], 1 / 5)
    assert run.output[1].argmax() == MEANINGS.index("animal")


def test_heads_change_meaning_only_with_an_added_or_removed_known_word():
    for seed in range(30):
        plain = draw_example("the tired cat", seed=seed)
        for more in ("was", "dog", "happy", "zebra", "hund a cat"):
            assert draw_example(f"the tired cat {more}", seed=seed).head_names == plain.head_names
        wider = draw_example("the tired cat", seed=seed, d_model=6)
        assert wider.head_names == plain.head_names
    names = [draw_example("zebra cat sat", seed=seed).head_names for seed in range(30)]
    assert all("animal" in name and "doing" in name for pair in names for name in pair)


def test_every_word_of_the_vocabulary_has_valid_meanings():
    assert {of for text in VOCABULARY.values() for of in text.split()} == set(MEANINGS)
    assert all(bare_word(word) == word for word in VOCABULARY)


def test_every_word_of_the_book_s_examples_has_its_meanings():
    tokens = {token for name in example_names() for token in load_example(name).tokens}
    assert {bare_word(token) for token in tokens} <= set(VOCABULARY)
    assert {"money", "dog", "bites", "man", "we", "drink", "because"} <= set(VOCABULARY)


def test_a_sentence_has_as_many_numbers_as_its_meanings_need():
    assert draw_example("the river bank").embeddings.tolist()[1:] == [
        [0, 0, 0, 0, 0, 1],
        [0, 1, 0, 0, 0, 1],
    ]
    assert draw_example("the tired cat").embeddings.shape == (3, 4)
    assert draw_example("the river bank", d_model=4).embeddings.shape == (3, 4)
    assert draw_example("the river bank", numbers="tenths").embeddings.shape == (3, 4)


def test_punctuation_separates_words_and_is_not_a_word():
    found = draw_example("“Who,” she said—you? Don't/rock-n-roll: 3.5, 1,000 ...").tokens
    assert found == ("Who", "she", "said", "you", "Don't", "rock-n-roll", "3.5", "1,000")
    assert draw_example(["you?", "..."]).tokens == ("you?", "...")
