"""A model that predicts the next word: embeddings, blocks of attention alone, logits.

It normalises what each block reads and what the end reads, without gain and bias, turns queries and
keys by their places, and lets each word see those before it.
"""

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
    frozen,
    refuse_overflow,
)
from mha.core.decoding import KeyValueCache, decode_step
from mha.core.gradients import ForwardPass, forward
from mha.core.multihead import MATRICES, MultiHeadWeights, project, refuse_biases
from mha.core.norm import EPS, Norm, moments, normalised
from mha.core.option_checks import check_kind
from mha.core.positions import BASE, rotary_angles
from mha.core.softmax import softmax
from mha.core.transformer import Block, as_blocks

_PLAIN = Norm()


@dataclass(frozen=True, eq=False, kw_only=True)
class LanguageModel:
    """A model that predicts the next word of a text.

    Parameters
    ----------
    words : sequence of str
        The vocabulary.
    embedding : array_like, shape (num_words, d_model)
        A row a word: the embedding table.
    blocks : sequence of Block
        Of attention alone, with an output projection, normalised before, without gain and bias.
    unembedding : array_like, shape (d_model, num_words)
        A column a word. Times what the last block gives, normalised, these are the logits.
    base : float, default 10000
        Of the angles by which queries and keys are turned (`mha.rotary_angles`).

    Raises
    ------
    TypeError, ValueError
        If the parts are not of these kinds, or do not fit together.

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
            object.__setattr__(self, name, frozen(array))
        for block in self.blocks:
            _check_block(block, shape[1])

    @property
    def d_model(self) -> int:
        """Width of an embedding."""
        return int(self.embedding.shape[1])

    @property
    def arrays(self) -> dict[str, Array]:
        """All that the model has learned, by name: ``w_q1`` is the first block's `w_q`."""
        found = {"embedding": self.embedding, "unembedding": self.unembedding}
        for number, block in enumerate(self.blocks, 1):
            for name in MATRICES:
                found[f"{name}{number}"] = getattr(block.attention, name)
        return found

    @property
    def size(self) -> int:
        """How many numbers the model has learned."""
        return sum(array.size for array in self.arrays.values())

    def with_arrays(self, arrays: Mapping[str, Array]) -> Self:
        """Return the model with other numbers in the places of its own.

        Parameters
        ----------
        arrays : mapping of str to array_like
            Some of those that `arrays` has, by the same names.
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
        """Return the model with some heads turned off: their rows of the output projection are 0.

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
        """Return the place of each word in the vocabulary.

        Parameters
        ----------
        text : str or sequence of str
            Words of the vocabulary, in a string parted by spaces.

        Raises
        ------
        ValueError
            If there is none, or one that the model does not know.
        """
        words = as_names("text", text.split() if isinstance(text, str) else text)
        for word in words:
            if word not in self.words:
                raise ValueError(f"text has {word!r}; words of {', '.join(self.words)} are wanted")
        return np.array([self.words.index(word) for word in words])

    def angles(self, num_places: int, first: int = 0) -> Array:
        """Return by how much queries and keys are turned at places from `first` on."""
        places = np.arange(first, first + as_count("num_places", num_places))
        return rotary_angles(places, self.blocks[0].attention.d_k, base=self.base)

    def logits(self, text: str | Sequence[str]) -> Array:
        """Return, at each word of a text, the logit of each word that may come next.

        Returns
        -------
        ndarray, shape (n, num_words)
        """
        return run_model(self, self.indices(text)).logits

    def write(
        self, text: str | Sequence[str], *, temperature: float = 1.0, rng: Generator | None = None
    ) -> Iterator["Written"]:
        """Go on with a text, word by word, without an end.

        Each word is read once: its keys and values are kept, and those to come find them there.

        Parameters
        ----------
        text : str or sequence of str
            At least one word.
        temperature : float, default 1
            Above 0. Logits are divided by it before the softmax: below 1 likely words become
            likelier.
        rng : Generator, optional
            Draws each word by its probability; without it the likeliest word is taken.

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
            check_kind("rng", rng, Generator)
        return _written(self, self.indices(text), temperature, rng)


def _check_block(block: Block, d_model: int) -> None:
    """Raise unless a block is of attention alone, normalised before, without gain and bias."""
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
    """What a model has computed for texts, as far as its gradients need it.

    Parameters
    ----------
    passes : tuple of ForwardPass
        One a block; each has the weights, shape (..., num_heads, n, n).
    spreads : tuple of ndarray, shape (..., n)
        By which what each block reads is divided, then what the end reads.
    normed : ndarray, shape (..., n, d_model)
        What the unembedding reads.
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
    """Return a model of random numbers to begin with.

    Parameters
    ----------
    rng : Generator
    words : sequence of str
    d_model : int
        The heads' widths add up to it.
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
    check_kind("rng", rng, Generator)
    words, width = as_names("words", words), as_count("d_model", d_model)
    heads = as_count("num_heads", num_heads)
    if width % heads:
        raise ValueError(f"num_heads is {heads}; a divisor of d_model={width} is wanted")

    def matrix(*shape: int) -> Array:
        return rng.normal(size=shape) / np.sqrt(width)

    each = heads, width, width // heads
    # Small at first: what the heads add then counts beside it, and training finds them sooner.
    embedding = 0.3 * rng.normal(size=(len(words), width))
    layers = [
        MultiHeadWeights(matrix(*each), matrix(*each), matrix(*each), matrix(width, width))
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
    """Return a model's logits for texts, with what its gradients need.

    Parameters
    ----------
    model : LanguageModel
    indices : array_like of int, shape (..., n)
        Places in the vocabulary.
    cut : (int, int), optional
        A head of the first block and one of the second, counted from 0: the second one's keys are
        read without what the first one adds to the stream, all else as before. The norm is held.

    Returns
    -------
    ModelRun

    Raises
    ------
    TypeError, ValueError
        If the indices are no integers, or none of the vocabulary's.

    Examples
    --------
    >>> model = draw_model(np.random.default_rng(3), ["a", "b", "c"], 4)
    >>> run_model(model, [[0, 1], [2, 1]]).passes[1].weights.shape
    (2, 2, 2, 2)
    """
    check_kind("model", model, LanguageModel)
    indices = as_indices(indices, len(model.words))
    angles = model.angles(indices.shape[-1])
    x, all_spreads = model.embedding[indices], []
    passes: list[ForwardPass] = []
    for number, block in enumerate(model.blocks):
        means, spreads = moments(x, EPS)
        normed = normalised(x, means, spreads, _PLAIN)
        less = _share_of_keys(model, passes[0], spreads, cut) if cut and number == 1 else None
        layer = block.attention
        passed = forward(normed, normed, layer, angles=angles, less_key=less, is_causal=True)
        x = finite_sum("the stream and what attention found", x, passed.output)
        passes.append(passed)
        all_spreads.append(spreads)
    means, spreads = moments(x, EPS)
    normed = normalised(x, means, spreads, _PLAIN)
    logits = finite_product("the stream and the unembedding", normed, model.unembedding)
    return ModelRun(tuple(passes), (*all_spreads, spreads), normed, logits)


def _share_of_keys(
    model: LanguageModel, passed: ForwardPass, spreads: Array, cut: tuple[int, int]
) -> Array:
    """Return what one head of the first block adds to the keys of one of the second."""
    source, target = cut
    first, second = (block.attention for block in model.blocks[:2])
    own = slice(source * first.d_v, (source + 1) * first.d_v)
    assert first.w_o is not None
    share = passed.concat[..., own] @ first.w_o[own]
    normed = normalised(share, share.mean(axis=-1), spreads, _PLAIN)
    others = np.arange(second.num_heads) != as_index("head", target, second.num_heads)
    by_head = project("the share", normed, second.w_k)
    by_head[..., others, :, :] = 0
    return by_head


def as_indices(indices: ArrayLike, num_words: int) -> Array:
    """Return places in the vocabulary, or raise.

    Examples
    --------
    >>> as_indices([0, 3], 3)
    Traceback (most recent call last):
        ...
    ValueError: indices has places outside of 0 to 2
    """
    found = as_ndarray("indices", indices)
    if not np.issubdtype(found.dtype, np.integer) or found.ndim < 1 or not found.size:
        raise TypeError(
            f"indices has dtype {found.dtype} and shape {found.shape}; integers are wanted"
        )
    if found.min() < 0 or found.max() >= num_words:
        raise ValueError(f"indices has places outside of 0 to {num_words - 1}")
    return found


@dataclass(frozen=True, eq=False)
class Written:
    """A word that a model wrote.

    Parameters
    ----------
    word : str
    probabilities : ndarray, shape (num_words,)
        From which it was chosen.
    caches : tuple of KeyValueCache
        What each block keeps of the words before it.
    """

    word: str
    probabilities: Array
    caches: tuple[KeyValueCache, ...] = field(repr=False)


def _written(
    model: LanguageModel, new: Array, temperature: float, rng: Generator | None
) -> Iterator[Written]:
    caches: list[KeyValueCache | None] = [None] * len(model.blocks)
    while True:
        logits, kept = _read_on(model, new, caches)
        with np.errstate(over="ignore"):
            cooled = logits[-1] / temperature
        refuse_overflow("the logits and temperature", cooled, "divided")
        chances = softmax(cooled)
        chosen = int(chances.argmax() if rng is None else rng.choice(len(chances), p=chances))
        yield Written(model.words[chosen], frozen(chances), kept)
        caches, new = [*kept], np.array([chosen])


def _read_on(
    model: LanguageModel, new: Array, caches: Sequence[KeyValueCache | None]
) -> tuple[Array, tuple[KeyValueCache, ...]]:
    """Return the logits at new words, and the longer caches."""
    angles = model.angles(len(new), 0 if caches[0] is None else len(caches[0]))
    x, kept = model.embedding[new], []
    for block, cache in zip(model.blocks, caches, strict=True):
        normed = normalised(x, *moments(x, EPS), _PLAIN)
        found, longer = decode_step(normed, block.attention, cache, angles=angles)
        x = x + found
        kept.append(longer)
    return normalised(x, *moments(x, EPS), _PLAIN) @ model.unembedding, tuple(kept)
