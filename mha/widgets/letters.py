"""Two layers on a text of letters that a reader can change, as an instrument."""

from __future__ import annotations

from mha.core.checks import Array
from mha.core.option_checks import check_type
from mha.runs.record import Trace
from mha.runs.rounding import percent
from mha.views.figures import inline_svg
from mha.widgets.explorer import run_data
from mha.widgets.instrument import Drawing, Explorer, instrument


def two_layers(
    first: Trace,
    second: Trace,
    *,
    letters: str,
    what: slice,
    before: slice,
    following: slice,
    name: str,
    figure: Drawing | None = None,
) -> Explorer:
    """Return two layers as an instrument: a reader changes letters, or omits the first layer.

    Parameters
    ----------
    first, second : Trace
        As from `mha.runs.record.trace_blocks`.
    letters : str
        The letters of the text, one for each component of `what`.
    what, before, following : slice
        The components of a vector for the token itself, the token before it, and the next token.
    name : str
        The instrument's name in the page's address.
    figure : Drawing, optional
        Replaces the instrument in print and without scripts.

    Raises
    ------
    TypeError, ValueError
        If a layer is not a Trace, or the inputs of the second are not the results of the first.

    Examples
    --------
    >>> from mha import load_example
    >>> from mha.core.transformer import Block
    >>> from mha.runs.record import trace_blocks
    >>> example = load_example("it-tired")
    >>> first, second = trace_blocks(example, [Block(example.layer, norm="nowhere")] * 2)
    >>> part = slice(0, 2)
    >>> made = two_layers(
    ...     first, second, letters="AB", what=part, before=part, following=part, name="two"
    ... )
    >>> list(made.runs)
    ['letters-two-1', 'letters-two-2']
    """
    for label, run in {"first": first, "second": second}.items():
        check_type(label, run, Trace)
    if second.embeddings is None or (second.embeddings != first.result).any():
        raise ValueError(
            "second has other embeddings than the result of first; that result is wanted"
        )
    names = (f"letters-{name}-1", f"letters-{name}-2")
    runs = dict(zip(names, (first, second), strict=True))
    data = {
        "layers": [run_data(run, label) for label, run in runs.items()],
        "letters": letters,
        "parts": {
            "what": _indices(what), "before": _indices(before), "following": _indices(following),
        },
    }  # fmt: skip
    made = instrument(
        "letters", name, data, title="Two layers on letters",
        placeholder=_findings(first, second, letters, second.result[-1, following])
        if figure is None else inline_svg(figure.svg, figure.alt),
        bundles=("letters",), style_sheets=("letters.css",),
        heights=(28.8, 28.8, 28.8, 28.8, 32.9, 32.9, 35.2), figure=figure,
    )  # fmt: skip
    return Explorer(made.html, made.title, figure, made.bundles, made.styles, runs=runs)


def _indices(part: slice) -> list[int]:
    return list(range(part.start, part.stop))


def _findings(first: Trace, second: Trace, letters: str, guess: Array) -> str:
    """Return a paragraph on the largest weights of both layers, for readers without scripts."""
    found = second.weights[0, -1].argmax()
    seen = first.weights[0, found].argmax()
    tokens = first.tokens
    return (
        f"<p>First layer: <i>{tokens[found]}</i> gives <i>{tokens[seen]}</i>"
        f" {percent(first.weights[0, found, seen])}. Second layer: <i>{tokens[-1]}</i> gives"
        f" <i>{tokens[found]}</i> {percent(second.weights[0, -1, found])}, and guesses"
        f" <i>{letters[guess.argmax()]}</i>.</p>"
    )
