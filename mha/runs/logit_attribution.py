"""Logit attribution: traces of a language model on a text, and each part's share of the logits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mha.core.checks import Array, as_index
from mha.core.language import LanguageModel
from mha.core.option_checks import check_kind
from mha.runs.record import Trace, trace_blocks
from mha.runs.worked_example import WorkedExample


def trace_text(
    model: LanguageModel, text: str | Sequence[str], *, name: str = "text"
) -> tuple[Trace, ...]:
    """Run a language model on a text and keep every intermediate.

    Parameters
    ----------
    model : LanguageModel
    text : str or sequence of str
        Words of its vocabulary.
    name : str, default "text"
        Name of the runs, to which the number of their block is added.

    Returns
    -------
    tuple of Trace
        One per block. The last one also has the logits and the probabilities of the next word.

    Raises
    ------
    TypeError, ValueError
        If `model` is no LanguageModel, or a word is not in its vocabulary.

    Examples
    --------
    >>> from mha.core.language import draw_model
    >>> model = draw_model(np.random.default_rng(3), ["a", "b", "c"], 4)
    >>> trace_text(model, "a b a")[-1].probabilities.shape
    (3, 3)
    """
    check_kind("model", model, LanguageModel)
    indices = model.indices(text)
    layer = model.blocks[0].attention
    example = WorkedExample(
        name=name,
        title="A text",
        tokens=tuple(model.words[i] for i in indices),
        head_names=tuple(f"Head {head + 1}" for head in range(layer.num_heads)),
        source="a language model",
        embeddings=model.embedding[indices],
        block=model.blocks[0],
        angles=model.angles(len(indices)),
        is_causal=True,
        unembedding=model.unembedding,
        vocabulary=model.words,
    )
    return trace_blocks(example, model.blocks)


@dataclass(frozen=True, eq=False)
class LogitShares:
    """The share of each part of the residual stream in the logits at one position.

    Parameters
    ----------
    names : tuple of str
        "embedding", then "block 1, head 1" and so on.
    shares : ndarray, shape (parts, num_words)
        They sum to the logits.
    """

    names: tuple[str, ...]
    shares: Array


def logit_shares(runs: Sequence[Trace], row: int) -> LogitShares:
    """Return the share of the embedding and of each head in the logits at one position.

    The last normalisation divides the residual stream by its standard deviation. With this divisor
    held fixed, the logits are linear in the stream: the share of a part of the stream is
    (part - its mean) / divisor, times the unembedding.

    Parameters
    ----------
    runs : sequence of Trace
        The result of `trace_text`.
    row : int
        The position, counted from 0.

    Returns
    -------
    LogitShares

    Raises
    ------
    TypeError, ValueError
        If the last run has no logits, or there is no such position.

    Examples
    --------
    >>> from mha.core.language import draw_model
    >>> runs = trace_text(draw_model(np.random.default_rng(3), ["a", "b"], 4), "a b")
    >>> found = logit_shares(runs, 1)
    >>> found.names[:2], np.allclose(found.shares.sum(axis=0), runs[-1].logits[1])
    (('embedding', 'block 1, head 1'), True)
    """
    for run in runs if isinstance(runs, Sequence) and runs else (None,):
        check_kind("runs", run, Trace)
    last = runs[-1]
    unembedding = last.example.unembedding
    if unembedding is None or last.stream_spreads is None or runs[0].embeddings is None:
        raise ValueError(f"{last.example.name} has no logits; runs of a model are wanted")
    row = as_index("row", row, len(last.tokens))
    parts = {"embedding": runs[0].embeddings[row]}
    for block, run in enumerate(runs, 1):
        assert run.head_contributions is not None
        for head, share in enumerate(run.head_contributions, 1):
            parts[f"block {block}, head {head}"] = share[row]
    # The mean of a sum is the sum of the means, so each part can be centred alone.
    centred = [part - part.mean() for part in parts.values()]
    shares = [part / last.stream_spreads[row] @ unembedding for part in centred]
    return LogitShares(tuple(parts), np.stack(shares))
