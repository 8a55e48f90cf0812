"""The transcription of the five documents is complete, and its inputs are the examples'."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from helpers import raises

from mha import example_names, load_example
from mha.audit.sources import (
    KINDS,
    TITLES,
    Quantity,
    load_source,
    parse_quantity,
    source_names,
)

TOKENS = Path(__file__).parent / "source_tokens"
CALCULATING = ("derived", "input", "copy")

# What each document is made of, by kind; see `KINDS`.
COUNTS = {
    "aiayn-part-2": {
        "copy": 82,
        "derived": 28,
        "formula": 6,
        "illustration": 1,
        "input": 20,
        "label": 15,
        "shape": 2,
        "size": 1,
    },
    "apple-walkthrough": {
        "claim": 4,
        "copy": 610,
        "derived": 629,
        "input": 168,
        "label": 263,
        "shape": 30,
    },
    "attention-notes": {
        "claim": 3,
        "copy": 237,
        "damage": 1,
        "derived": 239,
        "illustration": 3,
        "input": 103,
        "label": 117,
        "shape": 29,
        "size": 26,
    },
    "back-to-cats-slides": {"copy": 188, "derived": 133, "input": 64, "label": 14},
    "mha-tutorial": {
        "claim": 6,
        "copy": 1,
        "derived": 2,
        "illustration": 12,
        "input": 3,
        "label": 168,
        "shape": 146,
        "size": 29,
    },
}


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


@pytest.mark.parametrize("name", TITLES)
def test_counts_by_kind(name):
    counts = Counter(number.kind for number in load_source(name))
    assert counts == COUNTS[name]
    assert counts.total() == sum(map(len, listed_tokens(name).values()))


def test_every_kind_is_used():
    assert {n.kind for name in TITLES for n in load_source(name)} == set(KINDS)


@pytest.mark.parametrize("name", TITLES)
def test_numbers_that_take_part_in_a_calculation_say_what_they_are(name):
    for number in load_source(name):
        assert (number.quantity is not None) == (number.kind in CALCULATING)
        if number.quantity:
            assert number.quantity.example in example_names()
            assert parse_quantity(str(number.quantity)) == number.quantity


def given(example, quantity):
    """Return an input of an example."""
    if quantity.stage == "embeddings":
        return example.embeddings[quantity.place]
    if quantity.stage.startswith("w_"):
        return getattr(example.layer, quantity.stage)[quantity.place]
    if quantity.stage == "weights":
        return example.target_weights[quantity.place]
    return getattr(example, quantity.stage)[quantity.place]


@pytest.mark.parametrize("name", TITLES)
def test_inputs_are_those_of_the_worked_examples(name):
    inputs = [n for n in load_source(name) if n.kind == "input"]
    assert inputs
    for number in inputs:
        example = load_example(number.quantity.example)
        drawn = number.quantity.stage == "weights"  # to the printed places only
        allowed = number.half_unit if drawn else 1e-15
        assert abs(given(example, number.quantity) - number.meant) <= allowed, number


@pytest.mark.parametrize(
    "example", [name for name in example_names() if load_example(name).source in TITLES.values()]
)
def test_every_input_of_an_example_stands_in_its_document(example):
    loaded = load_example(example)
    arrays = {
        "embeddings": loaded.embeddings,
        "query": loaded.query,
        "key": loaded.key,
        "value": loaded.value,
    }
    if loaded.layer is not None:
        arrays |= {w: getattr(loaded.layer, w) for w in ("w_q", "w_k", "w_v", "w_o")}
    wanted = {
        (stage, place)
        for stage, array in arrays.items()
        if array is not None
        for place in np.ndindex(array.shape)
    }
    found = {
        (n.quantity.stage, n.quantity.place)
        for name in TITLES
        for n in load_source(name)
        if n.kind == "input" and n.quantity.example == example
    }
    assert found == wanted


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


def test_a_copy_repeats_an_earlier_number():
    for name in TITLES:
        known = {}
        for number in load_source(name):
            if number.kind == "copy" and number.quantity in known:
                half_unit, value = known[number.quantity]
                wanted = max(half_unit, number.half_unit) + 1e-9
                assert abs(number.meant - value) <= wanted, number
            if number.quantity:
                known[number.quantity] = number.half_unit, number.meant


def test_a_number_knows_its_precision():
    printed = {n.printed: n.half_unit for n in load_source("apple-walkthrough")}
    assert printed["0.81"] == pytest.approx(0.005)
    assert printed["19.945"] == pytest.approx(0.0005)
    assert printed["5"] == pytest.approx(0.5)


def test_names_of_quantities():
    quantity = Quantity("apple", "query", (("head", 0), ("row", 2), ("column", 1)), 3)
    assert str(quantity) == "apple query head=0 row=2 column=1 term=3"
    assert quantity.kind == "products"
    assert Quantity("apple", "head_outputs", quantity.index, 3).kind == "weighted values"
    assert Quantity("apple", "weights", quantity.index).kind == "weights"
    wanted = "quantity is 'apple'; example, stage and places such as 'head=0' are wanted"
    with raises(ValueError, wanted):
        parse_quantity("apple")


def test_an_unknown_document():
    wanted = f"name is 'nope'; one of {', '.join(source_names())} is wanted"
    with raises(ValueError, wanted):
        load_source("nope")
