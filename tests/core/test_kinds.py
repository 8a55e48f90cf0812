"""What is no array is refused by its name too: switches, words, and things of a kind."""

import re

import numpy as np
import pytest
from helpers import raises
from sound_arguments import BESIDE, MORE, RUN, SOUND, X

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


def test_a_large_blockwise_call_is_asked_too():
    query = np.ones((130, 130, 2))
    with raises(TypeError, "is_causal is 'no'; true or false is wanted"):
        mha.blockwise_attention(query, query, query, is_causal="no")


@pytest.mark.parametrize("block_size", [1, 2, 100])
def test_a_blockwise_call_tells_widths_that_differ(block_size):
    with raises(ValueError, "query has d_k=6 but key has d_k=5; they must match"):
        mha.blockwise_attention(X, X[:, :5], X, block_size=block_size)


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


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mha.Place.parse(None), "place is None; a string is wanted"),
        (lambda: mha.recorded_maps(["a"]), "sentence is ['a']; a string is wanted"),
        (lambda: mha.dimensions(3, 2), "symbol is 3; a string is wanted"),
        (lambda: mha.chain("1", None), "steps is ('1', None); a sequence of strings is wanted"),
        (
            lambda: mha.dimensions("q", 2.0),
            "count is 2.0; a whole number of at least 0 is wanted",
        ),
        (
            lambda: mha.recorded_head(2.5, 1, "I play football"),
            "layer is 2.5; a whole number of at least 1 is wanted",
        ),
        (
            lambda: mha.recorded_head(4, "2", "I play football"),
            "head is '2'; a whole number of at least 1 is wanted",
        ),
    ],
)
def test_a_word_and_a_count_are_asked_for(call, sentence):
    with raises(TypeError, sentence):
        call()


@pytest.mark.parametrize("stage", [[], None, b"scores"])
def test_what_is_no_word_is_no_stage(stage):
    for call in (lambda: mha.Place(stage), lambda: mha.arithmetic(RUN, stage, 0)):
        with pytest.raises(ValueError, match=rf"^stage is {re.escape(repr(stage))}; one of "):
            call()


@pytest.mark.parametrize("write", ["shown", "percent", "short", "at_least", "at_most_percent"])
def test_places_are_counted(write):
    for bad in (2.0, "2", None, True):
        with raises(TypeError, f"places is {bad!r}; a whole number of at least 0 is wanted"):
            getattr(mha, write)(0.3, bad)
    assert getattr(mha, write)(0.25, np.int8(2)) == getattr(mha, write)(0.25, 2)


@pytest.mark.parametrize("write", ["shown", "percent", "short", "at_most", "at_least_percent"])
def test_a_number_is_not_hidden_and_no_larger_than_a_float(write):
    with raises(TypeError, "value is a masked array; a number that is not hidden is wanted"):
        getattr(mha, write)(np.ma.masked)
    with raises(ValueError, "value is beyond what float64 holds; a smaller one is wanted"):
        getattr(mha, write)(10**400)


def test_a_calculation_has_a_step():
    with raises(ValueError, "steps is empty; at least one is wanted"):
        mha.chain()


TURNS = "positions and the turns that base makes"


def test_a_base_that_turns_too_far_is_refused():
    """Near 0 a base makes turns that no number holds."""
    sentence = "when multiplied; smaller numbers are wanted"
    with raises(ValueError, f"{TURNS} overflow float32 {sentence}"):
        mha.rotate(X, np.float32([1, 2, 3, 4]), base=5e-324)
    with raises(ValueError, f"{TURNS} overflow float64 {sentence}"):
        mha.rotary_angles([0.0, 1.0], 1000, base=5e-324)
    with raises(ValueError, f"{TURNS} overflow float64 {sentence}"):
        mha.sinusoidal_positions(3, 1000, 5e-324)


def test_a_fit_refuses_what_overflows():
    given = SOUND["fit_patterns"] | {"rng": np.random.default_rng(3)}
    with raises(ValueError, "decay holds inf at index (); finite numbers are wanted"):
        mha.fit_patterns(**given, decay=float("inf"))
    names = "embeddings and projections"
    with raises(
        ValueError, f"{names} overflow float64 when multiplied; smaller numbers are wanted"
    ):
        mha.fit_patterns(**given | {"embeddings": np.full((4, 6), 1.7e308)})


@pytest.mark.parametrize("name", ["entropy", "total_variation"])
def test_a_row_whose_sum_overflows_is_no_distribution(name):
    row = np.full(2, 1e308)
    with pytest.raises(ValueError, match="has a row that sums to inf; 1, or 0 for"):
        getattr(mha, name)(*[row] * (1 if name == "entropy" else 2))
