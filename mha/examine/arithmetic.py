"""One number of attention's output, written out as lines of arithmetic."""

import numpy as np

from mha.core.checks import Array
from mha.runs.rounding import short, shown
from mha.views.arithmetic import Arithmetic, factor
from mha.views.signs import chain


def dot(left: Array, right: Array) -> str:
    """Return a sum of products with its result.

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, -1.0]))
    '1×3 + 2×(−1) = 3 + (−2) = 1'
    """
    terms = [f"{factor(a)}×{factor(b)}" for a, b in zip(left, right, strict=True)]
    worked = tuple(factor(a * b) for a, b in zip(left, right, strict=True))
    return str(Arithmetic(" + ".join(terms), worked, short(float(left @ right))))


def output_lines(
    query: Array,
    key: Array,
    value: Array,
    added: Array,
    scale: float | None = None,
    softcap: float | None = None,
) -> list[str]:
    r"""Return how one number of one query's output comes about.

    Parameters
    ----------
    query : ndarray, shape (d_k,)
    key : ndarray, shape (m, d_k)
    value : ndarray, shape (m,)
        One component of each value.
    added : ndarray, shape (m,)
        What a mask adds to the scaled scores: minus infinity hides.
    scale, softcap : float, optional

    Returns
    -------
    list of str

    Examples
    --------
    >>> one = np.eye(2)
    >>> print(*output_lines(2 * one[0], one, np.array([3.0, 5.0]), np.zeros(2), 1.0), sep="\n")
    score with key 1: 2×1 + 0×0 = 2 + 0 = 2
      scaled: 2 × 1 = 2
    score with key 2: 2×0 + 0×1 = 0 + 0 = 0
      scaled: 0 × 1 = 0
    exponentials, less the largest: e^0 = 1.0000, e^−2 ≈ 0.1353
    their sum: 1.0000 + 0.1353 = 1.1353
    weights: 1.0000 ÷ 1.1353 ≈ 0.8808, 0.1353 ÷ 1.1353 ≈ 0.1192
    output: 0.8808×3 + 0.1192×5 = 3.2384
    """
    scaled = key @ query * (1 / np.sqrt(len(query)) if scale is None else scale)
    if softcap is not None:
        scaled = softcap * np.tanh(scaled / softcap)
    total = scaled + added
    found = []
    for i, number in enumerate(map(float, scaled)):
        if np.isneginf(added[i]):
            found.append(f"score with key {i + 1}: hidden by the mask")
            continue
        found.append(f"score with key {i + 1}: {dot(query, key[i])}")
        by = f"÷ √{len(query)}" if scale is None else f"× {factor(scale)}"
        if softcap is None:
            line = f"  scaled: {chain(f'{short(float(query @ key[i]))} {by}', short(number))}"
        else:
            line = f"  scaled, {by}, and bent by the cap of {short(softcap)}: {short(number)}"
        if added[i]:
            more = chain(f"{short(number)} + {factor(float(added[i]))}", short(float(total[i])))
            line += f"; with the mask: {more}"
        found.append(line)
    if np.isneginf(total).all():
        return [*found, "no key is seen: all weights are 0, and so is the output"]
    shares = np.exp(total - total.max())
    weights, whole = shares / shares.sum(), shown(float(shares.sum()))
    said = [shown(float(x)) for x in shares]
    powers = map(chain, (f"e^{short(float(x))}" for x in total - total.max()), said)
    quotients = map(chain, (f"{x} ÷ {whole}" for x in said), (shown(float(w)) for w in weights))
    mixed = [f"{shown(float(w))}×{factor(float(v))}" for w, v in zip(weights, value, strict=True)]
    return [
        *found,
        f"exponentials, less the largest: {', '.join(powers)}",
        f"their sum: {chain(*dict.fromkeys([' + '.join(said), whole]))}",
        f"weights: {', '.join(quotients)}",
        f"output: {chain(' + '.join(mixed), short(float(weights @ value)))}",
    ]
