"""What is no array is refused by its name too: switches, words, and things of a kind."""

import numpy as np
import pytest
from helpers import raises
from sound_arguments import BESIDE, MORE, SOUND

import mha

SWITCHES = [
    *((name, "enable_gqa") for name in SOUND if name.startswith("scaled_dot")),
    *((name, "enable_gqa") for name in ("attention_weights", "blockwise_attention")),
    *((name, "is_causal") for name in SOUND if name.startswith(("scaled_dot", "multi_head"))),
    *((name, "is_causal") for name in ("attention_weights", "blockwise_attention")),
    *((name, "is_causal") for name in ("transformer", "linear_biases")),
]


@pytest.mark.parametrize(("name", "switch"), SWITCHES)
def test_a_switch_is_true_or_false(name, switch):
    given = SOUND[name] | MORE.get(name, {})
    for bad in ("no", 1, None):
        with raises(TypeError, f"{switch} is {bad!r}; true or false is wanted"):
            getattr(mha, name)(**given, **{switch: bad})
    assert getattr(mha, name)(**given, **{switch: np.False_}) is not None


@pytest.mark.parametrize(
    ("name", "argument", "wanted"),
    [
        ("draw_layer", "rng", "a Generator"),
        ("fit_patterns", "rng", "a Generator"),
        ("online_softmax", "so_far", "a RunningSoftmax"),
        ("RunningSoftmax.merged", "other", "a RunningSoftmax"),
        ("origin", "run", "a Trace"),
        ("origin", "place", "a Place"),
        ("Place.value", "run", "a Trace"),
    ],
)
def test_a_thing_is_of_its_kind(name, argument, wanted):
    given = (BESIDE.get(name) or SOUND[name]) | {argument: "seven"}
    owner, _, method = name.rpartition(".")
    with raises(TypeError, f"{argument} is a str; {wanted} is wanted"):
        getattr(getattr(mha, owner) if owner else mha, method)(**given)
