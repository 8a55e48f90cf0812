"""Valid arguments of each public name. The tests of refusals replace them one by one."""

import inspect
from dataclasses import replace
from operator import attrgetter

import numpy as np

import mha
from mha import public_names
from mha.core.costs import layer_sizes
from mha.core.decoder import draw_decoder
from mha.core.decoding import KeyValueCache
from mha.core.feed_forward import FeedForward
from mha.core.language import LanguageModel
from mha.core.latent import LatentWeights
from mha.core.norm import Norm
from mha.core.online_softmax import online_softmax
from mha.core.seeds import SeedRuns
from mha.core.transformer import Block
from mha.examples.recorded import recorded_next_tokens
from mha.layouts import layer_from_arrays
from mha.runs.logit_attribution import trace_text


class Letters:
    """A tokenizer of letters."""

    def encode(self, text):
        return type("Encoding", (), {"ids": [ord(letter) % 5 for letter in text]})


RNG = np.random.default_rng(5)
X = RNG.normal(size=(4, 6))
HEADS = RNG.normal(size=(2, 4, 6))
ROWS = mha.softmax(RNG.normal(size=(4, 4)))
LAYER = mha.MultiHeadWeights(*RNG.normal(size=(3, 2, 6, 4)), RNG.normal(size=(8, 6)))
BIASED = mha.MultiHeadWeights(*LAYER.arrays.values(), *np.ones((3, 2, 4)), np.ones(6))
BARE = Block(LAYER)
LATENT = {
    **{"w_dkv": X.T[:, :3], "w_uk": HEADS[:1, :3], "w_uv": HEADS[:1, :3], "w_kr": X.T[:, :2]},
    **{"w_uq": RNG.normal(size=(1, 6, 6)), "w_qr": RNG.normal(size=(1, 6, 2)), "w_o": X.T @ X},
}

# The usual value of an argument of `mha.core`, by its name.
USUAL = {
    **dict.fromkeys(("query", "key", "value", "x", "scores", "output", "gate", "context"), X),
    **dict.fromkeys(("d_output", "d_weights", "embeddings", "source", "target", "w_out"), X),
    **dict.fromkeys(("first", "second", "pattern"), ROWS),
    **{
        "patterns": ROWS[None],
        "decay": ROWS[0],
        "beta": ROWS[1],
        "gain": X[0],
        "bias": X[1],
        "sink": X[:, :1],
    },
    **{"positions": X[:, 0], "angles": X[:, :3], "lengths": np.array([1, 2])},
    **{"w_in": HEADS[0].T, "b_in": X[0, :4], "b_out": X[1]},
    **dict.fromkeys(("weights", "layer"), LAYER),
    **{"blocks": [BARE], "encoder": [BARE], "decoder": [[BARE] * 2]},
    **{"cache": KeyValueCache.of(X, LAYER), "answers": [[0, 1]] * 4, "rng": RNG},
    **{"measure": lambda rng: rng.normal(size=3), "seeds": (2, 3)},
    **{"d_model": 6, "d_k": 4, "d_v": 2, "d_out": 3, "num_groups": 1, "width": 4},
    **{"num_heads": 2, "num_questions": 2, "num_positions": 3, "num_queries": 3, "num_keys": 4},
    **{"window": 1, "block_size": 2, "count": 2, "length": 64},
    **{"steps": 2, "restarts": 1, "batch_size": 1},
    **{"base": 10.0, "factor": 2.0, "cap": 2.0, "share": 0.5, "fast": 4.0, "slow": 1.0},
}
# Other values: for some functions, and for optional arguments.
OWN = {
    "fit_patterns": {"decay": 0.01},
    "indexer_scores": {"query": HEADS, "weights": HEADS[..., 0]},
    "cross_entropy": {"answers": [0, 1, 2, -1]},
    "latent_attention": {"weights": LatentWeights(**LATENT), "angles": X[:, :1]},
    "clip_qk": {"weights": LatentWeights(**LATENT), "scores": 3 * HEADS[:1], "threshold": 2.0},
    "merge_heads": {"x": HEADS},
    **{f"multi_head_attention{end}": {"weights": BIASED} for end in ("", "_backward")},
    "online_softmax": {"value": HEADS[0].T},
    "pattern_projections": {"embeddings": np.eye(4)},
    "train_layer": {"x": HEADS, "answers": [[[0, 1]] * 4] * 2},
    "transformer_backward": {
        "blocks": [Block(LAYER, FeedForward(X.T, X[0, :4], X, X[1]), "after")]
    },
    **{name: {"d_k": 8} for name in ("yarn_speeds", "llama3_speeds")},
    **{name: {"weights": ROWS} for name in ("entropy", "softmax_jacobian")},
    "softmax_backward": {"weights": X},
    **{
        name: {"target": ROWS, "draft": ROWS[::-1]}
        for name in ("acceptance_probabilities", "residual_distribution")
    },
    "accept_drafts": {"drafted": [1, 0, 3], "target": ROWS, "draft": ROWS[1:]},
    "words_per_pass": {"acceptance_rate": 0.5, "num_drafted": 2},
    "pages_needed": {"num_tokens": 5, "page_size": 2},
    "page_tables": {"sequences": [["a", "b", "c"], ["a", "b"]], "page_size": 2},
}
LEFT_OUT = ("mask", "angles", "query", "key", "value", "weights")


def parameters(name):
    return inspect.signature(attrgetter(name)(public_names)).parameters.values()


def core_arguments(name):
    """Return valid arguments of a function of `mha.core`."""
    own = OWN.get(name, {})
    named = [p.name for p in parameters(name) if p.default is p.empty or p.name not in LEFT_OUT]
    return {each: USUAL[each] for each in named if each in USUAL} | own


SOUND = {
    name: core_arguments(name)
    for name in public_names.__all__
    if inspect.isfunction(function := getattr(public_names, name))
    if function.__module__.startswith("mha.core.")
}
"""Valid arguments of every function of `mha.core`, by name."""

LATENT_LAYER = mha.LatentLayer(LatentWeights(**LATENT))
PACKED = {"in_proj_weight": np.ones((18, 6)), "out_proj.weight": X.T @ X}
NORM = Norm(X[0], X[1])
FEED = FeedForward(X.T, None, X, None)
BLOCK = Block(LAYER, FEED, "before", NORM)
CACHE = KeyValueCache(HEADS, HEADS)
KEPT = online_softmax(X, HEADS[0].T)
WORDS = {"name": "four", "title": "Four words", "source": "made up", "tokens": list("abcd")}
ARRAYS = {"embeddings": X, "layer": LAYER, "head_names": ["first", "second"]}
FRANCE = "The capital of France is"
EXAMPLE = mha.WorkedExample(**WORDS, **ARRAYS)
RUN = mha.trace(EXAMPLE)
PLACE = mha.Place("scores", head=0, row=1, column=2)
MODEL = LanguageModel(
    words=["a", "b", "c"],
    embedding=RNG.normal(size=(3, 6)),
    blocks=[Block(LAYER)],
    unembedding=RNG.normal(size=(6, 3)),
)
DECODER = draw_decoder(RNG, 5)
INDEX = {"head": 0, "row": 1, "column": 2}
SHARE = {"value": 0.3, "places": 2}

# The required arguments of every other public name. A method has its object as `self`.
GIVEN = SOUND | {
    **dict.fromkeys(("shown", "percent", "short", "at_least", "at_most"), SHARE),
    **dict.fromkeys(("at_least_percent", "at_most_percent"), SHARE),
    "dimensions": {"symbol": "q", "count": 3},
    "chain": {"steps": ("1×2", "2")},
    "load_example": {"name": "cat-sat"},
    "recorded_head": {"layer": 24, "head": 5, "sentence": FRANCE},
    **{
        f"recorded_{name}": {"sentence": FRANCE}
        for name in (
            *("maps", "next_tokens", "without_each", "logit_shares", "stream_norms"),
            "vector_lengths",
        )
    },
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
    "LatentLayer": {"weights": LATENT_LAYER.weights},
    "NextTokens.probability": {"self": recorded_next_tokens(FRANCE), "token": " Paris"},
    "LatentLayer.run": {"self": LATENT_LAYER, "x": X},
    "layer_from_arrays": {"arrays": PACKED, "num_heads": 2},
    "layer_to_arrays": {"layer": layer_from_arrays(PACKED, num_heads=2)},
    "LatentWeights": LATENT,
    "draw_example": {"words": "the cat sat", "seed": 3},
    "EightBits.of": {"x": X},
    "KeyValueCache": {"key": HEADS, "value": HEADS},
    "KeyValueCache.of": {"context": X, "weights": LAYER},
    "KeyValueCache.extended": {"self": CACHE, "key": HEADS, "value": HEADS},
    "SeedRuns": {"values": X},
    "SeedRuns.share": {"self": SeedRuns(X), "holds": lambda values: values[:, 0] > 0},
    "RunningSoftmax": {"largest": X[:, 0], "total": X[:, 1], "mixture": X},
    "RunningSoftmax.merged": {"self": KEPT, "other": KEPT},
    "LayerSizes.flops": {"self": layer_sizes(6, 2), "num_queries": 3},
    "LayerSizes.weight_bytes": {"self": layer_sizes(6, 2), "num_queries": 3},
    "LayerSizes.cache_bytes": {"self": layer_sizes(6, 2), "num_tokens": 3},
    "Origin.constant": {"self": mha.origin(RUN, PLACE), "name": "d_k"},
    "LanguageModel": {
        **{"words": MODEL.words, "embedding": MODEL.embedding, "blocks": MODEL.blocks},
        "unembedding": MODEL.unembedding,
    },
    "LanguageModel.indices": {"self": MODEL, "text": "a b"},
    "load_model": {"name": "names"},
    "LanguageModel.write": {"self": MODEL, "text": "a b"},
    "trace_text": {"model": MODEL, "text": "a b"},
    "Decoder": {
        **{"embedding": DECODER.embedding, "layers": DECODER.layers, "num_heads": 2},
        **{"final_gain": DECODER.final_gain, "unembedding": DECODER.unembedding, "num_groups": 1},
    },
    "Decoder.as_ids": {"self": DECODER, "prompt": [3, 0]},
    "Decoder.encode": {"self": replace(DECODER, read_tokenizer=Letters), "text": "ba"},
    "Decoder.run": {"self": DECODER, "ids": [3, 0]},
    "Decoder.write": {"self": DECODER, "prompt": [3, 0]},
    "logit_shares": {"runs": trace_text(MODEL, "a b"), "row": 1},
    "Place": {"stage": "scores", **INDEX},
    "Place.at": {"stage_name": "scores", "index": (0, 1, 2)},
    "Place.of": {"stage_name": "scores", **INDEX},
    "Place.parse": {"text": "scores.0.1.2"},
    "Place.value": {"self": PLACE, "run": RUN},
    "WorkedExample": {**WORDS, **ARRAYS},
}


def valid_arguments(name):
    """Return a valid value for every argument of a public name."""
    left_out = {p.name: p.default for p in parameters(name) if p.default is not p.empty}
    return left_out | GIVEN[name]


def call_public(name, given):
    """Call a public name. Arguments before and in a `*args` parameter are positional."""
    function, by_place, by_name = attrgetter(name)(public_names), [], dict(given)
    given_by_place = list(parameters(name))
    starred = [i for i, p in enumerate(given_by_place) if p.kind is p.VAR_POSITIONAL]
    for parameter in given_by_place[: starred[0] + 1] if starred else ():
        value = by_name.pop(parameter.name)
        by_place += value if parameter.kind is parameter.VAR_POSITIONAL else [value]
    return function(*by_place, **by_name)
