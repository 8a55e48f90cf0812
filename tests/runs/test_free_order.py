"""The toy language: marks say what belongs together, and the answers follow from them."""

from collections import Counter

import numpy as np
import pytest

from mha.examples.free_order import (
    ADJECTIVES,
    LENGTH,
    NOUNS,
    QUESTIONS,
    VERBS,
    WORDS,
    answer_places,
    as_arrays,
    draw_sentence,
    one_question,
)
from mha.examples.learning_runs import PLANNED, SEEDS, examined, kept_runs, learned


def kind_and_mark(token):
    stem, _, mark = token.partition("-")
    kinds = {"it": "pronoun"} | dict.fromkeys(NOUNS, "noun")
    kinds |= dict.fromkeys(ADJECTIVES, "adjective") | dict.fromkeys(VERBS, "verb")
    return kinds[stem], mark


@pytest.mark.parametrize("seed", range(10))
def test_answers_follow_from_marks(seed):
    sentence = draw_sentence(np.random.default_rng(seed))
    read = [kind_and_mark(token) for token in sentence.tokens]
    assert Counter(kind for kind, _ in read) == {
        "noun": 2, "adjective": 2, "verb": 1, "pronoun": 1,
    }  # fmt: skip
    assert {mark for kind, mark in read if kind == "noun"} == {"S", "O"}
    for i, ((kind, mark), places) in enumerate(zip(read, sentence.places, strict=True)):
        noun, verb = read.index(("noun", mark)) if mark else -1, read.index(("verb", ""))
        assert places[0] == (i + 1 if i < LENGTH - 1 else -1)
        assert places[1] == {"noun": verb, "pronoun": verb, "adjective": noun, "verb": -1}[kind]
        assert places[2] == (noun if kind == "pronoun" else -1)


def test_words_stand_anywhere():
    rng = np.random.default_rng(3)
    sentences = [draw_sentence(rng) for _ in range(300)]
    verbs = Counter(next(i for i, t in enumerate(s.tokens) if t in VERBS) for s in sentences)
    assert set(verbs) == set(range(LENGTH))
    assert {token for s in sentences for token in s.tokens} == set(WORDS)
    assert len(set(WORDS)) == len(WORDS) == 21


def test_arrays_hold_form_and_place_and_answers_are_forms():
    sentences = [draw_sentence(np.random.default_rng(seed)) for seed in range(5)]
    x, answers = as_arrays(sentences)
    places = answer_places(sentences)
    assert x.shape == (5, LENGTH, len(WORDS) + LENGTH)
    assert answers.shape == places.shape == (5, LENGTH, len(QUESTIONS))
    for s, sentence in enumerate(sentences):
        for i, token in enumerate(sentence.tokens):
            assert np.flatnonzero(x[s, i]).tolist() == [WORDS.index(token), len(WORDS) + i]
            for q, place in enumerate(sentence.places[i]):
                wanted = -1 if place == -1 else WORDS.index(sentence.tokens[place])
                assert answers[s, i, q] == wanted


def test_each_word_keeps_one_question_by_its_form():
    sentences = [draw_sentence(np.random.default_rng(seed)) for seed in range(20)]
    _, answers = as_arrays(sentences)
    kept = one_question(answers)
    for s, sentence in enumerate(sentences):
        for i, token in enumerate(sentence.tokens):
            q = {"pronoun": 2, "adjective": 1}.get(kind_and_mark(token)[0], 0)
            wanted = [-1, -1, -1]
            wanted[q] = answers[s, i, q]
            assert kept[s, i].tolist() == wanted


@pytest.mark.parametrize(("num_heads", "steps", "seed"), [(12, 150, 7), (3, 400, 11)])
def test_a_kept_run_comes_out_again(num_heads, steps, seed):
    found = examined(learned(np.random.default_rng(seed), num_heads, steps))
    kept = [runs.values[seed] for runs in kept_runs(num_heads, steps)]
    np.testing.assert_allclose(found, kept, rtol=1e-3, atol=1e-6)


def test_every_planned_run_is_kept_with_every_seed():
    for steps, all_heads in PLANNED.items():
        for num_heads in all_heads:
            assert [len(r.values) for r in kept_runs(num_heads, steps)] == [len(SEEDS)] * 2
