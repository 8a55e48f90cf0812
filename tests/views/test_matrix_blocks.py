"""The picture of a layout shows its matrices' blocks in the order in which they stand."""

import re

import pytest
from helpers import raises

from mha.layouts import LAYOUTS
from mha.views.figures import layout_blocks


def words(figure):
    """Return what stands on the blocks, in order."""
    return re.findall(r">([QKVOB] [\d, –]+)</text>", figure.svg)


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_matrix_of_a_layout_has_its_blocks(name):
    figure, parts = layout_blocks(name, num_heads=3), LAYOUTS[name].parts
    letters = "QKVO" + "B" * ("relative_bias" in parts)
    assert words(figure) == [f"{letter} {head}" for letter in letters for head in (1, 2, 3)]
    for own in LAYOUTS[name].required:
        assert f">{own}</text>" in figure.svg
        assert f"{own}, " in figure.alt
    assert ("halves" in figure.alt) == (name == "Llama")


def test_heads_that_share_keys_share_a_block():
    assert words(layout_blocks("Llama", num_heads=6, num_groups=2))[6:10] == [
        "K 1–3", "K 4–6", "V 1–3", "V 4–6"
    ]  # fmt: skip


def test_what_a_layout_has_not_is_refused():
    with raises(ValueError, f"layout is 'BLOOM'; one of {', '.join(LAYOUTS)} is wanted"):
        layout_blocks("BLOOM")
    for name, groups in (("GPT-2", 1), ("BERT", 3)):
        with raises(
            ValueError,
            f"num_groups is {groups}; a divisor of num_heads=2 is wanted, and itself where one"
            " matrix has query, key and value",
        ):
            layout_blocks(name, num_groups=groups)
