"""A small language model: embeddings, blocks of attention without feed-forward layers, and logits.

The input of each block and of the unembedding is normalised, without gain and bias. Attention is
causal, with rotary positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_count,
    as_finite_array,
    as_index,
    as_names,
    as_ndarray,
    as_number,
    finite_product,
    finite_sum,
    frozen_copy,
    refuse_overflow,
)
from mha.core.decoding import KeyValueCache, decode_step
from mha.core.gradients import ForwardPass, forward
from mha.core.multihead import MATRICES, MultiHeadWeights, project, refuse_biases
from mha.core.norm import EPS, Norm, moments, normalise
from mha.core.option_checks import check_type
from mha.core.positions import BASE, rotary_angles
from mha.core.softmax import softmax
from mha.core.transformer import Block, as_blocks

_PLAIN = Norm()


@dataclass(frozen=True, eq=False, kw_only=True)
class LanguageModel:
    """A model that predicts the next word of a sequence.

    Parameters
    ----------
    words : sequence of str
        The vocabulary.
    embedding : array_like, shape (num_words, d_model)
        The embedding table, with one row per word.
    blocks : sequence of Block
        Each without a feed-forward layer, with an output projection, and normalised before the
        attention, without gain and bias.
    unembedding : array_like, shape (d_model, num_words)
        One column per word. The logits are the normalised output of the last block times this.
    base : float, default 10000
        The base of the rotary angles (`mha.rotary_angles`).

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, or the shapes do not fit together.

    Examples
    --------
    >>> model = draw_model(np.random.default_rng(3), ["a", "b", "c"], 4, num_blocks=2, num_heads=2)
    >>> model.size, model.logits("a b a").shape
    (152, (3, 3))
    """

    words: tuple[str, ...]
    embedding: Array
    blocks: tuple[Block, ...]
    unembedding: Array
    base: float = BASE

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", as_names("words", self.words))
        object.__setattr__(self, "blocks", as_blocks(self.blocks))
        object.__setattr__(self, "base", as_number("base", self.base))
        shape = len(self.words), self.blocks[0].d_model
        for name, wanted in (("embedding", shape), ("unembedding", shape[::-1])):
            array = as_finite_array(name, getattr(self, name))
            if array.shape != wanted:
                raise ValueError(f"{name} has shape {array.shape}; {wanted} is wanted")
            object.__setattr__(self, name, frozen_copy(array))
        for block in self.blocks:
            _check_block(block, shape[1])

    @property
    def d_model(self) -> int:
        """Width of the embeddings."""
        return int(self.embedding.shape[1])

    @property
    def arrays(self) -> dict[str, Array]:
        """The learned arrays by name: ``w_q1`` is the first block's `w_q`."""
        found = {"embedding": self.embedding, "unembedding": self.unembedding}
        for number, block in enumerate(self.blocks, 1):
            for name in MATRICES:
                found[f"{name}{number}"] = getattr(block.attention, name)
        return found

    @property
    def size(self) -> int:
        """Number of learned parameters."""
        return sum(array.size for array in self.arrays.values())

    def with_arrays(self, arrays: Mapping[str, Array]) -> Self:
        """Return the model with some of its arrays replaced.

        Parameters
        ----------
        arrays : mapping of str to array_like
            The new arrays, by the names of `arrays`.
        """
        new = self.arrays | dict(arrays)
        blocks = [
            replace(block, attention=MultiHeadWeights(*(new[f"{name}{i}"] for name in MATRICES)))
            for i, block in enumerate(self.blocks, 1)
        ]
        return replace(
            self,
            embedding=new["embedding"],
            unembedding=new["unembedding"],
            blocks=tuple(blocks),
        )

    def without(self, *heads: tuple[int, int]) -> Self:
        """Return the model without some heads: their rows of the output projection are set to 0.

        Parameters
        ----------
        *heads : (int, int)
            Block and head, counted from 0.
        """
        arrays = self.arrays
        for block, head in heads:
            layer = self.blocks[as_index("block", block, len(self.blocks))].attention
            w_o = arrays[f"w_o{block + 1}"].copy()
            w_o.reshape(layer.num_heads, layer.d_v, -1)[as_index("head", head, layer.num_heads)] = 0
            arrays[f"w_o{block + 1}"] = w_o
        return self.with_arrays(arrays)

    def indices(self, text: str | Sequence[str]) -> Array:
        """Return the index of each word in the vocabulary.

        Parameters
        ----------
        text : str or sequence of str
            Words of the vocabulary; a string is split at spaces.

        Raises
        ------
        ValueError
            If there is no word, or one that is not in the vocabulary.
        """
        words = as_names("text", text.split() if isinstance(text, str) else text)
        for word in words:
            if word not in self.words:
                raise ValueError(f"text has {word!r}; words of {', '.join(self.words)} are wanted")
        return np.array([self.words.index(word) for word in words])

    def angles(self, num_positions: int, first: int = 0) -> Array:
        """Return the rotary angles of queries and keys at positions from `first` on."""
        positions = np.arange(first, first + as_count("num_positions", num_positions))
        return rotary_angles(positions, self.blocks[0].attention.d_k, base=self.base)

    def logits(self, text: str | Sequence[str]) -> Array:
        """Return the logits of the next word at each position of a sequence.

        Returns
        -------
        ndarray, shape (n, num_words)
        """
        return run_model(self, self.indices(text)).logits

    def write(
        self, text: str | Sequence[str], *, temperature: float = 1.0, rng: Generator | None = None
    ) -> Iterator[Written]:
        """Continue a sequence without end, one word at a time.

        Each word is processed once; later words use its cached keys and values.

        Parameters
        ----------
        text : str or sequence of str
            At least one word.
        temperature : float, default 1
            Above 0. Logits are divided by it before the softmax: below 1 likely words become
            likelier.
        rng : Generator, optional
            Draws each word by its probability. Default: the most probable word is taken.

        Returns
        -------
        iterator of Written

        Raises
        ------
        TypeError, ValueError
            If a word is unknown, or the temperature is not above 0.

        Examples
        --------
        >>> words = draw_model(np.random.default_rng(3), ["a", "b"], 4).write("a b")
        >>> len(next(words).caches[0]), len(next(words).caches[0])
        (2, 3)
        """
        temperature = as_number("temperature", temperature, above=0)
        if rng is not None:
            check_type("rng", rng, Generator)
        return _generate(self, self.indices(text), temperature, rng)


def _check_block(block: Block, d_model: int) -> None:
    """Raise a ValueError unless a block has the form that `LanguageModel` requires."""
    bare = block.feed_forward is None and not block.first.arrays and block.first.eps == EPS
    if not bare or block.norm != "before" or block.attention.w_o is None:
        raise ValueError(
            "blocks holds one that is not of attention alone; an output projection, a norm before"
            " without gain and bias, and no feed-forward layer are wanted"
        )
    refuse_biases("the attention of blocks", block.attention)
    if block.d_model != d_model:
        raise ValueError(f"blocks have d_model {d_model} and {block.d_model}; they must match")


@dataclass(frozen=True, eq=False)
class ModelRun:
    """The intermediates of a model's forward pass that its gradients need.

    Parameters
    ----------
    passes : tuple of ForwardPass
        One per block.
    spreads : tuple of ndarray, shape (..., n)
        The standard deviations that the normalisations divide by: one per block, then that
        before the unembedding.
    normed : ndarray, shape (..., n, d_model)
        The input of the unembedding.
    logits : ndarray, shape (..., n, num_words)
    """

    passes: tuple[ForwardPass, ...]
    spreads: tuple[Array, ...]
    normed: Array
    logits: Array


def draw_model(
    rng: Generator,
    words: Sequence[str],
    d_model: int,
    *,
    num_blocks: int = 2,
    num_heads: int = 2,
    base: float = BASE,
) -> LanguageModel:
    """Return a model with random parameters.

    Parameters
    ----------
    rng : Generator
    words : sequence of str
    d_model : int
        The sum of the heads' widths.
    num_blocks, num_heads : int, default 2
    base : float, default 10000

    Returns
    -------
    LanguageModel

    Raises
    ------
    TypeError, ValueError
        If a number is not a whole number of at least 1, or `num_heads` does not divide `d_model`.

    Examples
    --------
    >>> draw_model(np.random.default_rng(3), ["a", "b"], 8).embedding.shape
    (2, 8)
    """
    check_type("rng", rng, Generator)
    words, width = as_names("words", words), as_count("d_model", d_model)
    heads = as_count("num_heads", num_heads)
    if width % heads:
        raise ValueError(f"num_heads is {heads}; a divisor of d_model={width} is wanted")

    def matrix(*shape: int) -> Array:
        return rng.normal(size=shape) / np.sqrt(width)

    shape = heads, width, width // heads
    # Small initial embeddings: the outputs of the heads are then not small beside them, and
    # training makes use of the heads sooner.
    embedding = 0.3 * rng.normal(size=(len(words), width))
    layers = [
        MultiHeadWeights(matrix(*shape), matrix(*shape), matrix(*shape), matrix(width, width))
        for _ in range(as_count("num_blocks", num_blocks))
    ]
    return LanguageModel(
        words=words,
        embedding=embedding,
        blocks=tuple(Block(layer) for layer in layers),
        unembedding=matrix(width, len(words)),
        base=base,
    )


def run_model(
    model: LanguageModel, indices: ArrayLike, *, cut: tuple[int, int] | None = None
) -> ModelRun:
    """Return a model's logits for sequences, with the intermediates that its gradients need.

    Parameters
    ----------
    model : LanguageModel
    indices : array_like of int, shape (..., n)
        Indices in the vocabulary.
    cut : (int, int), optional
        A head of the first block and one of the second, counted from 0: the second head computes
        its keys without the contribution of the first to the residual stream. The standard
        deviations of the normalisation and everything else are unchanged.

    Returns
    -------
    ModelRun

    Raises
    ------
    TypeError, ValueError
        If the indices are not integers, or outside of the vocabulary.

    Examples
    --------
    >>> model = draw_model(np.random.default_rng(3), ["a", "b", "c"], 4)
    >>> run_model(model, [[0, 1], [2, 1]]).passes[1].weights.shape
    (2, 2, 2, 2)
    """
    check_type("model", model, LanguageModel)
    indices = as_indices(indices, len(model.words))
    angles = model.angles(indices.shape[-1])
    x, all_spreads = model.embedding[indices], []
    passes: list[ForwardPass] = []
    for number, block in enumerate(model.blocks):
        means, spreads = moments(x, EPS)
        normed = normalise(x, means, spreads, _PLAIN)
        subtracted = (
            _key_contribution(model, passes[0], spreads, cut) if cut and number == 1 else None
        )
        forward_pass = forward(
            normed,
            normed,
            block.attention,
            angles=angles,
            subtracted_key=subtracted,
            is_causal=True,
        )
        x = finite_sum("the stream and the attention's output", x, forward_pass.output)
        passes.append(forward_pass)
        all_spreads.append(spreads)
    means, spreads = moments(x, EPS)
    normed = normalise(x, means, spreads, _PLAIN)
    logits = finite_product("the stream and the unembedding", normed, model.unembedding)
    return ModelRun(tuple(passes), (*all_spreads, spreads), normed, logits)


def _key_contribution(
    model: LanguageModel, first_pass: ForwardPass, spreads: Array, cut: tuple[int, int]
) -> Array:
    """Return the contribution of one head of the first block to the keys of one of the second."""
    source, target = cut
    first, second = (block.attention for block in model.blocks[:2])
    columns = slice(source * first.d_v, (source + 1) * first.d_v)
    assert first.w_o is not None
    added = first_pass.concat[..., columns] @ first.w_o[columns]
    # With the standard deviations held fixed the normalisation is linear, so the contribution of
    # one head can be normalised by itself.
    normed = normalise(added, added.mean(axis=-1), spreads, _PLAIN)
    others = np.arange(second.num_heads) != as_index("head", target, second.num_heads)
    by_head = project("the contribution", normed, second.w_k)
    by_head[..., others, :, :] = 0
    return by_head


def as_indices(indices: ArrayLike, num_words: int) -> Array:
    """Return indices in the vocabulary as an array of integers.

    Examples
    --------
    >>> as_indices([0, 3], 3)
    Traceback (most recent call last):
        ...
    ValueError: indices has numbers outside of 0 to 2
    """
    found = as_ndarray("indices", indices)
    if not np.issubdtype(found.dtype, np.integer) or found.ndim < 1 or not found.size:
        raise TypeError(
            f"indices has dtype {found.dtype} and shape {found.shape}; integers are wanted"
        )
    if found.min() < 0 or found.max() >= num_words:
        raise ValueError(f"indices has numbers outside of 0 to {num_words - 1}")
    return found


@dataclass(frozen=True, eq=False)
class Written:
    """A generated word.

    Parameters
    ----------
    word : str
    probabilities : ndarray, shape (num_words,)
        The distribution that it was chosen from.
    caches : tuple of KeyValueCache
        Each block's cache of the words before it.
    """

    word: str
    probabilities: Array
    caches: tuple[KeyValueCache, ...] = field(repr=False)


def _generate(
    model: LanguageModel, new: Array, temperature: float, rng: Generator | None
) -> Iterator[Written]:
    caches: list[KeyValueCache | None] = [None] * len(model.blocks)
    while True:
        logits, extended = _next_logits(model, new, caches)
        with np.errstate(over="ignore"):
            scaled = logits[-1] / temperature
        refuse_overflow("the logits and temperature", scaled, "divided")
        probabilities = softmax(scaled)
        chosen = int(
            probabilities.argmax()
            if rng is None
            else rng.choice(len(probabilities), p=probabilities)
        )
        yield Written(model.words[chosen], frozen_copy(probabilities), extended)
        caches, new = [*extended], np.array([chosen])


def _next_logits(
    model: LanguageModel, new: Array, caches: Sequence[KeyValueCache | None]
) -> tuple[Array, tuple[KeyValueCache, ...]]:
    """Return the logits at new words, and the extended caches."""
    # Cached keys are rotated already, so the new words are at the positions after them.
    angles = model.angles(len(new), 0 if caches[0] is None else len(caches[0]))
    x, extended = model.embedding[new], []
    for block, cache in zip(model.blocks, caches, strict=True):
        normed = normalise(x, *moments(x, EPS), _PLAIN)
        output, longer = decode_step(normed, block.attention, cache, angles=angles)
        x = x + output
        extended.append(longer)
    return normalise(x, *moments(x, EPS), _PLAIN) @ model.unembedding, tuple(extended)
