"""All public names of the package in one namespace, for chapters, the reference and tests.

Importing this module loads the whole package; `mha` itself loads a name when it is used.
"""

from mha.core.attention import attention_scores, attention_weights, scaled_dot_product_attention
from mha.core.bfloat16 import to_bfloat16
from mha.core.blockwise import blockwise_attention
from mha.core.costs import LayerSizes, ModelSizes, layer_sizes
from mha.core.decoder import Decoder, DecoderRun, WrittenToken
from mha.core.decoding import KeyValueCache, ask_cache, decode_step
from mha.core.distributions import entropy, total_variation
from mha.core.encoder_decoder import encoder_decoder
from mha.core.feed_forward import FeedForward, feed_forward
from mha.core.gradients import (
    AttentionGradients,
    MultiHeadGradients,
    multi_head_attention_backward,
    scaled_dot_product_attention_backward,
)
from mha.core.heads import merge_heads, split_heads
from mha.core.int8 import EightBits
from mha.core.language import LanguageModel, Written
from mha.core.latent import LatentRun, LatentWeights, clip_qk, latent_attention
from mha.core.learning import (
    Training,
    answer_scores,
    cross_entropy,
    draw_layer,
    layer_gradients,
    train_layer,
)
from mha.core.linear_attention import gated_delta_rule, linear_attention, linear_recurrence
from mha.core.masks import causal_mask, padded_places, padding_mask, sliding_window_mask
from mha.core.multihead import MultiHeadWeights, multi_head_attention
from mha.core.norm import Norm, layer_norm
from mha.core.online_softmax import RunningSoftmax, online_softmax
from mha.core.pages import page_tables, pages_needed
from mha.core.pattern_fitting import PatternFit, centred_log, fit_patterns, pattern_projections
from mha.core.positions import (
    halves_to_pairs,
    linear_biases,
    linear_slopes,
    pairs_to_halves,
    rotary_angles,
    rotate,
    rotate_by,
    sinusoidal_positions,
)
from mha.core.rope_scaling import (
    interpolated_speeds,
    llama3_speeds,
    rotary_speeds,
    wider_base,
    yarn_sharpness,
    yarn_speeds,
)
from mha.core.score_variants import (
    capped_scores,
    differential_weights,
    gated,
    indexer_scores,
    softmax_with_sink,
    top_blocks_mask,
    top_keys_mask,
)
from mha.core.seeds import SeedRuns, over_seeds
from mha.core.softmax import softmax, softmax_backward, softmax_jacobian
from mha.core.speculative import (
    accept_drafts,
    acceptance_probabilities,
    residual_distribution,
    words_per_pass,
)
from mha.core.transformer import Block, transformer
from mha.core.transformer_gradients import TransformerGradients, transformer_backward
from mha.decoders import read_model
from mha.examine import examine, examine_decoding, examine_layer, examine_positions
from mha.examples import example_names, load_example
from mha.examples.recorded import (
    HeadScores,
    KeptLayer,
    NextTokens,
    NounPairs,
    RecordedMaps,
    VectorLengths,
    recorded_head,
    recorded_heads,
    recorded_kept_layer,
    recorded_logit_shares,
    recorded_maps,
    recorded_next_tokens,
    recorded_pairs,
    recorded_scores,
    recorded_sentences,
    recorded_settings,
    recorded_stream_norms,
    recorded_vector_lengths,
    recorded_without_each,
)
from mha.examples.trained import TrainedModel, load_model
from mha.layouts import AttentionLayer, LatentLayer, layer_from_arrays, layer_to_arrays, read_layer
from mha.runs import stages
from mha.runs.changed_examples import with_swapped_tokens, without_head, without_scale
from mha.runs.layers import trace_layer
from mha.runs.logit_attribution import LogitShares, logit_shares, trace_text
from mha.runs.operations import Operand, Origin
from mha.runs.origins import origin
from mha.runs.places import Place
from mha.runs.random_examples import draw_example
from mha.runs.record import Trace, trace, trace_blocks
from mha.runs.rounding import (
    at_least,
    at_least_percent,
    at_most,
    at_most_percent,
    dimensions,
    percent,
    short,
    shown,
)
from mha.runs.worked_example import Reading, WorkedExample
from mha.views import figures, tables
from mha.views.arithmetic import Arithmetic, arithmetic
from mha.views.signs import chain
from mha.widgets.explorer import explorer

__all__ = [
    "Arithmetic",
    "AttentionGradients",
    "AttentionLayer",
    "Block",
    "Decoder",
    "DecoderRun",
    "EightBits",
    "FeedForward",
    "HeadScores",
    "KeptLayer",
    "KeyValueCache",
    "LanguageModel",
    "LatentLayer",
    "LatentRun",
    "LatentWeights",
    "LayerSizes",
    "LogitShares",
    "ModelSizes",
    "MultiHeadGradients",
    "MultiHeadWeights",
    "NextTokens",
    "Norm",
    "NounPairs",
    "Operand",
    "Origin",
    "PatternFit",
    "Place",
    "Reading",
    "RecordedMaps",
    "RunningSoftmax",
    "SeedRuns",
    "Trace",
    "TrainedModel",
    "Training",
    "TransformerGradients",
    "VectorLengths",
    "WorkedExample",
    "Written",
    "WrittenToken",
    "accept_drafts",
    "acceptance_probabilities",
    "answer_scores",
    "arithmetic",
    "ask_cache",
    "at_least",
    "at_least_percent",
    "at_most",
    "at_most_percent",
    "attention_scores",
    "attention_weights",
    "blockwise_attention",
    "capped_scores",
    "causal_mask",
    "centred_log",
    "chain",
    "clip_qk",
    "cross_entropy",
    "decode_step",
    "differential_weights",
    "dimensions",
    "draw_example",
    "draw_layer",
    "encoder_decoder",
    "entropy",
    "examine",
    "examine_decoding",
    "examine_layer",
    "examine_positions",
    "example_names",
    "explorer",
    "feed_forward",
    "figures",
    "fit_patterns",
    "gated",
    "gated_delta_rule",
    "halves_to_pairs",
    "indexer_scores",
    "interpolated_speeds",
    "latent_attention",
    "layer_from_arrays",
    "layer_gradients",
    "layer_norm",
    "layer_sizes",
    "layer_to_arrays",
    "linear_attention",
    "linear_biases",
    "linear_recurrence",
    "linear_slopes",
    "llama3_speeds",
    "load_example",
    "load_model",
    "logit_shares",
    "merge_heads",
    "multi_head_attention",
    "multi_head_attention_backward",
    "online_softmax",
    "origin",
    "over_seeds",
    "padded_places",
    "padding_mask",
    "page_tables",
    "pages_needed",
    "pairs_to_halves",
    "pattern_projections",
    "percent",
    "read_layer",
    "read_model",
    "recorded_head",
    "recorded_heads",
    "recorded_kept_layer",
    "recorded_logit_shares",
    "recorded_maps",
    "recorded_next_tokens",
    "recorded_pairs",
    "recorded_scores",
    "recorded_sentences",
    "recorded_settings",
    "recorded_stream_norms",
    "recorded_vector_lengths",
    "recorded_without_each",
    "residual_distribution",
    "rotary_angles",
    "rotary_speeds",
    "rotate",
    "rotate_by",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "short",
    "shown",
    "sinusoidal_positions",
    "sliding_window_mask",
    "softmax",
    "softmax_backward",
    "softmax_jacobian",
    "softmax_with_sink",
    "split_heads",
    "stages",
    "tables",
    "to_bfloat16",
    "top_blocks_mask",
    "top_keys_mask",
    "total_variation",
    "trace",
    "trace_blocks",
    "trace_layer",
    "trace_text",
    "train_layer",
    "transformer",
    "transformer_backward",
    "wider_base",
    "with_swapped_tokens",
    "without_head",
    "without_scale",
    "words_per_pass",
    "yarn_sharpness",
    "yarn_speeds",
]
