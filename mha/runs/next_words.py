"""Logits and probabilities of the next word, from the residual stream of the last block."""

from __future__ import annotations

import numpy as np

from mha.core.checks import Array, finite_product, refuse_overflow
from mha.core.softmax import softmax
from mha.core.transformer import normalisation
from mha.runs.worked_example import WorkedExample


def next_word_stages(example: WorkedExample, stream: Array) -> dict[str, Array]:
    """Return the logits, their softmax and its intermediates, by their names in `Trace`.

    The result is empty for an example without an unembedding.
    """
    if example.unembedding is None or example.block is None:
        return {}
    steps = normalisation("stream", stream, example.block.second)
    normed = steps["stream_normed"]
    logits = finite_product("the stream and the unembedding", normed, example.unembedding)
    # Unshifted, because the page prints e to each logit; an overflow is refused below.
    with np.errstate(over="ignore", under="ignore"):
        exponentials = np.exp(logits)
    refuse_overflow("the logits", exponentials, "exponentials")
    return {
        **steps,
        "logits": logits,
        "word_exponentials": exponentials,
        "word_sums": exponentials.sum(axis=-1),
        "probabilities": softmax(logits),
    }
