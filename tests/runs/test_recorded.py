"""Recorded attention: the heads give the recorded maps."""

import numpy as np
import pytest

from mha import recorded_head, recorded_heads, recorded_maps, recorded_sentences, trace
from mha.examples.recorded import _folder

SENTENCES = recorded_sentences()


def test_licence_and_origin_stand_beside_the_data():
    texts = {name: _folder().joinpath(name).read_text("utf-8") for name in ("LICENSE", "README.md")}
    assert "Apache License" in texts["LICENSE"]
    for word in ("all-MiniLM-L6-v2", "Apache-2.0", "MIT", "1110a243"):
        assert word in texts["README.md"]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_each_map_has_a_row_of_weights_for_each_token(sentence):
    maps = recorded_maps(sentence)
    n = len(maps.tokens)
    assert maps.weights.shape == (6, 12, n, n)
    assert maps.tokens[0] == "[CLS]"
    assert " ".join(maps.tokens[1:-1]) == sentence.lower()
    assert (maps.weights >= 0).all()
    assert np.allclose(maps.weights.sum(axis=-1), 1, atol=0.0005 * n)  # each entry is rounded
    assert not maps.weights.flags.writeable


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize(("layer", "head"), recorded_heads())
def test_a_head_gives_the_map_that_was_recorded(layer, head, sentence):
    run = trace(recorded_head(layer, head, sentence))
    recorded = recorded_maps(sentence).weights[layer - 1, head - 1]
    # Half of the last decimal, and what 16-bit numbers cost.
    assert np.abs(run.weights[0] - recorded).max() < 0.0005 + 0.00033
