"""An example of the reader's own: a sentence, sliders and sizes, and below them its explorer.

The page draws the numbers itself (`own-draw.ts`, a port of `mha.runs.random_examples`) and asks
for them in boxes. The constants of the package that the page needs are sent as data.
"""

from dataclasses import replace

from mha.practice.calculations import HINTS, HINTS_WITH_EXTRAS
from mha.practice.exercise import ROUNDINGS
from mha.practice.exercise_wording import WORDINGS
from mha.runs.random_examples import (
    LONGEST_WORD,
    MEANINGS,
    MOST_WORDS,
    SIZES,
    VOCABULARY,
    draw_example,
)
from mha.runs.record import trace
from mha.runs.stages import STAGES
from mha.version import __version__
from mha.widgets.boxes import LABELS
from mha.widgets.explorer import one_query
from mha.widgets.instrument import Drawing, Explorer, instrument

WHEEL = f"mha-{__version__}-py3-none-any.whl"
"""The file that installs the package, as the site has it among its downloads."""

ASKED = (
    *("placed", "query", "key", "value", "scores", "scaled_scores", "exponentials"),
    *("row_sums", "weights", "head_outputs", "output"),
)
"""The stages that the boxes ask for, of those that the example has."""

_KINDS = ("products", "root", "times", "power", "sum", "share")
_LATE = ("own",)
_ASKED_FOR = ("explorer-all", "explorer-settings", "explorer-steps")
_DRESS = ("time-bar.css", "steps.css")


def work_your_own(
    words: str = "the tired cat drinks tea", *, focus: int = 1, figure: Drawing | None = None
) -> Explorer:
    """Return what a reader makes an example with, as an element of a page.

    Parameters
    ----------
    words : str
        The sentence that stands there at first.
    focus : int, default 1
        The word of the table that stands there until the scripts come.
    figure : Drawing, optional
        What stands in its place in print.

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
        "most": {"words": MOST_WORDS, "letters": LONGEST_WORD},
        "sizes": SIZES,
        "titles": {name: stage.title for name, stage in STAGES.items() if not stage.seldom},
        "asked": {name: [WORDINGS[name].question, *WORDINGS[name].givens] for name in ASKED},
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
        before=one_query(run, focus),
        late=_LATE,
        dress=("own.css",),
        heights=(90.7, 93.9, 112.8, 117.7, 107.9, 117.2, 129),
        figure=figure,
    )
    return replace(made, late=(*made.late, *_ASKED_FOR), styles=(*made.styles, *_DRESS))
