"""Logit attribution: traces of a language model on a text, and each part's share of the logits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from mha.core.checks import Array, as_index
from mha.core.decoder import Decoder, DecoderRun
from mha.core.language import LanguageModel
from mha.core.norm import rms_norm
from mha.core.option_checks import check_type
from mha.layouts import AttentionLayer
from mha.runs.layers import trace_layer
from mha.runs.record import Trace, trace_blocks
from mha.runs.worked_example import WorkedExample


@overload
def trace_text(
    model: LanguageModel, text: str | Sequence[str], *, layer: None = None, name: str = ...
) -> tuple[Trace, ...]: ...


@overload
def trace_text(
    model: LanguageModel, text: str | Sequence[str], *, layer: int, name: str = ...
) -> Trace: ...


@overload
def trace_text(
    model: Decoder, text: str | Sequence[int], *, layer: int | None = None, name: str = ...
) -> Trace: ...


def trace_text(
    model: LanguageModel | Decoder,
    text: str | Sequence[str] | Sequence[int],
    *,
    layer: int | None = None,
    name: str = "text",
) -> Trace | tuple[Trace, ...]:
    """Run a language model on a text and keep every intermediate of its attention.

    Parameters
    ----------
    model : LanguageModel or Decoder
        A `Decoder` is returned by `mha.read_model`.
    text : str, sequence of str, or sequence of int
        Words of the vocabulary of a LanguageModel; any text, or ids of tokens, for a Decoder.
    layer : int, optional
        The number of a block, counted from 0. A Decoder needs one, because the traces of all its
        layers would take gigabytes. Default for a LanguageModel: all blocks.
    name : str, default "text"
        Name of the runs, to which the number of their block is added.

    Returns
    -------
    Trace, or tuple of Trace if `layer` is None
        One per block. The last one of a LanguageModel also has the logits and the probabilities of
        the next word. The trace of a Decoder's layer starts at the normalised stream before the
        attention, which is computed in the dtype of the model; all later stages are in float64.

    Raises
    ------
    TypeError, ValueError
        If `model` is of another type, a word is not in its vocabulary, or there is no such layer.

    Examples
    --------
    >>> from mha.core.language import draw_model
    >>> model = draw_model(np.random.default_rng(3), ["a", "b", "c"], 4)
    >>> trace_text(model, "a b a")[-1].probabilities.shape
    (3, 3)
    >>> from mha.core.decoder import draw_decoder
    >>> model = draw_decoder(np.random.default_rng(3), 7, num_heads=4, num_groups=2)
    >>> trace_text(model, [5, 0, 2], layer=1).weights.shape
    (4, 3, 3)
    """
    if isinstance(model, Decoder):
        return _trace_decoder(model, text, layer, name)  # type: ignore[arg-type]  # as_ids checks
    check_type("model", model, LanguageModel)
    runs = _trace_language_model(model, text, name)  # type: ignore[arg-type]  # indices checks
    return runs if layer is None else runs[as_index("layer", layer, len(runs))]


def _trace_decoder(
    model: Decoder, text: str | Sequence[int], layer: int | None, name: str
) -> Trace:
    """Return the trace of the attention of one layer of a decoder."""
    if layer is None:
        raise ValueError(
            f"layer is None; a number from 0 to {model.num_layers - 1} is wanted, since the traces"
            " of all layers of a Decoder are large"
        )
    number = as_index("layer", layer, model.num_layers)
    ids = tuple(map(int, model.as_ids(text)))
    stream = model.stream_before(number, ids).astype(np.float64)
    has_text = model.read_tokenizer is not None
    run = trace_layer(
        AttentionLayer(model.attention(number), is_causal=True),
        rms_norm(stream, model.layers[number].attention_gain, model.eps),
        tokens=model.token_texts(ids) if has_text else [f"token {i}" for i in ids],
        angles=model.angles(len(ids)),
        title=f"Layer {number + 1}",
    )
    example = replace(run.example, name=f"{name}-{number + 1}", source="a language model")
    return replace(run, example=example)


def _trace_language_model(
    model: LanguageModel, text: str | Sequence[str], name: str
) -> tuple[Trace, ...]:
    """Return the trace of each block of a language model."""
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
        "embedding", then "block 1, head 1" and so on; after the heads of each block of a Decoder
        its "block 1, feed-forward".
    shares : ndarray, shape (parts, num_words)
        They sum to the logits.
    """

    names: tuple[str, ...]
    shares: Array


def logit_shares(
    runs: Sequence[Trace] | DecoderRun, row: int, *, words: Sequence[int] | None = None
) -> LogitShares:
    """Return the share of the embedding and of each head in the logits at one position.

    The last normalisation divides the residual stream by its standard deviation. With this divisor
    held fixed, the logits are linear in the stream: the share of a part of the stream is
    (part - its mean) / divisor, times the unembedding. A Decoder divides by the root mean square
    instead, subtracts no mean, and multiplies by a gain.

    Parameters
    ----------
    runs : sequence of Trace, or DecoderRun
        The result of `trace_text` for all blocks of a LanguageModel, or of `Decoder.run`.
    row : int
        The position, counted from 0.
    words : sequence of int, optional
        Indices in the vocabulary of the wanted columns. Default: all.

    Returns
    -------
    LogitShares
        Of a DecoderRun, a head whose output was set to 0 has a share of 0.

    Raises
    ------
    TypeError, ValueError
        If the last run has no logits, or there is no such position or word.

    Examples
    --------
    >>> from mha.core.language import draw_model
    >>> runs = trace_text(draw_model(np.random.default_rng(3), ["a", "b"], 4), "a b")
    >>> found = logit_shares(runs, 1)
    >>> found.names[:2], np.allclose(found.shares.sum(axis=0), runs[-1].logits[1])
    (('embedding', 'block 1, head 1'), True)
    """
    if isinstance(runs, DecoderRun):
        return _decoder_shares(runs, row, words)
    for run in runs if isinstance(runs, Sequence) and runs else (None,):
        check_type("runs", run, Trace)
    last = runs[-1]
    unembedding = last.example.unembedding
    if unembedding is None or last.stream_spreads is None or runs[0].embeddings is None:
        raise ValueError(f"{last.example.name} has no logits; runs of a model are wanted")
    row = as_index("row", row, len(last.tokens))
    parts = {"embedding": runs[0].embeddings[row]}
    for block, run in enumerate(runs, 1):
        assert run.head_contributions is not None
        for head, contribution in enumerate(run.head_contributions, 1):
            parts[f"block {block}, head {head}"] = contribution[row]
    # The mean of a sum is the sum of the means, so each part can be centred alone.
    centred = [part - part.mean() for part in parts.values()]
    columns = _columns(unembedding, words)
    shares = [part / last.stream_spreads[row] @ columns for part in centred]
    return LogitShares(tuple(parts), np.stack(shares))


def _decoder_shares(run: DecoderRun, row: int, words: Sequence[int] | None) -> LogitShares:
    """Return the shares of a decoder's embedding, heads and feed-forward layers, in float64."""
    model, row = run.model, as_index("row", row, len(run.ids))
    stream = run.stream[:, row].astype(np.float64)
    names, parts = ["embedding"], [stream[0]]
    for number, layer in enumerate(model.layers):
        outputs = run.head_outputs[number, :, row].astype(np.float64)
        by_head = layer.w_o.reshape(model.num_heads, model.d_k, model.d_model)
        heads = np.einsum("hk,hkm->hm", outputs, by_head)
        names += [f"block {number + 1}, head {head + 1}" for head in range(model.num_heads)]
        names.append(f"block {number + 1}, feed-forward")
        parts += [*heads, stream[number + 1] - stream[number] - heads.sum(axis=0)]
    spread = np.sqrt((stream[-1] ** 2).mean() + model.eps)
    columns = _columns(model.unembedding, words)
    return LogitShares(tuple(names), np.stack(parts) / spread * model.final_gain @ columns)


def _columns(unembedding: Array, words: Sequence[int] | None) -> Array:
    """Return the columns of some words, or all."""
    if words is None:
        return unembedding
    if not isinstance(words, Iterable) or isinstance(words, str):
        raise TypeError(f"words is {words!r}; indices in the vocabulary are wanted")
    return unembedding[:, [as_index("words", word, unembedding.shape[1]) for word in words]]
