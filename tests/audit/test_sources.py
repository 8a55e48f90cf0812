"""The transcription of the documents: complete, with the examples' inputs, and by valid rules."""

import hashlib
import json

import numpy as np
import pytest
from helpers import raises

from mha import example_names, load_example
from mha.audit.judging import judgements
from mha.audit.sources import KINDS, TITLES, load_source, numbers_from

# The documents are not in the repository, so nothing can be transcribed again. For each there are
# the number of its numbers, and the digests of the numbers and of the verdicts on them. A digest
# that changes is a changed number or another verdict: both belong into the chapter on the sources.
FROZEN = {
    "aiayn-part-2": (155, "9bc33b1d107f46d5", 28, "1f08e1d49f8f591d"),
    "apple-walkthrough": (1704, "bb7d55e6b61521e3", 629, "6fa8d3d7836caeaa"),
    "attention-notes": (758, "cdc5d4883d98ebb3", 239, "9bb34f727bc697f3"),
    "back-to-cats-slides": (399, "1e48e1dcc2215519", 133, "0da2f4ffe4b7268a"),
    "mha-tutorial": (367, "b5123cad14cbac0b", 2, "181de5eb4f4681e4"),
}


def digest(lines):
    return hashlib.sha256("\n".join(map(repr, lines)).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", TITLES)
def test_the_transcription_and_its_verdicts_are_unchanged(name):
    numbers = load_source(name)
    data = [
        (n.line, n.printed, n.kind, n.example, n.place and str(n.place), n.restates, n.intended)
        for n in numbers
    ]
    verdicts = [
        (j.agrees_end_to_end, j.agrees_locally, j.slip, j.starts_chain) for j in judgements(name)
    ]
    assert (len(numbers), digest(data), len(verdicts), digest(verdicts)) == FROZEN[name]
    assert all(n.reason or not n.intended for n in numbers)


def inputs_of(example):
    """Return every input of a worked example, by its stage and index."""
    arrays = {stage: getattr(example, stage) for stage in ("embeddings", "query", "key", "value")}
    if example.layer is not None:
        arrays |= {stage: getattr(example.layer, stage) for stage in ("w_q", "w_k", "w_v", "w_o")}
    arrays["weights"] = example.target_weights
    return {
        (stage, index): value
        for stage, array in arrays.items()
        if array is not None
        for index, value in np.ndenumerate(array)
    }


@pytest.mark.parametrize("name", example_names())
def test_the_inputs_of_an_example_and_of_its_document_are_the_same(name):
    example = load_example(name)
    numbers = (number for source in TITLES for number in load_source(source))
    inputs = [n for n in numbers if n.kind == "input" and n.example == name]
    wanted = inputs_of(example)
    stand = {(n.place.stage, n.place.index) for n in inputs}
    assert stand <= wanted.keys()
    assert stand == wanted.keys() or example.source not in TITLES.values()
    for number in inputs:
        is_drawn = number.place.stage == "weights"  # to the printed places only
        off = abs(wanted[number.place.stage, number.place.index] - number.meant)
        assert off <= (number.half_unit if is_drawn else 1e-15), number


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"kind": "sum"}, f"kind is 'sum'; one of {', '.join(KINDS)} is wanted"),
        ({"kind": "derived", "example": "apple"},
         "a derived has example 'apple' and place ''; numbers that take part in a calculation"
         " have both, others neither"),
        ({"kind": "copy", "example": "apple", "place": "root 3"},
         "place is 'root 3'; an address such as scores.0.1.2 is wanted"),
    ],
)  # fmt: skip
def test_a_bad_record_is_named_with_its_file(record, sentence):
    text = json.dumps([{"line": 3, "printed": "7", **record}])
    with raises(ValueError, f"mha/audit/sources/mha-tutorial.json: {sentence}"):
        numbers_from("mha-tutorial", text)
