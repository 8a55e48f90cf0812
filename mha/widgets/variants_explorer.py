"""Changes of newer models to attention as an instrument with a switch for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.examples.published_models import published_models
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
        The arrays query, key, value, angles, causal, window, gate and decay; other_key and
        other_value, of a head that may share keys and values; down, up_key and up_value, the
        matrices of latent attention.
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
    >>> given = dict.fromkeys(("query", "key", "value", "other_key", "other_value"), np.eye(2))
    >>> given |= dict.fromkeys(("causal", "window", "gate", "up_key", "up_value"), np.eye(2))
    >>> given |= {"angles": [[0.0], [1.0]], "decay": [[1.0], [0.5]], "down": np.ones((4, 2))}
    >>> variants_explorer(["cat", "sat"], given).title
    'Attention with the changes of newer models'
    """
    tables = {role: np.asarray(array, float) for role, array in given.items()}
    plan = attention_plan(tables["query"].shape[1], **numbers)  # type: ignore[arg-type]
    computation, roles = evaluate_plan(plan, tables, on)
    title = "Attention with the changes of newer models"
    data = {
        "name": name,
        "tokens": list(tokens),
        "given": {role: array.tolist() for role, array in tables.items()},
        "plan": plan_as_data(plan),
        "on": list(on),
        "focus": focus,
        "numbers": numbers,
        "published": bytes_of_published_models(),
    }
    placeholder = _table(tokens, computation[roles["weights"]], computation[roles["output"]], title)
    return instrument(
        "sheet", name, data, title=title, placeholder=placeholder, bundles=("sheet-view",),
        style_sheets=("model.css", "sheet.css"), figure=figure,
        heights=(52.6, 74.1, 77.7, 77.7, 77.7, 77.7, 146.3),
    )  # fmt: skip


def bytes_of_published_models() -> dict[str, dict[str, str]]:
    """Return what a layer of a published model stores with a change of attention, by its switch.

    Each entry names a model that has the change. Numbers take two bytes; `plain` is what a layer
    with a key and a value per head stores per token, or, for decay, a layer with a softmax.

    Examples
    --------
    >>> bytes_of_published_models()["latent"]
    {'model': 'DeepSeek-V2', 'bytes': '1,152', 'plain': '65,536'}
    """
    models = published_models()
    grouped, latent = models["Llama 3 70B"], models["DeepSeek-V2"]
    window, linear = models["gpt-oss-120b"], models["MiniMax-Text-01"]

    def stored(heads: Any, width: Any) -> int:
        return 2 * 2 * int(heads) * int(width)

    width = int(grouped["hidden_size"]) // int(grouped["num_attention_heads"])
    latent_bytes = 2 * (int(latent["kv_lora_rank"]) + int(latent["qk_rope_head_dim"]))
    token_bytes = stored(window["num_key_value_heads"], window["head_dim"])
    state_bytes = 2 * int(linear["num_attention_heads"]) * int(linear["head_dim"]) ** 2
    plain = stored(latent["num_attention_heads"], latent["qk_nope_head_dim"])
    found: dict[str, dict[str, Any]] = {
        "plain": {"model": "DeepSeek-V2", "plain": plain},
        "groups": {
            "model": "Llama 3 70B",
            "bytes": stored(grouped["num_key_value_heads"], width),
            "plain": stored(grouped["num_attention_heads"], width),
        },
        "latent": {"model": "DeepSeek-V2", "bytes": latent_bytes, "plain": plain},
        "window": {
            "model": "gpt-oss-120b",
            "bytes": token_bytes * int(window["sliding_window"]),
            "tokens": window["sliding_window"],
        },
        "decay": {
            "model": "MiniMax-Text-01",
            "bytes": state_bytes,
            "plain": stored(linear["num_key_value_heads"], linear["head_dim"]),
        },
    }
    return {
        switch: {name: x if isinstance(x, str) else f"{x:,}" for name, x in words.items()}
        for switch, words in found.items()
    }


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
