"""Fresh numbers: examples drawn at random whose numbers are short enough to compute by hand.

Up to float64's round-off, a drawn example has these properties:

- Embeddings, queries, keys and values have at most one decimal, scores at most two, and scaled
  scores at most three. Entries of w_o have at most one decimal; other matrices are whole.
- No scaled score is beyond ±6, and no two scores of a row are equal.
- Any two tokens have different embeddings, queries, keys and values. None of these four matrices
  has a row or a column of zeros.
- No column of the queries, keys or values is constant or a multiple of another column, unless
  `d_model` or the column's matrix has width 1: a student would copy it instead of computing it.
- No embedding is a multiple of another, in examples of up to `MAX_TOKENS_OF_OWN_DIRECTION` tokens
  and at least two components: its query, key and value would be the same multiple.
- No row or column of scores is all zeros. Any two rows of w_o differ if it has two or more columns.
- With and without a causal mask, any two rows of a head's outputs differ by more than
  `MIN_OUTPUT_DIFFERENCE` in some component, so that they differ as printed, unless keys or values
  have width 1.
- Before a mask, any two rows of weights differ in their first three decimals, unless keys have
  width 1. The largest weight of a row is at least `MIN_WEIGHT_RATIO` times its smallest. (A causal
  mask changes every row but the last.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from mha.core.checks import Array, as_count
from mha.core.multihead import MultiHeadWeights
from mha.core.softmax import softmax
from mha.runs.worked_example import WorkedExample

SENTENCES = tuple(
    tuple(sentence.split())
    for sentence in (
        "two red foxes saw an owl fly by",
        "rain fell all night on our old roof",
        "birds sing before dawn in every quiet garden",
        "she read him one long letter from home",
        "cold rivers carry small stones to the sea",
        "my clock stopped when we left that town",
    )
)
"""Sentences of eight different words, whose first words are the tokens of drawn examples."""

MAX_TOKENS = 8
"""The most tokens of an example."""

MAX_TRIES = 100
"""How often the embeddings of an example are drawn, at most, before an error is raised."""

NUM_CANDIDATES = 400
"""The number of matrices drawn at once; matrices that do not fit are discarded."""

NUM_PAIRED = 20
"""The most fitting projections to queries, to keys and to values that are tried together."""

ZERO_TOLERANCE, MAX_SCALED_SCORE = 1e-9, 6.0
"""The tolerance of zero among short numbers, and the largest scaled score of an example."""

MIN_WEIGHT_DIFFERENCE = 0.001
"""The smallest difference between two rows of weights: three decimals show it in some entry."""

MIN_OUTPUT_DIFFERENCE = 0.01
"""The smallest difference between two rows of outputs: two decimals show it in some component."""

MAX_TOKENS_OF_OWN_DIRECTION = 4
"""The most tokens whose embeddings all differ in direction; small numbers allow few directions."""

MIN_WEIGHT_RATIO = 2.0
"""How many times the smallest weight of a row its largest is, at least, before a mask."""

WIDTHS = (1, 4)
"""The widths of a key that are drawn: their roots are whole numbers."""


@dataclass(frozen=True)
class _Level:
    """The numbers from which the arrays of a difficulty are drawn."""

    embeddings: Array
    matrices: Array
    output_matrix: Array


def _tenths(low: int, high: int) -> Array:
    return np.arange(low, high + 1) / 10


def _signed(sizes: Iterable[int]) -> Array:
    return np.array([sign * size for size in sizes for sign in (-1.0, 1.0)])


LEVELS = MappingProxyType(
    {
        "easy": _Level(np.arange(0.0, 3.0), np.arange(-1.0, 2.0), np.arange(-1.0, 3.0)),
        "medium": _Level(_tenths(0, 9), np.arange(-1.0, 3.0), _tenths(0, 9)),
        "hard": _Level(_tenths(-12, 12), np.arange(-2.0, 3.0), _tenths(-9, 9)),
    }
)
"""Difficulties: whole numbers, positive tenths, signed tenths with larger matrices."""


TRIVIAL = (-1.0, 0.0, 1.0)
"""Factors that make a multiplication trivial."""

FACTORS = MappingProxyType(
    {
        "easy": _Level(np.arange(2.0, 6.0), _signed([2, 3]), _signed([2, 3])),
        "medium": _Level(_tenths(2, 9), _signed([2, 3]), _tenths(2, 9)),
        "hard": _Level(
            _signed([*range(2, 10), 11, 12]) / 10,
            _signed([2, 3, 4]),
            _signed(range(2, 10)) / 10,
        ),
    }
)
"""The numbers of `LEVELS` without `TRIVIAL` ones, and with larger entries of matrices."""


def without_trivial_factors(
    rng: np.random.Generator, example: WorkedExample, difficulty: str, *, keep_scores: bool
) -> WorkedExample:
    """Return an example whose embeddings and matrices have no entry 0, 1 or −1.

    Its values and its output projection have the properties that the module's docstring lists.

    Parameters
    ----------
    rng : numpy.random.Generator
    example : WorkedExample
        Drawn by `draw_short_example`, with an output projection.
    difficulty : str
        A key of `LEVELS`.
    keep_scores : bool
        Draw only w_v and w_o anew, so that the weights stay as they are. Otherwise draw everything
        anew; scores may then be too large to exponentiate by hand.

    Returns
    -------
    WorkedExample

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> drawn = draw_short_example(rng, with_output=True, difficulty="easy")
    >>> float(without_trivial_factors(rng, drawn, "easy", keep_scores=False).embeddings.min())
    2.0
    """
    level, layer = FACTORS[difficulty], example.layer
    assert layer is not None
    assert layer.w_o is not None
    assert example.embeddings is not None
    w_o = _draw_output(rng, level.output_matrix, layer.w_o.shape)
    if keep_scores:
        w_v = _draw_projection(rng, level.matrices, example.embeddings, layer.w_v.shape)
        return replace(example, layer=replace(layer, w_v=w_v, w_o=w_o))
    embeddings = _draw_embeddings(rng, level.embeddings, example.embeddings.shape)
    w_q, w_k, w_v = (
        _draw_projection(rng, level.matrices, embeddings, w.shape)
        for w in (layer.w_q, layer.w_k, layer.w_v)
    )
    return replace(example, embeddings=embeddings, layer=MultiHeadWeights(w_q, w_k, w_v, w_o))


def draw_short_example(
    rng: np.random.Generator,
    *,
    num_tokens: int = 3,
    d_model: int = 2,
    d_k: int = 4,
    d_v: int = 2,
    num_heads: int = 1,
    with_output: bool = False,
    difficulty: str = "medium",
    sentence: Sequence[str] | None = None,
) -> WorkedExample:
    """Return an example with short random numbers; the module's docstring lists their properties.

    Parameters
    ----------
    rng : numpy.random.Generator
    num_tokens : int from 2 to 8, default 3
    d_model, d_v, num_heads : int
    d_k : 1 or 4, default 4
    with_output : bool, default False
        Whether there is an output projection back to d_model.
    difficulty : str, default "medium"
        A key of `LEVELS`.
    sentence : sequence of str, default the first of `SENTENCES`
        Its first `num_tokens` words are the tokens; no two of them are alike.

    Returns
    -------
    WorkedExample

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or no such numbers are found.

    Examples
    --------
    >>> draw_short_example(np.random.default_rng(1), difficulty="easy").tokens
    ('two', 'red', 'foxes')
    """
    words = SENTENCES[0] if sentence is None else tuple(sentence)
    _check(num_tokens, {"d_model": d_model, "d_v": d_v, "num_heads": num_heads}, d_k, difficulty)
    _check_words(words, num_tokens)
    drawn = _draw(rng, difficulty, (num_tokens, d_model), (d_k, d_v), num_heads, with_output)
    return replace(drawn, tokens=words[:num_tokens])


def _check_words(words: Sequence[str], num_tokens: int) -> None:
    """Raise unless the first words of a sentence are enough and all different."""
    if len(words) < num_tokens:
        raise ValueError(f"sentence has {len(words)} words; at least {num_tokens} are wanted")
    twice = next((word for i, word in enumerate(words[:num_tokens]) if word in words[:i]), None)
    if twice is not None:
        raise ValueError(f"sentence has {twice!r} twice; words that differ are wanted")


def _check(num_tokens: int, counts: dict[str, int], d_k: int, difficulty: str) -> None:
    """Raise unless an argument is in its range."""
    if difficulty not in LEVELS:
        raise ValueError(f"difficulty is {difficulty!r}; one of {', '.join(LEVELS)} is wanted")
    if d_k not in WIDTHS:
        wanted = " or ".join(map(str, WIDTHS))
        raise ValueError(f"d_k is {d_k}; {wanted} is wanted, whose roots are whole numbers")
    for name, count in counts.items():
        as_count(name, count)
    if not 2 <= as_count("num_tokens", num_tokens) <= MAX_TOKENS:
        raise ValueError(f"num_tokens is {num_tokens}; 2 to {MAX_TOKENS} are wanted")


def _draw(
    rng: np.random.Generator,
    difficulty: str,
    shape: tuple[int, int],
    widths: tuple[int, int],
    num_heads: int,
    with_output: bool,
) -> WorkedExample:
    """Return an example of embeddings of `shape` and heads of `widths`, d_k and d_v."""
    level = LEVELS[difficulty]
    for _ in range(MAX_TRIES):
        candidates = rng.choice(level.embeddings, (NUM_CANDIDATES, *shape))
        fits = _embeddings_fit(candidates)
        if not fits.any():
            continue
        embeddings = candidates[fits.argmax()]
        heads = [_draw_head(rng, level, embeddings, *widths) for _ in range(num_heads)]
        drawn = [head for head in heads if head is not None]
        if len(drawn) == num_heads:
            w_o = _draw_output(rng, level.output_matrix, (num_heads * widths[1], shape[1]))
            return _drawn_example(embeddings, drawn, w_o if with_output else None)
    raise ValueError(
        f"no short numbers were found for num_tokens={shape[0]}, d_model={shape[1]},"
        f" d_k={widths[0]}; fewer tokens, a larger d_model or a higher difficulty is wanted"
    )


def _draw_head(
    rng: np.random.Generator, level: _Level, embeddings: Array, d_k: int, d_v: int
) -> tuple[Array, Array, Array] | None:
    """Return one head's w_q, w_k and w_v that fit the embeddings, or None if none was drawn."""
    w_q, w_k, w_v = (
        _projections(rng, level.matrices, embeddings, width)[:NUM_PAIRED]
        for width in (d_k, d_k, d_v)
    )
    if not (len(w_q) and len(w_k) and len(w_v)):
        return None
    unsorted = (embeddings @ w_q)[:, None] @ (embeddings @ w_k).swapaxes(-1, -2)
    scores = np.sort(unsorted)
    no_ties = (np.diff(scores) > ZERO_TOLERANCE).all(axis=(-1, -2))
    no_extremes = np.abs(scores).max(axis=(-1, -2)) <= MAX_SCALED_SCORE * math.sqrt(d_k)
    spread = (scores[..., -1] - scores[..., 0]).min(axis=-1)
    fits = no_ties & no_extremes & (spread >= math.log(MIN_WEIGHT_RATIO) * math.sqrt(d_k))
    fits &= _has_no_zero_line(unsorted)
    if d_k > 1:
        fits &= _rows_differ(softmax(unsorted / math.sqrt(d_k)), MIN_WEIGHT_DIFFERENCE)
    for i, j in np.argwhere(fits):
        scaled = unsorted[i, j] / math.sqrt(d_k)
        for each in w_v:
            if min(d_k, d_v) == 1 or _outputs_differ(scaled, embeddings @ each):
                return w_q[i], w_k[j], each
    return None


def _outputs_differ(scores: Array, value: Array) -> bool:
    """Return whether all rows of a head's outputs differ as printed, with and without a mask."""
    masked = np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)
    return all(
        _rows_differ(softmax(each) @ value, MIN_OUTPUT_DIFFERENCE) for each in (scores, masked)
    )


def _projections(rng: np.random.Generator, numbers: Array, embeddings: Array, width: int) -> Array:
    """Return the projections to a width whose rows fit, of `NUM_CANDIDATES`."""
    drawn = rng.choice(numbers, (NUM_CANDIDATES, embeddings.shape[-1], width))
    return np.asarray(drawn[_rows_fit(embeddings @ drawn, embeddings.shape[-1])])


def _draw_embeddings(rng: np.random.Generator, numbers: Array, shape: tuple[int, ...]) -> Array:
    """Return embeddings that fit as values do: tokens differ, no column is another's multiple."""
    while True:
        embeddings = rng.choice(numbers, (NUM_CANDIDATES, *shape))
        fits = _rows_fit(embeddings, shape[-1]) & _embeddings_fit(embeddings)
        if fits.any():
            return np.asarray(embeddings[fits.argmax()])


def _draw_projection(
    rng: np.random.Generator, numbers: Array, embeddings: Array, shape: tuple[int, ...]
) -> Array:
    """Return a projection for each head whose rows fit; `shape` is that of all of them."""
    num_heads, _, width = shape
    drawn: list[Array] = []
    while len(drawn) < num_heads:
        drawn += list(_projections(rng, numbers, embeddings, width))
    return np.stack(drawn[:num_heads])


def _draw_output(rng: np.random.Generator, numbers: Array, shape: tuple[int, int]) -> Array:
    """Return an output projection without a row or column of zeros or a multiple of a column."""
    while True:
        w_o = rng.choice(numbers, (NUM_CANDIDATES, *shape))
        fits = _has_no_zero_line(w_o)
        if shape[0] > 1:
            fits &= no_multiples(w_o)
        if shape[1] > 1:
            fits &= _rows_differ(w_o)
        if fits.any():
            return np.asarray(w_o[fits.argmax()])


def _has_no_zero_line(rows: Array) -> Array:
    """Return for each matrix whether none of its rows and columns is all zeros."""
    is_not_zero = np.abs(rows) > ZERO_TOLERANCE
    return np.asarray(is_not_zero.any(axis=-1).all(axis=-1) & is_not_zero.any(axis=-2).all(axis=-1))


def _rows_differ(rows: Array, by: float = ZERO_TOLERANCE) -> Array:
    """Return for each matrix whether any two rows differ by more than `by` in some entry."""
    first, second = np.triu_indices(rows.shape[-2], 1)
    apart = np.abs(rows[..., first, :] - rows[..., second, :]) > by
    return np.asarray(apart.any(axis=-1).all(axis=-1))


def _embeddings_fit(embeddings: Array) -> Array:
    """Return for each matrix whether its rows are embeddings of the kind that is promised."""
    fits = _has_no_zero_line(embeddings) & _rows_differ(embeddings)
    if embeddings.shape[-1] > 1 and embeddings.shape[-2] <= MAX_TOKENS_OF_OWN_DIRECTION:
        fits &= no_multiples(embeddings.swapaxes(-1, -2))
    return np.asarray(fits)


def _rows_fit(rows: Array, d_model: int) -> Array:
    """Return for each matrix whether it has the properties that this module promises."""
    varies = np.ptp(rows, axis=-2) > ZERO_TOLERANCE
    fits = _has_no_zero_line(rows) & _rows_differ(rows) & varies.all(axis=-1)
    return np.asarray(fits & no_multiples(rows) if d_model > 1 else fits)


def no_multiples(rows: Array) -> Array:
    """Return for each matrix whether no column is a multiple of another.

    Parameters
    ----------
    rows : array of shape (..., n, width)

    Returns
    -------
    array of bool of shape (...)

    Examples
    --------
    >>> no_multiples(np.array([[[1, 2], [3, 6]], [[1, 2], [3, 5]]])).tolist()
    [False, True]
    """
    # By the Cauchy-Schwarz inequality, one column is a multiple of another exactly where their dot
    # product is as large as the product of their lengths.
    dots = rows.swapaxes(-1, -2) @ rows
    lengths = np.einsum("...ii->...i", dots)
    remainders = lengths[..., :, None] * lengths[..., None, :] - dots**2
    first, second = np.triu_indices(rows.shape[-1], 1)
    return np.asarray((remainders[..., first, second] > ZERO_TOLERANCE).all(axis=-1))


def _drawn_example(
    embeddings: Array, heads: Sequence[tuple[Array, Array, Array]], w_o: Array | None
) -> WorkedExample:
    w_q, w_k, w_v = (np.stack(matrices) for matrices in zip(*heads, strict=True))
    return WorkedExample(
        name="fresh-numbers",
        title="Fresh numbers",
        tokens=SENTENCES[0][: len(embeddings)],
        head_names=tuple(f"Head {i + 1}" for i in range(len(heads))),
        source="drawn at random",
        embeddings=embeddings,
        layer=MultiHeadWeights(w_q, w_k, w_v, w_o),
    )
