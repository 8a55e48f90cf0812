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


def test_answers_follow_from_marks_and_arrays_hold_form_place_and_answers():
    sentences = [draw_sentence(np.random.default_rng(seed)) for seed in range(20)]
    x, answers = as_arrays(sentences)
    assert x.shape == (20, LENGTH, len(WORDS) + LENGTH)
    assert answers.shape == answer_places(sentences).shape == (20, LENGTH, len(QUESTIONS))
    kept = one_question(answers)
    for s, sentence in enumerate(sentences):
        read = [kind_and_mark(token) for token in sentence.tokens]
        counts = {"noun": 2, "adjective": 2, "verb": 1, "pronoun": 1}
        assert Counter(kind for kind, _ in read) == counts
        assert {mark for kind, mark in read if kind == "noun"} == {"S", "O"}
        verb = read.index(("verb", ""))
        for i, (kind, mark) in enumerate(read):
            noun = read.index(("noun", mark)) if mark else -1
            asked = {"noun": verb, "pronoun": verb, "adjective": noun, "verb": -1}[kind]
            places = (i + 1 if i < LENGTH - 1 else -1, asked, noun if kind == "pronoun" else -1)
            assert sentence.places[i] == places
            word = WORDS.index(sentence.tokens[i])
            assert np.flatnonzero(x[s, i]).tolist() == [word, len(WORDS) + i]
            words = [-1 if at == -1 else WORDS.index(sentence.tokens[at]) for at in places]
            assert answers[s, i].tolist() == words
            question = {"pronoun": 2, "adjective": 1}.get(kind, 0)
            only = [word if q == question else -1 for q, word in enumerate(words)]
            assert kept[s, i].tolist() == only


def test_words_stand_anywhere():
    rng = np.random.default_rng(3)
    sentences = [draw_sentence(rng) for _ in range(300)]
    verbs = Counter(next(i for i, t in enumerate(s.tokens) if t in VERBS) for s in sentences)
    assert set(verbs) == set(range(LENGTH))
    assert {token for s in sentences for token in s.tokens} == set(WORDS)
    assert len(set(WORDS)) == len(WORDS) == 21


@pytest.mark.parametrize(("num_heads", "steps", "seed"), [(12, 150, 7), (3, 400, 11)])
def test_a_kept_run_comes_out_again(num_heads, steps, seed):
    found = examined(learned(np.random.default_rng(seed), num_heads, steps))
    kept = [runs.values[seed] for runs in kept_runs(num_heads, steps)]
    np.testing.assert_allclose(found, kept, rtol=1e-3, atol=1e-6)


def test_every_planned_run_is_kept_with_every_seed():
    for steps, all_heads in PLANNED.items():
        for num_heads in all_heads:
            assert [len(r.values) for r in kept_runs(num_heads, steps)] == [len(SEEDS)] * 2
