"""Claims in words: the results of every check, on the documents' claims and on invented ones."""

from pathlib import Path

import pytest
from helpers import raises

from mha.audit.checks import CHECKS
from mha.audit.claims import claims_from, load_claims

KNOWN = Path(__file__).with_name("findings.txt").read_text(encoding="utf-8").splitlines()
NAMED = {line.partition("(")[0] for line in KNOWN}

OTHER_WAY = {
    "diagonal": {"off_diagonal": 0.3},
    "gradients_unscaled": {"effect": "vanish", "d_k": 512, "num_keys": 7, "seed": 3},
    "head_width": {"d_model": 35, "num_heads": 7, "d_k": 7},
    "heads_meet": {"example": "the-cat-sat", "array": "concat", "meet": True},
    "is_row": {"example": "play-football", "matrix": "w_k", "head": 0, "index": 0,
               "entries": [0.5, -0.5]},
    "learns_one_relation": {"width": 12, "steps": 1, "seed": 3},
    "matrices_differ": {"example": "apple", "matrices": ["w_q", "w_q"]},
    "mixes_all": {"example": "cat-sat", "at_least": 0.27},
    "needs_training": {"example": "cat-sat-on-it-wide", "d_k": 1},
    "only_right_option": {"right": "width", "options": ["width", "sum"], "example": "apple",
                          "head": 1, "row": 3},
    "percentages_sum": {"example": "play-football", "head": 0, "row": 2},
    "printed_maxima": {"example": "cat-sat", "stage": "weights", "head": 0},
    "root_softens": {"d_k": 1, "num_keys": 7, "seed": 5},
    "score_orders_weights": {"example": "the-cat-sat", "head": 0, "across_rows": True},
    "scores_are_products": {"example": "the-cat-sat-end", "row": 0, "transposed": True},
    "shape": {"example": "apple", "array": "scores", "wanted": [5, 4]},
    "softmax_ensures": {"effect": "scale", "example": "apple", "head": 1, "row": 4},
    "spread_of_scores": {"widths": [3, 97], "scaled": True, "grows": True, "seed": 7},
    "stays_the_same": {"example": "apple", "array": "w_q"},
}  # fmt: skip
"""Invented claims with the opposite result to those of the documents, by check."""


@pytest.mark.parametrize("check", sorted(NAMED | CHECKS.keys()))
def test_each_check_gives_the_recorded_result_and_can_give_either_result(check):
    claims = [dict(claim.given) for claim in load_claims() if claim.check == check]
    found = []
    for given in (*filter(None, [OTHER_WAY.get(check)]), *claims):
        finding = CHECKS[check](**given)
        told = ", ".join(f"{name}={value!r}" for name, value in given.items())
        found.append(f"{check}({told}) {finding.verdict}: {finding.because}")
    assert found == [line for line in KNOWN if line.startswith(f"{check}(")]
    assert {") holds: " in line for line in found} == {True, False}


def test_a_list_of_claims_that_cannot_be_read_is_named():
    with raises(ValueError, "mha/audit/sources/claims.toml has no 'claims'; it is wanted"):
        claims_from("")
    with pytest.raises(ValueError, match=r"^mha/audit/sources/claims\.toml: .*'line'"):
        claims_from("[[claims]]\nsource = 'mha-tutorial'\nsays = 'two is prime'\n")
