"""Attention as newer models have it, as sheets: what each changes is switched on by name."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mha.core.latent import EPS, LatentWeights
from mha.runs.computations import Sheet

SWITCHES = ("norm", "turn", "stretch", "cap", "window", "top", "sink", "gate", "eight")
"""What can be switched on, in the order in which it enters the calculation."""


@dataclass(frozen=True)
class PlanStep:
    """One step of a plan, which stands in the sheet where its switch is on.

    Parameters
    ----------
    role : str
        What later steps call the table: of several with one role they mean the latest.
    title : str
    operation : str
    of : tuple of str
        Roles.
    number : float, default 0
    switch : str, default ""
        "" where the step always stands; two in a row both have to be on.
    """

    role: str
    title: str
    operation: str
    of: tuple[str, ...]
    number: float = 0.0
    switch: str = ""


def _eight(role: str, what: str) -> tuple[PlanStep, ...]:
    """Return the steps by which a table is kept in eight bits and read again."""
    size, step, whole = f"{role}_size", f"{role}_step", f"{role}_whole"
    return (
        PlanStep(
            size, f"Largest size in each row of the {what}", "largest size", (role,), 0, "eight"
        ),
        PlanStep(
            step, f"Step of each row of the {what}", "times number", (size,), 1 / 127, "eight"
        ),
        PlanStep(
            f"{role}_ratio", f"{what.capitalize()} in steps", "quotient", (role, step), 0, "eight"
        ),
        PlanStep(
            whole,
            f"{what.capitalize()} as they are kept",
            "rounded",
            (f"{role}_ratio",),
            0,
            "eight",
        ),
        PlanStep(role, f"{what.capitalize()}, read again", "times", (whole, step), 0, "eight"),
    )


def attention_plan(
    d_k: int, *, cap: float = 2.0, gain: float = 1.0, factor: float = 4.0, sink: float = 0.0,
    top: int = 2,
) -> tuple[PlanStep, ...]:  # fmt: skip
    """Return the steps of attention for one head, with all that can be switched on.

    Parameters
    ----------
    d_k : int
    cap : float, default 2
        Of scaled scores.
    gain : float, default 1
        Of the norm of queries and keys.
    factor : float, default 4
        By which angles are divided.
    sink : float, default 0
        The sink's score.
    top : int, default 2
        How many keys a query keeps.

    Returns
    -------
    tuple of PlanStep
        Of the given tables query, key, value, angles, causal, window and gate.

    Examples
    --------
    >>> len(attention_plan(2)) > 20
    True
    """
    normed = (
        step
        for role, what in (("query", "queries"), ("key", "keys"))
        for step in (
            PlanStep(
                f"{role}_spread",
                f"Root of (mean square + 0.000001) of the {what}",
                "spread",
                (role,),
                EPS,
                "norm",
            ),
            PlanStep(role, f"Normalised {what}", "quotient", (role, f"{role}_spread"), 0, "norm"),
            PlanStep(
                role, f"{what.capitalize()} times gain", "times number", (role,), gain, "norm"
            ),
        )
    )
    return (
        *normed,
        PlanStep(
            "angles", "Smaller angles", "times number", ("angles",), 1 / factor, "turn stretch"
        ),
        PlanStep("query", "Turned queries", "turned", ("query", "angles"), 0, "turn"),
        PlanStep("key", "Turned keys", "turned", ("key", "angles"), 0, "turn"),
        *_eight("key", "keys"),
        *_eight("value", "values"),
        PlanStep("scores", "Scores", "dots", ("query", "key")),
        PlanStep("scaled", "Scaled scores", "over root", ("scores",), d_k),
        PlanStep("scaled", "Capped scores", "capped", ("scaled",), cap, "cap"),
        PlanStep("scaled", "Causal scores", "masked", ("scaled", "causal")),
        PlanStep("scaled", "Scores within the window", "masked", ("scaled", "window"), 0, "window"),
        PlanStep("scaled", "The largest scores", "top", ("scaled",), top, "top"),
        PlanStep("exponentials", "Exponentials", "exponential", ("scaled",)),
        PlanStep("sums", "Row sums", "row sums", ("exponentials",)),
        PlanStep("sums", "With sink", "row sums with sink", ("exponentials",), sink, "sink"),
        PlanStep("weights", "Weights", "share", ("exponentials", "sums")),
        PlanStep("output", "Output", "product", ("weights", "value")),
        PlanStep("open", "How far the gate is open", "sigmoid", ("gate",), 0, "gate"),
        PlanStep("output", "Gated output", "times", ("output", "open"), 0, "gate"),
    )  # fmt: skip


def carried_out(
    plan: Iterable[PlanStep], given: Mapping[str, ArrayLike], on: Collection[str] = ()
) -> tuple[Sheet, dict[str, str]]:
    """Return the sheet of a plan, and by each role the name of its latest table.

    Parameters
    ----------
    plan : iterable of PlanStep
    given : mapping
        The given tables by their roles.
    on : collection of str
        What is switched on.

    Returns
    -------
    sheet : Sheet
        Of several tables with one role, the first has its name, later ones a number behind it.
    roles : dict

    Raises
    ------
    ValueError
        If a switch is none, or tables do not fit.

    Examples
    --------
    >>> one = np.eye(2)
    >>> tables = dict.fromkeys(("query", "key", "value", "causal"), one)
    >>> sheet, roles = carried_out(attention_plan(2), tables, on=("cap",))
    >>> sheet[roles["weights"]]
    array([[1., 0.],
           [0., 1.]])
    """
    for switch in on:
        if switch not in SWITCHES:
            raise ValueError(f"on has {switch!r}; of {', '.join(SWITCHES)} some are wanted")
    sheet, roles = Sheet(), {}
    for role, array in given.items():
        sheet, roles[role] = sheet.given(role, array), role
    for step in plan:
        if not set(step.switch.split()) <= set(on):
            continue
        taken = sum(name == step.role or name.startswith(f"{step.role} ") for name in sheet.steps)
        name = f"{step.role} {taken + 1}" if taken else step.role
        of = (roles[one] for one in step.of)
        sheet = sheet.then(name, step.operation, *of, number=step.number, title=step.title)
        roles[step.role] = name
    return sheet, roles


def plan_as_data(plan: Iterable[PlanStep]) -> list[dict[str, Any]]:
    """Return a plan for the browser, which carries it out by the same operations."""
    return [{key: value for key, value in asdict(step).items() if value} for step in plan]


def latent_sheet(
    x: ArrayLike, weights: LatentWeights, angles: ArrayLike, *, absorbed: bool = False
) -> Sheet:
    """Return one head of latent attention as a sheet, without norms of the latent vectors.

    Parameters
    ----------
    x : array_like, shape (n, d_model)
    weights : LatentWeights
        Of one head, without `w_dq` and gains.
    angles : array_like, shape (n, d_r / 2)
    absorbed : bool, default False

    Returns
    -------
    Sheet
        With the tables "latent" and "turned_key", which are kept, and "weights" and "output".

    Raises
    ------
    ValueError
        If the layer has several heads, or what is left out here.

    Examples
    --------
    >>> one = np.ones((1, 2, 2))
    >>> layer = LatentWeights(np.eye(2), one, one, np.eye(2), one, one, np.eye(2))
    >>> latent_sheet(np.eye(2), layer, [[0], [0]])["weights"]
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    given = {name: getattr(weights, name) for name in ("w_dq", "gain", "query_gain")}
    if len(weights.w_uk) > 1 or any(array is not None for array in given.values()):
        raise ValueError("weights has heads or norms beyond the first; one head without is wanted")
    n, d_k = len(np.asarray(x)), weights.w_uk.shape[-1] + weights.w_kr.shape[-1]
    sheet = Sheet().given("x", x, title="Embeddings").given("angles", angles, title="Angles")
    for name in ("w_dkv", "w_kr", "w_uq", "w_qr", "w_uk", "w_uv"):
        array = getattr(weights, name)
        sheet = sheet.given(name, array if array.ndim == 2 else array[0])
    sheet = (
        sheet.then("latent", "product", "x", "w_dkv", title="Latent vectors")
        .then("key_part", "product", "x", "w_kr", title="Keys to be turned")
        .then("turned_key", "turned", "key_part", "angles", title="Turned keys")
        .then("query", "product", "x", "w_uq", title="Queries")
        .then("query_part", "product", "x", "w_qr", title="Queries to be turned")
        .then("turned_query", "turned", "query_part", "angles", title="Turned queries")
    )
    if absorbed:
        sheet = sheet.then("met", "dots", "query", "w_uk", title="Queries for latent vectors")
        sheet = sheet.then("contents", "dots", "met", "latent", title="Scores of contents")
    else:
        sheet = sheet.then("key", "product", "latent", "w_uk", title="Keys")
        sheet = sheet.then("value", "product", "latent", "w_uv", title="Values")
        sheet = sheet.then("contents", "dots", "query", "key", title="Scores of contents")
    sheet = (
        sheet.then("places", "dots", "turned_query", "turned_key", title="Scores of places")
        .then("scores", "sum", "contents", "places", title="Scores")
        .then("scaled", "over root", "scores", number=d_k, title="Scaled scores")
        .given("causal", np.tri(n))
        .then("masked", "masked", "scaled", "causal", title="Causal scores")
        .then("exponentials", "exponential", "masked", title="Exponentials")
        .then("sums", "row sums", "exponentials", title="Row sums")
        .then("weights", "share", "exponentials", "sums", title="Weights")
    )
    if absorbed:
        sheet = sheet.then("mixed", "product", "weights", "latent", title="Mixed latent vectors")
        return sheet.then("output", "product", "mixed", "w_uv", title="Output")
    return sheet.then("output", "product", "weights", "value", title="Output")


def linear_sheet(query: ArrayLike, key: ArrayLike, value: ArrayLike, decay: ArrayLike) -> Sheet:
    """Return linear attention token by token as a sheet.

    Parameters
    ----------
    query, key, value : array_like, shape (n, d)
    decay : array_like, shape (n,)

    Returns
    -------
    Sheet
        With "state 1", "state 2" and so on, and "output 1", "output 2", a row each.

    Examples
    --------
    >>> one = np.eye(2)
    >>> linear_sheet(one, one, one, [1, 0.5])["state 2"]
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    query, key, value = (np.asarray(array, float) for array in (query, key, value))
    sheet = Sheet().given("query", query).given("key", key).given("value", value)
    sheet = sheet.given("decay", np.asarray(decay, float)[:, None])
    sheet = sheet.given("state 0", np.zeros((key.shape[1], value.shape[1])))
    for t in range(len(key)):
        before, state = f"state {t}", f"state {t + 1}"
        sheet = sheet.then(state, "carried", before, "key", "value", "decay", number=t)
        sheet = sheet.then(f"asked {t + 1}", "row", "query", number=t)
        sheet = sheet.then(f"output {t + 1}", "product", f"asked {t + 1}", state)
    return sheet
