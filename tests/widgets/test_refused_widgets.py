"""Explorers and instruments refuse invalid input. These tests need no browser."""

import numpy as np
import pytest
from worked_runs import LETTERS, TWO_LAYERS

from mha import MultiHeadWeights, explorer, load_example, trace, trace_layer
from mha.widgets.cache import growing_cache
from mha.widgets.explorer_tasks import (
    check_tasks,
    head_unnoticed,
    weight_reaches,
    weights_alike,
)
from mha.widgets.latent import latent_widths
from mha.widgets.layer import MAX_TOKENS
from mha.widgets.letters import two_layers
from mha.widgets.pencil import red_pencil

CAT_SAT, THE_CAT_SAT = (trace(load_example(name)) for name in ("cat-sat", "the-cat-sat"))
FIRST, SECOND = TWO_LAYERS


def of_tokens(n):
    return trace_layer(MultiHeadWeights(*np.ones((3, 1, 2, 2))), np.ones((n, 2)))


BIASED = trace_layer(MultiHeadWeights(*np.ones((3, 1, 2, 2)), b_q=np.ones((1, 2))), np.ones((3, 2)))

REFUSED = [
    (lambda: explorer(CAT_SAT.example), TypeError,
     "^run is a WorkedExample; a Trace is wanted"),
    (lambda: explorer(CAT_SAT, name="Cat sat"), ValueError,
     "^name is 'Cat sat'; lower-case letters"),
    (lambda: explorer(of_tokens(MAX_TOKENS + 1)), ValueError,
     "^run has 513 tokens; at most 512 are wanted"),
    (lambda: explorer(of_tokens(99), view="temperature"), ValueError,
     "^the run is too large for tasks or another view"),
    (lambda: red_pencil("mine"), ValueError, "first is 'mine'"),
    (lambda: growing_cache(CAT_SAT), ValueError, "one head from embeddings"),
    (lambda: growing_cache(THE_CAT_SAT), ValueError, "one head from embeddings"),
    (lambda: latent_widths(CAT_SAT, [0, 1], width=1), ValueError, "a run from embeddings alone"),
    (lambda: latent_widths(THE_CAT_SAT, [0, 1, 1, 2], width=1), ValueError,
     r"^order is \[0, 1, 1, 2\]; each of 0 to 3 once is wanted"),
    (lambda: latent_widths(THE_CAT_SAT, range(4), width=5), ValueError,
     "^width is 5; a number from 1 to 4 is wanted"),
    (lambda: latent_widths(THE_CAT_SAT, range(4), width=1, head=2), ValueError,
     "^head is 2; an index from 0 to 1 is wanted"),
    (lambda: latent_widths(BIASED, [0, 1], width=1), ValueError, "^run has biases"),
    (lambda: two_layers(SECOND, FIRST, **LETTERS), ValueError,
     "second has other embeddings than the result of first"),
    (lambda: two_layers("first", SECOND, **LETTERS), TypeError, "first"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "error", "says"), REFUSED, ids=[says for *_, says in REFUSED])
def test_explorers_of_invalid_input_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


NO_TASKS = [
    (weight_reaches("A.", query=0, key=5, least=1, solution={}), "key is 5; below 2 is wanted"),
    (weights_alike("C.", query=0, within=0.9, solution={}), "is reached before"),
    (weights_alike("F.", query=0, within=0.1, solution={"temperature": 2}),
     "is not reached by its solution"),
    (weights_alike("G.", query=0, within=0.1, solution={"scores.0.0.0": 0}),
     "scores.0.0.0 is computed and cannot be changed"),
    (head_unnoticed("E.", below=0.1), "no head's share is below 0.1"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "message"), NO_TASKS)
def test_a_task_without_sense_is_refused(task, message):
    with pytest.raises(ValueError, match=message):
        check_tasks(CAT_SAT, [task])
