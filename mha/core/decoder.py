"""Decoders of published language models: RMS norms, grouped-query attention, gated feed-forward.

Each block adds the output of its attention and then that of its feed-forward layer to the residual
stream, and normalises the input of both. Queries and keys are rotated. `Decoder.run` computes a
whole sequence with the functions of this package and keeps the attention weights; `Decoder.write`
computes one token at a time with a cache.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import attention_weights, repeat_heads
from mha.core.checks import (
    Array,
    as_count,
    as_finite_array,
    as_index,
    as_ndarray,
    as_number,
    finite_product,
    finite_sum,
    frozen,
    refuse_overflow,
)
from mha.core.feed_forward import silu
from mha.core.heads import merge_heads, split_heads
from mha.core.multihead import MultiHeadWeights
from mha.core.norm import rms_norm
from mha.core.option_checks import as_string, check_type
from mha.core.positions import BASE, rotary_angles, rotate_by
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
class DecoderLayer:
    """The learned arrays of one block of a decoder.

    Parameters
    ----------
    attention_gain : array_like, shape (d_model,)
        Gain of the RMS norm before the attention.
    w_qkv : array_like, shape (d_model, (num_heads + 2 * num_groups) * d_k)
        The query projections of all heads, the key projections of all groups, and their value
        projections, side by side. Rotated columns are in adjacent pairs.
    w_o : array_like, shape (num_heads * d_k, d_model)
    feed_forward_gain : array_like, shape (d_model,)
    w_gate_up : array_like, shape (d_model, 2 * d_ff)
        The matrix of the gate and that of the gated numbers, side by side.
    w_down : array_like, shape (d_ff, d_model)

    Raises
    ------
    TypeError, ValueError
        If an array holds no finite real numbers, or the shapes do not fit together.

    Notes
    -----
    The arrays are not copied. `x @ w` with one row is fastest if the columns of a matrix are
    contiguous, as in the transpose of a stored (d_out, d_in).
    """

    attention_gain: Array
    w_qkv: Array
    w_o: Array
    feed_forward_gain: Array
    w_gate_up: Array
    w_down: Array

    def __post_init__(self) -> None:
        shapes = {}
        for name in _LAYER_ARRAYS:
            ndim = 2 if name.startswith("w_") else 1
            array = _read_only(name, getattr(self, name), ndim)
            object.__setattr__(self, name, array)
            shapes[name] = array.shape
        (width,) = shapes["attention_gain"]
        d_ff = shapes["w_down"][0]
        wanted = {
            "feed_forward_gain": (width,),
            "w_qkv": (width, shapes["w_qkv"][1]),
            "w_o": (shapes["w_o"][0], width),
            "w_gate_up": (width, 2 * d_ff),
            "w_down": (d_ff, width),
        }
        for name, shape in wanted.items():
            if shapes[name] != shape:
                raise ValueError(f"{name} has shape {shapes[name]}; {shape} is wanted")


_LAYER_ARRAYS = (
    "attention_gain", "w_qkv", "w_o", "feed_forward_gain", "w_gate_up", "w_down",
)  # fmt: skip


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

    model: "Decoder" = field(repr=False)
    ids: tuple[int, ...]
    without: tuple[tuple[int, int], ...]
    stream: Array = field(repr=False)
    weights: Array = field(repr=False)
    head_outputs: Array = field(repr=False)
    logits: Array = field(repr=False)

    @cached_property
    def probabilities(self) -> Array:
        """The probability of each next token at each position, shape (n, vocabulary_size)."""
        return _locked(softmax(self.logits))


@dataclass(frozen=True, eq=False, kw_only=True)
class Decoder:
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
    Touvron et al. (2023); Zhang and Sennrich (2019) for RMS norms; Shazeer (2020) for the
    feed-forward layer; Su et al. (2024) for rotary positions; Ainslie et al. (2023) for groups.

    Examples
    --------
    >>> model = draw_decoder(np.random.default_rng(3), 7, num_heads=4, num_groups=2)
    >>> run = model.run([5, 0, 2])
    >>> run.weights.shape, run.logits.shape
    ((2, 4, 3, 3), (3, 7))
    >>> [token.id for token in model.write([5, 0, 2], 3)] == model.continuation([5, 0, 2], 3)
    True
    """

    embedding: Array = field(repr=False)
    layers: tuple[DecoderLayer, ...] = field(repr=False)
    final_gain: Array = field(repr=False)
    unembedding: Array = field(repr=False)
    num_heads: int
    num_groups: int
    base: float = BASE
    speeds: Array | None = None
    eps: float = 1e-5
    context_length: int | None = None
    end_ids: tuple[int, ...] = ()
    read_tokenizer: Callable[[], Tokenizer] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "layers", tuple(self.layers))
        if not self.layers:
            raise ValueError("layers is empty; at least one DecoderLayer is wanted")
        for layer in self.layers:
            check_type("layers", layer, DecoderLayer)
        for name in ("num_heads", "num_groups"):
            put(self, name, as_count(name, getattr(self, name)))
        put(self, "base", as_number("base", self.base, above=0))
        put(self, "eps", as_number("eps", self.eps, least=0))
        put(self, "embedding", _read_only("embedding", self.embedding, 2))
        put(self, "final_gain", _read_only("final_gain", self.final_gain, 1))
        put(self, "unembedding", _read_only("unembedding", self.unembedding, 2))
        if self.speeds is not None:
            put(self, "speeds", frozen(as_finite_array("speeds", self.speeds)))
        self._check_shapes()

    def _check_shapes(self) -> None:
        """Raise a ValueError unless the arrays of all layers fit the sizes of the model."""
        if self.num_heads % self.num_groups:
            raise ValueError(
                f"num_groups is {self.num_groups}; a divisor of num_heads={self.num_heads} is"
                " wanted"
            )
        heads = self.num_heads + 2 * self.num_groups
        d_k, rest = divmod(self.layers[0].w_qkv.shape[1], heads)
        if rest or d_k % 2:
            raise ValueError(
                f"w_qkv has {self.layers[0].w_qkv.shape[1]} columns; {heads} times an even number"
                " is wanted"
            )
        size, width = self.vocabulary_size, self.d_model
        found: dict[str, tuple[int, ...]] = {
            "final_gain": self.final_gain.shape,
            "unembedding": self.unembedding.shape,
        }
        wanted: dict[str, tuple[int, ...]] = {"final_gain": (width,), "unembedding": (width, size)}
        if self.speeds is not None:
            found["speeds"], wanted["speeds"] = self.speeds.shape, (d_k // 2,)
        for number, layer in enumerate(self.layers):
            names = {
                "w_qkv": (width, heads * d_k),
                "w_o": (self.num_heads * d_k, width),
                "w_down": (self.d_ff, width),
            }
            for name, shape in names.items():
                found[f"{name} of layer {number}"] = getattr(layer, name).shape
                wanted[f"{name} of layer {number}"] = shape
        for name, shape in wanted.items():
            if found[name] != shape:
                raise ValueError(f"{name} has shape {found[name]}; {shape} is wanted")

    @property
    def num_layers(self) -> int:
        """Number of blocks."""
        return len(self.layers)

    @property
    def vocabulary_size(self) -> int:
        """Number of tokens in the vocabulary."""
        return int(self.embedding.shape[0])

    @property
    def d_model(self) -> int:
        """Width of the residual stream."""
        return int(self.embedding.shape[1])

    @property
    def d_k(self) -> int:
        """Width of one head's queries, keys and values."""
        return int(self.layers[0].w_qkv.shape[1]) // (self.num_heads + 2 * self.num_groups)

    @property
    def d_ff(self) -> int:
        """Width of the feed-forward layers."""
        return int(self.layers[0].w_down.shape[0])

    @property
    def size(self) -> int:
        """Number of learned parameters."""
        arrays = [self.embedding, self.final_gain]
        arrays += [getattr(layer, name) for layer in self.layers for name in _LAYER_ARRAYS]
        if not np.shares_memory(self.embedding, self.unembedding):
            arrays.append(self.unembedding)
        return sum(array.size for array in arrays)

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
        if ids.ndim != 1 or not ids.size:
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

    def angles(self, num_tokens: int) -> Array:
        """Return the rotary angles of queries and keys at the first positions.

        Parameters
        ----------
        num_tokens : int

        Returns
        -------
        ndarray, shape (num_tokens, d_k / 2)
        """
        positions = np.arange(as_count("num_tokens", num_tokens))
        if self.speeds is not None:
            return positions[:, None] * self.speeds
        return rotary_angles(positions, self.d_k, base=self.base)

    def attention(self, layer: int) -> MultiHeadWeights:
        """Return a copy of the projections of one layer's attention.

        Parameters
        ----------
        layer : int
            Counted from 0.

        Returns
        -------
        MultiHeadWeights
            With `num_groups` key and value projections.
        """
        arrays = self.layers[as_index("layer", layer, self.num_layers)]
        by_head = arrays.w_qkv.reshape(self.d_model, -1, self.d_k).swapaxes(0, 1)
        ends = self.num_heads, self.num_heads + self.num_groups
        w_q, w_k, w_v = np.split(by_head, ends)
        return MultiHeadWeights(w_q, w_k, w_v, arrays.w_o)

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
        cut = self._as_heads(without)
        x = self.embedding[tokens]
        angles, stream = self.angles(len(tokens)), [x]
        weights: list[Array] = []
        outputs: list[Array] = []
        for number, layer in enumerate(self.layers):
            heads, found = self._attend(layer, x, angles)
            heads[[head for at, head in cut if at == number]] = 0
            x = self._finish_block(layer, x, heads)
            stream.append(x)
            weights.append(found)
            outputs.append(heads)
        normed = rms_norm(x, self.final_gain, self.eps)
        logits = finite_product("the stream and the unembedding", normed, self.unembedding)
        return DecoderRun(
            model=self,
            ids=tuple(map(int, tokens)),
            without=cut,
            stream=_locked(np.stack(stream)),
            weights=_locked(np.stack(weights)),
            head_outputs=_locked(np.stack(outputs)),
            logits=_locked(logits),
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
        fed = finite_product("the hidden numbers and w_down", silu(gate) * up, layer.w_down)
        return finite_sum("the stream and the feed-forward layer's output", x, fed)

    def _as_heads(self, heads: Heads) -> tuple[tuple[int, int], ...]:
        """Return pairs of a layer and a head, and raise an error if there is no such head."""
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

    def continuation(self, prompt: str | Sequence[int], steps: int = 20) -> list[int]:
        """Return the ids of the most probable continuation, computed without a cache.

        Parameters
        ----------
        prompt : str or sequence of int
        steps : int, default 20

        Returns
        -------
        list of int
            The same as those of `write` at temperature 0, up to rounding.
        """
        ids = [int(i) for i in self.as_ids(prompt)]
        written: list[int] = []
        for _ in range(as_count("steps", steps)):
            chosen = int(self.run(ids + written).logits[-1].argmax())
            if chosen in self.end_ids:
                break
            written.append(chosen)
        return written

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
            yield WrittenToken(chosen, text[shown:] if is_whole else "", _locked(probabilities))
            shown = len(text) if is_whole else shown
            new = np.array([chosen])


def _next_probabilities(logits: Array, temperature: float) -> Array:
    """Return the distribution of the next token in float64, so that a draw accepts its sum."""
    with np.errstate(over="ignore"):
        scaled = logits.astype(np.float64) / (temperature or 1.0)
    refuse_overflow("the logits and temperature", scaled, "divided")
    return softmax(scaled)


class CachedSteps:
    """Decoding of further tokens with the keys and values of all earlier ones.

    Parameters
    ----------
    model : Decoder
    capacity : int
        The largest number of tokens; the cache is allocated once for that many.

    Examples
    --------
    >>> model = draw_decoder(np.random.default_rng(3), 7)
    >>> steps = CachedSteps(model, 3)
    >>> steps.next_logits([5, 0]).shape, steps.next_logits([2]).shape, steps.length
    ((7,), (7,), 3)
    """

    def __init__(self, model: Decoder, capacity: int) -> None:
        check_type("model", model, Decoder)
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
        rotated, each = heads + model.num_groups, heads // model.num_groups
        turns = self._turns[start:end, None]
        scale = x.dtype.type(model.d_k**-0.5)
        later = np.triu(np.full((count, end), -np.inf, x.dtype), start + 1) if count > 1 else None
        for layer, keys, values in zip(model.layers, self._key, self._value, strict=True):
            projected = _normed(x, layer.attention_gain, model.eps) @ layer.w_qkv
            by_head = projected.reshape(count, -1, model.d_k)
            turned = (by_head[:, :rotated].view(turns.dtype) * turns).view(x.dtype)
            keys[:, start:end] = turned[:, heads:].swapaxes(0, 1)
            values[:, start:end] = by_head[:, rotated:].swapaxes(0, 1)
            # The queries of a group's heads are the rows of one product with its keys.
            query = turned[:, :heads].swapaxes(0, 1).reshape(model.num_groups, -1, model.d_k)
            scores = query @ keys[:, :end].swapaxes(1, 2)
            scores *= scale
            if later is not None:
                scores.reshape(-1, each, count, end)[...] += later
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


def _read_only(name: str, value: ArrayLike, ndim: int) -> Array:
    """Return a read-only view of finite numbers with a given number of axes."""
    array = as_finite_array(name, value)
    if array.ndim != ndim:
        raise ValueError(f"{name} has shape {array.shape}; {ndim} axes are wanted")
    return _locked(array.view())


def _locked(array: Array) -> Array:
    """Return the array itself, made read-only."""
    array.flags.writeable = False
    return array
