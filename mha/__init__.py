"""Multi-head attention in NumPy, with every intermediate kept.

The views (`tables`, `figures`, `arithmetic`) are modules of their own: ``from mha import
figures``. Only `figures` needs matplotlib.
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
from mha.multihead import MultiHeadWeights, multi_head_attention
from mha.rounding import percent, short, shown
from mha.softmax import entropy, softmax, softmax_backward, softmax_jacobian
from mha.trace import Reading, Trace, WorkedExample, trace

__version__ = "0.1.0"

__all__ = [
    "AttentionGradients",
    "LayerSizes",
    "MultiHeadGradients",
    "MultiHeadWeights",
    "Reading",
    "Trace",
    "WorkedExample",
    "attention_scores",
    "attention_weights",
    "blockwise_attention",
    "causal_mask",
    "entropy",
    "example_names",
    "layer_sizes",
    "load_example",
    "merge_heads",
    "multi_head_attention",
    "multi_head_attention_backward",
    "padding_mask",
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
    "trace",
]
