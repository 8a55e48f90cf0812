"""Made-up claims of each kind, and what is found of them: ``python tests/audit/made_up_claims.py``.

It writes tests/audit/findings.txt, a line a finding, so that a sentence that changes is seen.
"""

from collections.abc import Iterator
from pathlib import Path

from mha.audit.checks import CHECKS
from mha.audit.claims import load_claims

FINDINGS = Path(__file__).with_name("findings.txt")

# A made-up claim that holds and one that fails, for each check.
BOTH = {
    "diagonal": ({"off_diagonal": 0.3}, {"off_diagonal": 0.7}),
    "follows": (
        {"example": "the-cat-sat", "stages": ["scaled_scores"], "head": 0},
        {"example": "the-cat-sat", "stages": ["scaled_scores"], "head": 1},
    ),
    "gradients_unscaled": (
        {"effect": "vanish", "d_k": 512, "num_keys": 7, "seed": 3},
        {"effect": "explode", "d_k": 512, "num_keys": 7, "seed": 3},
    ),
    "head_width": (
        {"d_model": 35, "num_heads": 5, "d_k": 7},
        {"d_model": 35, "num_heads": 7, "d_k": 7},
    ),
    "heads_meet": (
        {"example": "the-cat-sat", "array": "output", "meet": True},
        {"example": "the-cat-sat", "array": "concat", "meet": True},
    ),
    "heads_prefer_differently": ({"example": "the-cat-sat"}, {"example": "apple"}),
    "initialisation": (
        {"scheme": "He", "d_in": 7, "d_out": 5},
        {"scheme": "Glorot", "d_in": 7, "d_out": 5},
    ),
    "is_row": (
        {
            "example": "play-football",
            "matrix": "w_k",
            "head": 0,
            "index": 0,
            "entries": [0.5, -0.5],
        },
        {"example": "play-football", "matrix": "w_k", "head": 0, "index": 1, "entries": [0.5, 0.5]},
    ),
    "largest": (
        {"example": "apple", "stage": "weights", "head": 2, "row": 3, "column": 1},
        {"example": "apple", "stage": "weights", "head": 2, "row": 3, "column": 3},
    ),
    "learns_one_relation": (
        {"width": 12, "steps": 1, "seed": 3},
        {"width": 12, "steps": 150, "seed": 3},
    ),
    "matrices_differ": (
        {"example": "apple", "matrices": ["w_q", "w_v"]},
        {"example": "apple", "matrices": ["w_q", "w_q"]},
    ),
    "mixes_all": (
        {"example": "cat-sat", "at_least": 0.26},
        {"example": "cat-sat", "at_least": 0.27},
    ),
    "mixture_of": (
        {"example": "apple", "array": "value"},
        {"example": "apple", "array": "embeddings"},
    ),
    "needs_training": (
        {"example": "cat-sat-on-it-wide", "d_k": 1},
        {"example": "cat-sat-on-it-wide", "d_k": 5},
    ),
    "one_head_cannot": (
        {"num_tokens": 7, "pairs": [[0, 1], [0, 2]], "d_k": 6},
        {"num_tokens": 7, "pairs": [[0, 1], [3, 1], [5, 5]], "d_k": 6},
    ),
    "only_right_option": (
        {"right": "sum", "options": ["width", "sum"], "example": "apple", "head": 1, "row": 3},
        {"right": "width", "options": ["width", "sum"], "example": "apple", "head": 1, "row": 3},
    ),
    "percentages_sum": (
        {"example": "play-football", "head": 0, "row": 2},
        {"example": "play-football", "head": 0, "row": 1},
    ),
    "printed_maxima": (
        {"example": "cat-sat", "stage": "weights", "head": 0},
        {"example": "apple", "stage": "weights", "head": 1},
    ),
    "published": (
        {"model": "GPT-3 175B", "num_heads": 96, "d_k": 128},
        {"model": "GPT-3 175B", "num_heads": 96, "d_k": 64},
    ),
    "root_softens": (
        {"d_k": 256, "num_keys": 7, "seed": 5},
        {"d_k": 1, "num_keys": 7, "seed": 5},
    ),
    "rows_sum_to_one": ({"example": "the-cat-sat", "head": 1}, {"example": "apple", "head": 1}),
    "score_orders_weights": (
        {"example": "the-cat-sat", "head": 0, "across_rows": False},
        {"example": "the-cat-sat", "head": 0, "across_rows": True},
    ),
    "scores_are_products": (
        {"example": "the-cat-sat-end", "row": 0, "transposed": True},
        {"example": "the-cat-sat-end", "row": 0, "transposed": False},
    ),
    "shape": (
        {"example": "apple", "array": "scores", "wanted": [5, 5]},
        {"example": "apple", "array": "scores", "wanted": [5, 4]},
    ),
    "softmax_ensures": (
        {"effect": "sum", "example": "apple", "head": 1, "row": 4},
        {"effect": "scale", "example": "apple", "head": 1, "row": 4},
    ),
    "spread_of_scores": (
        {"widths": [3, 97], "scaled": False, "grows": True, "seed": 7},
        {"widths": [3, 97], "scaled": True, "grows": True, "seed": 7},
    ),
    "stays_the_same": (
        {"example": "apple", "array": "w_q"},
        {"example": "apple", "array": "weights"},
    ),
}


def findings(check: str) -> Iterator[str]:
    """Yield what a check finds of the made-up claims and of those of the documents, a line each."""
    claims = [dict(claim.given) for claim in load_claims() if claim.check == check]
    for given in (*BOTH[check], *claims):
        found = CHECKS[check](**given)
        told = ", ".join(f"{name}={value!r}" for name, value in given.items())
        yield f"{check}({told}) {found.verdict}: {found.because}"


if __name__ == "__main__":
    lines = [line for check in sorted(CHECKS) for line in findings(check)]
    FINDINGS.write_text("\n".join((*lines, "")), encoding="utf-8")
