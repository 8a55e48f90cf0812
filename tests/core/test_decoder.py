"""Decoders compute as loops over heads and positions do, with a cache and without."""

import cmath
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers import raises

from mha.core.decoder import Decoder, draw_decoder
from mha.core.decoder_steps import CachedSteps
from mha.core.decoder_weights import DecoderLayer

LAYERS, HEADS, GROUPS, D_K, D_FF, WIDTH, WORDS = 3, 6, 2, 4, 11, 13, 17
IDS = (5, 0, 16, 2, 2, 7, 11)
SIZES = {
    "num_layers": LAYERS,
    "num_heads": HEADS,
    "num_groups": GROUPS,
    "d_k": D_K,
    "d_ff": D_FF,
    "d_model": WIDTH,
}


@pytest.fixture
def model(rng):
    unembedding = rng.normal(size=(WIDTH, WORDS)) / 2
    drawn = draw_decoder(rng, WORDS, **SIZES)
    return replace(drawn, base=50.0, eps=1e-3, unembedding=unembedding)


# ---- The computation, by loops ----


def normed_by_loops(row, gain, eps):
    root = math.sqrt(sum(x * x for x in row) / len(row) + eps)
    return [x / root * g for x, g in zip(row, gain, strict=True)]


def product(row, matrix):
    return [sum(x * w for x, w in zip(row, column, strict=True)) for column in matrix.T.tolist()]


def turned(row, position, base):
    """Return a query or key with each pair of components rotated, as complex numbers."""
    found = []
    for i in range(0, len(row), 2):
        number = complex(row[i], row[i + 1]) * cmath.exp(1j * position * base ** (-i / len(row)))
        found += [number.real, number.imag]
    return found


def run_by_loops(model, ids, without=()):
    """Return the residual stream before each block and after the last, weights and logits."""
    streams, all_weights = [[model.embedding[i].tolist() for i in ids]], []
    each, base = model.num_heads // model.num_groups, model.base
    for number, layer in enumerate(model.layers):
        rows = [normed_by_loops(row, layer.attention_gain, model.eps) for row in streams[-1]]
        parts = [np.reshape(product(row, layer.w_qkv), (-1, D_K)).tolist() for row in rows]
        outputs = [[] for _ in rows]
        all_weights.append([])
        for head in range(model.num_heads):
            of_head = []
            k = model.num_heads + head // each
            v = k + model.num_groups
            for position, part in enumerate(parts):
                query = turned(part[head], position, base)
                keys = [turned(parts[j][k], j, base) for j in range(position + 1)]
                scores = [np.dot(query, key) / math.sqrt(D_K) for key in keys]
                powers = [math.exp(score) for score in scores]
                weights = [power / sum(powers) for power in powers]
                mixed = sum(w * np.array(parts[j][v]) for j, w in enumerate(weights))
                outputs[position] += [0.0] * D_K if (number, head) in without else mixed.tolist()
                of_head.append(weights + [0.0] * (len(ids) - len(weights)))
            all_weights[-1].append(of_head)
        stream = []
        for row, output in zip(streams[-1], outputs, strict=True):
            after = np.add(row, product(output, layer.w_o)).tolist()
            hidden = product(
                normed_by_loops(after, layer.feed_forward_gain, model.eps), layer.w_gate_up
            )
            gated = [
                gate / (1 + math.exp(-gate)) * up
                for gate, up in zip(hidden[:D_FF], hidden[D_FF:], strict=True)
            ]
            stream.append(np.add(after, product(gated, layer.w_down)).tolist())
        streams.append(stream)
    final = [normed_by_loops(row, model.final_gain, model.eps) for row in streams[-1]]
    return streams, all_weights, [product(row, model.unembedding) for row in final]


@pytest.mark.parametrize("without", [(), ((1, 4), (0, 0), (1, 5))])
def test_a_run_is_that_of_loops(model, without):
    run = model.run(IDS, without)
    streams, weights, logits = run_by_loops(model, IDS, without)
    for found, wanted in ((run.stream, streams), (run.weights, weights), (run.logits, logits)):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    assert run.ids == IDS
    assert run.without == without
    np.testing.assert_allclose(run.probabilities.sum(axis=-1), 1)


def test_single_precision_stays_single_and_agrees_with_double(rng):
    double = draw_decoder(np.random.default_rng(5), WORDS, **SIZES)
    single = draw_decoder(np.random.default_rng(5), WORDS, **SIZES, dtype=np.float32)
    found, wanted = single.run(IDS), double.run(IDS)
    for name in ("stream", "weights", "head_outputs", "logits", "probabilities"):
        assert getattr(found, name).dtype == np.float32
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=2e-5)
        with pytest.raises(ValueError, match="read-only"):
            getattr(found, name)[...] = 0


def test_a_head_left_out_is_a_block_of_the_output_projection_set_to_zero(model):
    w_o = model.layers[1].w_o.copy()
    w_o[3 * D_K : 4 * D_K] = 0
    layers = [*model.layers[:1], replace(model.layers[1], w_o=w_o), *model.layers[2:]]
    wanted = replace(model, layers=tuple(layers)).run(IDS)
    found = model.run(IDS, without=[(1, 3)])
    np.testing.assert_array_equal(found.logits, wanted.logits)
    np.testing.assert_array_equal(found.stream, wanted.stream)
    assert not np.allclose(found.logits, model.run(IDS).logits)


def test_groups_are_heads_with_equal_keys_and_values(model):
    layers = []
    for number, layer in enumerate(model.layers):
        weights = model.attention(number)
        repeated = [np.repeat(x, HEADS // GROUPS, axis=0) for x in (weights.w_k, weights.w_v)]
        flat = [x.swapaxes(0, 1).reshape(WIDTH, -1) for x in (weights.w_q, *repeated)]
        layers.append(replace(layer, w_qkv=np.hstack(flat)))
    whole = replace(model, layers=tuple(layers), num_groups=HEADS)
    np.testing.assert_allclose(whole.run(IDS).logits, model.run(IDS).logits, rtol=1e-12)


def test_speeds_replace_the_base(model):
    speeds = [1.0, 50.0**-0.5]
    found = replace(model, base=3.0, speeds=speeds).run(IDS)
    np.testing.assert_allclose(found.logits, model.run(IDS).logits, rtol=1e-10)
    assert not np.allclose(replace(model, base=3.0).run(IDS).logits, found.logits)


def test_a_later_token_changes_no_earlier_one(model):
    short, long = model.run(IDS[:4]), model.run(IDS)
    np.testing.assert_allclose(long.logits[:4], short.logits, rtol=1e-10)


# ---- With a cache ----


@pytest.mark.parametrize("ends", [(0, 7), (0, 1, 2, 3, 4, 5, 6, 7), (0, 3, 5, 7), (0, 1, 7)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_steps_with_a_cache_give_the_logits_of_whole_sequences(ends, dtype):
    model = draw_decoder(np.random.default_rng(5), WORDS, **SIZES, dtype=dtype)
    steps, wanted = CachedSteps(model, len(IDS)), model.run(IDS).logits
    for start, end in pairwise(ends):
        found = steps.next_logits(IDS[start:end])
        assert found.dtype == dtype
        tolerance = 1e-10 if dtype is np.float64 else 1e-4
        np.testing.assert_allclose(found, wanted[end - 1], rtol=tolerance, atol=tolerance)
    assert steps.length == len(IDS)
    size = np.dtype(dtype).itemsize
    assert steps.nbytes == 2 * LAYERS * GROUPS * D_K * len(IDS) * size
    with raises(ValueError, "the cache holds 7 of 7 tokens; 1 more do not fit"):
        steps.next_logits([1])


def greedy(model, ids, steps):
    """Return the most probable continuation, without a cache."""
    written = []
    for _ in range(steps):
        written.append(int(model.run([*ids, *written]).logits[-1].argmax()))
    return written


def test_writing_takes_the_most_probable_token(model):
    tokens = list(model.write(IDS, 9))
    assert [token.id for token in tokens] == greedy(model, IDS, 9)
    wanted = model.run(IDS).probabilities[-1]
    np.testing.assert_allclose(tokens[0].probabilities, wanted, rtol=1e-10)
    assert tokens[0].probability == pytest.approx(wanted.max())
    assert {token.text for token in tokens} == {""}


def test_writing_ends_at_the_token_that_ends_a_text(model):
    written = greedy(model, IDS, 9)
    end = next(i for i, token in enumerate(written) if i and token not in written[:i])
    found = replace(model, end_ids=(written[end],)).write(IDS, 9)
    assert [token.id for token in found] == written[:end]


def test_draws_follow_the_probabilities_and_the_seed(model):
    by_seed = [
        [token.id for token in model.write(IDS, 5, temperature=2.0, seed=seed)]
        for seed in (0, 0, 1, 2)
    ]
    assert by_seed[0] == by_seed[1]
    assert len({tuple(ids) for ids in by_seed}) == 3
    first = next(model.write(IDS, 1, temperature=2.0))
    scaled = np.exp(model.run(IDS).logits[-1] / 2)
    np.testing.assert_allclose(first.probabilities, scaled / scaled.sum(), rtol=1e-10)
    drawn = [next(model.write(IDS, 1, 2.0, seed)).id for seed in range(400)]
    shares = np.bincount(drawn, minlength=WORDS) / len(drawn)
    assert np.abs(shares - first.probabilities).max() < 0.08
    cold = [token.id for token in model.write(IDS, 5, temperature=1e-3)]
    assert cold == greedy(model, IDS, 5)


class Bytes:
    """A tokenizer whose tokens are the letters a to q; tokens 15 and 16 are the bytes of "é"."""

    def encode(self, text):
        ids = [ord(letter) - ord("a") for letter in text]
        return type("Encoding", (), {"ids": ids})

    def decode(self, ids, skip_special_tokens=True):
        assert not skip_special_tokens
        letters = (chr(ord("a") + i) if i < 15 else "é" if i == 16 else "\ufffd" for i in ids)
        return "".join(letters).replace("\ufffdé", "é")


def test_text_is_written_when_its_bytes_are_complete(model, monkeypatch):
    made = []
    text = replace(model, read_tokenizer=lambda: made.append(1) or Bytes())
    assert not made
    assert text.encode("fa") == (5, 0)
    assert text.decode([5, 0]) == "fa"
    assert text.token_texts((5, 15, 16)) == ("f", "\ufffd", "é")
    assert [t.id for t in text.write("fac", 3)] == [t.id for t in model.write([5, 0, 2], 3)]
    assert text.run("fac").ids == (5, 0, 2)
    following = iter([3, 15, 16, 4])
    monkeypatch.setattr(CachedSteps, "next_logits", lambda *_: np.eye(WORDS)[next(following)])
    assert [token.text for token in text.write("fac", 4)] == ["d", "", "é", "e"]
    assert made == [1]


# ---- Refusals ----


def test_sizes_are_those_of_the_arrays(model):
    names = ("num_layers", "num_heads", "num_groups", "d_k", "d_ff", "d_model", "vocabulary_size")
    found = tuple(getattr(model, name) for name in names)
    assert found == (LAYERS, HEADS, GROUPS, D_K, D_FF, WIDTH, WORDS)
    block = WIDTH * (2 + (HEADS + 2 * GROUPS + HEADS) * D_K + 3 * D_FF)
    assert model.size == WIDTH * (2 * WORDS + 1) + LAYERS * block
    assert model.nbytes == 8 * model.size
    tied = replace(model, unembedding=model.embedding.T)
    assert tied.size == model.size - WIDTH * WORDS


@pytest.mark.parametrize(
    ("ids", "without", "error", "sentence"),
    [
        ([], (), ValueError, "the prompt has no tokens; at least one is wanted"),
        ([[1]], (), ValueError, "ids has shape (1, 1); one sequence of tokens is wanted"),
        ([0.5], (), TypeError, "ids has dtype float64; integers are wanted"),
        ([17], (), ValueError, "ids has numbers outside of 0 to 16"),
        ([-1], (), ValueError, "ids has numbers outside of 0 to 16"),
        ([1], [(3, 0)], ValueError, "layer is 3; an index from 0 to 2 is wanted"),
        ([1], [(0, 6)], ValueError, "head is 6; an index from 0 to 5 is wanted"),
        ([1], [3], TypeError, "without has 3; pairs of a layer and a head are wanted"),
        ("a", (), ValueError,
         "the model has no tokenizer; ids of tokens are wanted instead of text"),
    ],
)  # fmt: skip
def test_a_run_of_other_tokens_or_heads_is_refused(model, ids, without, error, sentence):
    with raises(error, sentence):
        model.run(ids, without)


def test_writing_beyond_the_context_is_refused_before_it_begins(model):
    short = replace(model, context_length=8)
    assert len(list(short.write(IDS, 1))) == 1
    sentence = "the sequence has 9 tokens; at most 8, the model's context, are wanted"
    with raises(ValueError, sentence):
        short.write(IDS, 2)
    with raises(ValueError, sentence):
        short.run([1] * 9)
    with raises(ValueError, "temperature is -1.0; a number of at least 0 is wanted"):
        model.write(IDS, 2, -1.0)


def test_arrays_that_do_not_fit_are_refused(model):
    layer = model.layers[0]
    with raises(ValueError, "w_o has shape (24, 12); (24, 13) is wanted"):
        replace(layer, w_o=layer.w_o[:, :12])
    with raises(ValueError, "w_qkv has shape (13,); 2 axes are wanted"):
        replace(layer, w_qkv=layer.w_qkv[:, 0])
    with raises(ValueError, "num_groups is 4; a divisor of num_heads=6 is wanted"):
        replace(model, num_groups=4)
    with raises(ValueError, "w_qkv has 40 columns; 12 times an even number is wanted"):
        replace(model, num_groups=3)
    with raises(ValueError, "final_gain has shape (12,); (13,) is wanted"):
        replace(model, final_gain=model.final_gain[:12])
    with raises(ValueError, "layers is empty; at least one DecoderLayer is wanted"):
        replace(model, layers=())
    with raises(TypeError, "layers is a Decoder; a DecoderLayer is wanted"):
        replace(model, layers=[model])
    with raises(TypeError, "the arrays are of float32 and float64; one is wanted"):
        replace(model, final_gain=model.final_gain.astype(np.float32))
    assert isinstance(model, Decoder)
    assert isinstance(layer, DecoderLayer)


def test_numbers_that_overflow_are_refused(model):
    large = replace(model, unembedding=np.full((WIDTH, WORDS), 1e308))
    with pytest.raises(ValueError, match="overflow float64 when multiplied"):
        large.run(IDS)
    with pytest.raises(ValueError, match="overflow float64 when multiplied"):
        next(large.write(IDS))
