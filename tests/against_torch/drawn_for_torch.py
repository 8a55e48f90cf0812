"""Random sizes and numbers, and the same layers for mha and for PyTorch."""

import numpy as np
import torch

from mha import MultiHeadWeights


class Draw:
    """Random sizes and numbers of one dtype."""

    def __init__(self, seed, dtype):
        self.rng, self.dtype = np.random.default_rng(seed), dtype

    def size(self, most=7, least=1):
        """Return a size from the least to the most."""
        return int(self.rng.integers(least, most + 1))

    def normal(self, *shape):
        """Return normally distributed numbers."""
        return self.rng.normal(size=shape).astype(self.dtype)

    def weights(self, heads, d_model):
        """Return a layer whose heads share its width, as PyTorch's do."""
        width = d_model // heads
        w_q, w_k, w_v = (self.normal(heads, d_model, width) / 2 for _ in range(3))
        return MultiHeadWeights(w_q, w_k, w_v, self.normal(d_model, d_model) / 2)

    def layer(self):
        """Return a layer, the same as a module of PyTorch, and its width."""
        heads = self.size(3)
        d_model = heads * self.size(4)
        weights = self.weights(heads, d_model)
        module = torch.nn.MultiheadAttention(
            d_model, heads, batch_first=True, dtype=getattr(torch, self.dtype)
        )
        return weights, filled(module, weights), d_model


def tensors(*arrays, grad=False):
    """Return arrays as tensors of PyTorch."""
    return [torch.tensor(array, requires_grad=grad) for array in arrays]


def side_by_side(*heads):
    """Return the heads' matrices as PyTorch keeps them: turned, and one above the other."""
    return np.concatenate([matrix.T for matrices in heads for matrix in matrices])


def filled(module, weights):
    """Put a layer's matrices into a module of PyTorch, without biases."""
    stacked = side_by_side(weights.w_q, weights.w_k, weights.w_v)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.tensor(stacked))
        module.out_proj.weight.copy_(torch.tensor(weights.w_o.T.copy()))
        module.in_proj_bias.zero_()
        module.out_proj.bias.zero_()
    return module


def encoder(block, heads, dtype):
    """Return a block as PyTorch's layer of an encoder."""
    module = _layer(torch.nn.TransformerEncoderLayer, block, heads, dtype)
    filled(module.self_attn, block.attention)
    return _with_norms(module, block.first, block.second)


def decoder(own, asking, heads, dtype):
    """Return two blocks as PyTorch's layer of a decoder."""
    module = _layer(torch.nn.TransformerDecoderLayer, asking, heads, dtype)
    filled(module.self_attn, own.attention)
    filled(module.multihead_attn, asking.attention)
    return _with_norms(module, own.first, asking.first, asking.second)


def _layer(kind, block, heads, dtype):
    """Return a layer of PyTorch with the feed-forward layer of a block."""
    feed = block.feed_forward
    module = kind(
        block.d_model, heads, feed.d_ff, dropout=0.0, activation=feed.activation,
        batch_first=True, norm_first=block.norm == "before", dtype=getattr(torch, dtype),
    )  # fmt: skip
    pairs = [
        (module.linear1.weight, feed.w_in.T), (module.linear1.bias, feed.b_in),
        (module.linear2.weight, feed.w_out.T), (module.linear2.bias, feed.b_out),
    ]  # fmt: skip
    return _copied(module, pairs)


def _with_norms(module, *norms):
    names = ("norm1", "norm2", "norm3")
    pairs = [
        (getattr(getattr(module, name), part), array)
        for name, norm in zip(names, norms, strict=False)
        for part, array in (("weight", norm.gain), ("bias", norm.bias))
    ]
    return _copied(module, pairs)


def _copied(module, pairs):
    """Copy arrays into a module's tensors."""
    with torch.no_grad():
        for tensor, array in pairs:
            tensor.copy_(torch.tensor(np.array(array)))
    return module


def no_later(n):
    """Return PyTorch's causal mask of a layer, in which True hides."""
    return torch.ones(n, n, dtype=torch.bool).triu(1)
