"""Two layers on letters that a reader can change: what the second finds because of the first."""

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
    """Return two layers as an instrument: each letter can be changed, and the first layer left out.

    Parameters
    ----------
    first, second : Trace
        As `mha.runs.record.trace_blocks` gives them.
    letters : str
        Those of the text, one a component of `what`.
    what, before, following : slice
        Which components of a vector say what a token is, what stood before it, and what may follow.
    name : str
        Its name in the page's address.
    figure : Drawing, optional
        What stands in its place in print, and where no script runs.

    Raises
    ------
    TypeError, ValueError
        If a layer is not a Trace, or the second does not read what the first leaves.

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
        raise ValueError("second reads other numbers than first leaves; its result is wanted")
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
        before=_in_words(first, second, letters, second.result[-1, following])
        if figure is None else inline_svg(figure.svg, figure.alt),
        late=("letters",), dress=("letters.css",),
        heights=(28.8, 28.8, 28.8, 28.8, 32.9, 32.9, 35.2), figure=figure,
    )  # fmt: skip
    return Explorer(made.html, made.title, figure, made.late, made.styles, runs=runs)


def _indices(part: slice) -> list[int]:
    return list(range(part.start, part.stop))


def _in_words(first: Trace, second: Trace, letters: str, guess: Array) -> str:
    """Return what the two layers find, where no script runs."""
    found = second.weights[0, -1].argmax()
    seen = first.weights[0, found].argmax()
    tokens = first.tokens
    return (
        f"<p>First layer: <i>{tokens[found]}</i> gives <i>{tokens[seen]}</i>"
        f" {percent(first.weights[0, found, seen])}. Second layer: <i>{tokens[-1]}</i> gives"
        f" <i>{tokens[found]}</i> {percent(second.weights[0, -1, found])}, and guesses"
        f" <i>{letters[guess.argmax()]}</i>.</p>"
    )
