"""The recorded heads of a decoder as an instrument: maps, tests of names, and next tokens."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import numpy as np

from mha.core.checks import Array
from mha.examples.head_names import HeadNameFit, fit_head_name, mean_share
from mha.examples.recorded import recorded_heads, recorded_maps, recorded_sentences
from mha.runs.rounding import percent
from mha.widgets.heads_data import head_file
from mha.widgets.instrument import Drawing, Explorer, instrument

_LABEL = "The recorded heads"

_BUNDLES = ("heads-view",)

_NAMES = {
    "first": "the first token",
    "before": "the token before",
    "induction": "the token after an earlier occurrence",
    "same": "the same token earlier",
    "itself": "the token itself",
}
"""The names in the placeholder's table."""


def decoder_heads(
    sentence: str, query: str, key: str, *, heads: tuple[tuple[int, int], tuple[int, int]],
    figure: Drawing | None = None,
) -> Explorer:  # fmt: skip
    """Return an instrument with the maps of all recorded heads and with tests of their names.

    Parameters
    ----------
    sentence : str
        The first sentence, one of `recorded_sentences`.
    query, key : str
        The tokens of the query and of the key that are shown first.
    heads : tuple of (int, int)
        Layer and head, counted from 1, of the two heads that are shown first.
    figure : Drawing, optional
        Replaces the instrument in print.

    Returns
    -------
    Explorer

    Raises
    ------
    ValueError
        If the sentence, a token or a head does not exist.

    Examples
    --------
    >>> made = decoder_heads(
    ...     "The capital of France is", " is", " France", heads=((24, 5), (19, 9)))
    >>> made.html[:41]
    '<mha-instrument id="heads-decoder" class='
    """
    maps = recorded_maps(sentence)
    for token in (query, key):
        if token not in maps.tokens:
            known = ", ".join(map(repr, maps.tokens))
            raise ValueError(f"{token!r} is no token; one of {known} is wanted")
    num_layers, num_heads = maps.weights.shape[:2]
    for layer, head in heads:
        if not (1 <= layer <= num_layers and 1 <= head <= num_heads):
            raise ValueError(f"there is no layer {layer}, head {head}")
    data = {
        "sentence": recorded_sentences().index(sentence),
        "place": maps.tokens.index(query),
        "key": maps.tokens.index(key),
        "heads": heads,
        "known": recorded_heads(),
    }
    made = instrument(
        "heads",
        "decoder",
        data,
        title=_LABEL,
        placeholder=_table(),
        bundles=_BUNDLES,
        style_sheets=("model.css", "decoder-heads.css"),
        heights=(98.5, 106.4, 106.4, 103.2, 106.2, 109.6, 115.2),
        figure=figure,
    )
    return replace(
        made, bundles=(*_BUNDLES, *(head_file(*at).removesuffix(".js") for at in recorded_heads()))
    )


def _table() -> str:
    """Return an HTML table of the head that each name fits best over all sentences."""
    rows = []
    for name, words in _NAMES.items():
        share, layer, head, fits = best_head(name)
        tested = [fit for fit in fits if fit is not None]
        count = f"{sum(fit.largest_in_rule for fit in tested)} of {sum(fit.rows for fit in tested)}"
        cells = (words, f"layer {layer}, head {head}", percent(share), count)
        rows.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
    header = "".join(f"<th>{text}</th>" for text in ("Name", "fits best", "share", "rows"))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"


def best_head(name: str) -> tuple[float, int, int, list[HeadNameFit | None]]:
    """Return the head that a name fits best over all sentences.

    Returns
    -------
    share : float
        The mean share of rows in which the name holds.
    layer, head : int
        Counted from 1.
    fits : list of HeadNameFit or None
        The counts of rows in each sentence.

    Examples
    --------
    >>> best_head("before")[1:3]
    (17, 1)
    """
    found = [recorded_maps(sentence) for sentence in recorded_sentences()]
    layers, heads = found[0].weights.shape[:2]
    tested: list[tuple[float, int, int, list[HeadNameFit | None]]] = []
    for layer, head in np.ndindex(layers, heads):
        fits = [fit_head_name(name, maps.tokens, _map(maps.weights, layer, head)) for maps in found]
        tested.append((mean_share(fits), layer + 1, head + 1, fits))
    return max(tested, key=lambda one: one[0])


def _map(weights: Array, layer: int, head: int) -> Array:
    """Return one map, rounded to the three decimals of the recording."""
    return np.round(weights[layer, head], 3)
