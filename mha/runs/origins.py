"""Where a number comes from: the one place that knows how each stage follows from those before."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

from mha.core.feed_forward import FeedForward
from mha.core.option_checks import check_type
from mha.runs.operations import Operand, Operation, Origin
from mha.runs.places import Place, place_at
from mha.runs.record import Trace
from mha.runs.stages import STAGES


def origin(run: Trace, place: Place) -> Origin:
    """Return how one number of a run comes about.

    Parameters
    ----------
    run : Trace
    place : Place
        Of any stage that the run has, or of one term of a sum of products.

    Returns
    -------
    Origin

    Raises
    ------
    TypeError
        If these are no run and no place.
    ValueError
        If the run has no such number.

    References
    ----------
    Vaswani et al. (2017), section 3.2.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> run = trace(load_example("cat-sat"))
    >>> [str(o.place) for o in origin(run, Place.parse("weights.0.0.1")).operands]
    ['exponentials.0.0.1', 'row_sums.0.0']
    """
    check_type("run", run, Trace)
    check_type("place", place, Place)
    if place.term is not None:
        return _term(run, place)
    has_array = place.kind.axes and not place.kind.quotes
    kept = place.value(run) if has_array else None
    if kept is not None and is_given(run, place.stage):
        return Origin(place, "given", ((Operand(kept),),), kept)
    operation, terms = _RULES[place.stage](run, place)
    return Origin(place, operation, tuple(terms), kept)


def is_given(run: Trace, stage: str) -> bool:
    """Tell whether a run starts from a stage instead of computing it.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> is_given(trace(load_example("cat-sat")), "query")
    True
    """
    if stage in ("query", "key", "value"):
        return run.embeddings is None
    return stage == "embeddings" or STAGES[stage].is_matrix or STAGES[stage].stays


def _term(run: Trace, place: Place) -> Origin:
    whole = origin(run, place.whole)
    assert place.term is not None
    if whole.operation not in ("products", "mixed"):
        raise ValueError(f"{place.whole} is no sum of products; it has no terms")
    if place.term >= len(whole.terms):
        raise ValueError(f"{place.whole} has {len(whole.terms)} terms; term {place.term} is none")
    return Origin(place, "product", (whole.terms[place.term],))


# ---- One rule a stage ----

Terms = Iterator[tuple[Operand, ...]]
Rule = Callable[[Trace, Place], tuple[Operation, Terms]]
Rules = dict[str, Rule]


def _at(run: Trace, stage: str, *index: int) -> Operand:
    place = place_at(stage, *index)
    return Operand(place.value(run), place)


def _one(*operands: Operand) -> Terms:
    """Yield each operand as a term of its own."""
    return ((operand,) for operand in operands)


def _projected(matrix: str, run: Trace, at: Place) -> tuple[Operation, Terms]:
    """Return the origin of a query, key or value: an embedding times a matrix."""
    assert run.embeddings is not None
    head, row, column = at.index
    read = _start(run) if run.start_normed is None else "start_normed"
    products = (
        (_at(run, read, row, i), _at(run, matrix, head, i, column))
        for i in range(run.embeddings.shape[1])
    )
    bias = matrix.replace("w", "b")
    return "products", chain(products, _one(*_learned(run, "bias", bias, (head, column), 0.0)))


def _start(run: Trace) -> str:
    """Return the stage that a layer's output is added to."""
    return "embeddings" if run.placed is None else "placed"


def _placed(run: Trace, at: Place) -> tuple[Operation, Terms]:
    return "sum", _one(*(_at(run, stage, *at.index) for stage in ("embeddings", "positions")))


def _turned(stage: str, run: Trace, at: Place) -> tuple[Operation, Terms]:
    """Return the origin of a turned query or key: both of a pair, times cosine and sine."""
    head, row, column = at.index
    pair, is_second = divmod(column, 2)
    angle = place_at("angles", row, pair).value(run)
    cos, sin = Operand(math.cos(angle), name="cos"), Operand(math.sin(angle), name="sin")
    by = (sin, cos) if is_second else (cos, Operand(-sin.value, name="sin"))
    stage = _before_turn(run, stage)
    return "products", ((_at(run, stage, head, row, 2 * pair + i), by[i]) for i in range(2))


def _before_turn(run: Trace, stage: str) -> str:
    """Return the stage of queries or keys before they are turned: normalised, where they are."""
    normed = f"normed_{stage}"
    return stage if getattr(run, normed) is None else normed


def _root_mean_square(stage: str, run: Trace, at: Place) -> tuple[Operation, Terms]:
    """Return the origin of the spread of a query or key: the squares of its numbers."""
    assert run.example.refined is not None
    head, row = at.index
    heads = range(run.num_heads) if run.example.refined.is_joint else (head,)
    numbers = (_at(run, stage, h, row, i) for h in heads for i in range(run.query.shape[-1]))
    eps = Operand(run.example.refined.eps, name="eps")
    return "spread", _one(*numbers, Operand(0.0, name="zero"), eps)


def _over_spread(stage: str, run: Trace, at: Place) -> tuple[Operation, Terms]:
    """Return the origin of a component of a normalised query or key."""
    head, row, column = at.index
    gains = getattr(run.example.refined, f"{stage}_norm")
    return "normalised", _one(
        _at(run, stage, *at.index),
        Operand(0.0, name="zero"),
        _at(run, f"{stage}_spreads", head, row),
        Operand(float(gains[head, column]), name="gain"),
    )


def _scores(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, column = at.index
    query, key = (
        _before_turn(run, stage) if run.angles is None else f"turned_{stage}"
        for stage in ("query", "key")
    )
    return "products", (
        (_at(run, query, head, row, i), _at(run, key, head, column, i))
        for i in range(run.query.shape[-1])
    )


def _scaling(run: Trace, at: Place) -> tuple[Operation, Terms]:
    scale = run.example.scale
    d_k = float(run.query.shape[-1])
    factor = Operand(d_k, name="d_k") if scale is None else Operand(float(scale), name="scale")
    mask, refined = run.mask[at.index], run.example.refined
    cap = None if refined is None else refined.softcap
    capped = () if cap is None else (Operand(float(cap), name="cap"),)
    masked = () if mask == 0 else (Operand(float(mask), name="mask"),)
    return "scaled", _one(_at(run, "scores", *at.index), factor, *capped, *masked)


def _root(run: Trace, at: Place) -> tuple[Operation, Terms]:
    return "root", _one(Operand(float(run.query.shape[-1]), name="d_k"))


def _power(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, _ = at.index
    shift = float(run.shifts[head, row])
    shifted = () if shift == 0 else (Operand(shift, name="shift"),)
    return "exponential", _one(_at(run, "scaled_scores", *at.index), *shifted)


def _row_sum(run: Trace, at: Place) -> tuple[Operation, Terms]:
    keys, refined = range(run.exponentials.shape[-1]), run.example.refined
    sinks = None if refined is None else refined.sinks
    sink = () if sinks is None else (_of_sink(sinks[at.index[0]], run.shifts[at.index]),)
    return "sum", _one(*(_at(run, "exponentials", *at.index, key) for key in keys), *sink)


def _of_sink(sink: float, shift: float) -> Operand:
    """Return the exponential of a row's sink."""
    return Operand(math.exp(sink - shift), name="sink")


def _weight(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, _ = at.index
    return "share", _one(_at(run, "exponentials", *at.index), _at(run, "row_sums", head, row))


def _percentage(run: Trace, at: Place) -> tuple[Operation, Terms]:
    return "percent", _one(_at(run, "weights", *at.index))


def _mixture(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, column = at.index
    return "mixed", (
        (_at(run, "weights", head, row, key), _at(run, "value", head, key, column))
        for key in range(run.weights.shape[-1])
    )


def _beside(run: Trace, at: Place) -> tuple[Operation, Terms]:
    row, column = at.index
    head, component = divmod(column, run.value.shape[-1])
    return "copy", _one(_at(run, "head_outputs", head, row, component))


def _contribution(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, column = at.index
    d_v = run.value.shape[-1]
    return "products", (
        (_at(run, "head_outputs", head, row, i), _at(run, "w_o", head * d_v + i, column))
        for i in range(d_v)
    )


def _output(run: Trace, at: Place) -> tuple[Operation, Terms]:
    row, column = at.index
    products = (
        (_at(run, "concat", row, i), _at(run, "w_o", i, column))
        for i in range(run.concat.shape[-1])
    )
    return "products", chain(products, _one(*_learned(run, "bias", "b_o", (column,), 0.0)))


# ---- What a running softmax keeps ----


def _of_block(run: Trace, block: int) -> range:
    """Return the keys of a block, counted from 0."""
    size, count = run.example.keys_at_once, len(run.tokens)
    assert size is not None
    return range(block * size, min((block + 1) * size, count))


def _largest(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, block = at.index
    scores = (_at(run, "scaled_scores", head, row, key) for key in _of_block(run, block))
    before = (_at(run, at.stage, head, row, block - 1),) if block else ()
    return "largest", _one(*before, *scores)


def _below(run: Trace, head: int, row: int, block: int) -> tuple[Operand, ...]:
    """Return the largest score so far, which is taken away, where any key was to be seen."""
    largest = _at(run, "running_largest", head, row, block)
    return () if largest.value == -math.inf else (largest,)


def _shrinking(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, block = at.index
    nothing = Operand(-math.inf, name="nothing")
    before = _at(run, "running_largest", head, row, block - 1) if block else nothing
    return "exponential", _one(before, *_below(run, *at.index))


def _running_power(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, key = at.index
    assert run.example.keys_at_once is not None
    largest = _below(run, head, row, key // run.example.keys_at_once)
    return "exponential", _one(_at(run, "scaled_scores", *at.index), *largest)


def _kept_before(run: Trace, at: Place, block: int, back: int) -> Terms:
    """Yield the factor times what stood `back` columns before, where there is any."""
    head, row, column = at.index
    if block:
        kept = _at(run, at.stage, head, row, column - back)
        yield _at(run, "running_factors", head, row, block), kept


def _running_sum(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, block = at.index
    keys = _of_block(run, block)
    powers = _one(*(_at(run, "running_exponentials", head, row, key) for key in keys))
    return "products", chain(_kept_before(run, at, block, 1), powers)


def _running_mixture(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, column = at.index
    d_v = run.value.shape[-1]
    block, component = divmod(column, d_v)
    mixed = (
        (_at(run, "running_exponentials", head, row, key), _at(run, "value", head, key, component))
        for key in _of_block(run, block)
    )
    return "products", chain(_kept_before(run, at, block, d_v), mixed)


def _running_output(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, column = at.index
    mixture = _at(run, "running_mixtures", *at.index)
    total = _at(run, "running_sums", head, row, column // run.value.shape[-1])
    return "quotient", _one(mixture, total)


# ---- What a block adds ----


def _mean_of(read: Callable[[Trace], str]) -> Rule:
    """Return the rule of the mean of a token's numbers in another stage."""

    def rule(run: Trace, at: Place) -> tuple[Operation, Terms]:
        return "mean", _one(*_row(run, read(run), *at.index))

    return rule


def _spread_of(read: Callable[[Trace], str], means: str, norm: Callable[[Trace], str]) -> Rule:
    """Return the rule of the spread of a token's numbers in another stage."""

    def rule(run: Trace, at: Place) -> tuple[Operation, Terms]:
        numbers = _row(run, read(run), *at.index)
        eps = Operand(getattr(run.example.block, norm(run)).eps, name="eps")
        return "spread", _one(*numbers, _at(run, means, *at.index), eps)

    return rule


def _normed_of(read: Callable[[Trace], str], start: str, norm: Callable[[Trace], str]) -> Rule:
    """Return the rule of a normalised number; gain and bias stand where they change something."""

    def rule(run: Trace, at: Place) -> tuple[Operation, Terms]:
        row, column = at.index
        number = _at(run, read(run), row, column)
        of_row = (_at(run, f"{start}_{name}", row) for name in ("means", "spreads"))
        learned = (
            _learned(run, name, f"{norm(run)}_{name}", (column,), without)
            for name, without in (("gain", 1.0), ("bias", 0.0))
        )
        return "normalised", _one(number, *of_row, *chain(*learned))

    return rule


def _learned(
    run: Trace, name: str, stage: str, index: tuple[int, ...], left_out: float
) -> tuple[Operand, ...]:
    """Return a gain or a bias by that name, where there is one and it changes anything."""
    array = STAGES[stage].array(run)
    if array is None or array[index] == left_out:
        return ()
    return (Operand(float(array[index]), place_at(stage, *index), name),)


def _row(run: Trace, stage: str, row: int) -> list[Operand]:
    """Return a token's numbers in a stage."""
    array = STAGES[stage].array(run)
    assert array is not None
    return [_at(run, stage, row, i) for i in range(array.shape[1])]


def _of_stream(run: Trace) -> str:
    """Return the norm of the stream: attention's own where the norm stands after."""
    return "first" if run.start_normed is None else "second"


def _fed_by(run: Trace) -> str:
    """Return the stage that the feed-forward layer reads."""
    return "stream" if run.stream_normed is None else "stream_normed"


def _kept_by(run: Trace) -> str:
    """Return the stage that the feed-forward layer's output is added to."""
    return _fed_by(run) if run.start_normed is None else "stream"


def _affine(read: Callable[[Trace], str], matrix: str, bias: str) -> Rule:
    """Return the rule of a product with a matrix of the feed-forward layer, plus its bias."""

    def rule(run: Trace, at: Place) -> tuple[Operation, Terms]:
        row, column = at.index
        products = (
            (operand, _at(run, matrix, i, column))
            for i, operand in enumerate(_row(run, read(run), row))
        )
        return "products", chain(products, _one(*_learned(run, "bias", bias, (column,), 0.0)))

    return rule


def _layer(run: Trace) -> FeedForward:
    assert run.example.block is not None
    assert run.example.block.feed_forward is not None
    return run.example.block.feed_forward


def _active(run: Trace, at: Place) -> tuple[Operation, Terms]:
    return _layer(run).activation, _one(_at(run, "hidden", *at.index))


def _added(kept: Callable[[Trace], str], found: Callable[[Trace], str]) -> Rule:
    """Return the rule of the stream: what was there, and what a layer found."""

    def rule(run: Trace, at: Place) -> tuple[Operation, Terms]:
        return "sum", _one(*(_at(run, stage(run), *at.index) for stage in (kept, found)))

    return rule


def _logit(run: Trace, at: Place) -> tuple[Operation, Terms]:
    row, column = at.index
    return "products", (
        (operand, _at(run, "unembedding", i, column))
        for i, operand in enumerate(_row(run, "stream_normed", row))
    )


def _word_power(run: Trace, at: Place) -> tuple[Operation, Terms]:
    return "exponential", _one(_at(run, "logits", *at.index))


def _word_sum(run: Trace, at: Place) -> tuple[Operation, Terms]:
    return "sum", _one(*_row(run, "word_exponentials", *at.index))


def _probability(run: Trace, at: Place) -> tuple[Operation, Terms]:
    row, _ = at.index
    return "share", _one(_at(run, "word_exponentials", *at.index), _at(run, "word_sums", row))


def _itself(name: str) -> Callable[[Trace], str]:
    return lambda run: name


def _norm_rules(start: str, read: Callable[[Trace], str], norm: Callable[[Trace], str]) -> Rules:
    """Return the rules of the three stages of a normalisation."""
    return {
        f"{start}_means": _mean_of(read),
        f"{start}_spreads": _spread_of(read, f"{start}_means", norm),
        f"{start}_normed": _normed_of(read, start, norm),
    }


_RULES: Rules = {
    **_norm_rules("start", _start, _itself("first")),
    **_norm_rules("stream", _itself("stream"), _of_stream),
    **_norm_rules("total", _itself("total"), _itself("second")),
    "stream": _added(_start, lambda run: "concat" if run.output is None else "output"),
    "hidden": _affine(_fed_by, "w_in", "b_in"),
    "active": _active,
    "fed": _affine(_itself("active"), "w_out", "b_out"),
    "total": _added(_kept_by, _itself("fed")),
    "logits": _logit,
    "word_exponentials": _word_power,
    "word_sums": _word_sum,
    "probabilities": _probability,
    "placed": _placed,
    "query_spreads": partial(_root_mean_square, "query"),
    "normed_query": partial(_over_spread, "query"),
    "key_spreads": partial(_root_mean_square, "key"),
    "normed_key": partial(_over_spread, "key"),
    "turned_query": partial(_turned, "query"),
    "turned_key": partial(_turned, "key"),
    "query": partial(_projected, "w_q"),
    "key": partial(_projected, "w_k"),
    "value": partial(_projected, "w_v"),
    "scores": _scores,
    "root": _root,
    "scaled_scores": _scaling,
    "exponentials": _power,
    "row_sums": _row_sum,
    "weights": _weight,
    "percentages": _percentage,
    "head_outputs": _mixture,
    "running_largest": _largest,
    "running_factors": _shrinking,
    "running_exponentials": _running_power,
    "running_sums": _running_sum,
    "running_mixtures": _running_mixture,
    "running_outputs": _running_output,
    "concat": _beside,
    "head_contributions": _contribution,
    "output": _output,
}
