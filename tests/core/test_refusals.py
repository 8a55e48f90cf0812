"""Each refusal names the argument: general cases, and each cause once."""

import re

import numpy as np
import pytest
from sound_arguments import (
    BARE,
    HEADS,
    LATENT,
    LAYER,
    MODEL,
    SOUND,
    X,
    call_public,
    valid_arguments,
)

import mha
from mha.core import checks
from mha.core.bfloat16 import to_bfloat16
from mha.core.blockwise import blockwise_attention
from mha.core.costs import layer_sizes
from mha.core.decoding import KeyValueCache, decode_step
from mha.core.distributions import entropy, total_variation
from mha.core.encoder_decoder import encoder_decoder
from mha.core.feed_forward import FeedForward
from mha.core.gradients import scaled_dot_product_attention_backward
from mha.core.heads import split_heads
from mha.core.language import LanguageModel, draw_model
from mha.core.latent import LatentWeights, clip_qk
from mha.core.learning import cross_entropy
from mha.core.linear_attention import linear_attention
from mha.core.masks import as_mask
from mha.core.norm import Norm, layer_norm, rms_norm
from mha.core.online_softmax import online_softmax
from mha.core.pattern_fitting import centred_log, fit_patterns, pattern_projections
from mha.core.rope_scaling import wider_base
from mha.core.score_variants import capped_scores, softmax_with_sink
from mha.core.seeds import SeedRuns, over_seeds
from mha.core.softmax import softmax_backward
from mha.core.transformer import Block
from mha.core.transformer_gradients import transformer_backward

MOVED = ("pairs_to_halves", "halves_to_pairs", "split_heads", "merge_heads")
"""Functions that only move numbers, and so accept NaN and infinity."""


def invalid_values(name, argument, value):
    """Yield invalid values of an argument, the error type, and the rest of the message."""
    if isinstance(value, np.ndarray):
        yield np.full(value.shape, "a"), TypeError, r"has dtype <U1; .*(floats?|integers)"
        first = (0,) * value.ndim
        if name not in MOVED and argument != "lengths":
            spoiled = value.copy()
            spoiled[first] = np.nan
            at = re.escape(str(first))
            yield spoiled, ValueError, f"holds nan at index {at}; finite numbers"
        if argument not in ("lengths", "positions", "sink") and name != "to_bfloat16":
            yield 2.0, ValueError, r"has shape \(\)[;,] "
    elif isinstance(value, bool):
        yield "no", TypeError, "is 'no'; true or false is wanted"
    elif argument == "mask":
        says = r"holds inf at index \(0, 0\); finite numbers or minus infinity are wanted"
        yield np.array([[np.inf]]), ValueError, says
        yield np.array([[1]]), TypeError, r"has dtype int64; booleans .True = may attend. or floats"
        yield np.ones((7, 9), bool), ValueError, r"has shape \(7, 9\)[;,] "
    elif argument == "scale":
        for bad, error in ((np.inf, ValueError), ("1", TypeError)):
            yield bad, error, f"is {bad!r}; a finite number or None is wanted"
    elif isinstance(value, int):
        for bad, error in ((2.5, TypeError), (True, TypeError), (0, ValueError), (-1, ValueError)):
            yield bad, error, f"is {bad}; a whole number of at least [14] is wanted"
    elif isinstance(value, float):
        yield "a", TypeError, "has dtype <U1; float32, float64 or integers are wanted"
        yield [2.0, 3.0], TypeError, r"has shape \(2,\); one number is wanted"
        if argument == "base":
            yield 0.0, ValueError, "is 0.0; a number above 0 is wanted"
    elif argument in ("rng", "weights", "cache", "layer"):
        yield "seven", TypeError, "is a str; .* wanted"


@pytest.mark.parametrize("name", SOUND)
def test_an_invalid_argument_is_named(name):
    sound = valid_arguments(name)
    options = [a for a, value in sound.items() if a in ("mask", "scale") or isinstance(value, bool)]
    for argument in {*SOUND[name], *options}:
        for bad, error, sentence in invalid_values(name, argument, sound[argument]):
            with pytest.raises(error, match=f"^{argument} {sentence}"):
                call_public(name, sound | {argument: bad})


# ---- Each refusal once: the argument and the cause, with which its sentence begins ----

ones = np.ones
ONE, HUGE = ones((1, 2, 2)), online_softmax([0.0], [[1e308]])
HALF, HUGEST = ones((2, 2)) / 2, 1e200 * X
FEED = FeedForward(ones((6, 5)), ones(5), ones((5, 6)), ones(6))
TALL = mha.MultiHeadWeights(ONE, ONE, ones((1, 2, 3)))


def layer(**changed):
    arrays = {"w_q": ones((3, 17, 11)), "w_k": ones((3, 17, 11)), "w_v": ones((3, 17, 13))}
    return mha.MultiHeadWeights(**arrays | {"w_o": ones((39, 19)), "b_q": ones((3, 11))} | changed)


def block(**changed):
    return Block(**{"attention": mha.MultiHeadWeights(ONE, ONE, ONE)} | changed)


def latent(**changed):
    return LatentWeights(**LATENT | {"w_dq": ones((6, 6))} | changed)


def writer(**changed):
    parts = {name: getattr(MODEL, name) for name in ("words", "embedding", "blocks", "unembedding")}
    return LanguageModel(**parts | changed)


def decoded(decoder):
    return encoder_decoder(X, X, [BARE], decoder)


WRONG_VALUES = [
    # Checks that all functions share
    (lambda: checks.as_array("x", [-(2**53) - 1]), "x holds -9007199254740993 at index (0,)"),
    (lambda: checks.as_array("x", np.array([2**53 + 1], "u8")), "x holds 9007199254740993 at"),
    # Weights of a layer
    (lambda: layer(w_q=ones((17, 11))), "w_q has shape (17, 11); (num_heads, d_model, width)"),
    (lambda: layer(w_q=ones((0, 17, 11))), "w_q has shape (0, 17, 11); no axis may be empty"),
    (lambda: layer(w_k=ones((3, 17, 13))), "w_q has shape (3, 17, 11) but w_k has (3, 17, 13)"),
    (lambda: layer(w_k=ones((2, 17, 11))), "w_k has 2 groups; a divisor of w_q's 3 heads"),
    (lambda: layer(w_v=ones((2, 17, 13))), "w_v has shape (2, 17, 13); (3, 17, d_v) is wanted"),
    (lambda: layer(w_o=ones((38, 19))), "w_o has shape (38, 19); num_heads * d_v = 39 rows"),
    (lambda: layer(b_q=ones(33)), "b_q has shape (33,); (3, 11) is wanted"),
    (lambda: layer(w_o=None, b_o=ones(19)), "b_o is given without w_o"),
    # Attention
    (lambda: mha.attention_weights(X, X[:, 1:]), "query has d_k=6 but key has d_k=5"),
    (lambda: blockwise_attention(HEADS, X, X), "leading axes are (2,) in query but () in key"),
    (lambda: blockwise_attention(X, X, X[1:]), "key has 4 rows but value has 3 rows"),
    (lambda: blockwise_attention(HUGEST, HUGEST, X), "query and key overflow float64"),
    (lambda: blockwise_attention(HEADS[[0, 0, 0]], HEADS, HEADS, enable_gqa=True),
     "key has 2 heads; a divisor of query's 3 heads is wanted"),
    (lambda: blockwise_attention(HEADS[[[0, 1]]], HEADS, HEADS, enable_gqa=True),
     "leading axes before the heads are (1,) in query but () in key; they must match"),
    (lambda: scaled_dot_product_attention_backward(1e308 * X, X, X, 1e3 * X),
     "d_output and value overflow float64 when multiplied"),
    # Layers on tokens
    (lambda: mha.multi_head_attention(X, layer(w_q=ones((3, 6, 11)))),
     "x has width 6 but the weights have d_model=17"),
    (lambda: decode_step(X, LAYER, KeyValueCache(HEADS, HEADS)),
     "key has shape (2, 4, 4), which cannot be appended to (2, 4, 6)"),
    (lambda: KeyValueCache(ones((2, 5, 3)), ones((3, 5, 3))),
     "leading axes are (2,) in key but (3,) in value; they must match"),
    (lambda: KeyValueCache(ones((2, 5, 3)), ones((2, 7, 3))),
     "key has 5 tokens but value has 7; they must match"),
    (lambda: rms_norm(np.full((1, 2), 1e200), ones(2), 0.0),
     "a row's numbers overflow float64 when squared"),
    (lambda: split_heads(ones((5, 7)), 3), "num_heads is 3; a divisor of x's width 7"),
    # Blocks
    (lambda: block(norm="both"), "norm is 'both'; "),
    (lambda: block(feed_forward=FEED), "feed_forward takes 6 numbers and returns 6; d_model=2"),
    (lambda: block(attention=TALL), "attention returns 3 numbers per token; d_model=2 is wanted"),
    (lambda: block(second=Norm([1, 2, 3])), "gain has 3 numbers for rows of 2"),
    (lambda: transformer_backward(ones((4, 5)), X, [BARE]), "d_output has shape (4, 5)"),
    (lambda: decoded([[BARE]]), "decoder has a layer of 1 blocks; two are wanted in each"),
    (lambda: decoded([]), "decoder is empty; "),
    # Norms
    (lambda: layer_norm([[1, 2]], [[1, 2]]), "gain has shape (1, 2); (d_model,) is wanted"),
    (lambda: layer_norm([[1, 2]], eps=-1), "eps is -1.0; a number of at least 0 is wanted"),
    (lambda: layer_norm([[1, 2], [3, 3]], eps=0), "all numbers of x in row (1,) are equal"),
    (lambda: layer_norm([[1.5e308, 1.5e308]]), "the numbers of a row overflow float64"),
    (lambda: layer_norm([[1, 2]], [1e308, 1e308], [1e308, 1e308]),
     "the normalised numbers, gain and bias overflow float64"),
    # Masks and positions
    *((lambda shape=shape: as_mask(ones(shape, bool), (5, 2, 3)), f"mask has shape {shape}; one")
      for shape in [(3, 2), (7, 2, 3), (1, 5, 2, 3)]),
    (lambda: mha.attention_weights([[1e154]], [[-1e154]], mask=[[-1.7e308]], scale=1.0),
     "mask holds -1.7e+308 at index (0, 0); one that leaves the scores finite"),
    (lambda: mha.padding_mask(2, 3, side="top"), "side is 'top'; "),
    (lambda: mha.rotary_angles([0], 5), "d_k is 5; an even number is wanted"),
    (lambda: mha.rotate_by(ones((2, 4)), ones((2, 3))), "angles has 3 columns for x of width 4"),
    (lambda: mha.rotate_by([1.7e308, 1.7e308], [0.8]), "x and the rotation overflow float64"),
    (lambda: wider_base(10, 0.5), "factor is 0.5; a number of at least 1 is wanted"),
    (lambda: to_bfloat16([1.0, 3.4e38]), "x overflow float32 when rounded"),
    # Softmax and scores
    (lambda: softmax_backward([1.7e308, -1.7e308], [4.0, 4.0]), "d_weights and weights over"),
    (lambda: entropy([0.5, 0.5 + 2e-5]), "weights has a row that sums to 1.00002"),
    (lambda: entropy(np.array([0.5, 0.51], "f2")), "weights has a row that sums to 1.00977"),
    (lambda: entropy([[0.5, 0.5], [0.25, 0.25]]), "weights has a row that sums to 0.5"),
    (lambda: total_variation([1, 0], [0.5, 0.25]), "second has a row that sums to 0.75"),
    (lambda: online_softmax([0.0, np.inf], [[1], [2]]), "scores holds inf at index (1,)"),
    (lambda: online_softmax([0.0], [[1], [2]]), "scores has shape (1,) but value has (2, 1)"),
    (lambda: online_softmax([0.0], [1.0]), "value has shape (1,); at least 2 axes are wanted"),
    (lambda: online_softmax([0, 0], [[1e308], [1e308]]), "the exponentials and value overflow"),
    (lambda: HUGE.merged(online_softmax([0], [[1, 2]])), "mixture has shape (1,) but other's"),
    (lambda: HUGE.merged(HUGE), "the mixtures overflow float64 when added"),
    (lambda: capped_scores([1.0], 0.0), "cap is 0.0; a number above 0 is wanted"),
    (lambda: softmax_with_sink(HEADS, np.zeros(3)), "sink has shape (3,); one that broadcasts"),
    (lambda: linear_attention(X, X, X, decay=[1, 0, 1, 1]), "decay holds 0.0 at index (1,)"),
    (lambda: linear_attention(X, X, X, decay=[1, 1]), "decay has 2 numbers; 4 are wanted"),
    (lambda: latent(w_uk=ones((1, 4, 6))), "w_dkv has shape (6, 3); (6, 4) is wanted"),
    (lambda: latent(w_uk=ones((2, 1, 4, 6))), "w_uk has shape (2, 1, 4, 6); (num_heads,"),
    (lambda: latent(w_dq=ones((6, 7))), "w_dq has shape (6, 7); (6, 6) is wanted"),
    (lambda: latent(w_dq=None, w_uq=ones((1, 5, 6)), w_qr=ones((1, 5, 2))), "w_uq takes 5 numbers"),
    (lambda: clip_qk(latent(), X), "scores has shape (4, 6); (..., 1, num_queries, num_keys)"),
    (lambda: clip_qk(latent(), HEADS), "scores has shape (2, 4, 6); (..., 1, num_queries,"),
    (lambda: clip_qk(latent(), HEADS[:1], 0.0), "threshold is 0.0; a number above 0 is wanted"),
    # Costs
    (lambda: layer_sizes(12, 6, num_groups=4), "num_groups is 4; a divisor of num_heads=6"),
    # Learning
    (lambda: cross_entropy(HALF, [0]), "answers has shape (1,); (2,) is wanted"),
    (lambda: cross_entropy(HALF, [-2, 0]), "answers has choices outside of -1 to 1"),
    (lambda: cross_entropy(HALF, [-1, -1]), "answers is -1 everywhere"),
    (lambda: over_seeds(lambda rng: 1.0, [2, 2]), "seeds has a seed twice"),
    (lambda: over_seeds(lambda rng: ones(rng.integers(1, 9))), "measure returned arrays of"),
    (lambda: SeedRuns(ones(3)).share(lambda values: 2), "holds returned int64 of shape ()"),
    (lambda: pattern_projections(HALF, ones((2, 3)), 1), "embeddings has shape (2, 3) but"),
    (lambda: pattern_projections(HALF, ones((2, 2)), 1), "embeddings has rank 1; 2 is wanted"),
    (lambda: fit_patterns(ones((1, 2, 3)) / 3, 2, 1, np.random.default_rng(3)),
     "patterns has shape (1, 2, 3); square matrices are wanted"),
    (lambda: centred_log([[0.5, 0.75], [0.5, 0.5]]), "pattern has a row that sums to 1.25"),
    # A model that writes
    (lambda: writer(embedding=ones((3, 5))), "embedding has shape (3, 5); (3, 6) is wanted"),
    (lambda: writer(blocks=[Block(LAYER, FEED)]), "blocks holds one that is not of attention"),
    (lambda: MODEL.logits("a yak"), "text has 'yak'; words of a, b, c are wanted"),
    (lambda: MODEL.logits(""), "text is empty; at least one is wanted"),
    (lambda: MODEL.write("a", temperature=0), "temperature is 0.0; a number above 0 is wanted"),
    (lambda: draw_model(np.random.default_rng(1), ["a"], 12, num_heads=5), "num_heads is 5; a"),
]  # fmt: skip
WRONG_TYPES = [
    (lambda: checks.as_array("key", [10**30]), "key has dtype object; float32, float64 or"),
    (lambda: mha.softmax(np.ma.masked_array([0.5, 9.0])), "scores is a masked array; "),
    (lambda: block(attention=1), "attention is a int; MultiHeadWeights is wanted"),
    (lambda: block(feed_forward=1), "feed_forward is a int; FeedForward or None is wanted"),
    (lambda: decoded([[BARE, 3]]), "decoder holds a int; instances of Block are wanted"),
    (lambda: online_softmax([0.0], [[1.0]], "no"), "so_far is a str; a RunningSoftmax"),
    (lambda: cross_entropy(HALF, [0.0, 1.0]), "answers has dtype float64; integers are"),
    (lambda: over_seeds(3), "measure is a int; a Callable is wanted"),
]


@pytest.mark.parametrize(
    ("error", "call", "cause"),
    [
        *((ValueError, *each) for each in WRONG_VALUES),
        *((TypeError, *each) for each in WRONG_TYPES),
    ],
)
def test_each_refusal_names_the_argument_and_the_cause(error, call, cause):
    with pytest.raises(error, match=f"^{re.escape(cause)}"):
        call()
