"""An instrument for the reader's own example: a sentence, sliders and sizes, and its explorer.

The page draws the numbers itself (`own-draw.ts`, a port of `mha.runs.random_examples`) and asks for
them in boxes. It receives the constants of the package as data.
"""

from dataclasses import replace

from mha.practice.calculations import HINTS, HINTS_WITH_EXTRAS
from mha.practice.exercise import ROUNDINGS
from mha.practice.exercise_wording import WORDINGS
from mha.runs.random_examples import (
    MAX_WORD_LENGTH,
    MAX_WORDS,
    MEANINGS,
    SIZES,
    VOCABULARY,
    draw_example,
)
from mha.runs.record import trace
from mha.runs.stages import STAGES
from mha.version import __version__
from mha.widgets.boxes import LABELS
from mha.widgets.explorer import query_table
from mha.widgets.instrument import Drawing, Explorer, instrument

WHEEL = f"mha-{__version__}-py3-none-any.whl"
"""The name of the package's wheel among the downloads of the site."""

ASKED_STAGES = (
    *("placed", "query", "key", "value", "scores", "scaled_scores", "exponentials"),
    *("row_sums", "weights", "head_outputs", "output"),
)
"""The stages that the boxes can ask for."""

_KINDS = ("products", "root", "times", "power", "sum", "share")
_BUNDLES = ("own",)
_LATER_BUNDLES = ("explorer-all", "explorer-settings", "explorer-steps")
_STYLE_SHEETS = ("time-bar.css", "steps.css")


def work_your_own(
    words: str = "the tired cat drinks tea", *, focus: int = 1, figure: Drawing | None = None
) -> Explorer:
    """Return the instrument in which a reader makes an example.

    Parameters
    ----------
    words : str
        The first sentence.
    focus : int, default 1
        The index of the word whose row the placeholder shows.
    figure : Drawing, optional
        Replaces the instrument in print.

    Returns
    -------
    Explorer

    Examples
    --------
    >>> work_your_own().html[:38]
    '<mha-instrument id="own-example" class'
    """
    run = trace(draw_example(words))
    data = {
        "words": run.tokens,
        "wheel": WHEEL,
        "meanings": MEANINGS,
        "vocabulary": VOCABULARY,
        "most": {"words": MAX_WORDS, "letters": MAX_WORD_LENGTH},
        "sizes": SIZES,
        "titles": {name: stage.title for name, stage in STAGES.items() if not stage.is_extension},
        "asked": {name: [WORDINGS[name].question, *WORDINGS[name].givens] for name in ASKED_STAGES},
        "roundings": ROUNDINGS,
        "hints": {kind: HINTS[kind] for kind in _KINDS},
        "hintsWithMore": {
            kind: HINTS_WITH_EXTRAS[kind] for kind in _KINDS if kind in HINTS_WITH_EXTRAS
        },
        "labels": LABELS,
    }
    made = instrument(
        "own",
        "example",
        data,
        title="An example of your own",
        placeholder=query_table(run, focus),
        bundles=_BUNDLES,
        style_sheets=("own.css",),
        heights=(90.7, 93.9, 112.8, 117.7, 107.9, 117.2, 129),
        figure=figure,
    )
    return replace(
        made, bundles=(*made.bundles, *_LATER_BUNDLES), styles=(*made.styles, *_STYLE_SHEETS)
    )
