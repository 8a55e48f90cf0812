"""Attention with what newer models change, as an instrument: switch it on, and see what it does."""

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
    """Return one head of attention whose steps can be switched on and off.

    Parameters
    ----------
    tokens : sequence of str, length n
    given : mapping
        The tables query, key, value, angles, causal, window and gate.
    focus : int, default 0
        The query whose row is looked at first.
    on : sequence of str
        What is switched on at first.
    name : str, default "since-2023"
    figure : Drawing, optional
        What stands in its place in print.
    **numbers : float
        As `attention_plan` takes them.

    Returns
    -------
    Explorer

    Raises
    ------
    ValueError
        If a table does not fit.

    Examples
    --------
    >>> one = np.eye(2)
    >>> given = dict.fromkeys(("query", "key", "value", "causal", "window", "gate"), one)
    >>> variants_explorer(["cat", "sat"], given | {"angles": [[0.0], [1.0]]}).title
    'Attention with what newer models change'
    """
    tables = {role: np.asarray(array, float) for role, array in given.items()}
    plan = attention_plan(tables["query"].shape[1], **numbers)  # type: ignore[arg-type]
    sheet, roles = evaluate_plan(plan, tables, on)
    title = "Attention with what newer models change"
    data = {
        "name": name,
        "tokens": list(tokens),
        "given": {role: array.tolist() for role, array in tables.items()},
        "plan": plan_as_data(plan),
        "on": list(on),
        "focus": focus,
        "numbers": numbers,
    }
    before = _table(tokens, sheet[roles["weights"]], sheet[roles["output"]], title)
    return instrument(
        "sheet", name, data, title=title, before=before, late=("sheet-view",),
        dress=("model.css", "sheet.css"), heights=(48.9, 70, 74.2, 78.7, 78.7, 78.7, 144.3),
        figure=figure,
    )  # fmt: skip


def _table(tokens: Sequence[str], weights: Array, output: Array, title: str) -> str:
    """Return the weights and the output of each query as a table."""
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
