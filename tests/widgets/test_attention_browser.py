"""The browser's arithmetic and the origins of its numbers, compared with the package.

For every number of random runs, the port names the same operation and operands as Python, and
the operation gives the number in the browser's own run.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from helpers import QUERIES, example, example_with_positions
from ports import (
    CLOSE,
    SMALLEST,
    assert_near,
    in_browser,
    infinite,
    port_inputs,
    random_block,
    random_example,
)
from seeds import SEED

from mha import Place, origin, trace
from mha.core.checks import as_scale
from mha.runs.places import stage_places
from mha.runs.stages import STAGES

pytestmark = pytest.mark.browser

TRACE = "(c) => modules.attention.trace(c)"


def test_whole_runs_agree_with_heads_off_and_keys_that_are_padding(arithmetic_page):
    rng = np.random.default_rng(SEED + 1)
    cases, wanted = [], []
    for _ in range(600):
        worked = random_example(rng)
        n = len(worked.tokens)
        temperature = float(rng.choice([1.0, 0.5, 4.0, 1e-3, 1e3]))
        start = worked.query if worked.layer is None else worked.layer.w_q
        scale = as_scale(worked.scale, start.shape[-1]) / temperature
        off, allowed = rng.random(worked.num_heads) < 0.2, rng.random(n) < 0.9
        mask = np.ones((n, n), bool) if worked.mask is None else worked.mask
        mask = np.where(allowed, mask, False if mask.dtype == bool else -np.inf)
        wanted.append((trace(replace(worked, scale=scale, mask=mask)), off))
        switches = {"headOff": off.tolist(), "keyAllowed": allowed.tolist()}
        cases.append(port_inputs(worked, temperature) | switches)
    found = in_browser(arithmetic_page, TRACE, cases)
    for result, (run, off) in zip(found, wanted, strict=True):
        for stage in ("query", "key", "value", "scores"):
            assert np.array_equal(result[stage], getattr(run, stage)), stage
        for stage in ("mask", "scaled_scores"):
            assert np.array_equal([infinite(head) for head in result[stage]], getattr(run, stage))
        for stage in ("exponentials", "row_sums", "weights"):
            assert_near(result[stage], getattr(run, stage), getattr(run, stage))
        mixed = run.weights @ np.abs(run.value)
        assert_near(result["head_outputs"], run.head_outputs, mixed)
        is_on = np.repeat(~off, run.value.shape[-1])
        assert_near(result["concat"], run.concat * is_on, np.concatenate(list(mixed), axis=1))
        if run.output is None:
            assert "output" not in result
            continue
        w_o = run.example.layer.w_o
        shares = mixed @ np.abs(w_o).reshape(run.num_heads, -1, run.output.shape[1])
        assert_near(result["head_contributions"], run.head_contributions, shares)
        assert_near(result["output"], (run.concat * is_on) @ w_o, shares.sum(axis=0))


ONE = {"tokens": ["a"], "head_names": ["h"], "query": [[1e100]], "key": [[1e200]],
       "value": [[1.0]], "scale": 1.0}  # fmt: skip
TOO_LARGE = {
    "scores": {"query": [[1e200]]},
    "scale": {"scale": 1e200},
    "mask": {"mask": np.array([[1.7e308]]), "query": [[1e108]]},
}


@pytest.mark.parametrize("what", TOO_LARGE)
def test_the_port_refuses_what_the_package_refuses(arithmetic_page, what):
    worked = example(**ONE | TOO_LARGE[what])
    with pytest.raises(ValueError, match=r"overflow|finite"):
        trace(worked)
    caught = (
        "(c) => { try { return modules.attention.trace(c); } catch (error) { return error.name; } }"
    )
    assert in_browser(arithmetic_page, caught, [port_inputs(worked, 1.0)]) == ["RangeError"]


# ---- Where each number comes from ----

# Every place of a run, by its address as it is read again, with its origin, and the first and last
# term of each sum of products; numbers as texts, for JSON has no minus infinity.
ORIGINS = """(inputs) => {
  const { address, at, of, parse, valueAt } = modules.places;
  const { evaluate } = modules.operations;
  const { origin } = modules.origins;
  const run = modules.attention.trace(inputs);
  const numbers = { ...inputs, ...run };
  const indices = (array) => (Array.isArray(array)
    ? array.flatMap((part, i) => indices(part).map((rest) => [i, ...rest])) : [[]]);
  const told = (place) => {
    const from = origin(inputs, run, place);
    const value = evaluate(from);
    const kept = place.term === null && !["root", "percentages"].includes(place.stage)
      ? valueAt(numbers, place) : value;
    return [address(parse(address(place))), from.operation, from.terms.map((term) =>
      term.map((operand) => [operand.place ? address(operand.place) : operand.name,
        String(operand.value)])), String(value), String(kept)];
  };
  const ofStage = (stage) => indices(numbers[modules.stages.stages[stage].converted_from || stage])
    .map((index) => at(stage, ...index));
  const stages = Object.keys(modules.stages.stages)
    .filter((stage) => numbers[modules.stages.stages[stage].converted_from || stage]);
  const whole = [of("root", 0, 0, 0), ...stages.flatMap(ofStage)];
  const terms = whole.flatMap((place) => {
    const { operation, terms } = origin(inputs, run, place);
    return ["products", "mixed"].includes(operation)
      ? [0, terms.length - 1].map((term) => ({ ...place, term })) : [];
  });
  return [...whole, ...terms].map(told);
}"""


def example_with_mask_and_scale(rng):
    """Return an example with positions, rotation, a scale and any mask, with arbitrary numbers."""
    mask = np.where(rng.random((QUERIES, QUERIES)) < 0.8, rng.normal(size=QUERIES), -np.inf)
    return example_with_positions(rng, mask=mask, is_causal=True, scale=float(rng.normal()))


DRAWS = {
    "any": 8 * [random_example],
    "with places": [example_with_mask_and_scale],
} | {
    f"norm {norm}": [
        lambda rng, norm=norm, name=name: random_block(rng, norm, name)
        for name in 2 * ("relu", "gelu")
    ]
    for norm in ("before", "after", "nowhere")
}


@pytest.mark.parametrize("kind", DRAWS)
def test_every_number_has_the_origin_that_python_gives_it(arithmetic_page, kind):
    rng = np.random.default_rng(SEED + 4)
    examples = [draw(rng) for draw in DRAWS[kind]]
    cases = [port_inputs(worked, 1.0) for worked in examples]
    found = in_browser(arithmetic_page, ORIGINS, cases)
    for worked, told in zip(examples, found, strict=True):
        wanted = all_origins(trace(worked))
        assert {address for address, *_ in told} == wanted.keys()
        for address, *of_one in told:
            assert_origin(address, wanted[address], *of_one)


def all_origins(run):
    """Return the origin of every number of a run by its address, and of the ends of each sum."""
    stages = [name for name, stage in STAGES.items() if stage.array(run) is not None]
    whole = [Place("root"), *(place for stage in stages for place in stage_places(run, stage))]
    whole += [Place.at("percentages", *place.index) for place in stage_places(run, "weights")]
    found = {place: origin(run, place) for place in whole}
    ends = [
        Place.at(place.stage, *place.index, term=term)
        for place, one in found.items()
        if one.operation in ("products", "mixed")
        for term in (0, len(one.terms) - 1)
    ]
    found |= {place: origin(run, place) for place in ends}
    return {str(place): one for place, one in found.items()}


def assert_origin(address, wanted, operation, terms, value, kept):
    """Assert that the browser and Python give the same origin for one number.

    Python's operation gets the browser's operands. Comparing the results of both runs directly
    would be too strict: where terms cancel, the last bit of an operand is a large part of a sum.
    """
    assert operation == wanted.operation, address
    names = [[str(o.place) if o.place else o.name for o in term] for term in wanted.terms]
    assert [[name for name, _ in term] for term in terms] == names, address
    for name in ("d_k", "scale", "mask", "eps"):
        constants = [float(text) for term in terms for given, text in term if given == name]
        assert constants == [o.value for o in wanted.operands if o.name == name], address
    operands = [
        tuple(replace(o, value=float(text)) for o, (_, text) in zip(*both, strict=True))
        for both in zip(wanted.terms, terms, strict=True)
    ]
    value, kept = float(value), float(kept)
    size = max(size_of(operation, terms), abs(kept) if math.isfinite(kept) else 0)
    for result in (kept, replace(wanted, terms=tuple(operands)).evaluate()):
        assert value == result or abs(value - result) <= CLOSE * size + SMALLEST, address


def size_of(operation, terms):
    """Return the sum of the absolute values of the added products."""
    if operation not in ("products", "product", "mixed", "sum", "mean"):
        return 0.0
    size = math.fsum(abs(math.prod(float(value) for _, value in term)) for term in terms)
    return size / len(terms) if operation == "mean" else size
