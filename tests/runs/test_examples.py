"""The book's examples: what their files say, worked again by loops; and files that are broken."""

import tomllib
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pytest
from by_loops import stages_by_loops
from helpers import raises

import mha.examples
from mha import example_names, load_example, trace


@pytest.mark.parametrize("name", example_names())
def test_an_example_is_what_its_file_says(name):
    example = load_example(name)
    data = tomllib.loads((resources.files(mha.examples) / f"{name}.toml").read_text("utf-8"))
    assert (example.title, example.source) == (data["title"], data["source"])
    assert list(example.tokens) == data["tokens"]
    assert len(example.readings) == len(data.get("readings", []))
    if "heads" not in data:
        assert list(example.head_names) == data["head_names"]
        for part in ("query", "key", "value"):
            np.testing.assert_array_equal(getattr(example, part)[0], data[part])
        return
    assert list(example.head_names) == [head["name"] for head in data["heads"]]
    np.testing.assert_array_equal(example.embeddings, data["embeddings"])
    for matrix in ("w_q", "w_k", "w_v"):
        wanted = [head[matrix] for head in data["heads"]]
        np.testing.assert_array_equal(getattr(example.layer, matrix), wanted)


@pytest.mark.parametrize("name", example_names())
def test_a_run_is_that_of_loops(name):
    record, stages = trace(load_example(name)), stages_by_loops(name)
    np.testing.assert_allclose(record.weights, stages["weights"], rtol=1e-13)
    before = ("query", "key", "value", "scores", "scaled_scores", "exponentials", "row_sums")
    for stage in (*before, "head_outputs", "concat"):
        np.testing.assert_allclose(getattr(record, stage), stages[stage], rtol=1e-12, atol=1e-15)
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
