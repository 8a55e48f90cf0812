"""Origins of the numbers of a trace: a rule per stage that finds operation and operands."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

from mha.core.feed_forward import FeedForward
from mha.core.option_checks import check_type
from mha.runs.operations import Operand, Operation, Origin
from mha.runs.places import Place, cached_place
from mha.runs.record import Trace
from mha.runs.stages import STAGES


def origin(run: Trace, place: Place) -> Origin:
    """Return the origin of one number of a run: its operation and its operands.

    Parameters
    ----------
    run : Trace
    place : Place
        The address of a number of any stage of the run, or of one term of a sum of products.

    Returns
    -------
    Origin

    Raises
    ------
    TypeError
        If `run` is no Trace, or `place` no Place.
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
    has_array = place.stage_entry.axes and not place.stage_entry.converted_from
    kept = place.value(run) if has_array else None
    if kept is not None and is_given(run, place.stage):
        return Origin(place, "given", ((Operand(kept),),), kept)
    operation, terms = _RULES[place.stage](run, place)
    return Origin(place, operation, tuple(terms), kept)


def is_given(run: Trace, stage: str) -> bool:
    """Return whether a stage is an input of the run, not computed.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> is_given(trace(load_example("cat-sat")), "query")
    True
    """
    if stage in ("query", "key", "value"):
        return run.embeddings is None
    return stage == "embeddings" or STAGES[stage].is_parameter or STAGES[stage].is_per_position


def _term(run: Trace, place: Place) -> Origin:
    whole = origin(run, place.whole)
    assert place.term is not None
    if whole.operation not in ("products", "mixed"):
        raise ValueError(f"{place.whole} is no sum of products; it has no terms")
    if place.term >= len(whole.terms):
        raise ValueError(f"{place.whole} has {len(whole.terms)} terms; term {place.term} is none")
    return Origin(place, "product", (whole.terms[place.term],))


# ---- Rules, one per stage ----

Terms = Iterator[tuple[Operand, ...]]
Rule = Callable[[Trace, Place], tuple[Operation, Terms]]
Rules = dict[str, Rule]


def _operand_at(run: Trace, stage: str, *index: int) -> Operand:
    place = cached_place(stage, *index)
    return Operand(place.value(run), place)


def _as_terms(*operands: Operand) -> Terms:
    """Return operands as terms of one factor each."""
    return ((operand,) for operand in operands)


def _projected(matrix: str, run: Trace, place: Place) -> tuple[Operation, Terms]:
    """Return operation and terms of a query, key or value: an embedding times a matrix."""
    assert run.embeddings is not None
    head, row, column = place.index
    read = _residual_stage(run) if run.start_normed is None else "start_normed"
    products = (
        (_operand_at(run, read, row, i), _operand_at(run, matrix, head, i, column))
        for i in range(run.embeddings.shape[1])
    )
    bias = matrix.replace("w", "b")
    return "products", chain(
        products, _as_terms(*_parameter_if_effective(run, "bias", bias, (head, column), 0.0))
    )


def _residual_stage(run: Trace) -> str:
    """Return the name of the stage to which the attention's output is added."""
    return "embeddings" if run.placed is None else "placed"


def _with_positions(run: Trace, place: Place) -> tuple[Operation, Terms]:
    return "sum", _as_terms(
        *(_operand_at(run, stage, *place.index) for stage in ("embeddings", "positions"))
    )


def _rotated(stage: str, run: Trace, place: Place) -> tuple[Operation, Terms]:
    """Return operation and terms of a rotated query or key: a pair times cosine and sine."""
    head, row, column = place.index
    pair, is_second = divmod(column, 2)
    angle = cached_place("angles", row, pair).value(run)
    # The angle is an input, so cosine and sine count as constants, not as computed numbers.
    cos, sin = Operand(math.cos(angle), name="cos"), Operand(math.sin(angle), name="sin")
    factors = (sin, cos) if is_second else (cos, Operand(-sin.value, name="sin"))
    stage = _before_rotation(run, stage)
    return "products", (
        (_operand_at(run, stage, head, row, 2 * pair + i), factors[i]) for i in range(2)
    )


def _before_rotation(run: Trace, stage: str) -> str:
    """Return the name of the stage of queries or keys before rotation, normalised or not."""
    normed = f"normed_{stage}"
    return stage if getattr(run, normed) is None else normed


def _root_mean_square(stage: str, run: Trace, place: Place) -> tuple[Operation, Terms]:
    """Return operation and terms of the root mean square of a query or key."""
    assert run.example.refinements is not None
    head, row = place.index
    heads = range(run.num_heads) if run.example.refinements.is_joint else (head,)
    numbers = (
        _operand_at(run, stage, h, row, i) for h in heads for i in range(run.query.shape[-1])
    )
    eps = Operand(run.example.refinements.eps, name="eps")
    return "spread", _as_terms(*numbers, Operand(0.0, name="zero"), eps)


def _rms_normalised(stage: str, run: Trace, place: Place) -> tuple[Operation, Terms]:
    """Return operation and terms of a component of a normalised query or key."""
    head, row, column = place.index
    gains = getattr(run.example.refinements, f"{stage}_norm")
    return "normalised", _as_terms(
        _operand_at(run, stage, *place.index),
        Operand(0.0, name="zero"),
        _operand_at(run, f"{stage}_spreads", head, row),
        Operand(float(gains[head, column]), name="gain"),
    )


def _scores(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, column = place.index
    query, key = (
        _before_rotation(run, stage) if run.angles is None else f"turned_{stage}"
        for stage in ("query", "key")
    )
    return "products", (
        (_operand_at(run, query, head, row, i), _operand_at(run, key, head, column, i))
        for i in range(run.query.shape[-1])
    )


def _scaled(run: Trace, place: Place) -> tuple[Operation, Terms]:
    scale = run.example.scale
    d_k = float(run.query.shape[-1])
    factor = Operand(d_k, name="d_k") if scale is None else Operand(float(scale), name="scale")
    mask, refinements = run.mask[place.index], run.example.refinements
    cap = None if refinements is None else refinements.softcap
    capped = () if cap is None else (Operand(float(cap), name="cap"),)
    # A mask of 0 is no operand, because a line of arithmetic would end in "+ 0".
    masked = () if mask == 0 else (Operand(float(mask), name="mask"),)
    return "scaled", _as_terms(_operand_at(run, "scores", *place.index), factor, *capped, *masked)


def _root(run: Trace, place: Place) -> tuple[Operation, Terms]:
    return "root", _as_terms(Operand(float(run.query.shape[-1]), name="d_k"))


def _exponential(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, _ = place.index
    shift = float(run.shifts[head, row])
    shifted = () if shift == 0 else (Operand(shift, name="shift"),)
    return "exponential", _as_terms(_operand_at(run, "scaled_scores", *place.index), *shifted)


def _row_sum(run: Trace, place: Place) -> tuple[Operation, Terms]:
    keys, refinements = range(run.exponentials.shape[-1]), run.example.refinements
    sinks = None if refinements is None else refinements.sinks
    sink = (
        ()
        if sinks is None
        else (_sink_exponential(sinks[place.index[0]], run.shifts[place.index]),)
    )
    return "sum", _as_terms(
        *(_operand_at(run, "exponentials", *place.index, key) for key in keys), *sink
    )


def _sink_exponential(sink: float, shift: float) -> Operand:
    """Return e to a row's shifted sink score."""
    return Operand(math.exp(sink - shift), name="sink")


def _softmax_weight(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, _ = place.index
    return "share", _as_terms(
        _operand_at(run, "exponentials", *place.index), _operand_at(run, "row_sums", head, row)
    )


def _percentage(run: Trace, place: Place) -> tuple[Operation, Terms]:
    return "percent", _as_terms(_operand_at(run, "weights", *place.index))


def _weighted_values(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, column = place.index
    return "mixed", (
        (_operand_at(run, "weights", head, row, key), _operand_at(run, "value", head, key, column))
        for key in range(run.weights.shape[-1])
    )


def _concatenated(run: Trace, place: Place) -> tuple[Operation, Terms]:
    row, column = place.index
    head, component = divmod(column, run.value.shape[-1])
    return "copy", _as_terms(_operand_at(run, "head_outputs", head, row, component))


def _contribution(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, column = place.index
    d_v = run.value.shape[-1]
    return "products", (
        (
            _operand_at(run, "head_outputs", head, row, i),
            _operand_at(run, "w_o", head * d_v + i, column),
        )
        for i in range(d_v)
    )


def _output(run: Trace, place: Place) -> tuple[Operation, Terms]:
    row, column = place.index
    products = (
        (_operand_at(run, "concat", row, i), _operand_at(run, "w_o", i, column))
        for i in range(run.concat.shape[-1])
    )
    return "products", chain(
        products, _as_terms(*_parameter_if_effective(run, "bias", "b_o", (column,), 0.0))
    )


# ---- Rules of a running softmax ----


def _keys_of_block(run: Trace, block: int) -> range:
    """Return the keys of a block, counted from 0."""
    size, count = run.example.keys_at_once, len(run.tokens)
    assert size is not None
    return range(block * size, min((block + 1) * size, count))


def _largest(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, block = place.index
    scores = (
        _operand_at(run, "scaled_scores", head, row, key) for key in _keys_of_block(run, block)
    )
    before = (_operand_at(run, place.stage, head, row, block - 1),) if block else ()
    return "largest", _as_terms(*before, *scores)


def _largest_so_far(run: Trace, head: int, row: int, block: int) -> tuple[Operand, ...]:
    """Return the largest score so far, which is subtracted; none while every key was masked."""
    largest = _operand_at(run, "running_largest", head, row, block)
    return () if largest.value == -math.inf else (largest,)


def _running_factor(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, block = place.index
    # Before the first block the largest score is minus infinity, and the factor is 0.
    nothing = Operand(-math.inf, name="nothing")
    before = _operand_at(run, "running_largest", head, row, block - 1) if block else nothing
    return "exponential", _as_terms(before, *_largest_so_far(run, *place.index))


def _running_exponential(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, key = place.index
    assert run.example.keys_at_once is not None
    largest = _largest_so_far(run, head, row, key // run.example.keys_at_once)
    return "exponential", _as_terms(_operand_at(run, "scaled_scores", *place.index), *largest)


def _rescaled_before(run: Trace, place: Place, block: int, back: int) -> Terms:
    """Yield the factor times the number `back` columns before; nothing in the first block."""
    head, row, column = place.index
    if block:
        kept = _operand_at(run, place.stage, head, row, column - back)
        yield _operand_at(run, "running_factors", head, row, block), kept


def _running_sum(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, block = place.index
    keys = _keys_of_block(run, block)
    powers = _as_terms(*(_operand_at(run, "running_exponentials", head, row, key) for key in keys))
    return "products", chain(_rescaled_before(run, place, block, 1), powers)


def _running_mixture(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, column = place.index
    d_v = run.value.shape[-1]
    block, component = divmod(column, d_v)
    mixed = (
        (
            _operand_at(run, "running_exponentials", head, row, key),
            _operand_at(run, "value", head, key, component),
        )
        for key in _keys_of_block(run, block)
    )
    return "products", chain(_rescaled_before(run, place, block, d_v), mixed)


def _running_output(run: Trace, place: Place) -> tuple[Operation, Terms]:
    head, row, column = place.index
    mixture = _operand_at(run, "running_mixtures", *place.index)
    total = _operand_at(run, "running_sums", head, row, column // run.value.shape[-1])
    return "quotient", _as_terms(mixture, total)


# ---- Rules of a transformer block ----


def _mean_rule(read: Callable[[Trace], str]) -> Rule:
    """Return the rule of the mean of a token's numbers in another stage."""

    def rule(run: Trace, place: Place) -> tuple[Operation, Terms]:
        return "mean", _as_terms(*_row_operands(run, read(run), *place.index))

    return rule


def _spread_rule(read: Callable[[Trace], str], means: str, norm: Callable[[Trace], str]) -> Rule:
    """Return the rule of the standard deviation of a token's numbers in another stage."""

    def rule(run: Trace, place: Place) -> tuple[Operation, Terms]:
        numbers = _row_operands(run, read(run), *place.index)
        eps = Operand(getattr(run.example.block, norm(run)).eps, name="eps")
        return "spread", _as_terms(*numbers, _operand_at(run, means, *place.index), eps)

    return rule


def _normalised_rule(
    read: Callable[[Trace], str], start: str, norm: Callable[[Trace], str]
) -> Rule:
    """Return the rule of a normalised number, without a gain of 1 and a bias of 0."""

    def rule(run: Trace, place: Place) -> tuple[Operation, Terms]:
        row, column = place.index
        number = _operand_at(run, read(run), row, column)
        mean_and_spread = (
            _operand_at(run, f"{start}_{name}", row) for name in ("means", "spreads")
        )
        learned = (
            _parameter_if_effective(run, name, f"{norm(run)}_{name}", (column,), neutral)
            for name, neutral in (("gain", 1.0), ("bias", 0.0))
        )
        return "normalised", _as_terms(number, *mean_and_spread, *chain(*learned))

    return rule


def _parameter_if_effective(
    run: Trace, name: str, stage: str, index: tuple[int, ...], neutral: float
) -> tuple[Operand, ...]:
    """Return a gain or a bias as an operand; none if it is absent or neutral."""
    array = STAGES[stage].array(run)
    if array is None or array[index] == neutral:
        return ()
    return (Operand(float(array[index]), cached_place(stage, *index), name),)


def _row_operands(run: Trace, stage: str, row: int) -> list[Operand]:
    """Return a token's numbers in a stage."""
    array = STAGES[stage].array(run)
    assert array is not None
    return [_operand_at(run, stage, row, i) for i in range(array.shape[1])]


def _stream_norm(run: Trace) -> str:
    """Return the norm of the stream after attention: "first" if a block normalises after."""
    return "first" if run.start_normed is None else "second"


def _feed_forward_input(run: Trace) -> str:
    """Return the name of the stage that the feed-forward layer reads."""
    return "stream" if run.stream_normed is None else "stream_normed"


def _feed_forward_residual(run: Trace) -> str:
    """Return the name of the stage to which the feed-forward layer's output is added."""
    return _feed_forward_input(run) if run.start_normed is None else "stream"


def _affine_rule(read: Callable[[Trace], str], matrix: str, bias: str) -> Rule:
    """Return the rule of a product with a matrix of the feed-forward layer, plus its bias."""

    def rule(run: Trace, place: Place) -> tuple[Operation, Terms]:
        row, column = place.index
        products = (
            (operand, _operand_at(run, matrix, i, column))
            for i, operand in enumerate(_row_operands(run, read(run), row))
        )
        return "products", chain(
            products, _as_terms(*_parameter_if_effective(run, "bias", bias, (column,), 0.0))
        )

    return rule


def _feed_forward_layer(run: Trace) -> FeedForward:
    assert run.example.block is not None
    assert run.example.block.feed_forward is not None
    return run.example.block.feed_forward


def _active(run: Trace, place: Place) -> tuple[Operation, Terms]:
    return _feed_forward_layer(run).activation, _as_terms(_operand_at(run, "hidden", *place.index))


def _sum_rule(residual: Callable[[Trace], str], output: Callable[[Trace], str]) -> Rule:
    """Return the rule of a residual sum: a stage plus the output of a layer."""

    def rule(run: Trace, place: Place) -> tuple[Operation, Terms]:
        stages = (residual(run), output(run))
        return "sum", _as_terms(*(_operand_at(run, stage, *place.index) for stage in stages))

    return rule


def _logit(run: Trace, place: Place) -> tuple[Operation, Terms]:
    row, column = place.index
    return "products", (
        (operand, _operand_at(run, "unembedding", i, column))
        for i, operand in enumerate(_row_operands(run, "stream_normed", row))
    )


def _word_exponential(run: Trace, place: Place) -> tuple[Operation, Terms]:
    return "exponential", _as_terms(_operand_at(run, "logits", *place.index))


def _word_sum(run: Trace, place: Place) -> tuple[Operation, Terms]:
    return "sum", _as_terms(*_row_operands(run, "word_exponentials", *place.index))


def _probability(run: Trace, place: Place) -> tuple[Operation, Terms]:
    row, _ = place.index
    return "share", _as_terms(
        _operand_at(run, "word_exponentials", *place.index), _operand_at(run, "word_sums", row)
    )


def _always(name: str) -> Callable[[Trace], str]:
    return lambda run: name


def _norm_rules(prefix: str, read: Callable[[Trace], str], norm: Callable[[Trace], str]) -> Rules:
    """Return the rules of the three stages of a normalisation."""
    return {
        f"{prefix}_means": _mean_rule(read),
        f"{prefix}_spreads": _spread_rule(read, f"{prefix}_means", norm),
        f"{prefix}_normed": _normalised_rule(read, prefix, norm),
    }


_RULES: Rules = {
    **_norm_rules("start", _residual_stage, _always("first")),
    **_norm_rules("stream", _always("stream"), _stream_norm),
    **_norm_rules("total", _always("total"), _always("second")),
    "stream": _sum_rule(_residual_stage, lambda run: "concat" if run.output is None else "output"),
    "hidden": _affine_rule(_feed_forward_input, "w_in", "b_in"),
    "active": _active,
    "fed": _affine_rule(_always("active"), "w_out", "b_out"),
    "total": _sum_rule(_feed_forward_residual, _always("fed")),
    "logits": _logit,
    "word_exponentials": _word_exponential,
    "word_sums": _word_sum,
    "probabilities": _probability,
    "placed": _with_positions,
    "query_spreads": partial(_root_mean_square, "query"),
    "normed_query": partial(_rms_normalised, "query"),
    "key_spreads": partial(_root_mean_square, "key"),
    "normed_key": partial(_rms_normalised, "key"),
    "turned_query": partial(_rotated, "query"),
    "turned_key": partial(_rotated, "key"),
    "query": partial(_projected, "w_q"),
    "key": partial(_projected, "w_k"),
    "value": partial(_projected, "w_v"),
    "scores": _scores,
    "root": _root,
    "scaled_scores": _scaled,
    "exponentials": _exponential,
    "row_sums": _row_sum,
    "weights": _softmax_weight,
    "percentages": _percentage,
    "head_outputs": _weighted_values,
    "running_largest": _largest,
    "running_factors": _running_factor,
    "running_exponentials": _running_exponential,
    "running_sums": _running_sum,
    "running_mixtures": _running_mixture,
    "running_outputs": _running_output,
    "concat": _concatenated,
    "head_contributions": _contribution,
    "output": _output,
}
