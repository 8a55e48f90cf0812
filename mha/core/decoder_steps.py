"""Decoding of further tokens with a cache that is allocated once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_count, refuse_overflow
from mha.core.decoder_weights import DecoderWeights
from mha.core.option_checks import check_type


class CachedSteps:
    """Decoding of further tokens with the keys and values of all earlier ones.

    Parameters
    ----------
    model : DecoderWeights
    capacity : int
        The largest number of tokens; the cache is allocated once for that many.

    Examples
    --------
    >>> from mha.core.decoder import draw_decoder
    >>> model = draw_decoder(np.random.default_rng(3), 7)
    >>> steps = CachedSteps(model, 3)
    >>> steps.next_logits([5, 0]).shape, steps.next_logits([2]).shape, steps.length
    ((7,), (7,), 3)
    """

    def __init__(self, model: DecoderWeights, capacity: int) -> None:
        check_type("model", model, DecoderWeights)
        self.model = model
        self.capacity = as_count("capacity", capacity)
        self.length = 0
        dtype = model.embedding.dtype
        shape = (model.num_layers, model.num_groups, self.capacity, model.d_k)
        self._key, self._value = np.zeros(shape, dtype), np.zeros(shape, dtype)
        # A pair (a, b) is rotated as the complex number a + b i, in one product.
        complex_dtype = np.result_type(dtype, np.complex64)
        self._turns = np.exp(1j * model.angles(self.capacity)).astype(complex_dtype)

    @property
    def nbytes(self) -> int:
        """Number of bytes of the cache."""
        return self._key.nbytes + self._value.nbytes

    def next_logits(self, ids: ArrayLike) -> Array:
        """Return the logits after further tokens, and keep their keys and values.

        Parameters
        ----------
        ids : array_like of int, shape (m,)
            Not checked.

        Returns
        -------
        ndarray, shape (vocabulary_size,)

        Raises
        ------
        ValueError
            If there are more tokens than the capacity, or a number overflows.
        """
        model, tokens = self.model, np.asarray(ids)
        if self.length + len(tokens) > self.capacity:
            raise ValueError(
                f"the cache holds {self.length} of {self.capacity} tokens; {len(tokens)} more do"
                " not fit"
            )
        # The result is checked once, since NumPy's checks of each operation cost as much as these.
        with np.errstate(all="ignore"):
            x = self._stream(model.embedding[tokens])
            logits: Array = (_normed(x[-1:], model.final_gain, model.eps) @ model.unembedding)[0]
        refuse_overflow("the stream and the learned arrays", logits)
        self.length += len(tokens)
        return logits

    def _stream(self, x: Array) -> Array:
        """Return the residual stream after the last block, at new tokens."""
        model, count, start = self.model, len(x), self.length
        end, heads = start + count, model.num_heads
        num_rotated, heads_per_group = heads + model.num_groups, heads // model.num_groups
        turns = self._turns[start:end, None]
        scale = x.dtype.type(model.d_k**-0.5)
        later = np.triu(np.full((count, end), -np.inf, x.dtype), start + 1) if count > 1 else None
        for layer, keys, values in zip(model.layers, self._key, self._value, strict=True):
            projected = _normed(x, layer.attention_gain, model.eps) @ layer.w_qkv
            by_head = projected.reshape(count, -1, model.d_k)
            turned = (by_head[:, :num_rotated].view(turns.dtype) * turns).view(x.dtype)
            keys[:, start:end] = turned[:, heads:].swapaxes(0, 1)
            values[:, start:end] = by_head[:, num_rotated:].swapaxes(0, 1)
            # The queries of a group's heads are the rows of one product with its keys.
            query = turned[:, :heads].swapaxes(0, 1).reshape(model.num_groups, -1, model.d_k)
            scores = query @ keys[:, :end].swapaxes(1, 2)
            scores *= scale
            if later is not None:
                scores.reshape(-1, heads_per_group, count, end)[...] += later
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            mixed = (scores @ values[:, :end]).reshape(heads, count, model.d_k)
            x = x + mixed.swapaxes(0, 1).reshape(count, -1) @ layer.w_o
            hidden = _normed(x, layer.feed_forward_gain, model.eps) @ layer.w_gate_up
            gate, up = hidden[:, : model.d_ff], hidden[:, model.d_ff :]
            x = x + (gate / (1 + np.exp(-gate)) * up) @ layer.w_down
        return x


def _normed(x: Array, gain: Array, eps: float) -> Array:
    """Return `rms_norm` of the rows without its checks, which take most of its time for one row."""
    squares = np.einsum("ij,ij->i", x, x)[:, None] / x.dtype.type(x.shape[-1])
    return x / np.sqrt(squares + x.dtype.type(eps)) * gain
