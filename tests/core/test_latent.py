"""Latent attention: both forms agree, and equal heads of plain attention with the same keys."""

import numpy as np
import pytest

from mha import LatentWeights, latent_attention, rotary_angles, scaled_dot_product_attention

HEADS, D_MODEL, D_C, D_K, D_R, D_V, D_Q, D_OUT, N = 3, 11, 5, 7, 4, 2, 13, 17, 6


def layer(rng, **others):
    def drawn(*shape):
        return rng.normal(size=shape)

    matrices = {
        "w_dkv": drawn(D_MODEL, D_C), "w_uk": drawn(HEADS, D_C, D_K),
        "w_uv": drawn(HEADS, D_C, D_V),
        "w_kr": drawn(D_MODEL, D_R), "w_uq": drawn(HEADS, D_Q, D_K), "w_qr": drawn(HEADS, D_Q, D_R),
        "w_o": drawn(HEADS * D_V, D_OUT), "w_dq": drawn(D_MODEL, D_Q),
    }  # fmt: skip
    return matrices | others


@pytest.mark.parametrize("has_norms", [False, True])
@pytest.mark.parametrize("is_causal", [False, True])
def test_the_absorbed_form_gives_the_same(rng, has_norms, is_causal):
    gains = {"gain": rng.normal(size=D_C), "query_gain": rng.normal(size=D_Q)} if has_norms else {}
    weights = LatentWeights(**layer(rng, **gains))
    x, angles = rng.normal(size=(N, D_MODEL)), rotary_angles(np.arange(N), D_R)
    plain, absorbed = (
        latent_attention(x, weights, angles=angles, is_causal=is_causal, absorbed=form)
        for form in (False, True)
    )
    np.testing.assert_allclose(absorbed.output, plain.output, rtol=1e-10)
    assert plain.output.shape == (N, D_OUT)
    assert absorbed.key is absorbed.value is plain.mixed is None
    assert weights.kept == D_C + D_R
    assert weights.cache_bytes(N, itemsize=2) == 2 * N * 9
    alone = scaled_dot_product_attention(
        np.concatenate([plain.query, plain.turned_query], axis=-1),
        np.concatenate([plain.key, np.broadcast_to(plain.turned_key, (HEADS, N, D_R))], axis=-1),
        plain.value, is_causal=is_causal,
    )  # fmt: skip
    np.testing.assert_allclose(plain.head_outputs, alone, rtol=1e-12)
