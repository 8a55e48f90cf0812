"""The book's examples, worked again from their files with rational numbers.

Everything before the exponential is exact: each float64 value must be the nearest one to the
exact number, or within a few units in its last place.
"""

import tomllib
from fractions import Fraction
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pytest
from by_loops import stages_by_loops
from helpers import raises

import mha.examples
from mha import example_names, load_example, trace

ULP = Fraction(1, 2**52)


def data_of(name):
    """Return what an example's file says, its decimals as exact fractions."""
    text = (resources.files(mha.examples) / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text, parse_float=Fraction)


def fractions(matrix):
    return [[Fraction(x) for x in row] for row in matrix]


def sizes(matrix):
    """Return a matrix without its signs: sums of its products bound what rounding can do."""
    return [[abs(Fraction(x)) for x in row] for row in matrix]


def product(left, right):
    """Return the exact product of two matrices of fractions."""
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in left]


def exact_stages(name, read=fractions):
    """Return query, key, value and scores a head, exactly as the file's decimals give them."""
    data = data_of(name)
    parts = ("query", "key", "value")
    if "heads" in data:
        x = read(data["embeddings"])
        stages = {
            part: [product(x, read(head[f"w_{part[0]}"])) for head in data["heads"]]
            for part in parts
        }
    else:
        stages = {part: [read(data[part])] for part in parts}
    pairs = zip(stages["query"], stages["key"], strict=True)
    scores = [product(query, list(zip(*key, strict=True))) for query, key in pairs]
    return stages | {"scores": scores}


def close_to(array, exact, bound, ulps=16):
    """Compare every number as a fraction, to a few units in the last place of its terms."""
    exact, bound = np.array(exact, dtype=object), np.array(bound, dtype=object)
    assert array.shape == exact.shape
    numbers = zip(array.ravel().tolist(), exact.ravel(), bound.ravel(), strict=True)
    for computed, wanted, size in numbers:
        assert abs(Fraction(computed) - wanted) <= ulps * ULP * size


@pytest.mark.parametrize("name", example_names())
def test_every_example_runs(name):
    example, data = load_example(name), data_of(name)
    record = trace(example)
    assert (example.name, example.title) == (name, data["title"])
    assert (example.source, list(example.tokens)) == (data["source"], data["tokens"])
    heads = data["head_names"] if "heads" not in data else [h["name"] for h in data["heads"]]
    assert list(record.head_names) == heads
    assert len(example.readings) == len(data.get("readings", []))


@pytest.mark.parametrize("name", example_names())
def test_query_key_value_and_scores_from_the_file(name):
    record = trace(load_example(name))
    bounds = exact_stages(name, sizes)
    for stage, exact in exact_stages(name).items():
        close_to(getattr(record, stage), exact, bounds[stage])


@pytest.mark.parametrize("name", example_names())
def test_what_follows_the_scores_is_that_of_loops(name):
    record, stages = trace(load_example(name)), stages_by_loops(name)
    np.testing.assert_allclose(record.weights, stages["weights"], rtol=1e-13)
    for stage in ("scaled_scores", "exponentials", "row_sums", "head_outputs"):
        np.testing.assert_allclose(getattr(record, stage), stages[stage], rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(record.concat, np.hstack(list(record.head_outputs)))
    if "output" not in stages:
        assert record.output is record.head_contributions is None
        return
    np.testing.assert_allclose(record.output, stages["output"], rtol=1e-12, atol=1e-15)
    shares = record.head_contributions.sum(axis=0)
    np.testing.assert_allclose(shares, record.output, rtol=1e-12, atol=1e-15)


# Files that are not as they should be


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Let examples be read from a folder of the test's own."""
    monkeypatch.setattr(mha.examples, "resources", SimpleNamespace(files=lambda _: tmp_path))
    return tmp_path


GOOD = """
title = "Made up"
source = "this test"
tokens = ["a", "b"]
embeddings = [[1, 2, 3], [4, 5, 6]]
[[heads]]
name = "only"
w_q = [[1], [2], [3]]
w_k = [[1], [2], [3]]
w_v = [[1], [2], [3]]
"""


def test_a_file_in_the_folder_is_an_example(folder):
    (folder / "made-up.toml").write_text(GOOD, encoding="utf-8")
    (folder / "notes.txt").write_text("no example", encoding="utf-8")
    assert example_names() == ("made-up",)
    record = trace(load_example("made-up"))
    np.testing.assert_array_equal(record.query, [[[14], [32]]])
    assert record.output is None


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("w_k = [[1], [2], [3]]", "", "'w_k' is missing in a head"),
        (
            "w_v = [[1], [2], [3]]",
            "w_v = [[1], [2, 3]]",
            "w_v is ragged; rows of one length are wanted",
        ),
        (
            "embeddings = ",
            "query = ",
            "the example has layer, query; embeddings with layer, or query, key and value"
            " are wanted",
        ),
    ],
)
def test_a_broken_file_is_refused_by_name(folder, old, new, sentence):
    (folder / "broken.toml").write_text(GOOD.replace(old, new), encoding="utf-8")
    with raises(ValueError, f"mha/examples/broken.toml: {sentence}"):
        load_example("broken")
