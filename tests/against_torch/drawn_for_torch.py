"""Random sizes and numbers, and the same layers for mha and for PyTorch."""

import numpy as np
import torch

from mha import MultiHeadWeights


class Draw:
    """A random generator of sizes and numbers of one dtype."""

    def __init__(self, seed, dtype):
        self.rng, self.dtype = np.random.default_rng(seed), dtype

    def size(self, most=7, least=1):
        """Return a size from the least to the most."""
        return int(self.rng.integers(least, most + 1))

    def normal(self, *shape):
        """Return normally distributed numbers."""
        return self.rng.normal(size=shape).astype(self.dtype)

    def weights(self, heads, d_model):
        """Return a layer whose heads divide d_model, as PyTorch requires."""
        width = d_model // heads
        w_q, w_k, w_v = (self.normal(heads, d_model, width) / 2 for _ in range(3))
        return MultiHeadWeights(w_q, w_k, w_v, self.normal(d_model, d_model) / 2)

    def layer(self):
        """Return a layer, the same layer as a module of PyTorch, and d_model."""
        heads = self.size(3)
        d_model = heads * self.size(4)
        weights = self.weights(heads, d_model)
        module = torch.nn.MultiheadAttention(d_model, heads, batch_first=True)
        return weights, load_module(module, of_layer(weights)), d_model


def tensors(*arrays, grad=False):
    """Return arrays as PyTorch tensors."""
    return [torch.tensor(array, requires_grad=grad) for array in arrays]


def stack_heads(*heads):
    """Return the heads' matrices in PyTorch's layout: transposed and stacked by rows."""
    return np.concatenate([matrix.T for matrices in heads for matrix in matrices])


def of_layer(weights, prefix=""):
    """Return a layer's matrices as PyTorch names them, with biases of 0."""
    w_o = weights.w_o.T
    return {
        f"{prefix}in_proj_weight": stack_heads(weights.w_q, weights.w_k, weights.w_v),
        f"{prefix}in_proj_bias": np.zeros(3 * len(w_o)),
        f"{prefix}out_proj.weight": w_o,
        f"{prefix}out_proj.bias": np.zeros(len(w_o)),
    }


def of_block(feed, *norms):
    """Return a feed-forward layer and norms as PyTorch names them."""
    arrays = {"linear1.weight": feed.w_in.T, "linear1.bias": feed.b_in}
    arrays |= {"linear2.weight": feed.w_out.T, "linear2.bias": feed.b_out}
    for number, norm in enumerate(norms, 1):
        arrays |= {f"norm{number}.weight": norm.gain, f"norm{number}.bias": norm.bias}
    return arrays


def load_module(module, arrays):
    """Load arrays into a module of PyTorch. The names must be exactly the module's."""
    module.load_state_dict({name: torch.tensor(np.array(x)) for name, x in arrays.items()})
    return module


def encoder(block, heads):
    """Return a block as PyTorch's encoder layer."""
    arrays = of_layer(block.attention, "self_attn.")
    arrays |= of_block(block.feed_forward, block.first, block.second)
    return load_module(_made(torch.nn.TransformerEncoderLayer, block, heads), arrays)


def decoder(own, asking, heads):
    """Return two blocks as PyTorch's decoder layer."""
    arrays = of_layer(own.attention, "self_attn.") | of_layer(asking.attention, "multihead_attn.")
    arrays |= of_block(asking.feed_forward, own.first, asking.first, asking.second)
    return load_module(_made(torch.nn.TransformerDecoderLayer, asking, heads), arrays)


def _made(kind, block, heads):
    return kind(
        block.d_model, heads, block.feed_forward.d_ff, dropout=0.0, batch_first=True,
        activation=block.feed_forward.activation, norm_first=block.norm == "before",
    )  # fmt: skip


def causal_mask(n):
    """Return PyTorch's causal mask of a layer, in which True means masked."""
    return torch.ones(n, n, dtype=torch.bool).triu(1)
