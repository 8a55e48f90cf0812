"""Addresses and origins in the browser, in a real Chromium, against mha.runs.

Every number of every random run: the port names the same operation and the same operands as
Python, and the operation gives the number that the browser's own run holds.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from helpers import example, random_layer
from ports import (
    CLOSE,
    SMALLEST,
    in_browser,
    inputs_of,
    random_block,
    random_example,
    random_mask,
)
from seeds import SEED

from mha import Place, chain, origin, short, shown, trace
from mha.runs.places import places
from mha.runs.stages import STAGES

pytestmark = pytest.mark.browser

# Every place of a run, by its address as it is read again, with its origin, and the first and last
# term of each sum of products; numbers as texts, for JSON has no minus infinity.
ORIGINS = """(inputs) => {
  const { address, at, of, parse, valueAt } = window.mhaPlaces;
  const { evaluate, origin } = window.mhaOrigins;
  const { chain, shown, short } = window.mhaNumbers;
  const run = window.mhaAttention.trace(inputs);
  const numbers = { ...inputs, ...run };
  const indices = (array) => (Array.isArray(array)
    ? array.flatMap((part, i) => indices(part).map((rest) => [i, ...rest])) : [[]]);
  const told = (place) => {
    const from = origin(inputs, run, place);
    const value = evaluate(from);
    const kept = place.term === null && !["root", "percentages"].includes(place.stage)
      ? valueAt(numbers, place) : value;
    const again = parse(address(place));
    return [address(again), from.operation, from.terms.map((term) => term.map((operand) =>
      [operand.place ? address(operand.place) : operand.name, String(operand.value)])),
      String(value), String(kept), shown(kept), short(kept),
      chain(from.terms.map((term) => term.map((o) => short(o.value)).join("×")).join(" + "),
        shown(kept))];
  };
  const ofStage = (stage) => indices(numbers[window.mhaStages[stage].quotes || stage])
    .map((index) => at(stage, ...index));
  const stages = Object.keys(window.mhaStages)
    .filter((stage) => numbers[window.mhaStages[stage].quotes || stage]);
  const whole = [of("root", 0, 0, 0), ...stages.flatMap(ofStage)];
  const terms = whole.flatMap((place) => {
    const { operation, terms } = origin(inputs, run, place);
    return ["products", "mixed"].includes(operation)
      ? [0, terms.length - 1].map((term) => ({ ...place, term })) : [];
  });
  return [...whole, ...terms].map(told);
}"""


def at_places(rng):
    """Return an example with positions, turns, a scale and any mask, of no whole multiples."""
    return example(
        **dict.fromkeys(("query", "key", "value")),
        tokens=list("abcde"), head_names=["one", "two"],
        embeddings=rng.normal(size=(5, 3)), positions=rng.normal(size=(5, 3)),
        angles=rng.uniform(-9, 9, size=(5, 2)),
        layer=random_layer(rng, heads=2, d_model=3, d_k=4, d_v=7, d_out=11),
        mask=np.where(rng.random((5, 5)) < 0.8, rng.normal(size=5), -np.inf),
        is_causal=True, scale=float(rng.normal()),
    )  # fmt: skip


def shifted(rng):
    """Return an example whose scores are beyond what exponentials are shown without a shift."""
    query = rng.normal(size=(2, 3, 5)) * rng.choice([30.0, 1e3, 1e150])
    parts = {"query": query, "key": rng.normal(size=(2, 3, 5)), "value": rng.normal(size=(2, 3, 7))}
    names = {"tokens": list("abc"), "head_names": ["one", "two"]}
    return example(**parts, **names, mask=random_mask(rng, 3))


def number(text):
    return float(text.replace("Infinity", "inf"))


def size_of(operation, terms):
    """Return the sum of the absolute products that a calculation adds."""
    if operation in ("products", "product", "mixed", "sum"):
        return math.fsum(abs(math.prod(number(value) for _, value in term)) for term in terms)
    values = [number(value) for term in terms for _, value in term]
    if operation == "mean":
        return math.fsum(map(abs, values)) / len(values)
    if operation == "normalised":
        learned = {name.rpartition("_")[2].partition(".")[0]: number(value)
                   for ((name, value),) in terms[3:]}  # fmt: skip
        away = abs(values[0] - values[1]) / values[2]
        return away * abs(learned.get("gain", 1)) + abs(learned.get("bias", 0))
    return 0.0


def all_origins(run):
    """Return the origin of every number of a run by its address, and of the ends of each sum."""
    stages = [name for name, stage in STAGES.items() if stage.array(run) is not None]
    whole = [Place("root"), *(place for stage in stages for place in places(run, stage))]
    whole += [Place.at("percentages", *place.index) for place in places(run, "weights")]
    found = {str(place): (place, origin(run, place)) for place in whole}
    terms = (
        Place.at(place.stage, *place.index, term=term)
        for place, one in found.values()
        if one.operation in ("products", "mixed")
        for term in (0, len(one.terms) - 1)
    )
    ends = {str(place): origin(run, place) for place in terms}
    return {address: one for address, (_, one) in found.items()} | ends


def agrees(origins, told):
    """Assert that what the browser tells of one place is what Python tells of it.

    Python's operation gets the browser's operands: that the runs agree is tested elsewhere, and
    where terms cancel a last bit of an operand is a large part of the result.
    """
    address, operation, terms, value, kept, *texts = told
    wanted = origins[address]
    assert operation == wanted.operation, address
    names = [[str(o.place) if o.place else o.name for o in term] for term in wanted.terms]
    assert [[name for name, _ in term] for term in terms] == names, address
    for name in ("d_k", "scale", "mask", "eps"):
        found = [number(text) for term in terms for given, text in term if given == name]
        assert found == [o.value for o in wanted.operands if o.name == name], address
    value, kept = number(value), number(kept)
    size = max(size_of(operation, terms), abs(kept) if math.isfinite(kept) else 0)
    for result in (kept, replace(wanted, terms=tuple(operands(wanted, terms))).evaluate()):
        assert value == result or abs(value - result) <= CLOSE * size + SMALLEST, address
    line = " + ".join("×".join(short(number(value)) for _, value in term) for term in terms)
    assert texts == [shown(kept), short(kept), chain(line, shown(kept))], address


def operands(wanted, terms):
    """Yield the terms of an origin with the browser's values in place of Python's."""
    for term, told in zip(wanted.terms, terms, strict=True):
        yield tuple(replace(o, value=number(v)) for o, (_, v) in zip(term, told, strict=True))


def compared(page, examples):
    """Compare all origins of examples, and return what was told of each number."""
    runs = [trace(worked) for worked in examples]
    cases = [inputs_of(worked, 1.0) for worked in examples]
    all_told = []
    for run, found in zip(runs, in_browser(page, ORIGINS, cases), strict=True):
        origins = all_origins(run)
        assert {told[0] for told in found} == origins.keys()
        for told in found:
            agrees(origins, told)
        all_told += found
    operations = {told[1] for told in all_told}
    names = {name for told in all_told for term in told[2] for name, _ in term}
    return operations, names


@pytest.mark.parametrize("draw", [random_example, at_places, shifted])
def test_every_number_has_the_origin_that_python_gives_it(arithmetic_page, draw):
    rng = np.random.default_rng(SEED + 4)
    examples = [draw(rng) for _ in range(1 if draw is at_places else 5)]
    operations, names = compared(arithmetic_page, examples)
    computed = {"given", "root", "scaled", "exponential", "sum", "share", "percent", "copy"}
    assert operations == computed | {"products", "product", "mixed"}
    wanted = {shifted: {"mask", "shift"}, at_places: {"mask", "scale", "cos", "sin"}}
    assert names >= wanted.get(draw, {"mask"})


@pytest.mark.parametrize("norm", ["before", "after", "nowhere"])
def test_every_number_of_a_block_has_the_origin_that_python_gives_it(arithmetic_page, norm):
    rng = np.random.default_rng(SEED + 7)
    examples = [random_block(rng, norm, activation) for activation in 2 * ("relu", "gelu")]
    operations, names = compared(arithmetic_page, examples)
    assert operations >= {"relu", "gelu", "products", "sum"}
    assert (operations >= {"mean", "spread", "normalised"}) == (norm != "nowhere")
    learned = {"first_gain", "first_bias", "second_gain", "second_bias"}
    rows = {name.split(".")[0] for name in names}
    assert rows >= {"b_in", "b_out", *(() if norm == "nowhere" else learned)}
