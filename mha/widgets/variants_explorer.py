"""Changes of newer models to attention as an instrument with a switch for each."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.runs.attention_variants import attention_plan, evaluate_plan, plan_as_data
from mha.runs.rounding import shown
from mha.widgets.instrument import Drawing, Explorer, instrument


def variants_explorer(
    tokens: Sequence[str],
    given: Mapping[str, ArrayLike],
    *,
    focus: int = 0,
    on: Sequence[str] = (),
    name: str = "since-2023",
    figure: Drawing | None = None,
    **numbers: float,
) -> Explorer:
    """Return an instrument with one head of attention, whose changes are switched on and off.

    Parameters
    ----------
    tokens : sequence of str, length n
    given : mapping
        The arrays query, key, value, angles, causal, window and gate.
    focus : int, default 0
        The query that is shown first.
    on : sequence of str
        The changes that are on at first.
    name : str, default "since-2023"
    figure : Drawing, optional
        Replaces the instrument in print.
    **numbers : float
        As for `attention_plan`.

    Returns
    -------
    Explorer

    Raises
    ------
    ValueError
        If the shape of an array does not fit.

    Examples
    --------
    >>> one = np.eye(2)
    >>> given = dict.fromkeys(("query", "key", "value", "causal", "window", "gate"), one)
    >>> variants_explorer(["cat", "sat"], given | {"angles": [[0.0], [1.0]]}).title
    'Attention with the changes of newer models'
    """
    tables = {role: np.asarray(array, float) for role, array in given.items()}
    plan = attention_plan(tables["query"].shape[1], **numbers)  # type: ignore[arg-type]
    sheet, roles = evaluate_plan(plan, tables, on)
    title = "Attention with the changes of newer models"
    data = {
        "name": name,
        "tokens": list(tokens),
        "given": {role: array.tolist() for role, array in tables.items()},
        "plan": plan_as_data(plan),
        "on": list(on),
        "focus": focus,
        "numbers": numbers,
    }
    placeholder = _table(tokens, sheet[roles["weights"]], sheet[roles["output"]], title)
    return instrument(
        "sheet", name, data, title=title, placeholder=placeholder, bundles=("sheet-view",),
        style_sheets=("model.css", "sheet.css"), heights=(48.9, 70, 74.2, 78.7, 78.7, 78.7, 144.3),
        figure=figure,
    )  # fmt: skip


def _table(tokens: Sequence[str], weights: Array, output: Array, title: str) -> str:
    """Return a table of the weights and the output of each query."""
    heads = (*(f"weight of {token}" for token in tokens),
             *(f"output {i + 1}" for i in range(output.shape[1])))  # fmt: skip
    lines = "".join(
        f'<tr><th scope="row">{escape(token)}</th>'
        + "".join(f"<td>{shown(float(x))}</td>" for x in (*weights[i], *output[i]))
        + "</tr>"
        for i, token in enumerate(tokens)
    )
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr><td></td>{head}</tr></thead>"
        f"<tbody>{lines}</tbody></table>"
    )
