"""Hold what an origin puts together against the number of the trace."""

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


def check_terms(run, found):
    """Hold that each term of a sum of products has an address, and that no sum has one more."""
    for i, term in enumerate(found.terms):
        single = origin(run, Place.at(found.place.stage, *found.place.index, term=i))
        assert (single.operation, single.terms) == ("product", (term,))
        assert single.number == math.prod(operand.value for operand in term)
    count = len(found.terms)
    with raises(ValueError, f"{found.place} has {count} terms; term {count} is none"):
        origin(run, Place.at(found.place.stage, *found.place.index, term=count))


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
