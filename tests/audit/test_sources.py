"""The transcription of the five documents is complete, and its inputs are the examples'."""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers import raises

from mha import example_names, load_example
from mha.audit.sources import KINDS, TITLES, load_source

TOKENS = Path(__file__).parent / "source_tokens"


def listed_tokens(name):
    """Return the numbers of a document by line, as the second extraction lists them."""
    lines = (TOKENS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    split = (line.split(": ") for line in lines)
    return {int(line): tokens.split(" ") for line, tokens in split}


def transcribed_tokens(name):
    """Return the numbers of a document by line, as the transcription has them."""
    lines = {}
    for number in load_source(name):
        lines.setdefault(number.line, []).append(number.printed)
    return lines


@pytest.mark.parametrize("name", TITLES)
def test_every_number_of_every_line_is_accounted_for(name):
    listed, transcribed = listed_tokens(name), transcribed_tokens(name)
    assert transcribed == listed
    assert list(transcribed) == sorted(transcribed)


def inputs_of(name):
    """Return every number that a worked example starts from, by its stage and index."""
    example = load_example(name)
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


@pytest.mark.parametrize("name", TITLES)
def test_inputs_are_those_of_the_worked_examples(name):
    inputs = [n for n in load_source(name) if n.kind == "input"]
    assert inputs
    for number in inputs:
        wanted = inputs_of(number.example)[number.place.stage, number.place.index]
        drawn = number.place.stage == "weights"  # to the printed places only
        assert abs(wanted - number.meant) <= (number.half_unit if drawn else 1e-15), number


@pytest.mark.parametrize(
    "example", [name for name in example_names() if load_example(name).source in TITLES.values()]
)
def test_every_input_of_an_example_stands_in_its_document(example):
    numbers = (number for name in TITLES for number in load_source(name))
    inputs = (n for n in numbers if n.kind == "input" and n.example == example)
    assert {(n.place.stage, n.place.index) for n in inputs} == inputs_of(example).keys()


def test_damaged_print_keeps_both_readings_and_the_reason():
    damaged = [n for name in TITLES for n in load_source(name) if n.intended]
    assert [(n.line, n.printed, n.intended) for n in damaged] == [
        (157, "0.80", "0.0"),
        (387, "0", "1"),
        (387, "1", "0"),
        (557, "1.80", "1.30"),
        (557, "1.80", "1.30"),
        (593, "1.36", "1.30"),
    ]
    assert all(n.reason for n in damaged)
    assert [n.meant for n in damaged] == [float(n.intended) for n in damaged]


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"kind": "sum"}, f"kind is 'sum'; one of {', '.join(KINDS)} is wanted"),
        (
            {"kind": "derived", "example": "apple"},
            "a derived has example 'apple' and place ''; numbers that take part in a calculation"
            " have both, others neither",
        ),
        (
            {"kind": "copy", "example": "apple", "place": "root 3"},
            "place is 'root 3'; an address such as scores.0.1.2 is wanted",
        ),
    ],
)
def test_a_bad_record_is_named_with_its_file(record, sentence, monkeypatch, tmp_path):
    records = [{"line": 3, "printed": "7", **record}]
    (tmp_path / "mha-tutorial.json").write_text(json.dumps(records), encoding="utf-8")
    monkeypatch.setattr("mha.audit.sources.resources.files", lambda package: tmp_path)
    with raises(ValueError, f"mha/audit/sources/mha-tutorial.json: {sentence}"):
        load_source.__wrapped__("mha-tutorial")
