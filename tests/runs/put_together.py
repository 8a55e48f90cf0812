"""Hold what an origin puts together against the number of the trace, and against its arrays."""

import math

import chains
from helpers import raises

from mha import Place, origin, short, shown
from mha.runs.origins import is_given
from mha.runs.places import places
from mha.runs.stages import STAGES
from mha.views.arithmetic import written_out
from mha.views.signs import sign

WITH_ARRAY = [name for name in STAGES if name not in ("root", "percentages")]


def size_of(found):
    """Return the size of what an origin adds up: what rounding errors are relative to."""
    if found.operation == "scaled":
        (score,), (factor,), *mask = found.terms
        scale = 1 / math.sqrt(factor.value) if factor.name == "d_k" else factor.value
        return abs(score.value * scale) + sum(abs(o.value) for (o,) in mask)
    if found.operation in ("products", "product", "mixed", "mean", "sum"):
        return sum(abs(math.prod(o.value for o in term)) for term in found.terms)
    if found.operation == "spread":
        return sum(abs(o.value) for o in found.operands)
    if found.operation == "normalised":
        number, mean, spread, *_ = (o.value for o in found.operands)
        learned = [abs(found.constant(name) or 1) for name in ("gain", "bias")]
        return (abs(number) + abs(mean)) / spread * learned[0] + learned[1]
    return abs(found.evaluate())


def check(found, wanted):
    """Hold a number that an origin gives against that of the trace."""
    got = found.evaluate()
    if math.isinf(wanted):
        assert got == wanted, found
    else:
        # The least is what is left below float's smallest normal number.
        assert abs(got - wanted) <= 1e-12 * size_of(found) + 1e-300, found


def products(run, place):
    """Return the terms of a sum of products, taken from the arrays without an origin."""
    stage, (head, row, column) = place.stage, (place.head, place.row, place.column)
    layer, d_v = run.example.layer, run.value.shape[-1]
    if stage in ("hidden", "fed"):
        return fed_products(run, stage, row, column)
    if stage in ("running_sums", "running_mixtures"):
        return running_products(run, place)
    if stage in ("query", "key", "value"):
        matrix = {"query": "w_q", "key": "w_k", "value": "w_v"}[stage]
        x = run.embeddings if run.positions is None else run.embeddings + run.positions
        x = x if run.start_normed is None else run.start_normed
        return x[row] * getattr(layer, matrix)[head, :, column]
    if stage in ("turned_query", "turned_key"):
        pair = getattr(run, stage.removeprefix("turned_"))[head, row].reshape(-1, 2)[column // 2]
        cos, sin = (f(float(run.angles[row, column // 2])) for f in (math.cos, math.sin))
        return pair * ([sin, cos] if column % 2 else [cos, -sin])
    if stage == "scores":
        query, key = (run.query, run.key) if run.angles is None else run.meeting
        return query[head, row] * key[head, column]
    if stage == "logits":
        return run.stream_normed[row] * run.example.unembedding[:, column]
    if stage == "head_outputs":
        return run.weights[head, row] * run.value[head, :, column]
    if stage == "head_contributions":
        rows = layer.w_o[head * d_v : (head + 1) * d_v]
        return run.head_outputs[head, row] * rows[:, column]
    return run.concat[row] * layer.w_o[:, column]


def running_products(run, place):
    """Return the terms of what a running softmax keeps: what it kept before, then each key."""
    size, (head, row, column) = run.example.keys_at_once, place.index
    is_sum = place.stage == "running_sums"
    width = 1 if is_sum else run.value.shape[-1]
    block, part = divmod(column, width)
    keys = slice(block * size, (block + 1) * size)
    powers = run.running_exponentials[head, row, keys]
    terms = powers if is_sum else powers * run.value[head, keys, part]
    kept = getattr(run, place.stage)[head, row, column - width] if block else None
    factor = run.running_factors[head, row, block]
    return [*terms] if kept is None else [factor * kept, *terms]


def fed_products(run, stage, row, column):
    """Return the terms of a number of the feed-forward layer, its bias the last."""
    layer = run.example.block.feed_forward
    x = run.stream if run.stream_normed is None else run.stream_normed
    if stage == "hidden":
        return [*(x[row] * layer.w_in[:, column]), layer.b_in[column]]
    return [*(run.active[row] * layer.w_out[:, column]), layer.b_out[column]]


def check_terms(run, found):
    """Hold every term of a sum of products against the arrays; no sum has one term more."""
    wanted = products(run, found.place)
    for i, product in enumerate(wanted):
        term = origin(run, Place.at(found.place.stage, *found.place.index, term=i))
        assert term.operation == "product"
        assert term.terms == (found.terms[i],)
        assert term.evaluate() == term.number == product
        assert term.place.whole == found.place
    with raises(ValueError, f"{found.place} has {len(wanted)} terms; term {len(wanted)} is none"):
        origin(run, Place.at(found.place.stage, *found.place.index, term=len(wanted)))


def check_line(line):
    """Work a printed line of arithmetic out from its text, where a reader of chains can."""
    if line.expression == "masked" or "max(" in line.expression:
        return
    (read,) = chains.read(str(line))
    assert (len(read.steps), read.faults()) == (2 + (len(line.products) > 1), []), line
    if line.products and "more, together" not in line.expression:
        for term, product in zip(line.expression.split(" + "), line.products, strict=True):
            (read,) = chains.read(f"{term} {sign(term, product)} {product}")
            assert read.faults() == []


def check_all(run, *, read_lines=True):
    """Check every number of every stage of a run; and work each printed line out from its text."""
    for name in WITH_ARRAY:
        if STAGES[name].array(run) is None:
            continue
        for place in places(run, name):
            found = origin(run, place)
            wanted = place.value(run)
            assert (found.place, found.kept) == (place, wanted)
            check(found, wanted)
            assert (found.operation == "given") == is_given(run, name)
            if found.operation != "given":
                line = written_out(found)
                assert line.result in (shown(wanted), short(wanted)), (place, line)
                if read_lines:
                    check_line(line)
            if found.operation in ("products", "mixed"):
                check_terms(run, found)
