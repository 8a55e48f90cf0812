"""Bugs by someone who had not seen the table are told, and their sound twins are right."""

import time

import numpy as np
import pytest
import wrong_unseen_attention
import wrong_unseen_layers
import wrong_unseen_order

import mha

FROM = wrong_unseen_attention, wrong_unseen_layers, wrong_unseen_order
TOLD = [one for module in FROM for one in (*module.WRONG, *module.PAIRS)]
RIGHT = [one for module in FROM for one in module.RIGHT]


def test_there_are_bugs_and_pairs_of_each_kind():
    kinds = {one.kind for one in TOLD}
    assert kinds == {one.kind for one in RIGHT} == {"attention", "layer", "decoding", "positions"}
    assert len(TOLD) >= 75
    assert sum(len(module.PAIRS) for module in FROM) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("one", TOLD, ids=str)
def test_a_bug_or_a_pair_is_told(one):
    began = time.process_time()
    one.expect_told(np.asarray)
    assert time.process_time() - began < 3


@pytest.mark.slow
@pytest.mark.parametrize("one", RIGHT, ids=str)
def test_a_twin_or_another_convention_is_right(one):
    one.expect_right(np.asarray)


def test_no_place_is_read_from_biases_of_the_wrong_sign():
    report = mha.examine_positions(wrong_unseen_order.bias_grows_with_distance)
    assert [finding.bug for finding in report.findings] == ["bias upwards"]
