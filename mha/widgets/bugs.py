"""The museum of bugs as a game: a reader runs programs and finds their wrong lines."""

from collections.abc import Mapping

import numpy as np

from mha.examples import load_example
from mha.practice.attention_parts import RIGHT_NAN_ROWS, Parts
from mha.practice.bug_runs import RunInputs, run_attention
from mha.practice.bugs import BUGS, TABLE
from mha.practice.properties import PROPERTIES, failed_properties
from mha.runs.random_numbers import Draws
from mha.runs.record import trace
from mha.widgets.instrument import Drawing, Explorer, instrument

EXAMPLES = ("cat-sat", "the-cat-sat-end", "the-cat-sat", "play-football")
"""The examples on which a program can be run."""

_TRIALS: Mapping[str, tuple[str, int, dict[str, bool]]] = {
    "cat sat": ("cat-sat", 1, {}),
    "the same, 27 times as large": ("cat-sat", 27, {}),
    "The cat sat &lt;end&gt;": ("the-cat-sat-end", 1, {}),
    "with a causal mask": ("the-cat-sat-end", 1, {"is_causal": True}),
    "with a bias": ("the-cat-sat-end", 1, {"is_biased": True}),
    "with quarter turns": ("the-cat-sat-end", 1, {"is_rotated": True}),
    "rotated, one at a time": ("the-cat-sat-end", 1, {"is_rotated": True, "is_cached": True}),
    "two heads": ("the-cat-sat", 1, {}),
}
"""The columns of the table for readers without JavaScript: an example, the factor of its queries
and keys, and flags of `RunInputs`."""

EXHIBITS: Mapping[str, str] = {
    "wrong axis": "bug-axis",
    "no shift": "bug-shift",
    "wrong root": "bug-root",
    "late bias": "bug-bias",
    "late mask": "bug-late-mask",
    "True reversed": "bug-opposite",
    "reshape": "bug-reshape",
    "columns mixed": "bug-columns",
    "off by one": "bug-cache",
    "values turned": "bug-values",
    "halves for pairs": "bug-halves",
    "dropout left on": "dropout-left-on",
}
"""By the bug's name, the label of its exhibit in the chapter."""


def bugs_game(*, figure: Drawing | None = None) -> Explorer:
    """Return the game with the twelve programs of the museum, as an element of a page.

    Parameters
    ----------
    figure : Drawing, optional
        Replaces the game in print.

    Returns
    -------
    Explorer

    Examples
    --------
    >>> bugs_game().html[:38]
    '<mha-instrument id="bugs-museum" class'
    """
    museum = [bug for bug in TABLE if bug.name in BUGS]
    data = {
        "examples": [_example(name) for name in EXAMPLES],
        "properties": [has_property.__doc__ for has_property in PROPERTIES],
        "bugs": [
            {
                "name": bug.name,
                "line": bug.line,
                "meant": bug.right_line,
                "said": bug.effect,
                "fails": _letters(BUGS[bug.name]),
                "at": EXHIBITS[bug.name],
            }
            for bug in museum
        ],
    }
    return instrument(
        "bugs",
        "museum",
        data,
        title="Twelve programs with a wrong line each",
        placeholder=_table(),
        bundles=("bugs-view",),
        style_sheets=("model.css", "learning.css", "bugs.css"),
        heights=(50.3, 53.1, 55.2, 57.8, 60.2, 64.7, 69),
        figure=figure,
    )


def _letters(parts: Parts) -> str:
    """Return the letters of the properties that a program fails."""
    fails = failed_properties(parts, np.random.default_rng(17))
    return "".join(
        letter for letter, has_failed in zip("ABCDEFGHIJ", fails, strict=True) if has_failed
    )


def _example(name: str) -> dict[str, object]:
    """Return an example as data for the script."""
    example = load_example(name)
    given = RunInputs.from_trace(trace(example))
    wide = [np.round(x, 12).tolist() for x in (given.query, given.key, given.value)]
    return {
        "name": name,
        "title": example.title,
        "tokens": example.tokens,
        "wide": wide,
        "heads": given.num_heads,
        "dModel": given.d_model,
    }


def _table() -> str:
    """Return a table: each program's verdict on some inputs, and the properties that it fails."""
    draws = Draws(12)
    order = sorted(BUGS, key=lambda _: draws.uniform())
    lines = []
    for number, name in enumerate(order, 1):
        cells = [_verdict(BUGS[name], trial) for trial in _TRIALS]
        row = "".join(f"<td>{text}</td>" for text in (*cells, ", ".join(_letters(BUGS[name]))))
        lines.append(f'<tr><th scope="row">{number}</th>{row}</tr>')
    names = ("Program", *_TRIALS, "Caught by")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        "<table><caption>Twelve programs with a wrong line each: whether they give the right"
        f" numbers</caption><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _verdict(parts: Parts, trial: str) -> str:
    name, factor, flags = _TRIALS[trial]
    given = RunInputs.from_trace(trace(load_example(name)), factor, **flags)
    try:
        output = run_attention(parts, given, np.random.default_rng(3))[1]
    except ValueError:
        return "stops"
    return "right" if np.allclose(output, run_attention(RIGHT_NAN_ROWS, given)[1]) else "wrong"
