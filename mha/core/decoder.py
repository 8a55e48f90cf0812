"""Decoders of published language models: RMS norms, grouped-query attention, gated feed-forward.

Each block adds the output of its attention and then that of its feed-forward layer to the residual
stream, and normalises the input of both. Queries and keys are rotated. `Decoder.run` computes a
whole sequence with the functions of this package and keeps the attention weights; `Decoder.write`
computes one token at a time with a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from mha.core.attention import attention_weights, repeat_heads
from mha.core.checks import (
    Array,
    as_count,
    as_index,
    as_ndarray,
    as_number,
    finite_product,
    finite_sum,
    refuse_overflow,
)
from mha.core.decoder_steps import CachedSteps
from mha.core.decoder_weights import DecoderLayer, DecoderWeights, freeze
from mha.core.feed_forward import silu
from mha.core.heads import merge_heads, split_heads
from mha.core.norm import rms_norm
from mha.core.option_checks import as_string, check_type
from mha.core.positions import rotate_by
from mha.core.softmax import softmax

Heads = Iterable[tuple[int, int]]
"""Pairs of a layer and a head, both counted from 0."""

_INCOMPLETE = "\ufffd"
"""The sign with which a tokenizer replaces bytes that are not yet a whole character."""


class Tokenizer(Protocol):
    """The methods of a `tokenizers.Tokenizer` that a decoder uses."""

    def encode(self, sequence: str) -> Any:
        """Return an object whose attribute `ids` lists the tokens of a text."""
        ...

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of tokens."""
        ...


@dataclass(frozen=True, eq=False)
class WrittenToken:
    """A token that a decoder has written.

    Parameters
    ----------
    id : int
    text : str
        The text that it adds. Empty if a character needs the bytes of the next token too.
    probabilities : ndarray, shape (vocabulary_size,)
        The distribution from which it was chosen.
    """

    id: int
    text: str
    probabilities: Array = field(repr=False)

    @property
    def probability(self) -> float:
        """The probability of this token."""
        return float(self.probabilities[self.id])


@dataclass(frozen=True, eq=False)
class DecoderRun:
    """One forward pass of a decoder, with the attention weights of all heads.

    Parameters
    ----------
    model : Decoder
    ids : tuple of int, length n
    without : tuple of (int, int)
        The layer and the head of each output that was set to 0.
    stream : ndarray, shape (num_layers + 1, n, d_model)
        The residual stream before each block, and after the last one.
    weights : ndarray, shape (num_layers, num_heads, n, n)
    head_outputs : ndarray, shape (num_layers, num_heads, n, d_k)
        Each head's mixture of values, before the output projection.
    logits : ndarray, shape (n, vocabulary_size)
    """

    model: Decoder = field(repr=False)
    ids: tuple[int, ...]
    without: tuple[tuple[int, int], ...]
    stream: Array = field(repr=False)
    weights: Array = field(repr=False)
    head_outputs: Array = field(repr=False)
    logits: Array = field(repr=False)

    @cached_property
    def probabilities(self) -> Array:
        """The probability of each next token at each position, shape (n, vocabulary_size)."""
        return freeze(softmax(self.logits))


@dataclass(frozen=True, eq=False, kw_only=True)
class Decoder(DecoderWeights):
    """A language model of published weights; `mha.read_model` reads one.

    Parameters
    ----------
    embedding : array_like, shape (vocabulary_size, d_model)
    layers : sequence of DecoderLayer
    final_gain : array_like, shape (d_model,)
        Gain of the RMS norm before the unembedding.
    unembedding : array_like, shape (d_model, vocabulary_size)
        The transpose of the embedding in a model that ties the two.
    num_heads, num_groups : int
        Numbers of query heads, and of the keys and values that they share.
    base : float, default 10000
        Base of the rotary positions.
    speeds : array_like, shape (d_k / 2,), optional
        Angle of each pair per position in radians, instead of those of `base`.
    eps : float, default 1e-5
        Added to the mean square in each norm.
    context_length : int, optional
        The largest number of tokens that the model was made for.
    end_ids : tuple of int, default ()
        The tokens after which writing ends.
    read_tokenizer : callable, optional
        Returns the tokenizer; it is called when text is first needed.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, or the shapes do not fit together.

    Notes
    -----
    The arrays are not copied, and all computations are in their dtype.

    References
    ----------
    Touvron et al. (2023a); Zhang and Sennrich (2019) for RMS norms; Shazeer (2020) for the
    feed-forward layer; Su et al. (2024) for rotary positions; Ainslie et al. (2023) for groups.

    Examples
    --------
    >>> model = draw_decoder(np.random.default_rng(3), 7, num_heads=4, num_groups=2)
    >>> run = model.run([5, 0, 2])
    >>> run.weights.shape, run.logits.shape
    ((2, 4, 3, 3), (3, 7))
    >>> next(model.write([5, 0, 2])).id == int(run.logits[-1].argmax())
    True
    """

    end_ids: tuple[int, ...] = ()
    read_tokenizer: Callable[[], Tokenizer] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.end_ids, Sequence) or isinstance(self.end_ids, str):
            raise TypeError(f"end_ids is {self.end_ids!r}; a tuple of whole numbers is wanted")
        ends = tuple(as_index("end_ids", each, self.vocabulary_size) for each in self.end_ids)
        object.__setattr__(self, "end_ids", ends)
        if self.read_tokenizer is not None and not callable(self.read_tokenizer):
            raise TypeError(f"read_tokenizer is {self.read_tokenizer!r}; a callable is wanted")

    # ---- Text ----

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model, from the library `tokenizers`."""
        if self.read_tokenizer is None:
            raise ValueError("the model has no tokenizer; ids of tokens are wanted instead of text")
        return self.read_tokenizer()

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the ids of a text's tokens.

        Parameters
        ----------
        text : str

        Returns
        -------
        tuple of int

        Raises
        ------
        TypeError, ValueError
            If `text` is not a string, or the model has no tokenizer.
        ModuleNotFoundError
            If the library `tokenizers` is missing.
        """
        return tuple(self.tokenizer.encode(as_string("text", text)).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens.

        Parameters
        ----------
        ids : sequence of int

        Returns
        -------
        str
            Bytes that are no whole character become the replacement character.
        """
        return self.tokenizer.decode([int(i) for i in ids], skip_special_tokens=False)

    def token_texts(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Return the text of each token alone.

        Parameters
        ----------
        ids : sequence of int

        Returns
        -------
        tuple of str
            A token that begins a word begins with a space.
        """
        return tuple(self.decode([i]) for i in ids)

    def as_ids(self, prompt: str | Sequence[int]) -> Array:
        """Return the ids of a prompt, which is a text or a sequence of ids.

        Parameters
        ----------
        prompt : str or sequence of int

        Returns
        -------
        ndarray of int, shape (n,)

        Raises
        ------
        TypeError, ValueError
            If there is no token, an id is not in the vocabulary, or there are more tokens than the
            model was made for.
        """
        ids = as_ndarray("ids", self.encode(prompt) if isinstance(prompt, str) else prompt)
        if ids.shape == (0,):
            raise ValueError("the prompt has no tokens; at least one is wanted")
        if ids.ndim != 1:
            raise ValueError(f"ids has shape {ids.shape}; one sequence of tokens is wanted")
        if not np.issubdtype(ids.dtype, np.integer):
            raise TypeError(f"ids has dtype {ids.dtype}; integers are wanted")
        if ids.min() < 0 or ids.max() >= self.vocabulary_size:
            raise ValueError(f"ids has numbers outside of 0 to {self.vocabulary_size - 1}")
        self._check_length(len(ids))
        return ids

    def _check_length(self, count: int) -> None:
        """Raise a ValueError if a sequence is longer than those that the model was made for."""
        if self.context_length is not None and count > self.context_length:
            raise ValueError(
                f"the sequence has {count} tokens; at most {self.context_length}, the model's"
                " context, are wanted"
            )

    # ---- A whole sequence ----

    def run(self, ids: str | Sequence[int], without: Heads = ()) -> DecoderRun:
        """Compute a whole sequence, and keep the attention weights and the residual stream.

        Parameters
        ----------
        ids : sequence of int, length n, or str
            Tokens, or a text.
        without : iterable of (int, int), default ()
            Layer and head, counted from 0, of each head whose output is set to 0.

        Returns
        -------
        DecoderRun
            Its weights take 4 * num_layers * num_heads * n * n bytes in float32.

        Raises
        ------
        TypeError, ValueError
            If there is no token, no such token, or no such head.
        """
        tokens = self.as_ids(ids)
        removed = self._as_heads(without)
        x = self.embedding[tokens]
        angles, stream = self.angles(len(tokens)), [x]
        weights: list[Array] = []
        outputs: list[Array] = []
        for number, layer in enumerate(self.layers):
            layer_outputs, layer_weights = self._attend(layer, x, angles)
            layer_outputs[[head for at, head in removed if at == number]] = 0
            x = self._finish_block(layer, x, layer_outputs)
            stream.append(x)
            weights.append(layer_weights)
            outputs.append(layer_outputs)
        normed = rms_norm(x, self.final_gain, self.eps)
        logits = finite_product("the stream and the unembedding", normed, self.unembedding)
        return DecoderRun(
            model=self,
            ids=tuple(map(int, tokens)),
            without=removed,
            stream=freeze(np.stack(stream)),
            weights=freeze(np.stack(weights)),
            head_outputs=freeze(np.stack(outputs)),
            logits=freeze(logits),
        )

    def stream_before(self, layer: int, ids: str | Sequence[int]) -> Array:
        """Return the residual stream before one layer, without the computation of later layers.

        Parameters
        ----------
        layer : int
            Counted from 0.
        ids : sequence of int, length n, or str

        Returns
        -------
        ndarray, shape (n, d_model)
        """
        tokens = self.as_ids(ids)
        x, angles = self.embedding[tokens], self.angles(len(tokens))
        for earlier in self.layers[: as_index("layer", layer, self.num_layers)]:
            x = self._finish_block(earlier, x, self._attend(earlier, x, angles)[0])
        return x

    def _attend(self, layer: DecoderLayer, x: Array, angles: Array) -> tuple[Array, Array]:
        """Return each head's mixture of values, and the attention weights."""
        normed = rms_norm(x, layer.attention_gain, self.eps)
        projected = finite_product("the stream and w_qkv", normed, layer.w_qkv)
        by_head = split_heads(projected, self.num_heads + 2 * self.num_groups)
        ends = self.num_heads, self.num_heads + self.num_groups
        query, key, value = np.split(by_head, ends)
        query, key = rotate_by(query, angles), rotate_by(key, angles)
        weights = attention_weights(query, key, is_causal=True, enable_gqa=True)
        mixed = finite_product("weights and value", weights, repeat_heads("value", value, query))
        return mixed, weights

    def _finish_block(self, layer: DecoderLayer, x: Array, heads: Array) -> Array:
        """Return the residual stream after a block, given the outputs of its heads."""
        added = finite_product("the heads and w_o", merge_heads(heads), layer.w_o)
        x = finite_sum("the stream and the attention's output", x, added)
        normed = rms_norm(x, layer.feed_forward_gain, self.eps)
        hidden = finite_product("the stream and w_gate_up", normed, layer.w_gate_up)
        gate, up = np.split(hidden, 2, axis=-1)
        fed = finite_product("the activations and w_down", silu(gate) * up, layer.w_down)
        return finite_sum("the stream and the feed-forward layer's output", x, fed)

    def _as_heads(self, heads: Heads) -> tuple[tuple[int, int], ...]:
        """Return pairs of a layer and a head, and raise an error if there is no such head."""
        if not isinstance(heads, Iterable):
            raise TypeError(f"without is {heads!r}; pairs of a layer and a head are wanted")
        found = []
        for pair in heads:
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise TypeError(f"without has {pair!r}; pairs of a layer and a head are wanted")
            layer = as_index("layer", pair[0], self.num_layers)
            found.append((layer, as_index("head", pair[1], self.num_heads)))
        return tuple(found)

    # ---- One token at a time ----

    def write(
        self,
        prompt: str | Sequence[int],
        steps: int = 20,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Iterator[WrittenToken]:
        """Continue a prompt, one token at a time; each token is processed once.

        Parameters
        ----------
        prompt : str or sequence of int
            A text, or the ids of its tokens.
        steps : int, default 20
            The largest number of tokens. Fewer are written if the model ends the text.
        temperature : float, default 0
            Logits are divided by it before the softmax, and the token is drawn. At 0 the most
            probable token is taken.
        seed : int, default 0
            Seed of the draws.

        Returns
        -------
        iterator of WrittenToken

        Raises
        ------
        TypeError, ValueError
            If there is no token or no such token, a number is out of range, or the sequence becomes
            longer than those that the model was made for.
        """
        ids = self.as_ids(prompt)
        count = as_count("steps", steps)
        temperature = as_number("temperature", temperature, least=0)
        self._check_length(len(ids) + count)
        rng = np.random.default_rng(as_count("seed", seed, least=0))
        return self._generate(ids, count, temperature, rng)

    def _generate(
        self, new: Array, steps: int, temperature: float, rng: np.random.Generator
    ) -> Iterator[WrittenToken]:
        steps_with_cache = CachedSteps(self, len(new) + steps)
        written: list[int] = []
        shown = 0
        for _ in range(steps):
            logits = steps_with_cache.next_logits(new)
            probabilities = _next_probabilities(logits, temperature)
            if temperature:
                chosen = int(rng.choice(len(probabilities), p=probabilities.astype(np.float64)))
            else:
                chosen = int(logits.argmax())
            if chosen in self.end_ids:
                return
            written.append(chosen)
            text = self.decode(written) if self.read_tokenizer is not None else ""
            is_whole = not text.endswith(_INCOMPLETE)
            yield WrittenToken(chosen, text[shown:] if is_whole else "", freeze(probabilities))
            shown = len(text) if is_whole else shown
            new = np.array([chosen])


def _next_probabilities(logits: Array, temperature: float) -> Array:
    """Return the distribution of the next token in float64, so that a draw accepts its sum."""
    with np.errstate(over="ignore"):
        scaled = logits.astype(np.float64) / (temperature or 1.0)
    refuse_overflow("the logits and temperature", scaled, "divided")
    return softmax(scaled)


def draw_decoder(
    rng: np.random.Generator,
    vocabulary_size: int,
    *,
    num_layers: int = 2,
    num_heads: int = 2,
    num_groups: int = 1,
    d_k: int = 4,
    d_ff: int = 12,
    d_model: int | None = None,
    dtype: type = np.float64,
) -> Decoder:
    """Return a decoder with random parameters, for tests and examples.

    Parameters
    ----------
    rng : Generator
    vocabulary_size : int
    num_layers, num_heads, num_groups, d_k, d_ff : int
    d_model : int, default num_heads * d_k
    dtype : type, default float64

    Returns
    -------
    Decoder

    Raises
    ------
    TypeError, ValueError
        If the sizes do not fit together.

    Examples
    --------
    >>> draw_decoder(np.random.default_rng(3), 5).size
    1040
    """
    check_type("rng", rng, np.random.Generator)
    width = num_heads * d_k if d_model is None else as_count("d_model", d_model)

    def matrix(*shape: int) -> Array:
        drawn: Array = (rng.normal(size=shape) / np.sqrt(shape[0])).astype(dtype)
        return drawn

    def gain() -> Array:
        return rng.uniform(0.5, 1.5, width).astype(dtype)

    layers = [
        DecoderLayer(
            gain(),
            matrix(width, (num_heads + 2 * num_groups) * d_k),
            matrix(num_heads * d_k, width),
            gain(),
            matrix(width, 2 * d_ff),
            matrix(d_ff, width),
        )
        for _ in range(as_count("num_layers", num_layers))
    ]
    embedding: Array = rng.normal(size=(vocabulary_size, width)).astype(dtype)
    return Decoder(
        embedding=embedding,
        unembedding=embedding.T,
        layers=tuple(layers),
        final_gain=gain(),
        num_heads=num_heads,
        num_groups=num_groups,
    )
