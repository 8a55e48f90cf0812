"""Bugs by someone who had not seen the table are told in PyTorch; their sound twins are right."""

import pytest
import torch
import wrong_torch_attention
import wrong_torch_layers

FROM = wrong_torch_attention, wrong_torch_layers


@pytest.mark.parametrize("one", [x for m in FROM for x in (*m.WRONG, *m.PAIRS)], ids=str)
def test_a_bug_or_a_pair_is_told(one):
    one.expect_told(torch.tensor)


@pytest.mark.parametrize("one", [x for m in FROM for x in m.RIGHT], ids=str)
def test_a_twin_or_another_convention_is_right(one):
    one.expect_right(torch.tensor)
