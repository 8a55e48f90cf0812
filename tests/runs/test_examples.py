"""The book's examples: their runs worked again by loops; and files that are broken."""

from types import SimpleNamespace

import numpy as np
import pytest
from by_loops import stages_by_loops
from helpers import raises

import mha.examples
from mha import example_names, load_example, trace


@pytest.mark.parametrize("name", example_names())
def test_a_run_of_an_example_is_that_of_loops(name):
    run, stages = trace(load_example(name)), stages_by_loops(name)
    for stage in ("query", "key", "value", "scores", "scaled_scores", "exponentials", "row_sums",
                  "weights", "head_outputs", "concat"):  # fmt: skip
        np.testing.assert_allclose(getattr(run, stage), stages[stage], rtol=1e-12, atol=1e-15)
    if "output" not in stages:
        assert run.output is run.head_contributions is None
        return
    for output in (run.output, run.head_contributions.sum(axis=0)):
        np.testing.assert_allclose(output, stages["output"], rtol=1e-12, atol=1e-15)


# Files that are not as they should be


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


def test_a_file_in_the_folder_is_an_example_and_a_broken_one_is_refused_by_name(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(mha.examples, "resources", SimpleNamespace(files=lambda _: tmp_path))
    (tmp_path / "notes.txt").write_text("no example", encoding="utf-8")
    file = tmp_path / "made-up.toml"
    file.write_text(GOOD, encoding="utf-8")
    assert example_names() == ("made-up",)
    np.testing.assert_array_equal(trace(load_example("made-up")).query, [[[14], [32]]])
    for old, new, sentence in (
        ("w_k = [[1], [2], [3]]", "", "'w_k' is missing in a head"),
        ("w_v = [[1], [2], [3]]", "w_v = [[1], [2, 3]]",
         "w_v is ragged; rows of one length are wanted"),
        ("embeddings = ", "query = ",
         "the example has layer, query; embeddings with layer, or query, key and value"
         " are wanted"),
    ):  # fmt: skip
        file.write_text(GOOD.replace(old, new), encoding="utf-8")
        with raises(ValueError, f"mha/examples/made-up.toml: {sentence}"):
            load_example("made-up")
