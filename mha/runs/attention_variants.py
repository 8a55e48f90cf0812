"""Variants of attention in newer models, as computations of named tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mha.core.latent import EPS, LatentWeights
from mha.runs.computations import Computation

SWITCHES = (
    *("groups", "latent", "norm", "turn", "stretch", "eight", "decay", "cap", "window", "top"),
    *("sink", "gate"),
)
"""Names of the optional parts of `attention_plan`, in the order of the computation.

Pages know the parts by these names: "eight" rounds keys and values to eight bits, "turn" rotates
queries and keys, and "stretch" divides their angles.
"""


@dataclass(frozen=True)
class PlanStep:
    """One step of a plan, which is computed if its switch is on.

    Parameters
    ----------
    role : str
        Name by which later steps refer to the table; of several steps with one role, the latest.
    title : str
    operation : str
    inputs : tuple of str
        Roles of the tables that the operation takes.
    number : float, default 0
    switch : str, default ""
        "" for a step that is always computed. Of several names, separated by blanks, all have to be
        on; a name after a minus sign has to be off.
    """

    role: str
    title: str
    operation: str
    inputs: tuple[str, ...]
    number: float = 0.0
    switch: str = ""

    def is_computed(self, on: Collection[str]) -> bool:
        """Return whether the step is computed if these switches are on."""
        return all((name.removeprefix("-") in on) != name.startswith("-")
                   for name in self.switch.split())  # fmt: skip


def _int8_steps(role: str, noun: str) -> tuple[PlanStep, ...]:
    """Return the steps that round a table to int8, with a scale per row, and multiply it back."""
    size, step, whole = f"{role}_size", f"{role}_step", f"{role}_whole"
    return (
        PlanStep(
            size, f"Largest size in each row of the {noun}", "largest size", (role,), 0, "eight"
        ),
        PlanStep(
            step, f"Step of each row of the {noun}", "times number", (size,), 1 / 127, "eight"
        ),
        PlanStep(
            f"{role}_ratio", f"{noun.capitalize()} in steps", "quotient", (role, step), 0, "eight"
        ),
        PlanStep(
            whole,
            f"Rounded {noun}",
            "rounded",
            (f"{role}_ratio",),
            0,
            "eight",
        ),
        PlanStep(role, f"Dequantised {noun}", "times", (whole, step), 0, "eight"),
    )


def attention_plan(
    d_k: int, *, cap: float = 2.0, gain: float = 1.0, factor: float = 4.0, sink: float = 0.0,
    top: int = 2,
) -> tuple[PlanStep, ...]:  # fmt: skip
    """Return the steps of attention for one head, with every optional part.

    Parameters
    ----------
    d_k : int
    cap : float, default 2
        Cap of the scaled scores.
    gain : float, default 1
        Gain of the norms of queries and keys.
    factor : float, default 4
        Divisor of the angles, for positions beyond the training length.
    sink : float, default 0
        Score of the sink.
    top : int, default 2
        Number of keys per query, those with the largest scores.

    Returns
    -------
    tuple of PlanStep
        They read the tables query, key, value and causal, and with their switches on also angles,
        window, gate and decay; other_key and other_value, of a second head in the same group; and
        down, up_key and up_value, the matrices of latent attention.

    Examples
    --------
    >>> len(attention_plan(2)) > 20
    True
    """
    shared = (
        step
        for role, noun in (("key", "keys"), ("value", "values"))
        for step in (
            PlanStep(
                role,
                f"Sum of the {noun} of both heads",
                "sum",
                (role, f"other_{role}"),
                0,
                "groups",
            ),
            PlanStep(
                role, f"{noun.capitalize()} of the group", "times number", (role,), 0.5, "groups"
            ),
        )
    )
    latent = (
        PlanStep("both", "Keys and values", "beside", ("key", "value"), 0, "latent"),
        PlanStep("latent", "Latent vectors", "product", ("both", "down"), 0, "latent"),
        PlanStep("key", "Keys from latent vectors", "product", ("latent", "up_key"), 0, "latent"),
        PlanStep(
            "value", "Values from latent vectors", "product", ("latent", "up_value"), 0, "latent"
        ),
    )
    normed = (
        step
        for role, noun in (("query", "queries"), ("key", "keys"))
        for step in (
            PlanStep(
                f"{role}_spread",
                f"Root of (mean square + 0.000001) of the {noun}",
                "spread",
                (role,),
                EPS,
                "norm",
            ),
            PlanStep(role, f"Normalised {noun}", "quotient", (role, f"{role}_spread"), 0, "norm"),
            PlanStep(
                role, f"{noun.capitalize()} times gain", "times number", (role,), gain, "norm"
            ),
        )
    )
    return (
        *shared,
        *latent,
        *normed,
        PlanStep(
            "angles", "Smaller angles", "times number", ("angles",), 1 / factor, "turn stretch"
        ),
        PlanStep("query", "Rotated queries", "turned", ("query", "angles"), 0, "turn"),
        PlanStep("key", "Rotated keys", "turned", ("key", "angles"), 0, "turn"),
        *_int8_steps("key", "keys"),
        *_int8_steps("value", "values"),
        PlanStep("scores", "Scores", "dots", ("query", "key")),
        PlanStep("decays", "Products of decays", "decays", ("decay",), 0, "decay"),
        # Without a softmax these are no weights; the role is that of the factors of the values.
        PlanStep("weights", "Scores times decays", "times", ("scores", "decays"), 0, "decay"),
        PlanStep("scaled", "Scaled scores", "over root", ("scores",), d_k, "-decay"),
        PlanStep("scaled", "Capped scores", "capped", ("scaled",), cap, "cap -decay"),
        PlanStep("scaled", "Causal scores", "masked", ("scaled", "causal"), 0, "-decay"),
        PlanStep("scaled", "Scores within the window", "masked", ("scaled", "window"), 0,
                 "window -decay"),
        PlanStep("scaled", "The largest scores", "top", ("scaled",), top, "top -decay"),
        PlanStep("exponentials", "Exponentials", "exponential", ("scaled",), 0, "-decay"),
        PlanStep("sums", "Row sums", "row sums", ("exponentials",), 0, "-decay"),
        PlanStep("sums", "With sink", "row sums with sink", ("exponentials",), sink, "sink -decay"),
        PlanStep("weights", "Weights", "share", ("exponentials", "sums"), 0, "-decay"),
        PlanStep("output", "Output", "product", ("weights", "value")),
        # The role is the share of each output that the gate lets through.
        PlanStep("open", "Gate after the sigmoid", "sigmoid", ("gate",), 0, "gate"),
        PlanStep("output", "Gated output", "times", ("output", "open"), 0, "gate"),
    )  # fmt: skip


def evaluate_plan(
    plan: Iterable[PlanStep], given: Mapping[str, ArrayLike], on: Collection[str] = ()
) -> tuple[Computation, dict[str, str]]:
    """Compute the steps of a plan; return the computation, and the latest table of each role.

    Parameters
    ----------
    plan : iterable of PlanStep
    given : mapping
        The input tables by their roles.
    on : collection of str
        Names of `SWITCHES`.

    Returns
    -------
    computation : Computation
        Of several tables with one role, the first is named as the role, later ones with a number
        after it.
    roles : dict of str to str
        The name of the latest table of each role.

    Raises
    ------
    ValueError
        If there is no such switch, or the shapes of tables do not fit together.

    Examples
    --------
    >>> one = np.eye(2)
    >>> tables = dict.fromkeys(("query", "key", "value", "causal"), one)
    >>> computation, roles = evaluate_plan(attention_plan(2), tables, on=("cap",))
    >>> computation[roles["weights"]]
    array([[1., 0.],
           [0., 1.]])
    """
    for switch in on:
        if switch not in SWITCHES:
            raise ValueError(f"on has {switch!r}; of {', '.join(SWITCHES)} some are wanted")
    computation, roles = Computation(), {}
    for role, array in given.items():
        computation, roles[role] = computation.given(role, array), role
    for step in plan:
        if not step.is_computed(on):
            continue
        taken = sum(
            name == step.role or name.startswith(f"{step.role} ") for name in computation.steps
        )
        name = f"{step.role} {taken + 1}" if taken else step.role
        inputs = (roles[role] for role in step.inputs)
        computation = computation.then(
            name, step.operation, *inputs, number=step.number, title=step.title
        )
        roles[step.role] = name
    return computation, roles


def plan_as_data(plan: Iterable[PlanStep]) -> list[dict[str, Any]]:
    """Return a plan as plain data for the browser, which evaluates it by the same operations.

    Values that are empty are omitted. The key of a step's inputs is "of".
    """
    return [
        {"of" if name == "inputs" else name: value for name, value in asdict(step).items() if value}
        for step in plan
    ]


def latent_plan(d_k: int) -> tuple[PlanStep, ...]:
    """Return the steps of latent attention for one head, without rotation, in both of its forms.

    Parameters
    ----------
    d_k : int

    Returns
    -------
    tuple of PlanStep
        They read the tables x, w_q, w_dkv, w_uk, w_uv and causal. The roles of the absorbed form
        begin with "absorbed_"; both forms use the role latent.

    Examples
    --------
    >>> one = np.eye(2)
    >>> tables = dict.fromkeys(("x", "w_q", "w_dkv", "w_uk", "w_uv", "causal"), one)
    >>> computation, _ = evaluate_plan(latent_plan(2), tables)
    >>> bool((computation["absorbed_output"] == computation["output"]).all())
    True
    """

    def weights(form: str) -> tuple[PlanStep, ...]:
        scaled, powers, sums = f"{form}scaled", f"{form}exponentials", f"{form}sums"
        return (
            PlanStep(scaled, "Scaled scores", "over root", (f"{form}scores",), d_k),
            PlanStep(scaled, "Causal scores", "masked", (scaled, "causal")),
            PlanStep(powers, "Exponentials", "exponential", (scaled,)),
            PlanStep(sums, "Row sums", "row sums", (powers,)),
            PlanStep(f"{form}weights", "Weights", "share", (powers, sums)),
        )

    return (
        PlanStep("query", "Queries", "product", ("x", "w_q")),
        PlanStep("latent", "Latent vectors", "product", ("x", "w_dkv")),
        PlanStep("key", "Keys", "product", ("latent", "w_uk")),
        PlanStep("value", "Values", "product", ("latent", "w_uv")),
        PlanStep("scores", "Scores", "dots", ("query", "key")),
        *weights(""),
        PlanStep("output", "Output", "product", ("weights", "value")),
        PlanStep("absorbed_query", "Queries for latent vectors", "dots", ("query", "w_uk")),
        PlanStep("absorbed_scores", "Scores", "dots", ("absorbed_query", "latent")),
        *weights("absorbed_"),
        PlanStep("absorbed_mixed", "Mixed latent vectors", "product",
                 ("absorbed_weights", "latent")),
        PlanStep("absorbed_output", "Output", "product", ("absorbed_mixed", "w_uv")),
    )  # fmt: skip


def latent_computation(
    x: ArrayLike, weights: LatentWeights, angles: ArrayLike, *, absorbed: bool = False
) -> Computation:
    """Return one head of multi-head latent attention, without norms, as a computation.

    Parameters
    ----------
    x : array_like, shape (n, d_model)
    weights : LatentWeights
        Of a layer with one head, without `w_dq` and gains.
    angles : array_like, shape (n, d_r / 2)
    absorbed : bool, default False
        Multiply queries by `w_uk` and mixed latent vectors by `w_uv`, so that no key or value is
        computed from the latent vectors.

    Returns
    -------
    Computation
        Among its tables are "latent" and "turned_key", which a cache keeps, "weights" and
        "output".

    Raises
    ------
    ValueError
        If the layer has several heads, `w_dq` or gains.

    Examples
    --------
    >>> one = np.ones((1, 2, 2))
    >>> layer = LatentWeights(np.eye(2), one, one, np.eye(2), one, one, np.eye(2))
    >>> latent_computation(np.eye(2), layer, [[0], [0]])["weights"]
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    given = {name: getattr(weights, name) for name in ("w_dq", "gain", "query_gain")}
    if len(weights.w_uk) > 1 or any(array is not None for array in given.values()):
        raise ValueError("weights has heads or norms beyond the first; one head without is wanted")
    n, d_k = len(np.asarray(x)), weights.w_uk.shape[-1] + weights.w_kr.shape[-1]
    computation = (
        Computation().given("x", x, title="Embeddings").given("angles", angles, title="Angles")
    )
    for name in ("w_dkv", "w_kr", "w_uq", "w_qr", "w_uk", "w_uv"):
        array = getattr(weights, name)
        computation = computation.given(name, array if array.ndim == 2 else array[0])
    computation = (
        computation.then("latent", "product", "x", "w_dkv", title="Latent vectors")
        .then("key_part", "product", "x", "w_kr", title="Keys to be rotated")
        .then("turned_key", "turned", "key_part", "angles", title="Rotated keys")
        .then("query", "product", "x", "w_uq", title="Queries")
        .then("query_part", "product", "x", "w_qr", title="Queries to be rotated")
        .then("turned_query", "turned", "query_part", "angles", title="Rotated queries")
    )
    if absorbed:
        computation = computation.then(
            "met", "dots", "query", "w_uk", title="Queries for latent vectors"
        )
        computation = computation.then(
            "contents", "dots", "met", "latent", title="Scores of contents"
        )
    else:
        computation = computation.then("key", "product", "latent", "w_uk", title="Keys")
        computation = computation.then("value", "product", "latent", "w_uv", title="Values")
        computation = computation.then(
            "contents", "dots", "query", "key", title="Scores of contents"
        )
    computation = (
        computation.then(
            "places", "dots", "turned_query", "turned_key", title="Scores of positions"
        )
        .then("scores", "sum", "contents", "places", title="Scores")
        .then("scaled", "over root", "scores", number=d_k, title="Scaled scores")
        .given("causal", np.tri(n))
        .then("masked", "masked", "scaled", "causal", title="Causal scores")
        .then("exponentials", "exponential", "masked", title="Exponentials")
        .then("sums", "row sums", "exponentials", title="Row sums")
        .then("weights", "share", "exponentials", "sums", title="Weights")
    )
    if absorbed:
        computation = computation.then(
            "mixed", "product", "weights", "latent", title="Mixed latent vectors"
        )
        return computation.then("output", "product", "mixed", "w_uv", title="Output")
    return computation.then("output", "product", "weights", "value", title="Output")


def linear_computation(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, decay: ArrayLike
) -> Computation:
    """Return linear attention with decay, token by token, as a computation.

    Parameters
    ----------
    query, key, value : array_like, shape (n, d)
    decay : array_like, shape (n,)
        Factor of the state before each token.

    Returns
    -------
    Computation
        Among its tables are "state 1" to "state n" and the rows "output 1" to "output n".

    Examples
    --------
    >>> one = np.eye(2)
    >>> linear_computation(one, one, one, [1, 0.5])["state 2"]
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    query, key, value = (np.asarray(array, float) for array in (query, key, value))
    computation = Computation().given("query", query).given("key", key).given("value", value)
    computation = computation.given("decay", np.asarray(decay, float)[:, None])
    computation = computation.given("state 0", np.zeros((key.shape[1], value.shape[1])))
    for t in range(len(key)):
        before, state = f"state {t}", f"state {t + 1}"
        computation = computation.then(state, "carried", before, "key", "value", "decay", number=t)
        computation = computation.then(f"asked {t + 1}", "row", "query", number=t)
        computation = computation.then(f"output {t + 1}", "product", f"asked {t + 1}", state)
    return computation
