"""Arguments that each public name of `mha` takes: what the tests of refusals spoil one by one."""

import inspect
from operator import attrgetter

import numpy as np

import mha

RNG = np.random.default_rng(5)
X = RNG.normal(size=(4, 6))
HEADS = RNG.normal(size=(2, 4, 6))
ROWS = mha.softmax(RNG.normal(size=(4, 4)))
LAYER = mha.MultiHeadWeights(*RNG.normal(size=(3, 2, 6, 4)), RNG.normal(size=(8, 6)))
BIASED = mha.MultiHeadWeights(*LAYER.arrays.values(), *np.ones((3, 2, 4)), np.ones(6))
BARE = mha.Block(LAYER)
ATTENTION = {"query": X, "key": X, "value": X}
LATENT = {
    **{"w_dkv": X.T[:, :3], "w_uk": HEADS[:1, :3], "w_uv": HEADS[:1, :3], "w_kr": X.T[:, :2]},
    **{"w_uq": RNG.normal(size=(1, 6, 6)), "w_qr": RNG.normal(size=(1, 6, 2)), "w_o": X.T @ X},
}

# Of every function of the mathematics, what it takes.
SOUND = {
    "attention_scores": {"query": X, "key": X},
    "attention_weights": {"query": X, "key": X},
    "scaled_dot_product_attention": ATTENTION,
    "blockwise_attention": {**ATTENTION, "block_size": 2},
    "scaled_dot_product_attention_backward": {**ATTENTION, "d_output": X},
    "multi_head_attention": {"x": X, "weights": LAYER, "context": X},
    "multi_head_attention_backward": {"x": X, "weights": LAYER, "d_output": X, "context": X},
    "decode_step": {"x": X, "weights": LAYER},
    "ask_cache": {"x": X, "weights": LAYER, "cache": mha.KeyValueCache.of(X, LAYER)},
    "encoder_decoder": {"source": X, "target": X, "encoder": [BARE], "decoder": [[BARE] * 2]},
    "layer_norm": {"x": X, "gain": X[0], "bias": X[1]},
    "feed_forward": {"x": X, "w_in": HEADS[0].T, "b_in": X[0, :4], "w_out": X, "b_out": X[1]},
    "transformer": {"x": X, "blocks": [BARE]},
    "transformer_backward": {
        **{"x": X, "d_output": X},
        "blocks": [mha.Block(LAYER, mha.FeedForward(X.T, X[0, :4], X, X[1]), "after")],
    },
    "cross_entropy": {"scores": X, "answers": [0, 1, 2, -1]},
    "draw_layer": {"rng": RNG, "d_model": 6, "num_heads": 2, "width": 4, "d_out": 3},
    "answer_scores": {"x": X, "layer": LAYER, "num_questions": 2},
    "layer_gradients": {"x": X, "layer": LAYER, "answers": [[0, 1]] * 4},
    "train_layer": {
        **{"x": HEADS, "layer": LAYER, "answers": [[[0, 1]] * 4] * 2},
        **{"steps": 2, "batch_size": 1},
    },
    "over_seeds": {"measure": lambda rng: rng.normal(size=3), "seeds": (2, 3)},
    "online_softmax": {"scores": X, "value": HEADS[0].T},
    "softmax": {"scores": X},
    "softmax_jacobian": {"weights": ROWS},
    "softmax_backward": {"d_weights": X, "weights": X},
    "to_bfloat16": {"x": X},
    "entropy": {"weights": ROWS},
    "total_variation": {"first": ROWS, "second": ROWS},
    "centred_log": {"pattern": ROWS},
    "fit_patterns": {
        **{"patterns": ROWS[None], "embeddings": X, "rng": RNG},
        **{"d_model": 6, "d_k": 2, "steps": 2, "restarts": 1},
    },
    "pattern_projections": {"pattern": ROWS, "embeddings": np.eye(4), "d_k": 4},
    "split_heads": {"x": X, "num_heads": 2},
    "merge_heads": {"x": HEADS},
    "sinusoidal_positions": {"num_positions": 3, "d_model": 4, "base": 10.0},
    "rotary_angles": {"positions": X[0], "d_k": 4, "base": 10.0},
    "rotate_by": {"x": X, "angles": X[:, :3]},
    "rotate": {"x": X, "positions": X[:, 0], "base": 10.0},
    "pairs_to_halves": {"x": X},
    "halves_to_pairs": {"x": X},
    "linear_slopes": {"num_heads": 2},
    "linear_biases": {"num_heads": 2, "num_queries": 3, "num_keys": 4},
    "causal_mask": {"num_queries": 3, "num_keys": 4},
    "sliding_window_mask": {"num_queries": 3, "num_keys": 4, "window": 1},
    "padded_places": {"lengths": np.array([1, 2]), "num_keys": 3},
    "padding_mask": {"lengths": np.array([1, 2]), "num_keys": 3},
    "capped_scores": {"scores": X, "cap": 2.0},
    "softmax_with_sink": {"scores": X, "sink": X[:, :1]},
    "differential_weights": {"first": ROWS, "second": ROWS, "share": 0.5},
    "top_keys_mask": {"scores": X, "count": 2},
    "top_blocks_mask": {"query": X, "key": X, "block": 2, "count": 1},
    "gated": {"output": X, "gate": X},
    "linear_attention": {**ATTENTION, "decay": ROWS[0]},
    "linear_recurrence": {**ATTENTION, "decay": ROWS[0]},
    "rotary_speeds": {"d_k": 4, "base": 10.0},
    "interpolated_speeds": {"d_k": 4, "base": 10.0, "factor": 2.0},
    "wider_base": {"d_k": 4, "base": 10.0, "factor": 2.0},
    "yarn_speeds": {
        **{"d_k": 8, "length": 64, "factor": 2.0},
        **{"base": 10.0, "fast": 4.0, "slow": 1.0},
    },
    "yarn_sharpness": {"factor": 2.0},
    "latent_attention": {"x": X, "angles": X[:, :1], "weights": mha.LatentWeights(**LATENT)},
    "layer_sizes": {"d_model": 4, "num_heads": 2, "d_k": 2, "d_v": 2, "d_out": 3, "num_groups": 1},
}

PACKED = {"in_proj_weight": np.ones((18, 6)), "out_proj.weight": X.T @ X}
NORM = mha.Norm(X[0], X[1])
FEED = mha.FeedForward(X.T, None, X, None)
BLOCK = mha.Block(LAYER, FEED, "before", NORM)
CACHE = mha.KeyValueCache(HEADS, HEADS)
KEPT = mha.online_softmax(X, HEADS[0].T)
WORDS = {"name": "four", "title": "Four words", "source": "made up", "tokens": list("abcd")}
ARRAYS = {"embeddings": X, "layer": LAYER, "head_names": ["first", "second"]}
EXAMPLE = mha.WorkedExample(**WORDS, **ARRAYS)
RUN = mha.trace(EXAMPLE)
PLACE = mha.Place("scores", head=0, row=1, column=2)
MODEL = mha.LanguageModel(
    words=["a", "b", "c"],
    embedding=RNG.normal(size=(3, 6)),
    blocks=[mha.Block(LAYER)],
    unembedding=RNG.normal(size=(6, 3)),
)
INDEX = {"head": 0, "row": 1, "column": 2}
SHARE = {"value": 0.3, "places": 2}

# Of every other public name that is handed something, all that it needs. A method has its object.
GIVEN = SOUND | {
    **dict.fromkeys(("shown", "percent", "short", "at_least", "at_most"), SHARE),
    **dict.fromkeys(("at_least_percent", "at_most_percent"), SHARE),
    "dimensions": {"symbol": "q", "count": 3},
    "chain": {"steps": ("1×2", "2")},
    "load_example": {"name": "cat-sat"},
    "recorded_head": {"layer": 4, "head": 2, "sentence": "I play football"},
    "recorded_maps": {"sentence": "I play football"},
    "trace": {"example": EXAMPLE},
    "trace_blocks": {"example": EXAMPLE, "blocks": [BLOCK]},
    "trace_layer": {"layer": BIASED, "x": X, "tokens": list("abcd")},
    "without_scale": {"example": EXAMPLE},
    "without_head": {"example": EXAMPLE, "head": 1},
    "with_swapped_tokens": {"example": EXAMPLE, "first": 0, "second": 3},
    "origin": {"run": RUN, "place": PLACE},
    "arithmetic": {"run": RUN, "stage": "scores", "row": 1, "column": 2},
    "Norm": {"gain": X[0], "bias": X[1]},
    "FeedForward": {"w_in": X.T, "b_in": X[0, :4], "w_out": X, "b_out": X[1]},
    "Block": {"attention": LAYER, "feed_forward": FEED, "first": NORM, "second": NORM},
    "MultiHeadWeights": BIASED.arrays,
    "AttentionLayer": {"weights": BIASED},
    "layer_from_arrays": {"arrays": PACKED, "num_heads": 2},
    "layer_to_arrays": {"layer": mha.layer_from_arrays(PACKED, num_heads=2)},
    "LatentWeights": LATENT,
    "draw_example": {"words": "the cat sat", "seed": 3},
    "EightBits.of": {"x": X},
    "KeyValueCache": {"key": HEADS, "value": HEADS},
    "KeyValueCache.of": {"context": X, "weights": LAYER},
    "KeyValueCache.extended": {"self": CACHE, "key": HEADS, "value": HEADS},
    "SeedRuns": {"values": X},
    "SeedRuns.share": {"self": mha.SeedRuns(X), "holds": lambda values: values[:, 0] > 0},
    "RunningSoftmax": {"largest": X[:, 0], "total": X[:, 1], "mixture": X},
    "RunningSoftmax.merged": {"self": KEPT, "other": KEPT},
    "LayerSizes.flops": {"self": mha.layer_sizes(6, 2), "num_queries": 3},
    "LayerSizes.weight_bytes": {"self": mha.layer_sizes(6, 2), "num_queries": 3},
    "LayerSizes.cache_bytes": {"self": mha.layer_sizes(6, 2), "num_tokens": 3},
    "Origin.constant": {"self": mha.origin(RUN, PLACE), "name": "d_k"},
    "LanguageModel": {
        **{"words": MODEL.words, "embedding": MODEL.embedding, "blocks": MODEL.blocks},
        "unembedding": MODEL.unembedding,
    },
    "LanguageModel.indices": {"self": MODEL, "text": "a b"},
    "load_model": {"name": "names"},
    "LanguageModel.write": {"self": MODEL, "text": "a b"},
    "trace_text": {"model": MODEL, "text": "a b"},
    "logit_shares": {"runs": mha.trace_text(MODEL, "a b"), "row": 1},
    "Place": {"stage": "scores", **INDEX},
    "Place.at": {"stage_name": "scores", "index": (0, 1, 2)},
    "Place.of": {"stage_name": "scores", **INDEX},
    "Place.parse": {"text": "scores.0.1.2"},
    "Place.value": {"self": PLACE, "run": RUN},
    "WorkedExample": {**WORDS, **ARRAYS},
}


def taken(name):
    """Return every argument that a public name takes, each as it should be."""
    parameters = inspect.signature(attrgetter(name)(mha)).parameters.values()
    left_out = {p.name: p.default for p in parameters if p.default is not p.empty}
    return left_out | GIVEN[name]


def called(name, given):
    """Call a public name; what goes into a star is not handed over by name."""
    function, by_place, by_name = attrgetter(name)(mha), [], dict(given)
    parameters = list(inspect.signature(function).parameters.values())
    starred = [i for i, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL]
    for parameter in parameters[: starred[0] + 1] if starred else ():
        value = by_name.pop(parameter.name)
        by_place += value if parameter.kind is parameter.VAR_POSITIONAL else [value]
    return function(*by_place, **by_name)
