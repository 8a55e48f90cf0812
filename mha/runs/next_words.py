"""What a model makes of the last stream of a text: logits, and the chances of the next word."""

import numpy as np

from mha.core.checks import Array, finite_product, refuse_overflow
from mha.core.softmax import softmax
from mha.core.transformer import normalisation
from mha.runs.worked_example import WorkedExample


def next_words(example: WorkedExample, stream: Array) -> dict[str, Array]:
    """Return what an unembedding makes of the stream, by the names of a Trace; else nothing."""
    if example.unembedding is None or example.block is None:
        return {}
    steps = normalisation("stream", stream, example.block.second)
    normed = steps["stream_normed"]
    logits = finite_product("the stream and the unembedding", normed, example.unembedding)
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
