"""The book's examples: their runs agree with loops, and broken files are refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import raises
from loop_oracle import stages_by_loops

import mha.examples
from mha import example_names, load_example, trace
from mha.examples import ExampleError, example_from


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


# ---- Files that are not as they should be ----


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
        ("w_k = [[1], [2], [3]]", "", "[[heads]] number 1 has no 'w_k'"),
        ("w_k = ", "w_kk = ", "[[heads]] number 1 has an unknown key 'w_kk'; did you mean 'w_k'?"),
        ("tokens = ", "tokns = ", "the file has an unknown key 'tokns'; did you mean 'tokens'?"),
        ("tokens = ", "xyz = ", "the file has an unknown key 'xyz'; its keys are angles,"
         " embeddings, focus, head_names, heads, is_causal, key, keys_at_once, mask, positions,"
         " query, readings, scale, shows, source, target_weights, title, tokens, unembedding,"
         " value, vocabulary, w_o"),
        (GOOD, "", "the file has no 'title'"),
        (GOOD[GOOD.index("[[heads]]"):], "",
         "the file has neither [[heads]] nor query, key and value"),
        ("[[heads]]", "[heads]", "'heads' must be written as [[heads]] tables"),
        ("[[heads]]", 'head_names = ["only"]\n[[heads]]',
         "'head_names' is given, but each of [[heads]] has a name"),
        ("w_v = [[1], [2], [3]]", "w_v = [[1], [2, 3]]",
         "w_v is ragged; rows of one length are wanted"),
        ("embeddings = ", "query = ",
         "the example has layer, query; embeddings with layer, or query, key and value"
         " are wanted"),
    ):  # fmt: skip
        file.write_text(GOOD.replace(old, new), encoding="utf-8")
        with raises(ValueError, f"mha/examples/made-up.toml: {sentence}"):
            load_example("made-up")


@pytest.mark.parametrize("line", ["w_o = [[1]]", "focus = 1", "is_causal = true"])
def test_a_key_of_the_example_below_a_head_is_refused(line):
    key = line.partition(" ")[0]
    with raises(
        ExampleError,
        f"mha/examples/made-up.toml: [[heads]] number 1 has an unknown key '{key}'; it belongs to"
        " the whole example, above the first [[heads]]",
    ):
        example_from("made-up", f"{GOOD}{line}\n")


@pytest.mark.parametrize("key", ["b_q", "W_Q", "wq", "mask_"])
def test_no_misspelt_key_of_a_head_is_dropped(key):
    with pytest.raises(ExampleError, match=f"number 1 has an unknown key '{key}'"):
        example_from("made-up", f"{GOOD}{key} = [[1]]\n")
