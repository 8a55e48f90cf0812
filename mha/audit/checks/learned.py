"""Checks by training: the relations that a head learns in a toy language."""

from functools import cache

import numpy as np

from mha.audit.checks.finding import Check, Finding
from mha.core.learning import NONE, answer_scores, draw_layer, train_layer
from mha.examples.free_order import QUESTIONS, WORDS, as_arrays, draw_sentence, keep_one_question
from mha.runs.rounding import percent

LEARNED = 0.9
"""Share of right answers from which on a relation counts as learned."""


def _learns_one_relation(*, width: int, steps: int, seed: int) -> Finding:
    """Decide whether a single head learns at most one of the three relations in its data."""
    right = _shares_right(width, steps, seed)
    shares = ", ".join(f"{percent(r)} {name}" for r, name in zip(right, QUESTIONS, strict=True))
    return Finding(
        sum(r > LEARNED for r in right) <= 1,
        f"one head {width} wide, trained for {steps} steps on a language in which a word asks for"
        f" its next word, its governor or its referent, answers right in new sentences: {shares}",
    )


@cache
def _shares_right(width: int, steps: int, seed: int) -> tuple[float, ...]:
    """Return a trained head's share of right answers for each question."""
    rng = np.random.default_rng(seed)
    (x, answers), (new, new_answers) = (
        as_arrays([draw_sentence(rng) for _ in range(count)]) for count in (1024, 256)
    )
    start = draw_layer(rng, x.shape[-1], 1, width, len(QUESTIONS) * len(WORDS))
    layer = train_layer(start, x, keep_one_question(answers), steps=steps).layer
    answers = keep_one_question(new_answers)
    right = answer_scores(new, layer, len(QUESTIONS)).argmax(axis=-1) == answers
    return tuple(float(right[answers[..., q] != NONE, q].mean()) for q in range(len(QUESTIONS)))


CHECKS: dict[str, Check] = {"learns_one_relation": _learns_one_relation}
"""The checks of this module by name."""
