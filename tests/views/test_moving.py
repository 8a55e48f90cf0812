"""The drawing of a token that attention moves."""

import re

import numpy as np

from mha import load_example, trace
from mha.views.figures import moved


def test_the_arrow_leads_from_the_embedding_to_the_output():
    run = trace(load_example("river-bank"))
    drawn = moved({"the river bank": run}, 2, ("water", "money"))
    dots = [
        (float(x), float(y))
        for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn.svg)
    ]
    the, river, bank, output = map(np.array, dots)
    unit = (river - the)[0] / 3  # river is (3, 0) and the (0, 0)
    np.testing.assert_allclose(bank - the, [unit, -unit], atol=0.11)
    wanted = run.head_outputs[0, 2] * [unit, -unit]
    np.testing.assert_allclose(output - the, wanted, atol=0.11)
    for word in (*run.tokens, "water", "money", "the river bank"):
        assert f">{word}</text>" in drawn.svg
    assert drawn.alt == "the river bank: bank moves from (1.00, 1.00) to (2.38, 0.26)."
