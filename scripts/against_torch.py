"""Compare the mathematics of `mha` with PyTorch's, where PyTorch has the thing.

Each check draws sizes and numbers many times, in float32 and float64, and prints the largest
difference that it saw, in units of what its dtype allows; one of more than 1 ends the command with
exit code 1. Nothing is skipped: without PyTorch the command fails. No build and no other test needs
it. requirements-bench.lock has PyTorch, in an environment of its own; see CONTRIBUTING.md.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from bench_options import Parser, count
from torch.nn import functional

from mha import (
    Block,
    FeedForward,
    MultiHeadWeights,
    Norm,
    blockwise_attention,
    cross_entropy,
    decode_step,
    draw_layer,
    feed_forward,
    layer_norm,
    multi_head_attention,
    multi_head_attention_backward,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    softmax,
    train_layer,
    transformer,
)
from mha.core.feed_forward import Activation
from mha.core.transformer import NormAt

Array = np.ndarray[Any, Any]
Pairs = Iterator[tuple[Array, Any]]
TOLERANCE = {"float32": 5e-6, "float64": 1e-12}
ROW = "{:<34}{:>10}{:>10}"


class Draw:
    """Random sizes and numbers of one dtype."""

    def __init__(self, seed: int, dtype: str) -> None:
        self.rng, self.dtype = np.random.default_rng(seed), dtype

    def size(self, most: int = 7, least: int = 1) -> int:
        """Return a size from the least to the most."""
        return int(self.rng.integers(least, most + 1))

    def normal(self, *shape: int) -> Array:
        """Return normally distributed numbers."""
        return self.rng.normal(size=shape).astype(self.dtype)

    def weights(self, heads: int, d_model: int) -> MultiHeadWeights:
        """Return a layer whose heads share its width, as PyTorch's do."""
        width = d_model // heads
        w_q, w_k, w_v = (self.normal(heads, d_model, width) / 2 for _ in range(3))
        return MultiHeadWeights(w_q, w_k, w_v, self.normal(d_model, d_model) / 2)


def main() -> None:
    """Print a line a check."""
    parser = Parser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--repeat", type=count, default=20, metavar="R", help="default: 20")
    repeat = parser.parse_args().repeat
    torch.backends.mha.set_fastpath_enabled(False)  # it rounds in an order of its own
    print(f"PyTorch {torch.__version__}, NumPy {np.__version__}, {repeat} draws each")
    print(ROW.format("of what is allowed", *TOLERANCE))
    worst = 0.0
    for name, check in CHECKS.items():
        found = [max(_off(check, seed, dtype) for seed in range(repeat)) for dtype in TOLERANCE]
        print(ROW.format(name, *(f"{off:.3f}" for off in found)), flush=True)
        worst = max(worst, *found)
    sys.exit(0 if worst <= 1 else "error: mha and PyTorch disagree")


def _off(check: Callable[[Draw], Pairs], seed: int, dtype: str) -> float:
    """Return how far a check's numbers are apart, in units of what is allowed."""
    largest = 0.0
    for own, other in check(Draw(seed, dtype)):
        wanted = other.detach().numpy()
        assert np.shape(own) == wanted.shape, (np.shape(own), wanted.shape)
        allowed = TOLERANCE[dtype] * (1 + np.abs(wanted).max())
        largest = max(largest, float(np.abs(own - wanted).max() / allowed))
    return largest


def _torch(*arrays: Array, grad: bool = False) -> list[Any]:
    return [torch.tensor(array, requires_grad=grad) for array in arrays]


# ---- The checks: numbers of mha beside those of PyTorch ----


def _layer_norm(draw: Draw) -> Pairs:
    n, width = draw.size(), draw.size(9, 2)
    x, gain, bias = draw.normal(draw.size(3), n, width), draw.normal(width), draw.normal(width)
    yield (
        layer_norm(x, gain, bias),
        functional.layer_norm(_torch(x)[0], [width], *_torch(gain, bias)),
    )


def _feed_forward(draw: Draw) -> Pairs:
    d_model, d_ff, d_out = (draw.size() for _ in range(3))
    x, w_in, w_out = draw.normal(5, d_model), draw.normal(d_model, d_ff), draw.normal(d_ff, d_out)
    b_in, b_out = draw.normal(d_ff), draw.normal(d_out)
    tx, ti, to, tbi, tbo = _torch(x, w_in, w_out, b_in, b_out)
    names: tuple[Activation, ...] = "relu", "gelu"
    for name in names:
        function = getattr(functional, name)
        own = feed_forward(x, w_in, b_in, w_out, b_out, name)
        yield own, function(tx @ ti + tbi) @ to + tbo


def _attention(draw: Draw) -> Pairs:
    groups, n, m = draw.size(3), draw.size(), draw.size()
    shapes = (groups * draw.size(3), n), (groups, m), (groups, m)
    widths = (width := draw.size(), width, draw.size())
    arrays = [draw.normal(2, *s, w) for s, w in zip(shapes, widths, strict=True)]
    allowed = draw.rng.random((n, m)) < 0.6
    allowed[:, 0] = True
    for own, other in (
        ({}, {}),
        ({"is_causal": True}, {"is_causal": True}),
        ({"mask": allowed}, {"attn_mask": torch.tensor(allowed)}),
    ):
        wanted = functional.scaled_dot_product_attention(*_torch(*arrays), enable_gqa=True, **other)
        options: dict[str, Any] = {**own, "enable_gqa": True}
        yield scaled_dot_product_attention(*arrays, **options), wanted
        yield blockwise_attention(*arrays, block_size=2, **options), wanted


def _attention_gradients(draw: Draw) -> Pairs:
    heads, n, width = draw.size(3), draw.size(), draw.size()
    arrays = [draw.normal(heads, n, width) for _ in range(3)]
    d_output = draw.normal(heads, n, width)
    inputs = _torch(*arrays, grad=True)
    output = functional.scaled_dot_product_attention(*inputs, is_causal=True)
    output.backward(torch.tensor(d_output))
    own = scaled_dot_product_attention_backward(d_output, *arrays, is_causal=True)
    for array, tensor in zip((own.query, own.key, own.value), inputs, strict=True):
        yield array, tensor.grad


def _side_by_side(matrices: Array) -> Array:
    """Return the heads' matrices as PyTorch keeps them: turned, and one above the other."""
    return np.concatenate([matrix.T for matrix in matrices])


def _load(module: Any, weights: MultiHeadWeights) -> Any:
    """Put a layer's matrices into a module of PyTorch."""
    assert weights.w_o is not None
    stacked = np.concatenate([_side_by_side(w) for w in (weights.w_q, weights.w_k, weights.w_v)])
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.tensor(stacked))
        module.out_proj.weight.copy_(torch.tensor(weights.w_o.T.copy()))
        module.in_proj_bias.zero_()
        module.out_proj.bias.zero_()
    return module


def _layer(draw: Draw) -> tuple[MultiHeadWeights, Any, int]:
    heads = draw.size(3)
    d_model = heads * draw.size(4)
    weights = draw.weights(heads, d_model)
    module = torch.nn.MultiheadAttention(
        d_model, heads, batch_first=True, dtype=getattr(torch, draw.dtype)
    )
    return weights, _load(module, weights), d_model


def _no_later(n: int) -> Any:
    return torch.ones(n, n, dtype=torch.bool).triu(1)  # True hides here


def _multi_head(draw: Draw) -> Pairs:
    weights, module, d_model = _layer(draw)
    x, context = draw.normal(2, draw.size(), d_model), draw.normal(2, draw.size(), d_model)
    tx, tc = _torch(x, context)
    yield multi_head_attention(x, weights), module(tx, tx, tx)[0]
    yield multi_head_attention(x, weights, context=context), module(tx, tc, tc)[0]
    causal = module(tx, tx, tx, attn_mask=_no_later(x.shape[1]))[0]
    yield multi_head_attention(x, weights, is_causal=True), causal
    cache, steps = None, []
    for token in range(x.shape[1]):
        output, cache = decode_step(x[:, token : token + 1], weights, cache)
        steps.append(output)
    yield np.concatenate(steps, axis=1), causal


def _multi_head_gradients(draw: Draw) -> Pairs:
    weights, module, d_model = _layer(draw)
    x = draw.normal(2, draw.size(), d_model)
    d_output = draw.normal(*x.shape)
    (tx,) = _torch(x, grad=True)
    module(tx, tx, tx)[0].backward(torch.tensor(d_output))
    own = multi_head_attention_backward(d_output, x, weights)
    yield own.x, tx.grad
    w = own.weights
    stacked = np.concatenate([_side_by_side(part) for part in (w.w_q, w.w_k, w.w_v)])
    yield stacked, module.in_proj_weight.grad
    assert w.w_o is not None
    yield w.w_o.T, module.out_proj.weight.grad


def _transformer(draw: Draw) -> Pairs:
    heads = draw.size(3)
    d_model, d_ff = heads * draw.size(4, 2), draw.size(9)
    blocks, modules = [], []
    norm: NormAt = "before" if draw.rng.random() < 0.5 else "after"
    activations: tuple[Activation, ...] = "relu", "gelu"
    for activation in activations:
        first, second = (Norm(*draw.normal(2, d_model)) for _ in range(2))
        feed = FeedForward(
            draw.normal(d_model, d_ff), draw.normal(d_ff), draw.normal(d_ff, d_model),
            draw.normal(d_model), activation,
        )  # fmt: skip
        block = Block(draw.weights(heads, d_model), feed, norm, first, second)
        blocks.append(block)
        modules.append(_encoder(block, heads, draw.dtype))
    x = draw.normal(2, draw.size(), d_model)
    for is_causal in (False, True):
        (wanted,) = _torch(x)
        for module in modules:
            wanted = module(wanted, src_mask=_no_later(x.shape[1]) if is_causal else None)
        yield transformer(x, blocks, is_causal=is_causal), wanted


def _encoder(block: Block, heads: int, dtype: str) -> Any:
    """Return a block as PyTorch's layer of an encoder."""
    feed = block.feed_forward
    assert feed is not None
    module = torch.nn.TransformerEncoderLayer(
        block.d_model, heads, feed.d_ff, dropout=0.0, activation=feed.activation,
        batch_first=True, norm_first=block.norm == "before", dtype=getattr(torch, dtype),
    )  # fmt: skip
    _load(module.self_attn, block.attention)
    pairs = [
        (module.linear1.weight, feed.w_in.T), (module.linear1.bias, feed.b_in),
        (module.linear2.weight, feed.w_out.T), (module.linear2.bias, feed.b_out),
        (module.norm1.weight, block.first.gain), (module.norm1.bias, block.first.bias),
        (module.norm2.weight, block.second.gain), (module.norm2.bias, block.second.bias),
    ]  # fmt: skip
    with torch.no_grad():
        for tensor, array in pairs:
            tensor.copy_(torch.tensor(np.array(array)))
    return module


def _softmax_and_loss(draw: Draw) -> Pairs:
    scores = draw.normal(3, draw.size(), draw.size(9, 2)) * 5
    yield softmax(scores), functional.softmax(*_torch(scores), dim=-1)
    answers = draw.rng.integers(-1, scores.shape[-1], size=scores.shape[:-1])
    answers[0, 0] = 1  # something is asked
    (tensor,) = _torch(scores, grad=True)
    loss = functional.cross_entropy(
        tensor.flatten(0, 1), torch.tensor(answers).flatten(), ignore_index=-1
    )
    loss.backward()
    own, gradient = cross_entropy(scores, answers)
    yield np.array(own), loss
    yield gradient, tensor.grad


def _training(draw: Draw) -> Pairs:
    """Train a layer for some steps, and the same matrices by PyTorch's gradients and Adam."""
    d_model, choices, n = draw.size(6, 2), draw.size(5, 2), draw.size(5, 2)
    layer = draw_layer(draw.rng, d_model, 2, 4, choices)
    x = draw.normal(6, n, d_model).astype(float)  # draw_layer draws float64
    answers = draw.rng.integers(0, choices, size=(6, n, 1))
    own = train_layer(layer, x, answers, steps=5, batch_size=4)
    assert layer.w_o is not None
    matrices = _torch(layer.w_q, layer.w_k, layer.w_v, layer.w_o, grad=True)
    adam = torch.optim.Adam(matrices, lr=0.03, betas=(0.9, 0.99))
    for step in range(5):
        rows = np.arange(step * 4, step * 4 + 4) % 6
        (tx,) = _torch(x[rows])
        query, key, value = (tx[:, None] @ matrix for matrix in matrices[:3])
        heads = functional.scaled_dot_product_attention(query, key, value)
        scores = heads.transpose(1, 2).flatten(2) @ matrices[3]
        loss = functional.cross_entropy(
            scores.flatten(0, 1), torch.tensor(answers[rows]).flatten(), ignore_index=-1
        )
        yield np.array(own.losses[step]), loss
        adam.zero_grad()
        loss.backward()
        adam.step()
    w = own.layer
    assert w.w_o is not None
    yield from zip((w.w_q, w.w_k, w.w_v, w.w_o), matrices, strict=True)


CHECKS = {
    "layer norm": _layer_norm,
    "feed-forward layer": _feed_forward,
    "attention, masks, groups, blocks": _attention,
    "gradients of attention": _attention_gradients,
    "multi-head, cross, cached steps": _multi_head,
    "gradients of multi-head": _multi_head_gradients,
    "blocks, norm before and after": _transformer,
    "softmax, loss and its gradient": _softmax_and_loss,
    "training by Adam": _training,
}

if __name__ == "__main__":
    main()
