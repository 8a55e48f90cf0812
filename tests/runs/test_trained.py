"""What the book trained and recorded: the languages, their models, and heads of a real one."""

from collections import Counter

import numpy as np
import pytest

from mha import load_model, recorded_head, recorded_heads, recorded_maps, recorded_sentences, trace
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
from mha.examples.learning_runs import examined, kept_runs, learned
from mha.examples.names import SYLLABLES, draw_story, second_syllables
from mha.examples.recorded import _folder
from mha.examples.trained import KEPT, fresh_stories, name_costs, training

FRESH = fresh_stories()


# The language of names


def test_a_story_is_told_of_two_or_three_people_with_syllables_of_their_own():
    for seed in range(50):
        story = draw_story(np.random.default_rng(seed), 400)
        assert story == draw_story(np.random.default_rng(seed), 400)
        names = set()
        for sentence in " ".join(story).split(" . ")[:-1]:
            words = sentence.split()
            at = [i for i, word in enumerate(words) if word in SYLLABLES]
            assert len(at) in (2, 4)
            names |= {(words[i], words[i + 1]) for i in at[::2]}
        assert len(names) in (2, 3)
        assert len({syllable for name in names for syllable in name}) == 2 * len(names)


def test_second_syllables_are_found():
    asked = second_syllables(FRESH)
    for story, place, last, behind in zip(*asked.repeated, asked.last, asked.behind, strict=True):
        words = FRESH[story]
        assert words[last - 1] == words[place] < len(SYLLABLES)
        assert words[last] == words[place + 1]
        assert behind[last]
        assert not behind[last + 1 :].any()
        assert (words[np.flatnonzero(behind) - 1] == words[place]).all()
    for story, place in zip(*asked.new, strict=True):
        assert FRESH[story, place] not in FRESH[story, :place]


def test_the_first_steps_of_the_training_give_the_losses_that_are_kept():
    trained = load_model("names")
    assert trained.steps == KEPT
    steps = list(training(trained.seed, 30))
    assert [step.step for step in steps] == list(range(31))
    assert [step.loss for step in steps[1:]] == pytest.approx(trained.losses[:30], abs=2e-3)
    first = trained.checkpoints[0].arrays
    for name, array in steps[0].model.arrays.items():
        assert np.allclose(array, first[name], rtol=1e-3, atol=1e-4), name


@pytest.mark.parametrize(
    ("step", "off", "cut"), [(9, (), None), (9, ((1, 1),), None), (5, ((0, 1), (1, 0)), (0, 1))]
)
def test_the_costs_that_are_kept_are_those_of_the_checkpoints_with_parts_off(step, off, cut):
    trained = load_model("names")
    switches = [int((block, head) in off) for block in (0, 1) for head in (0, 1)]
    kept = trained.costs[(step, *switches, int(cut is not None))]
    found = name_costs(trained.checkpoints[step].without(*off), FRESH, cut)
    assert found == pytest.approx(kept, abs=1e-4)


# The language of free order


def kind_and_mark(token):
    stem, _, mark = token.partition("-")
    kinds = {"it": "pronoun"} | dict.fromkeys(NOUNS, "noun")
    kinds |= dict.fromkeys(ADJECTIVES, "adjective") | dict.fromkeys(VERBS, "verb")
    return kinds[stem], mark


def test_answers_follow_from_marks_and_arrays_hold_form_place_and_answers():
    rng = np.random.default_rng(3)
    sentences = [draw_sentence(rng) for _ in range(100)]
    x, answers = as_arrays(sentences)
    assert x.shape == (100, LENGTH, len(WORDS) + LENGTH)
    assert answers.shape == answer_places(sentences).shape == (100, LENGTH, len(QUESTIONS))
    kept = one_question(answers)
    places_of_verbs = set()
    for s, sentence in enumerate(sentences):
        read = [kind_and_mark(token) for token in sentence.tokens]
        counts = {"noun": 2, "adjective": 2, "verb": 1, "pronoun": 1}
        assert Counter(kind for kind, _ in read) == counts
        assert {mark for kind, mark in read if kind == "noun"} == {"S", "O"}
        verb = read.index(("verb", ""))
        places_of_verbs.add(verb)
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
    assert places_of_verbs == set(range(LENGTH))
    assert {token for sentence in sentences for token in sentence.tokens} == set(WORDS)


@pytest.mark.parametrize(("num_heads", "steps", "seed"), [(12, 150, 7), (3, 400, 11)])
def test_a_kept_run_comes_out_again(num_heads, steps, seed):
    found = examined(learned(np.random.default_rng(seed), num_heads, steps))
    kept = [runs.values[seed] for runs in kept_runs(num_heads, steps)]
    np.testing.assert_allclose(found, kept, rtol=1e-3, atol=1e-6)


# Heads of a real model


@pytest.mark.parametrize("sentence", recorded_sentences())
def test_each_map_has_a_row_of_weights_for_each_token_and_heads_give_what_was_recorded(sentence):
    maps = recorded_maps(sentence)
    n = len(maps.tokens)
    assert maps.weights.shape == (6, 12, n, n)
    assert " ".join(maps.tokens) == f"[CLS] {sentence.lower()} [SEP]"
    assert (maps.weights >= 0).all()
    assert np.allclose(maps.weights.sum(axis=-1), 1, atol=0.0005 * n)  # each entry is rounded
    assert not maps.weights.flags.writeable
    for layer, head in recorded_heads():
        run = trace(recorded_head(layer, head, sentence))
        # Half of the last decimal, and what 16-bit numbers cost.
        off = np.abs(run.weights[0] - maps.weights[layer - 1, head - 1])
        assert off.max() < 0.0005 + 0.00033


def test_licence_and_origin_stand_beside_the_data():
    licence, origin = (_folder().joinpath(n).read_text("utf-8") for n in ("LICENSE", "README.md"))
    assert "Apache License" in licence
    assert all(word in origin for word in ("all-MiniLM-L6-v2", "Apache-2.0", "MIT", "1110a243"))
