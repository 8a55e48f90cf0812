"""What the source documents claim in words, decided by numbers.

``mha/audit/sources/claims.toml`` lists the claims. Each names the check of this module that decides it,
or says why numbers cannot. No verdict is stored: a check computes one, with its reason.
"""

import inspect
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

import numpy as np

from mha.core.attention import attention_weights
from mha.audit.judging import SLACK, Judgement, judgements, row_sums
from mha.core.checks import Array
from mha.core.costs import layer_sizes
from mha.examples import load_example
from mha.core.gradients import scaled_dot_product_attention_backward
from mha.core.measures import total_variation
from mha.core.multihead import MultiHeadWeights
from mha.core.patterns import pattern_projections
from mha.runs.rounding import percent, short, shown
from mha.core.softmax import softmax
from mha.audit.sources import TITLES, source_names
from mha.runs.record import Trace, trace

PUBLISHED = MappingProxyType(
    {
        "the base Transformer": (512, 8, 64, "Vaswani et al. (2017), table 3"),
        "the big Transformer": (1024, 16, 64, "Vaswani et al. (2017), table 3"),
        "GPT-3 175B": (12288, 96, 128, "Brown et al. (2020), table 2.1"),
    }
)
"""Published models: d_model, number of heads, width of a head, and where that stands."""

UNDECIDED = 0.99
"""A row whose largest weight is below this still passes a gradient back."""


@dataclass(frozen=True)
class Finding:
    """What a check finds about a claim.

    Parameters
    ----------
    holds : bool
    because : str
        One sentence, with the numbers that decide it.
    """

    holds: bool
    because: str


@dataclass(frozen=True)
class Claim:
    """A claim in words.

    Parameters
    ----------
    source : str
        One of `mha.audit.sources.source_names`.
    line : int
        Line in the document, counted from 1.
    says : str
        The claim, in the words of this book.
    check : str, default ""
        The check in `CHECKS` that decides it.
    given : mapping, default empty
        The check's parameters.
    untestable : str, default ""
        Why numbers cannot decide it, where there is no check.

    Raises
    ------
    ValueError
        If the parts do not fit together, naming the part, what came and what is wanted.
    """

    source: str
    line: int
    says: str
    check: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    untestable: str = ""

    def __post_init__(self) -> None:
        if self.source not in TITLES:
            raise ValueError(f"source is {self.source!r}; one of {', '.join(TITLES)} is wanted")
        if self.line < 1:
            raise ValueError(f"line is {self.line}; a number from 1 up is wanted")
        if bool(self.check) == bool(self.untestable):
            raise ValueError(
                f"{self.says!r} has check {self.check!r} and untestable {self.untestable!r};"
                " exactly one of them is wanted"
            )
        if self.check and self.check not in CHECKS:
            raise ValueError(f"check is {self.check!r}; one of {', '.join(CHECKS)} is wanted")
        if self.check:
            try:
                inspect.signature(CHECKS[self.check]).bind(**self.given)
            except TypeError as error:
                raise ValueError(
                    f"{self.says!r} does not fit check {self.check}: {error}"
                ) from error

    def finding(self) -> Finding | None:
        """Return what the check finds; None where numbers cannot decide."""
        return CHECKS[self.check](**self.given) if self.check else None


@cache
def load_claims() -> tuple[Claim, ...]:
    """Return every claim in words that the documents make and the project looks at.

    Returns
    -------
    tuple of Claim
        In the order of the documents' lines, one document after another.

    Raises
    ------
    ValueError
        If the file is not as it should be, naming the file.

    Examples
    --------
    >>> star = next(c for c in load_claims() if c.line == 592)
    >>> star.finding().holds
    False
    """
    path = resources.files("mha.audit.sources").joinpath("claims.toml")
    try:
        records = tomllib.loads(path.read_text(encoding="utf-8"))["claims"]
        return tuple(_claim(**record) for record in records)
    except KeyError as error:
        raise ValueError(f"mha/audit/sources/claims.toml has no {error}; it is wanted") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"mha/audit/sources/claims.toml: {error}") from error


def _claim(
    *, source: str, line: int, says: str, check: str = "", untestable: str = "", **given: Any
) -> Claim:
    return Claim(source, line, says, check, given, untestable)


# Who attends to whom


def _largest(*, example: str, stage: str, head: int, row: int, column: int) -> Finding:
    """Decide whether one key has the largest score or weight of a query."""
    run = _run(example)
    true = getattr(run, stage)[head, row]
    query, key, top = run.tokens[row], run.tokens[column], int(true.argmax())
    because = f"for *{query}*{_of_head(run, head)}, *{run.tokens[top]}* has the largest of the"
    because += f" {stage}, {shown(true[top])}"
    if top != column:
        because += f", and *{key}* has {shown(true[column])}"
    printed = _printed_row(example, stage, head, row, latest=True)
    if len(printed) == len(true):
        local = int(np.argmax([judgement.local for judgement in printed]))
        because += "; by the numbers printed before"
        because += ", too" if local == top else f", it is *{run.tokens[local]}*"
    return Finding(top == column, because)


def _printed_maxima(*, example: str, stage: str, head: int) -> Finding:
    """Decide whether each row of a printed table has its largest number where the true one is."""
    run = _run(example)
    true = getattr(run, stage)[head].argmax(axis=-1)
    rows = (_printed_row(example, stage, head, i, latest=False) for i in range(len(true)))
    printed = [int(np.argmax([j.number.value for j in row])) for row in rows]
    agree = sum(bool(a == b) for a, b in zip(true, printed, strict=True))
    found, wanted = (", ".join(f"*{run.tokens[i]}*" for i in places) for places in (printed, true))
    return Finding(
        agree == len(true),
        f"row by row the largest printed number is that of {found}, the true one that of {wanted}:"
        f" {agree} of {len(true)} rows agree",
    )


def _mixes_all(*, example: str, at_least: float, row: int | None = None) -> Finding:
    """Decide whether tokens take at least some share from every other token."""
    weights = _run(example).weights if row is None else _run(example).weights[:, [row]]
    queries = range(weights.shape[-1]) if row is None else [row]
    own = np.arange(weights.shape[-1]) == np.array(queries)[:, None]
    others = np.where(own, np.inf, weights)
    share = np.where(own, 0, weights).sum(axis=-1).mean()
    return Finding(
        bool(others.min() >= at_least),
        f"the smallest weight on another token is {shown(others.min())}; others have"
        f" {percent(float(share))} of the weight on average",
    )


def _heads_prefer_differently(*, example: str) -> Finding:
    """Decide whether heads differ in which key their queries attend to most."""
    run = _run(example)
    best = run.weights.argmax(axis=-1)
    told = "; ".join(
        f"Head {i + 1} prefers " + _listed([run.tokens[j] for j in dict.fromkeys(head)])
        for i, head in enumerate(best.tolist())
    )
    apart = max(total_variation(a, b).max() for a in run.weights for b in run.weights)
    return Finding(
        bool((best != best[0]).any()),
        f"over all its queries, {told}; two heads differ by at most {percent(float(apart))} of a"
        " row's weight",
    )


def _score_orders_weights(*, example: str, head: int, across_rows: bool) -> Finding:
    """Decide whether a larger score always has a larger weight."""
    run = _run(example)
    scores, weights = run.scores[head], run.weights[head]
    higher = scores[:, :, None, None] > scores + SLACK
    lower = higher & (weights[:, :, None, None] < weights)
    i, j, k, m = np.unravel_index(int(lower.argmax()), lower.shape)
    told = "in every row the order of the weights is that of the scores"
    if lower[i, j, k, m]:
        told += (
            f"; across rows it need not be: a score of {shown(scores[i, j], 2)} has weight"
            f" {shown(weights[i, j])}, one of {shown(scores[k, m], 2)} has {shown(weights[k, m])}"
        )
    within = np.diagonal(lower, axis1=0, axis2=2).any()
    return Finding(not (lower.any() if across_rows else within), told)


# What printed numbers say together


def _rows_sum_to_one(*, example: str, head: int) -> Finding:
    """Decide whether the printed rows of weights sum to 1, as exactly as they are printed."""
    rows = [
        row
        for source in source_names()
        for row in row_sums(source)
        if (row.example, row.head) == (example, head)
    ]
    totals = ", ".join(shown(row.total, 3) for row in rows)
    return Finding(
        all(row.sums_to_one for row in rows),
        f"the printed rows sum to {totals}"
        + ("" if all(row.sums_to_one for row in rows) else ", more than rounding can be off"),
    )


def _percentages_sum(*, example: str, head: int, row: int) -> Finding:
    """Decide whether one row of printed percentages sums to 100."""
    numbers = [j.number for j in _printed_row(example, "percentages", head, row, latest=True)]
    total = math.fsum(number.value for number in numbers)
    allowed = math.fsum(number.half_unit for number in numbers) + SLACK
    true = ", ".join(percent(float(w), 1) for w in _run(example).weights[head, row])
    return Finding(
        abs(total - 100) <= allowed, f"the printed ones sum to {shown(total, 1)}; true are {true}"
    )


def _follows(
    *, example: str, stages: Sequence[str], head: int, lines: Sequence[int] = ()
) -> Finding:
    """Decide whether the printed numbers of some stages follow from those printed before."""
    found = [
        j
        for j in _of_example(example)
        if j.quantity.stage in stages
        and j.quantity.term is None
        and ("head", head) in j.quantity.index
        and (not lines or lines[0] <= j.number.line <= lines[1])
    ]
    right = sum(j.agrees_locally for j in found)
    return Finding(
        right == len(found), f"{right} of {len(found)} follow from the numbers printed before"
    )


def _scores_are_products(*, example: str, row: int, transposed: bool) -> Finding:
    """Decide whether printed scores are the query times the printed keys, transposed or not."""
    keys = range(len(_run(example).tokens))
    query = [j.number.meant for j in _printed_row(example, "query", 0, row, latest=True)]
    key = np.array(
        [[j.number.meant for j in _printed_row(example, "key", 0, i, latest=True)] for i in keys]
    )
    scores = [j.number for j in _printed_row(example, "scores", 0, row, latest=True)]
    products = np.array(query) @ (key.T if transposed else key)
    fits = [abs(n.value - p) <= n.half_unit + SLACK for n, p in zip(scores, products, strict=True)]
    told, way = ", ".join(shown(float(p), 3) for p in products), "columns" if transposed else "rows"
    return Finding(
        all(fits),
        f"with the keys as {way} the products are {told}, and the print has"
        f" {', '.join(n.printed for n in scores)}",
    )


# Shapes and sizes


def _shape(*, example: str, array: str, wanted: Sequence[int]) -> Finding:
    """Decide what shape an array has; of an array with heads, each head's part."""
    run = _run(example)
    found = getattr(run.example.layer if array.startswith("w_") else run, array)
    shape = np.shape(found)[-2:]
    return Finding(
        shape == tuple(wanted), f"worked from its inputs, `{array}` is {shape[0]} by {shape[1]}"
    )


def _published(
    *, model: str, num_heads: int, d_model: int | None = None, d_k: int | None = None
) -> Finding:
    """Decide whether sizes are those that a model was published with."""
    *sizes, where = PUBLISHED[model]
    claimed = (d_model, num_heads, d_k)
    agree = all(c in (None, size) for c, size in zip(claimed, sizes, strict=True))
    width, heads, of_head = sizes
    return Finding(
        agree, f"{model} has d_model {width} and {heads} heads of width {of_head} ({where})"
    )


def _head_width(*, d_model: int, num_heads: int, d_k: int) -> Finding:
    """Decide whether the heads of that width are as wide together as the input."""
    found = layer_sizes(d_model, num_heads).d_k
    return Finding(found == d_k, f"{d_model} / {num_heads} = {found}")


def _matrices_differ(*, example: str, matrices: Sequence[str]) -> Finding:
    """Decide whether no two of an example's matrices are equal."""
    arrays = [getattr(_layer(example), name) for name in matrices]
    apart = min(float(np.abs(a - b).max()) for i, a in enumerate(arrays) for b in arrays[:i])
    return Finding(
        apart > 0, f"any two of them have an entry that differs by at least {shown(apart, 1)}"
    )


def _is_row(
    *, example: str, matrix: str, head: int, index: int, entries: Sequence[float]
) -> Finding:
    """Decide whether numbers are a row of a matrix."""
    whole = getattr(_layer(example), matrix)[head]
    row, column = (", ".join(short(x) for x in line) for line in (whole[index], whole[:, index]))
    return Finding(
        bool(np.array_equal(whole[index], entries)),
        f"row {index} is {row}, and column {index} is {column}",
    )


# What the computation does


def _mixture_of(*, example: str, array: str) -> Finding:
    """Decide whether the outputs of Head 1 are the weights times the rows of some array."""
    run = _run(example)
    rows = run.embeddings if array == "embeddings" else run.value[0]
    assert rows is not None
    mixed, output = run.weights[0] @ rows, run.head_outputs[0]
    same = mixed.shape == output.shape and bool(np.allclose(mixed, output))
    words = {"value": "values"}.get(array, array)
    because = f"the weights times the {words} give rows {mixed.shape[1]} wide, and the output is"
    because += f" {output.shape[1]} wide"
    if mixed.shape == output.shape:
        because += f"; they differ by at most {shown(float(np.abs(mixed - output).max()))}"
    return Finding(same, because)


def _heads_meet(*, example: str, array: str, meet: bool) -> Finding:
    """Decide whether every component of an array depends on more than one head."""
    run, layer = _run(example), _layer(example)
    before = getattr(run, array)
    changed = []
    for head in range(run.num_heads):
        factor = np.where(np.arange(run.num_heads) == head, 2.0, 1.0)[:, None, None]
        doubled = replace(layer, w_v=layer.w_v * factor)
        after = getattr(trace(replace(run.example, layer=doubled)), array)
        changed.append((np.abs(after - before) > SLACK).any(axis=0))
    moves = [str(int(c.sum())) for c in changed]
    return Finding(
        bool(np.all(np.sum(changed, axis=0) > 1)) == meet,
        f"of {before.shape[1]} components, doubling the values of one head changes"
        f" {' or '.join(dict.fromkeys(moves))}",
    )


def _stays_the_same(*, example: str, array: str) -> Finding:
    """Decide whether an array is the same for another input, as a parameter is."""
    run = _run(example)
    assert run.embeddings is not None
    other = trace(replace(run.example, embeddings=run.embeddings[[1, *range(1, len(run.tokens))]]))
    holders = [r.example.layer if array.startswith("w_") else r for r in (run, other)]
    before, after = (getattr(holder, array) for holder in holders)
    moved = float(np.abs(after - before).max())
    change = "the weights change" if array == "weights" else f"`{array}` changes"
    return Finding(
        moved == 0,
        f"with all matrices as they are, and the vector of *{run.tokens[0]}* replaced by that of"
        f" *{run.tokens[1]}*, {change} by up to {shown(moved)}",
    )


def _softmax_ensures(*, effect: str, example: str, head: int, row: int) -> Finding:
    """Decide whether the softmax alone sees to a sum of 1, to scaled scores or to a width."""
    run = _run(example)
    scores, weights = run.scores[head, row], run.weights[head, row]
    unscaled = softmax(scores)
    if effect == "sum":
        total = float(unscaled.sum())
        return Finding(abs(total - 1) <= SLACK, f"the softmax of a row sums to {shown(total)}")
    if effect == "width":
        shorter = softmax(scores[:-1])
        return Finding(
            shorter.size == unscaled.size,
            f"of {scores.size} scores the softmax makes {unscaled.size} weights, and of"
            f" {scores.size - 1} it makes {shorter.size}",
        )
    apart = float(np.abs(unscaled - weights).max())
    return Finding(
        apart <= SLACK,
        "the softmax of scores that were not scaled before differs from the weights by up to"
        f" {shown(apart)}",
    )


def _only_right_option(
    *, right: str, options: Sequence[str], example: str, head: int, row: int
) -> Finding:
    """Decide whether one effect, and no other of a question's options, is the softmax's."""
    found = {o: _softmax_ensures(effect=o, example=example, head=head, row=row) for o in options}
    return Finding(
        [option for option, finding in found.items() if finding.holds] == [right],
        "; ".join(finding.because for finding in found.values()),
    )


def _initialisation(*, scheme: str, d_in: int, d_out: int) -> Finding:
    """Decide whether sqrt(2 / d_in) is the standard deviation of an initialisation scheme."""
    rules = {"He": math.sqrt(2 / d_in), "Glorot": math.sqrt(2 / (d_in + d_out))}
    used = math.sqrt(2 / d_in)
    return Finding(
        abs(used - rules[scheme]) <= SLACK,
        f"from {d_in} to {d_out}, it gives {shown(used)}, He's rule {shown(rules['He'])} and"
        f" Glorot's {shown(rules['Glorot'])}",
    )


def _spread_of_scores(*, widths: Sequence[int], scaled: bool, grows: bool, seed: int) -> Finding:
    """Decide whether the standard deviation of scores of standard normal vectors grows."""
    rng = np.random.default_rng(seed)
    spread = []
    for d_k in widths:
        query, key = rng.normal(size=(2, 2000, d_k))
        scores = (query * key).sum(axis=-1) / (math.sqrt(d_k) if scaled else 1.0)
        spread.append(float(scores.std()))
    told = ", ".join(f"{shown(s, 2)} at {d_k}" for s, d_k in zip(spread, widths, strict=True))
    return Finding(
        (spread[-1] > 2 * spread[0]) == grows,
        f"{'scaled' if scaled else 'unscaled'} scores of random vectors have standard deviation"
        f" {told}",
    )


def _root_softens(*, d_k: int, num_keys: int, seed: int) -> Finding:
    """Decide whether leaving the root out gives most of the weight to one key, with it not."""
    query, key, _ = _random_attention(d_k, num_keys, seed)
    with_root, without = (
        float(attention_weights(query, key, scale=scale).max(axis=-1).mean())
        for scale in (None, 1.0)
    )
    return Finding(
        with_root < 0.5 < without,
        f"random vectors {d_k} wide, {num_keys} keys: the largest weight of a row is"
        f" {percent(without)} on average without the root, {percent(with_root)} with it",
    )


def _gradients_unscaled(*, effect: str, d_k: int, num_keys: int, seed: int) -> Finding:
    """Decide what becomes of a typical query's gradient without the root."""
    query, key, value = _random_attention(d_k, num_keys, seed)
    d_output = np.random.default_rng(seed + 1).normal(size=value[:, :1].shape) / math.sqrt(d_k)
    typical, spread = [], []
    for scale in (None, 1.0):
        gradients = scaled_dot_product_attention_backward(d_output, query, key, value, scale=scale)
        size = np.linalg.norm(gradients.query, axis=-1)
        typical.append(float(np.median(size)))
        spread.append(float(size.mean()))
    ratio = typical[1] / typical[0]
    undecided = attention_weights(query, key, scale=1.0).max(axis=-1) < UNDECIDED
    theirs = float(size[undecided].sum() / size.sum())
    return Finding(
        ratio > 10 if effect == "explode" else ratio < 0.1,
        f"random vectors {d_k} wide, {num_keys} keys: the median length of a query's gradient goes"
        f" from {shown(typical[0])} to {shown(typical[1])} without the root (the mean from"
        f" {shown(spread[0])} to {shown(spread[1])}, and {percent(theirs)} of that comes from the"
        f" {percent(float(undecided.mean()))} of the rows in which no weight reaches"
        f" {short(UNDECIDED)})",
    )


# What patterns tell


def _one_head_cannot(*, num_tokens: int, pairs: Sequence[Sequence[int]], d_k: int) -> Finding:
    """Decide whether one head is unable to give each pair, query and key, nine tenths of a row."""
    if len({query for query, _ in pairs}) < len(pairs):
        return Finding(
            True,
            "a token has one row of weights in a head, and here the same one would give nine"
            " tenths to each of two keys",
        )
    pattern = np.full((num_tokens, num_tokens), 1 / num_tokens)
    for query, key in pairs:
        pattern[query] = 0.1 / (num_tokens - 1)
        pattern[query, key] = 0.9
    weights = attention_weights(*pattern_projections(pattern, np.eye(num_tokens), d_k))
    least = min(float(weights[query, key]) for query, key in pairs)
    return Finding(
        least < 0.8,
        f"one head of width {d_k} draws all {len(pairs)} at once, none with less than"
        f" {percent(least)} of its row",
    )


def _diagonal(*, off_diagonal: float) -> Finding:
    """Decide whether a row with that weight on another token can be largest on the diagonal."""
    left = 1 - off_diagonal
    return Finding(
        left > off_diagonal,
        f"a row with {short(off_diagonal)} on another token leaves at most {short(left)} for the"
        " diagonal",
    )


def _needs_training(*, example: str, d_k: int) -> Finding:
    """Decide whether an example's patterns cannot be drawn by matrices that nothing has learned."""
    inputs = load_example(example)
    assert inputs.target_weights is not None
    assert inputs.embeddings is not None
    apart = 0.0
    for pattern in inputs.target_weights:
        w_q, w_k = pattern_projections(pattern, inputs.embeddings, d_k)
        drawn = attention_weights(inputs.embeddings @ w_q, inputs.embeddings @ w_k)
        apart = max(apart, float(np.abs(drawn - pattern).max()))
    return Finding(
        apart > 0.01,
        f"made-up patterns with these cells are drawn by matrices from a formula, width {d_k} and"
        f" nothing learned, with an error of at most {shown(apart)}",
    )


CHECKS: Mapping[str, Callable[..., Finding]] = MappingProxyType(
    {
        "diagonal": _diagonal,
        "follows": _follows,
        "gradients_unscaled": _gradients_unscaled,
        "head_width": _head_width,
        "heads_meet": _heads_meet,
        "heads_prefer_differently": _heads_prefer_differently,
        "initialisation": _initialisation,
        "is_row": _is_row,
        "largest": _largest,
        "matrices_differ": _matrices_differ,
        "mixes_all": _mixes_all,
        "mixture_of": _mixture_of,
        "needs_training": _needs_training,
        "one_head_cannot": _one_head_cannot,
        "only_right_option": _only_right_option,
        "percentages_sum": _percentages_sum,
        "printed_maxima": _printed_maxima,
        "published": _published,
        "root_softens": _root_softens,
        "rows_sum_to_one": _rows_sum_to_one,
        "score_orders_weights": _score_orders_weights,
        "scores_are_products": _scores_are_products,
        "shape": _shape,
        "softmax_ensures": _softmax_ensures,
        "spread_of_scores": _spread_of_scores,
        "stays_the_same": _stays_the_same,
    }
)
"""The checks by name: each takes a claim's parameters and returns a `Finding`."""


@cache
def _run(example: str) -> Trace:
    return trace(load_example(example))


def _layer(example: str) -> MultiHeadWeights:
    layer = load_example(example).layer
    assert layer is not None
    return layer


@cache
def _of_example(example: str) -> tuple[Judgement, ...]:
    """Return the judgements on all printed numbers of a worked example."""
    every = (j for source in source_names() for j in judgements(source))
    return tuple(j for j in every if j.quantity.example == example)


def _printed_row(
    example: str, stage: str, head: int, row: int, *, latest: bool
) -> tuple[Judgement, ...]:
    """Return one row of printed numbers; where a number is printed twice, its last or first."""
    cells: dict[int, Judgement] = {}
    for judgement in _of_example(example):
        quantity = judgement.quantity
        if (quantity.stage, quantity.term, quantity.place[:2]) != (stage, None, (head, row)):
            continue
        column = quantity.place[2]
        if latest or column not in cells:
            cells[column] = judgement
    return tuple(cells[column] for column in sorted(cells))


def _random_attention(d_k: int, num_keys: int, seed: int) -> tuple[Array, Array, Array]:
    """Return 500 queries, each with keys and values of its own, all standard normal."""
    rng = np.random.default_rng(seed)
    query = rng.normal(size=(500, 1, d_k))
    key, value = rng.normal(size=(2, 500, num_keys, d_k))
    return query, key, value


def _of_head(run: Trace, head: int) -> str:
    return f" in Head {head + 1}" if run.num_heads > 1 else ""


def _listed(words: Sequence[str]) -> str:
    return " or ".join(f"*{word}*" for word in words)
