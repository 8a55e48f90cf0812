"""The arithmetic in the browser, in a real Chromium, against the package."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import QUERIES, example, projected, with_places
from ports import CLOSE, in_browser, infinite, inputs_of, near, random_block, random_example
from seeds import SEED

from mha import MultiHeadWeights, trace
from mha.core.checks import as_scale
from mha.runs.stages import STAGES

pytestmark = pytest.mark.browser

TRACE = "(c) => window.mhaAttention.trace(c)"


def test_whole_runs_agree_with_the_package_on_random_examples(arithmetic_page):
    rng = np.random.default_rng(SEED + 1)
    cases, runs = [], []
    for _ in range(600):
        worked = random_example(rng)
        temperature = float(rng.choice([1.0, 0.5, 4.0, 1e-3, 1e3]))
        start = worked.query if worked.layer is None else worked.layer.w_q
        scale = as_scale(worked.scale, start.shape[-1]) / temperature
        runs.append(trace(replace(worked, scale=scale)))
        cases.append(inputs_of(worked, temperature))
    found = in_browser(arithmetic_page, TRACE, cases)
    for result, run in zip(found, runs, strict=True):
        for stage in ("query", "key", "value", "scores"):
            assert np.array_equal(result[stage], getattr(run, stage)), stage
        for stage in ("mask", "scaled_scores"):
            assert np.array_equal([infinite(head) for head in result[stage]], getattr(run, stage))
        for stage in ("exponentials", "row_sums", "weights"):
            near(result[stage], getattr(run, stage), getattr(run, stage))
        mixed = run.weights @ np.abs(run.value)
        near(result["head_outputs"], run.head_outputs, mixed)
        near(result["concat"], run.concat, np.concatenate(list(mixed), axis=1))
        if run.output is None:
            assert "output" not in result
            continue
        sizes = np.abs(run.example.layer.w_o).reshape(run.num_heads, -1, run.output.shape[1])
        shares = mixed @ sizes
        near(result["head_contributions"], run.head_contributions, shares)
        near(result["output"], run.output, shares.sum(axis=0))


def test_runs_with_positions_and_turns_agree_end_to_end(arithmetic_page):
    rng = np.random.default_rng(SEED + 3)
    runs = [trace(with_places(rng, is_causal=bool(i % 2))) for i in range(30)]
    cases = [inputs_of(run.example, 1.0) for run in runs]
    found = in_browser(arithmetic_page, TRACE, cases)
    for result, run in zip(found, runs, strict=True):
        assert np.array_equal(result["placed"], run.placed)
        sizes = np.abs(run.placed).max() * np.abs(run.example.layer.w_q).sum()
        for stage in ("turned_query", "turned_key"):
            near(result[stage], getattr(run, stage), sizes)
        near(result["scores"], run.scores, np.abs(run.scores).max())
        near(result["weights"], run.weights, 10 * run.weights)


ONE = {"tokens": ["a"], "head_names": ["h"], "query": [[1e100]], "key": [[1e200]],
       "value": [[1.0]], "scale": 1.0}  # fmt: skip
TOO_LARGE = {
    "scores": {"query": [[1e200]]},
    "scale": {"scale": 1e200},
    "mask": {"mask": np.array([[1.7e308]]), "query": [[1e108]]},
    "output": {
        **dict.fromkeys(("query", "key", "value")),
        "embeddings": [[1.0]],
        "layer": MultiHeadWeights([[[0.0]]], [[[1e200]]], [[[1.7e308]]], [[2.0]]),
    },
}


@pytest.mark.parametrize("what", TOO_LARGE)
def test_the_port_refuses_what_the_package_refuses(arithmetic_page, what):
    worked = example(**ONE | TOO_LARGE[what])
    with pytest.raises(ValueError, match=r"overflow|finite"):
        trace(worked)
    caught = "(c) => { try { return mhaAttention.trace(c); } catch (error) { return error.name; } }"
    assert in_browser(arithmetic_page, caught, [inputs_of(worked, 1.0)]) == ["RangeError"]


@pytest.mark.parametrize("norm", ["before", "after", "nowhere"])
def test_runs_of_blocks_agree_end_to_end(arithmetic_page, norm):
    rng = np.random.default_rng(SEED + 5)
    runs = [trace(random_block(rng, norm, name)) for name in 30 * ("relu", "gelu")]
    cases = [inputs_of(run.example, 1.0) for run in runs]
    found = in_browser(arithmetic_page, TRACE, cases)
    ends = set()
    for result, run in zip(found, runs, strict=True):
        around = [name for name, kind in STAGES.items() if kind.in_block and not kind.is_matrix]
        there = [name for name in around if getattr(run, name) is not None]
        assert set(there) == set(around) & set(result)
        for stage in (*there, "query", "value", "concat", "output"):
            wanted = getattr(run, stage)
            near(result[stage], wanted, 100 * np.abs(wanted).max())
        ends.add(run.end)
    after = "_normed" if norm == "after" else ""
    assert ends == {f"stream{after}", f"total{after}"}


def test_a_head_that_is_off_leaves_zeros_and_a_key_that_is_padding_gets_no_weight(
    arithmetic_page, rng
):
    run = trace(projected(rng))
    allowed = np.ones(QUERIES, bool)
    allowed[1] = False
    case = inputs_of(run.example, 1.0)
    case |= {"headOff": [False, True, False], "keyAllowed": allowed.tolist()}
    (found,) = in_browser(arithmetic_page, TRACE, [case])
    wanted = trace(replace(run.example, mask=np.broadcast_to(allowed, (QUERIES, QUERIES))))
    near(found["weights"], wanted.weights, wanted.weights)
    width = run.value.shape[-1]
    concat = wanted.concat.copy()
    concat[:, width : 2 * width] = 0
    for name, array in (
        ("concat", concat),
        ("output", concat @ run.example.layer.w_o),
        ("head_contributions", wanted.head_contributions),
    ):
        np.testing.assert_allclose(found[name], array, rtol=CLOSE, atol=CLOSE, err_msg=name)
