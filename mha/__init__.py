"""Multi-head attention in NumPy, with every intermediate kept.

The views (`tables`, `figures`, `arithmetic`, `walkthrough`) are modules of their own: ``from mha
import figures``. Only `figures` needs matplotlib.
"""

from mha.attention import (
    attention_scores,
    attention_weights,
    scaled_dot_product_attention,
)
from mha.blockwise import blockwise_attention
from mha.costs import LayerSizes, layer_sizes
from mha.examples import example_names, load_example
from mha.gradients import (
    AttentionGradients,
    MultiHeadGradients,
    multi_head_attention_backward,
    scaled_dot_product_attention_backward,
)
from mha.heads import merge_heads, split_heads
from mha.masks import causal_mask, padding_mask, sliding_window_mask
from mha.measures import entropy, total_variation
from mha.multihead import MultiHeadWeights, multi_head_attention
from mha.patterns import PatternFit, centred_log, fit_patterns, pattern_projections
from mha.rounding import dimensions, percent, short, shown
from mha.softmax import softmax, softmax_backward, softmax_jacobian
from mha.trace import Reading, Trace, WorkedExample, trace
from mha.variations import with_swapped_tokens, without_head, without_scale

__version__ = "0.1.0"

__all__ = [
    "AttentionGradients",
    "LayerSizes",
    "MultiHeadGradients",
    "MultiHeadWeights",
    "PatternFit",
    "Reading",
    "Trace",
    "WorkedExample",
    "attention_scores",
    "attention_weights",
    "blockwise_attention",
    "causal_mask",
    "centred_log",
    "dimensions",
    "entropy",
    "example_names",
    "fit_patterns",
    "layer_sizes",
    "load_example",
    "merge_heads",
    "multi_head_attention",
    "multi_head_attention_backward",
    "padding_mask",
    "pattern_projections",
    "percent",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "short",
    "shown",
    "sliding_window_mask",
    "softmax",
    "softmax_backward",
    "softmax_jacobian",
    "split_heads",
    "total_variation",
    "trace",
    "with_swapped_tokens",
    "without_head",
    "without_scale",
]
