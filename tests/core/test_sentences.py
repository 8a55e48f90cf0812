"""Refusals word for word: which product or sum was too large, and what does not fit.

Nothing of the package is called while this module is imported, so that `scripts/mutants.py` can ask
its tests about every function.
"""

import numpy as np
import pytest
from helpers import raises

from mha import (
    Block,
    FeedForward,
    MultiHeadWeights,
    Norm,
    entropy,
    feed_forward,
    multi_head_attention,
    multi_head_attention_backward,
    scaled_dot_product_attention_backward,
    transformer,
)
from mha.core.attention import as_inputs, as_separate_inputs
from mha.core.checks import finite_multiple
from mha.core.learning import answer_scores, cross_entropy, draw_layer, layer_gradients, train_layer
from mha.core.multihead import as_tokens, project
from mha.core.online import RunningSoftmax
from mha.core.patterns import fit_patterns
from mha.core.transformer import behind_attention

ONE = np.ones((1, 1, 1))
UP_AND_DOWN = np.array([[1.0], [-1.0]])
MULTIPLIED = "overflow float64 when multiplied; smaller numbers are wanted"
ADDED = "overflow float64 when added; smaller numbers are wanted"


# Which product was too large


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (([[1e200]], [[0.0]], 1e200 * UP_AND_DOWN, UP_AND_DOWN), "d_scores and key"),
        (([[1e200]], [[1e200]], 0 * UP_AND_DOWN, UP_AND_DOWN), "d_scores and query"),
        (([[1e308]] * 2, [[0.0]] * 2, [[0.0]], [[0.0]]), "weights and d_output"),
    ],
)
def test_a_gradient_of_attention_names_what_overflows(arguments, names):
    with raises(ValueError, f"{names} {MULTIPLIED}"):
        scaled_dot_product_attention_backward(*arguments)


@pytest.mark.parametrize("matrix", ["w_q", "w_k", "w_v"])
@pytest.mark.parametrize("is_cross", [False, True])
def test_a_projection_names_the_tokens_that_it_projects(matrix, is_cross):
    parts = dict.fromkeys(("w_q", "w_k", "w_v"), ONE)
    weights = MultiHeadWeights(**parts | {matrix: 1e200 * ONE})
    name = "context" if is_cross and matrix != "w_q" else "x"
    tokens = {"x": [[1.0]]} | ({"context": [[1.0]]} if is_cross else {})
    tokens[name] = [[1e200]]
    with raises(ValueError, f"{name} and the weights {MULTIPLIED}"):
        multi_head_attention(**tokens, weights=weights)
    with raises(ValueError, f"{name} and the weights {MULTIPLIED}"):
        multi_head_attention_backward([[1.0]], **tokens, weights=weights)


def test_the_gradient_of_a_layer_refuses_what_its_output_cannot_hold():
    weights = MultiHeadWeights(ONE, ONE, 1e200 * ONE, [[1e200]])
    with raises(ValueError, f"the heads' outputs and w_o {MULTIPLIED}"):
        multi_head_attention_backward([[1.0]], [[1.0]], weights)


def test_the_gradient_of_a_layer_uses_the_mask_for_the_output_projection():
    weights = MultiHeadWeights(ONE, ONE, ONE, [[1.0]])
    back = multi_head_attention_backward([[1.0], [0.0]], [[2.0], [8.0]], weights, is_causal=True)
    assert back.weights.w_o == [[2.0]]
    assert back.context is None


def test_the_steps_of_a_block_name_what_overflows():
    layer = MultiHeadWeights(ONE, ONE, 0 * ONE)
    double = FeedForward([[1.0]], None, [[1.5]], None)
    names = "the stream and what the feed-forward layer gave"
    block = Block(layer, double, norm="nowhere")
    found = np.zeros((1, 1))
    with raises(ValueError, f"{names} {ADDED}"):
        behind_attention(block, np.array([[0.8e308]]), found)
    with raises(ValueError, f"the active numbers and w_out {MULTIPLIED}"):
        behind_attention(block, np.array([[1.7e308]]), found)
    with raises(ValueError, f"the stream and what attention found {ADDED}"):
        behind_attention(block, np.array([[1e308]]), np.array([[1e308]]))


@pytest.mark.parametrize(
    ("norm", "around"),
    [("before", ("stream", None)), ("after", ("stream", "total")), ("nowhere", (None, None))],
)
def test_the_steps_behind_attention_come_in_order_and_by_name(norm, around):
    def normed(start):
        return [f"{start}_{what}" for what in ("means", "spreads", "normed")] if start else []

    layer = FeedForward(np.ones((2, 3)), None, np.ones((3, 2)), None)
    block = Block(MultiHeadWeights(*[np.eye(2)[None]] * 3), layer, norm)
    steps = behind_attention(block, np.array([[1.0, 2.0]]), np.array([[3.0, 5.0]]))
    first, last = map(normed, around)
    assert list(steps) == ["stream", *first, "hidden", "active", "fed", "total", *last]
    assert steps["stream"].tolist() == [[4.0, 7.0]]


# Sentences


def test_parts_of_a_running_softmax_are_named():
    whole = {"largest": [1.0], "total": [1.0], "mixture": [[1.0]]}
    for name in ("largest", "total", "mixture"):
        wanted = "float32, float64 or integers are wanted"
        with raises(TypeError, f"{name} has dtype <U1; {wanted}"):
            RunningSoftmax(**whole | {name: np.full_like(whole[name], "a", dtype="<U1")})
        part = getattr(RunningSoftmax(**whole), name)
        assert part.dtype == np.float64
        assert not part.flags.writeable
    large = RunningSoftmax([0.0], [1e308], [[0.0]])
    with raises(ValueError, f"the totals {ADDED}"):
        large.merged(large)


def test_a_feed_forward_layer_tells_sizes_in_one_sentence():
    arguments = {"w_in": [[1.0, 2.0]], "b_in": None, "w_out": [[1.0], [2.0]], "b_out": None}
    assert FeedForward(**arguments | {"b_in": [3.0, 5.0]}).b_in.tolist() == [3.0, 5.0]
    with raises(ValueError, "w_in has 2 columns but w_out has 1 rows; they must match"):
        FeedForward(**arguments | {"w_out": [[1.0]]})
    with raises(ValueError, "b_in has shape (1,); (2,) is wanted"):
        FeedForward(**arguments | {"b_in": [1.0]})
    with raises(ValueError, 'activation is \'tanh\'; "relu" or "gelu" is wanted'):
        FeedForward(**arguments, activation="tanh")
    with raises(ValueError, "x has width 3 but w_in has 1 rows; they must match"):
        feed_forward(np.ones((4, 5, 3)), **arguments)
    uneven = FeedForward(np.ones((2, 4)), None, np.ones((4, 3)), None)
    sentence = "feed_forward takes 2 numbers and gives 3; d_model=2 is wanted for both"
    with raises(ValueError, sentence):
        Block(MultiHeadWeights(*[np.eye(2)[None]] * 3), uneven)


def test_tokens_want_two_axes_and_a_width():
    layer = MultiHeadWeights(*[np.eye(2)[None]] * 3)
    sentence = "at least 2 axes are wanted"
    with raises(ValueError, f"x has shape (2,); {sentence}"):
        multi_head_attention([1.0, 2.0], layer)
    with raises(ValueError, f"x has shape (2,); {sentence}"):
        transformer([1.0, 2.0], [Block(layer)])
    with raises(ValueError, f"tokens has shape (2,); {sentence}"):
        project("tokens", [1.0, 2.0], layer.w_q)
    with raises(ValueError, "tokens has width 3 but the weights have d_model=2; they must match"):
        project("tokens", np.ones((4, 5, 3)), layer.w_q)
    with raises(ValueError, "tokens holds nan at index (0, 1); finite numbers are wanted"):
        project("tokens", [[1.0, np.nan]], layer.w_q)
    pattern = np.full((1, 2, 2), 0.5)
    with raises(ValueError, f"embeddings has shape (2,); {sentence}"):
        fit_patterns(pattern, 2, 2, np.random.default_rng(3), embeddings=[1.0, 2.0])


def test_an_axis_of_heads_is_wanted_only_where_heads_are_shared():
    alone = [np.ones((3, 5))] * 3
    for read in (as_inputs, as_separate_inputs):
        assert len(read(*alone)) == 3
        with raises(ValueError, "query has shape (3, 5); at least 3 axes are wanted"):
            read(*alone, enable_gqa=True)


def test_a_task_of_another_shape_is_told_in_one_sentence():
    layer = draw_layer(np.random.default_rng(3), 4, 2, 4, 4)
    answers = [[1], [2], [3], [0]]
    with raises(ValueError, "x has shape (4, 4); at least 3 axes are wanted"):
        train_layer(layer, np.eye(4), answers, steps=1)
    with raises(ValueError, "num_questions is 0; a whole number of at least 1 is wanted"):
        answer_scores(np.eye(4), layer, 0)
    hidden = "answers is a masked array; an array that hides no number is wanted"
    with raises(TypeError, hidden):
        cross_entropy(np.zeros((2, 2)), np.ma.array([0, 1]))
    with raises(TypeError, hidden):
        layer_gradients(layer, np.eye(4), np.ma.array(answers))
    with raises(ValueError, "answers has shape (2, 2); (2, 3) is wanted"):
        cross_entropy(np.zeros((2, 3, 4)), np.zeros((2, 2), int))


def test_a_size_that_does_not_fit_is_told_by_the_first_who_sees_it():
    layer = MultiHeadWeights(*[np.eye(2)[None]] * 3)
    sentence = "has shape (2,); at least 2 axes are wanted"
    with raises(ValueError, f"x {sentence}"):
        as_tokens([1.0, 2.0], layer)
    with raises(ValueError, f"context {sentence}"):
        as_tokens([[1.0, 2.0]], layer, [1.0, 2.0])
    with raises(ValueError, f"x {sentence}"):
        transformer([1e308, 1e308], [Block(layer)])
    with raises(ValueError, "w_in has shape (1, 1, 1); two axes are wanted"):
        feed_forward([[1.0]], ONE, None, [[1.0]], None)
    with raises(TypeError, "second is a int; Norm is wanted"):
        Block(layer, second=3)
    with raises(ValueError, "gain holds nan at index (1,); finite numbers are wanted"):
        Norm(gain=[1.0, np.nan])
    for name in ("largest", "total"):
        parts = {"largest": [1.0], "total": [1.0], "mixture": [[1.0]]} | {name: [1.0, 2.0]}
        wanted = "has shape (2,) but mixture has (1, 1); a row of mixture for each is wanted"
        with raises(ValueError, f"{name} {wanted}"):
            RunningSoftmax(**parts)
    with raises(ValueError, "answers has choices outside of -1 to 2"):
        cross_entropy(np.zeros((2, 4, 3)), np.full((2, 4), 3))
    assert cross_entropy([[0.0], [0.0]], [0, -1])[0] == 0


def test_what_is_too_large_for_the_next_layer_is_told_by_it():
    layer = draw_layer(np.random.default_rng(3), 4, 2, 4, 4)
    answers = [[[1], [2], [3], [0]]]
    with np.errstate(all="raise", under="ignore"):
        with pytest.raises(ValueError, match="w_v holds inf at index"):
            train_layer(layer, 1e3 * np.eye(4)[None], answers, steps=2, rate=1.7e308)
        sentence = "two numbers overflow float32 when multiplied; smaller numbers are wanted"
        with raises(ValueError, sentence):
            finite_multiple("two numbers", np.array([0, 1], np.float32), 1e300)


def test_a_weight_of_nothing_adds_nothing_whatever_lay_in_memory():
    for _ in range(20):
        spoiled = [np.full(7, np.nan) for _ in range(7)]
        del spoiled
        assert entropy([0, 0, 0, 1.0, 0, 0, 0]) == 0
