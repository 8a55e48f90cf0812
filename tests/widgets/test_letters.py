"""Two layers on letters: what they start from. In the browser, tests/book/test_tied_browser.py."""

import json
import re

import numpy as np
import pytest

from mha import Block, MultiHeadWeights, WorkedExample, trace_blocks
from mha.widgets.letters import two_layers

EYE = np.eye(7)
WHAT, BEFORE, FOLLOWING = slice(0, 2), slice(3, 5), slice(5, 7)
TEXT = WorkedExample(
    name="b-a", title="B A", source="This book", tokens=("first B", "last A"),
    head_names=("Head 1",),
    embeddings=EYE[[1, 0]], is_causal=True,
    layer=MultiHeadWeights([EYE[:, :1]], [EYE[:, :1]], [EYE[:, WHAT]], EYE[BEFORE]),
)  # fmt: skip
SECOND = MultiHeadWeights([EYE[:, WHAT]], [EYE[:, BEFORE]], [EYE[:, WHAT]], EYE[FOLLOWING])
PARTS = {"letters": "AB", "what": WHAT, "before": BEFORE, "following": FOLLOWING, "name": "b-a"}


def layers():
    return trace_blocks(TEXT, [Block(layer, norm="nowhere") for layer in (TEXT.layer, SECOND)])


def test_the_browser_gets_both_layers_and_the_page_knows_their_runs():
    first, second = layers()
    made = two_layers(first, second, **PARTS)
    data = json.loads(re.search(r"<script[^>]*>(.*)</script>", made.html)[1])
    assert [layer["name"] for layer in data["layers"]] == list(made.runs)
    assert data["layers"][0]["inputs"]["embeddings"] == EYE[[1, 0]].tolist()
    assert data["parts"]["before"] == [3, 4]
    assert "<i>last A</i> gives" in made.html  # where no script runs


def test_layers_that_do_not_follow_each_other_are_refused():
    first, second = layers()
    with pytest.raises(ValueError, match="second reads other numbers than first leaves"):
        two_layers(second, first, **PARTS)
    with pytest.raises(TypeError, match="first"):
        two_layers("first", second, **PARTS)
