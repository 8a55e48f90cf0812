"""A run of a layer that somebody has: its matrices and any tokens, as the trace of an example."""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import as_names
from mha.core.kinds import check_kind
from mha.core.multihead import MultiHeadWeights, as_tokens
from mha.runs.record import Trace, trace
from mha.runs.worked import WorkedExample


def trace_layer(
    layer: MultiHeadWeights,
    x: ArrayLike,
    *,
    tokens: Sequence[str] | None = None,
    is_causal: bool = False,
    mask: ArrayLike | None = None,
    angles: ArrayLike | None = None,
    title: str = "A layer",
) -> Trace:
    """Run a layer of your own on one sequence and keep every intermediate, in float64.

    Every view of a run works on it: tables, figures, lines of arithmetic, origins, the explorer.
    Of many tokens or heads, `figures.small_maps` and the explorer show what fits.

    Parameters
    ----------
    layer : MultiHeadWeights
        Of heads that share keys and values each gets a copy of its group's.
    x : array_like, shape (n, d_model)
        What the layer reads.
    tokens : sequence of str, length n, optional
        What the rows of `x` are called, by default "1" to "n". What cannot be seen is written as
        Python does, a space as "␣".
    is_causal, mask, angles
        As for `mha.multi_head_attention`.
    title : str, default "A layer"

    Returns
    -------
    Trace
        Its output equals that of `multi_head_attention` to the last bit, in float64.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit together, naming the one, what is wanted and what came.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> run = trace_layer(MultiHeadWeights(one, one, one), np.eye(2), tokens=["cat", "sat"])
    >>> run.weights.round(4)
    array([[[0.6698, 0.3302],
            [0.3302, 0.6698]]])
    """
    check_kind("layer", layer, MultiHeadWeights)
    x = as_tokens(x, layer, mask=mask)[0].astype(np.float64)
    if x.ndim != 2 or x.shape[1] != layer.d_model:
        raise ValueError(f"x has shape {x.shape}; one sequence, (n, {layer.d_model}), is wanted")
    names = [str(i + 1) for i in range(len(x))] if tokens is None else as_names("tokens", tokens)
    if len(names) != len(x):
        raise ValueError(
            f"tokens has {len(names)} names for {len(x)} rows of x; one each is wanted"
        )
    example = WorkedExample(
        name="layer",
        title=title,
        source="your own layer",
        tokens=tuple(map(_visible, names)),
        head_names=tuple(f"Head {head + 1}" for head in range(layer.num_heads)),
        embeddings=x,
        layer=_ungrouped(layer),
        mask=None if mask is None else np.asarray(mask),
        is_causal=is_causal,
        angles=None if angles is None else np.asarray(angles),
    )
    return trace(example)


def _visible(token: str) -> str:
    """Return a token as it can be read: tokenizers have some of spaces and line ends.

    Examples
    --------
    >>> _visible(" cat"), _visible(" "), _visible("")
    (' cat', '␣', '∅')
    """
    written = token if token.isprintable() else repr(token)[1:-1]
    return written if written.strip() else "␣" * len(written) or "∅"


def _ungrouped(layer: MultiHeadWeights) -> MultiHeadWeights:
    """Return a layer in float64 whose heads have a key and a value projection each."""
    size = layer.num_heads // layer.num_groups
    wide = {
        field.name: array.astype(np.float64)
        for field in fields(layer)
        if (array := getattr(layer, field.name)) is not None
    }
    of_groups = {name: np.repeat(wide[name], size, axis=0) for name in ("w_k", "w_v")}
    return replace(layer, **wide | of_groups)
