"""Sheets: each number agrees with its origin, and plans agree with the plain functions."""

import numpy as np
import pytest

import mha
from mha.core.int8 import EightBits
from mha.core.latent import LatentWeights, latent_attention
from mha.core.linear_attention import linear_attention, linear_recurrence
from mha.core.score_variants import capped_scores, gated, softmax_with_sink, top_keys_mask
from mha.runs.attention_variants import (
    SWITCHES,
    attention_plan,
    evaluate_plan,
    latent_computation,
    latent_plan,
    linear_computation,
)

N, D_K, D_V = 5, 4, 3


def tables(rng):
    return {
        "query": rng.normal(size=(N, D_K)), "key": rng.normal(size=(N, D_K)),
        "value": rng.normal(size=(N, D_V)), "angles": mha.rotary_angles(np.arange(N), D_K),
        "causal": np.tri(N), "window": np.tri(N) - np.tri(N, k=-3),
        "gate": rng.normal(size=(N, D_V)), "decay": rng.uniform(0.3, 1, size=(N, 1)),
        "other_key": rng.normal(size=(N, D_K)), "other_value": rng.normal(size=(N, D_V)),
        "down": rng.normal(size=(D_K + D_V, 2)), "up_key": rng.normal(size=(2, D_K)),
        "up_value": rng.normal(size=(2, D_V)),
    }  # fmt: skip


def assert_origins_agree(computation):
    for name, step in computation.steps.items():
        for row, column in np.ndindex(step.array.shape):
            found = computation.origin(name, row, column)
            kept = step.array[row, column]
            np.testing.assert_allclose(found.evaluate(), kept, rtol=1e-12, atol=1e-14)
            if step.operation != "given":
                assert str(mha.arithmetic(computation, name, row, column))


def test_a_plan_does_what_the_functions_do(rng):
    given = tables(rng)
    q, k, v = (given[name] for name in ("query", "key", "value"))
    causal = np.where(np.tri(N, dtype=bool), 0, -np.inf)
    scaled = q @ k.T / np.sqrt(D_K)

    def attended(query=q, key=k, value=v, **options):
        return mha.scaled_dot_product_attention(query, key, value, **options or {"is_causal": True})

    latent = np.hstack([k, v]) @ given["down"]
    decay = given["decay"][:, 0]
    wanted = {
        (): attended(),
        ("groups",): attended(q, (k + given["other_key"]) / 2, (v + given["other_value"]) / 2),
        ("latent",): attended(q, latent @ given["up_key"], latent @ given["up_value"]),
        ("decay",): linear_attention(q, k, v, decay=decay),
        ("decay", "cap", "window", "top", "sink"): linear_attention(q, k, v, decay=decay),
        ("cap",): mha.softmax(capped_scores(scaled, 1.5) + causal) @ v,
        ("sink",): softmax_with_sink(scaled + causal, 0.5) @ v,
        ("gate",): gated(attended(), given["gate"]),
        ("window",): attended(mask=given["window"].astype(bool)),
        ("top",): attended(mask=top_keys_mask(scaled + causal, 2)),
        ("turn", "stretch"): attended(*(mha.rotate_by(x, given["angles"] / 4) for x in (q, k))),
        ("eight",): attended(q, *(EightBits.of(x).numbers for x in (k, v))),
        ("norm",): attended(*(x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) for x in (q, k))),
    }
    for on, array in wanted.items():
        computation, roles = evaluate_plan(attention_plan(D_K, cap=1.5, sink=0.5), given, on)
        np.testing.assert_allclose(computation[roles["output"]], array, err_msg=str(on))
        assert_origins_agree(computation)
    assert_origins_agree(evaluate_plan(attention_plan(D_K), given, SWITCHES)[0])


def test_both_forms_of_latent_attention_in_a_plan(rng):
    sizes = {"x": (N, 6), "w_q": (6, D_K), "w_dkv": (6, 3), "w_uk": (3, D_K), "w_uv": (3, D_V)}
    given = {name: rng.normal(size=size) for name, size in sizes.items()} | {"causal": np.tri(N)}
    computation, _ = evaluate_plan(latent_plan(D_K), given)
    latent = given["x"] @ given["w_dkv"]
    wanted = mha.scaled_dot_product_attention(
        given["x"] @ given["w_q"], latent @ given["w_uk"], latent @ given["w_uv"], is_causal=True
    )
    for form in ("", "absorbed_"):
        np.testing.assert_allclose(computation[f"{form}output"], wanted, rtol=1e-10, atol=1e-12)
    assert_origins_agree(computation)


@pytest.mark.parametrize("absorbed", [False, True])
def test_latent_attention_on_a_sheet(rng, absorbed):
    d_model, d_c, d_r = 7, 3, 2
    w = {
        "w_dkv": (d_model, d_c), "w_uk": (1, d_c, D_K), "w_uv": (1, d_c, D_V),
        "w_kr": (d_model, d_r), "w_uq": (1, d_model, D_K), "w_qr": (1, d_model, d_r),
    }  # fmt: skip
    layer = LatentWeights(**{n: rng.normal(size=s) for n, s in w.items()}, w_o=np.eye(D_V))
    x, angles = rng.normal(size=(N, d_model)), mha.rotary_angles(np.arange(N), d_r)
    computation = latent_computation(x, layer, angles, absorbed=absorbed)
    run = latent_attention(x, layer, angles=angles, absorbed=absorbed)
    np.testing.assert_allclose(computation["output"], run.output, rtol=1e-10)
    assert_origins_agree(computation)


def test_linear_attention_on_a_sheet(rng):
    q, k, v = (tables(rng)[name] for name in ("query", "key", "value"))
    decay = rng.uniform(0.3, 1, size=N)
    computation = linear_computation(q, k, v, decay)
    outputs, states = linear_recurrence(q, k, v, decay=decay)
    at_once = linear_attention(q, k, v, decay=decay)
    for t in range(N):
        np.testing.assert_allclose(states[t], computation[f"state {t + 1}"], rtol=1e-12)
        for found in (outputs[t], at_once[t]):
            np.testing.assert_allclose(
                found, computation[f"output {t + 1}"][0], rtol=1e-9, atol=1e-12
            )
    assert_origins_agree(computation)
