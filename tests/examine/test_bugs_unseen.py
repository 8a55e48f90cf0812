"""Bugs by someone who had not seen the table are told, and their sound twins are right."""

import numpy as np
import pytest
import wrong_unseen_attention
import wrong_unseen_layers
import wrong_unseen_order

FROM = wrong_unseen_attention, wrong_unseen_layers, wrong_unseen_order
TOLD = [one for module in FROM for one in (*module.WRONG, *module.PAIRS)]
RIGHT = [one for module in FROM for one in module.RIGHT]


@pytest.mark.slow
@pytest.mark.parametrize("one", TOLD, ids=str)
def test_a_bug_or_a_pair_is_told(one):
    one.expect_told(np.asarray)


@pytest.mark.slow
@pytest.mark.parametrize("one", RIGHT, ids=str)
def test_a_twin_or_another_convention_is_right(one):
    one.expect_right(np.asarray)


def test_no_place_is_read_from_biases_of_the_wrong_sign():
    (upwards,) = (one for one in TOLD if "wrong sign" in one.what)
    report = upwards.examined(np.asarray)
    assert [finding.bug for finding in report.findings] == ["bias upwards"]
