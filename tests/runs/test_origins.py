"""Every number of a run has an address and an origin, which evaluates to the number."""

import math
from dataclasses import replace

import chains
import numpy as np
import pytest
from helpers import MASK, QUERIES, example, random_layer
from hypothesis import given
from hypothesis import strategies as st
from ports import random_block, random_example

import mha
from mha import Place, arithmetic, load_example, origin, trace
from mha.core.language import draw_model
from mha.runs.logit_attribution import trace_text
from mha.runs.origins import is_given
from mha.runs.places import stage_places
from mha.runs.rounding import short, shown
from mha.runs.stages import AXES, STAGES
from mha.views.arithmetic import write_arithmetic
from mha.views.signs import sign

INDEX = st.integers(0, 10**6)


@st.composite
def any_place(draw):
    """Draw the address of a number of any stage, or of one term of a number."""
    stage = draw(st.sampled_from(list(STAGES)))
    index = {axis: draw(INDEX) for axis in STAGES[stage].axes}
    return Place(stage, **index, term=draw(st.none() | INDEX))


@given(any_place())
def test_a_place_can_be_restored_from_its_text_and_from_its_index(place):
    assert Place.parse(str(place)) == place
    assert Place.at(place.stage, *place.index, term=place.term) == place
    head, row, column = (getattr(place, axis) or 0 for axis in AXES)
    assert Place.of(place.stage, head, row, column) == place.whole


def test_the_former_name_of_a_stage_entry_warns():
    with pytest.warns(DeprecationWarning, match=r"Place\.kind is now Place\.stage_entry"):
        assert Place("root").kind is STAGES["root"]


# Operations that may add numbers of opposite signs: the sum can be far smaller than its terms.
ADDED = ("products", "product", "mixed", "mean", "sum", "scaled", "spread", "normalised")


def check_origin(run, found, wanted):
    """Assert that an origin and each of its operands agree with the trace."""
    assert (found.kept, found.operation == "given") == (wanted, is_given(run, found.place.stage))
    got = found.evaluate()
    if math.isinf(wanted):
        assert got == wanted, found
        return
    # Rounding errors are relative to the sum of the absolute terms.
    terms = (abs(math.prod(operand.value for operand in term)) for term in found.terms)
    size = sum(terms) if found.operation in ADDED else abs(got)
    # The absolute tolerance covers subnormal numbers.
    assert abs(got - wanted) <= 1e-12 * size + 1e-300, found
    for operand in found.operands:
        # The root of d_k has a place but no array, so a place cannot return its value.
        if operand.place is not None and operand.place.stage != "root":
            assert operand.value == operand.place.value(run), found


def check_terms(run, found):
    """Assert that every term of a sum of products has an origin."""
    for i, operands in enumerate(found.terms):
        term = origin(run, replace(found.place, term=i))
        assert (term.operation, term.terms) == ("product", (operands,))
        assert term.number == math.prod(operand.value for operand in operands)
        assert term.place.whole == found.place


def check_line(line):
    """Evaluate a printed line of arithmetic from its text, if `chains` can read it."""
    if line.expression == "masked" or "max(" in line.expression:
        return
    (read,) = chains.hold(str(line))
    assert len(read.steps) == 2 + (len(line.products) > 1), line
    if line.products and "more, together" not in line.expression:
        for term, product in zip(line.expression.split(" + "), line.products, strict=True):
            assert len(chains.hold(f"{term} {sign(term, product)} {product}")) == 1


def check_all(run, *, read_lines=False):
    """Check every number of every stage of a run, and evaluate each printed line."""
    for name, stage in STAGES.items():
        if stage.array(run) is None:
            continue
        addresses = list(stage_places(run, name))
        assert [place.value(run) for place in addresses] == stage.array(run).ravel().tolist()
        for place in addresses:
            found, wanted = origin(run, place), place.value(run)
            assert found.place == place
            check_origin(run, found, wanted)
            if found.operation in ("products", "mixed"):
                check_terms(run, found)
            if found.operation == "given":
                continue
            line = write_arithmetic(found)
            assert line.result in (shown(wanted), short(wanted)), (place, line)
            if read_lines:
                check_line(line)


@pytest.mark.parametrize("seed", range(20))
def test_every_number_of_a_random_example(seed):
    rng = np.random.default_rng(seed)
    start = random_example(rng)
    changed = {"keys_at_once": [None, 1, 2, 4][seed % 4]}
    width = start.query.shape[-1] if start.layer is None else start.layer.d_k
    if width % 2 == 0:
        changed["angles"] = rng.uniform(-9, 9, size=(len(start.tokens), width // 2))
    if start.layer is not None and seed % 2:
        changed["positions"] = rng.normal(size=start.embeddings.shape)
    check_all(trace(replace(start, **changed)))


@pytest.mark.parametrize("norm", ["before", "after", "nowhere"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_every_number_of_random_blocks_and_of_a_text(norm, activation):
    rng = np.random.default_rng(len(norm))
    for _ in range(3):
        check_all(trace(random_block(rng, norm, activation)))
    model = draw_model(rng, ("ant", "bee", "cow"), 6, num_blocks=2, num_heads=3, base=50.0)
    for run in trace_text(model, "ant bee ant"):
        check_all(run)


def test_every_number_of_a_layer_with_biases(rng):
    own = random_layer(rng, 6, 2, biases=True, d_model=11, d_k=2, d_v=3, d_out=5)
    run = mha.trace_layer(own, rng.normal(size=(QUERIES, 11)))
    check_all(run)
    shares = run.head_contributions.sum(axis=0) + own.b_o
    np.testing.assert_allclose(shares, run.output, rtol=0, atol=1e-12)


@pytest.mark.parametrize("is_joint", [False, True])
def test_every_number_of_a_layer_with_norms_a_cap_and_sinks(rng, is_joint):
    gains = rng.normal(size=(6, 4))
    own = mha.AttentionLayer(
        random_layer(rng, 6, 6, d_model=11, d_k=4, d_v=3, d_out=5),
        query_norm=gains if is_joint else gains[0],
        key_norm=gains if is_joint else gains[1],
        softcap=1.5,
        sinks=rng.normal(size=6),
        speeds=[0.7],
        is_causal=True,
    )
    check_all(mha.trace_layer(own, rng.normal(size=(QUERIES, 11))))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", mha.example_names())
def test_every_number_of_every_example_and_its_line(name):
    check_all(trace(load_example(name)), read_lines=True)


@pytest.mark.parametrize(
    "parts",
    [
        {"mask": MASK},
        {"mask": np.where(MASK, 0.5, -np.inf)},
        {"mask": np.linspace(-1, 1, QUERIES), "is_causal": True, "scale": -0.3},
        {"scale": -2, "query": np.ones((QUERIES, 1)) * 50, "key": np.ones((QUERIES, 1))},
    ],
)
def test_masks_scales_and_shifts(parts):
    check_all(trace(example(**parts)), read_lines=True)


def test_a_line_ends_in_the_number_of_the_trace_to_its_last_digit():
    """Two exponential functions may differ in the last bit, which a large result shows."""
    query = np.linspace(50, 79, 101)[:, None]
    start = {"query": query, "key": np.ones_like(query), "value": query, "scale": 1}
    run = trace(example(tokens=[str(x) for x in query[:, 0]], **start))
    for row, (powers, total) in enumerate(zip(run.exponentials[0], run.row_sums[0], strict=True)):
        assert arithmetic(run, "exponentials", row, 0).result == shown(powers[0])
        assert arithmetic(run, "row_sums", row, 0).result == shown(total)
