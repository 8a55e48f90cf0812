"""The language of names, and the model that the book trained on it."""

import numpy as np
import pytest

from mha import load_model
from mha.examples.names import SYLLABLES, draw_story, second_syllables
from mha.examples.trained import KEPT, fresh_stories, name_costs, training

FRESH = fresh_stories()


def test_a_story_is_told_of_two_or_three_people_with_syllables_of_their_own():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        story = " ".join(draw_story(rng, 400))
        assert tuple(story.split()) == draw_story(np.random.default_rng(seed), 400)
        names = set()
        for sentence in story.split(" . ")[:-1]:
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
    losses = [step.loss for step in steps[1:]]
    assert losses == pytest.approx(trained.losses[:30], abs=2e-3)
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
    assert name_costs(trained.checkpoints[step].without(*off), FRESH, cut) == pytest.approx(
        kept, abs=1e-4
    )
