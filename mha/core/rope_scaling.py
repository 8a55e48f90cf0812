"""Changes of the speeds of rotary positions, for sequences longer than those of training."""

from __future__ import annotations

import math

import numpy as np

from mha.core.checks import Array, as_count, as_number, refuse_overflow
from mha.core.option_checks import as_bool
from mha.core.positions import BASE, rotary_angles


def rotary_speeds(d_k: int, *, base: float = BASE) -> Array:
    """Return the angle per position of each pair, in radians, the largest first.

    Parameters
    ----------
    d_k : int
        An even number.
    base : float, default 10000

    Returns
    -------
    ndarray, shape (d_k / 2,)

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or too small.

    References
    ----------
    Su et al. (2024), section 3.2.2.

    Examples
    --------
    >>> rotary_speeds(4)
    array([1.  , 0.01])
    """
    return rotary_angles(1.0, d_k, base=base)


def interpolated_speeds(d_k: int, factor: float, *, base: float = BASE) -> Array:
    """Return all speeds divided by the factor, as if the positions were divided by it.

    Parameters
    ----------
    d_k : int
    factor : float
        The ratio of the new to the trained sequence length, at least 1.
    base : float, default 10000

    Returns
    -------
    ndarray, shape (d_k / 2,)

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or too small.

    References
    ----------
    Chen et al. (2023), equation 3.

    Examples
    --------
    >>> interpolated_speeds(4, 4)
    array([0.25  , 0.0025])
    """
    return rotary_speeds(d_k, base=base) / as_number("factor", factor, least=1)


def wider_base(d_k: int, factor: float, *, base: float = BASE) -> float:
    """Return a base with which the slowest pair is `factor` times slower, the fastest unchanged.

    Parameters
    ----------
    d_k : int
        Above 2.
    factor : float
        At least 1.
    base : float, default 10000

    Returns
    -------
    float
        base · factor^(d_k / (d_k − 2)): the "NTK-aware" change of the base.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or too small.

    References
    ----------
    Peng et al. (2024), section 3.1.

    Examples
    --------
    >>> rotary_speeds(4, base=wider_base(4, 4))
    array([1.    , 0.0025])
    """
    width = as_count("d_k", d_k, least=4)
    rotary_speeds(width, base=base)  # raises if the width or the base is invalid
    with np.errstate(over="ignore"):
        wider = np.asarray(
            base * np.float64(as_number("factor", factor, least=1)) ** (width / (width - 2))
        )
    refuse_overflow("base and factor", wider)
    return float(wider)


def yarn_speeds(
    d_k: int,
    factor: float,
    *,
    length: int,
    base: float = BASE,
    fast: float = 32,
    slow: float = 1,
    truncate: bool = True,
) -> Array:
    """Return YaRN's speeds: fast pairs unchanged, slow pairs divided by the factor, a ramp between.

    Parameters
    ----------
    d_k : int
    factor : float
        At least 1.
    length : int
        The sequence length of training.
    base : float, default 10000
    fast, slow : float, defaults 32 and 1
        The speed of a pair that makes at least `fast` full turns within `length` is unchanged; the
        speed of one that makes at most `slow` is divided by the factor. Between them the share of
        the divided speed grows linearly with the index of the pair.
    truncate : bool, default True
        Round the two ends of this range outward to whole indices.

    Returns
    -------
    ndarray, shape (d_k / 2,)

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or too small.

    References
    ----------
    Peng et al. (2024), section 3.2, with a ramp over the number of turns; here the ramp is over the
    pairs, as in the authors' code.

    Examples
    --------
    >>> (yarn_speeds(8, 4, length=128) / rotary_speeds(8)).round(4)
    array([1.   , 0.625, 0.25 , 0.25 ])
    """
    # A NumPy integer of eight bits would overflow in the comparisons below.
    d_k, length = as_count("d_k", d_k), as_count("length", length)
    speeds, pairs = rotary_speeds(d_k, base=base), np.arange(d_k // 2)
    first, last = (
        _pair_with_turns(d_k, base, length, as_number(name, turns, above=0))
        for name, turns in (("fast", fast), ("slow", slow))
    )
    if as_bool("truncate", truncate):
        first, last = math.floor(first), math.ceil(last)
    # As in the authors' code; 0.001 prevents a division by 0 if both ends are one pair.
    low, high = max(first, 0), min(last, d_k - 1)
    share = np.clip((pairs - low) / max(high - low, 0.001), 0, 1)
    return speeds * (1 - share) + speeds / as_number("factor", factor, least=1) * share


def llama3_speeds(
    d_k: int,
    factor: float,
    *,
    length: int,
    base: float = BASE,
    slow: float = 1,
    fast: float = 4,
) -> Array:
    """Return the speeds of Llama 3.1: fast pairs unchanged, and slow pairs divided by the factor.

    Parameters
    ----------
    d_k : int
        An even number.
    factor : float
        At least 1.
    length : int
        The length of the sequences in training before the change.
    base : float, default 10000
    slow, fast : float, defaults 1 and 4
        A pair that makes more than `fast` full turns within `length` keeps its speed; the speed of
        one that makes fewer than `slow` is divided by the factor. Between them the share of the
        divided speed falls evenly with the number of turns. In a configuration they are
        `low_freq_factor` and `high_freq_factor`.

    Returns
    -------
    ndarray, shape (d_k / 2,)

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number or too small, or `fast` is not above `slow`.

    References
    ----------
    Grattafiori et al. (2024), and the program published with the model, which has the formula.

    Examples
    --------
    >>> (llama3_speeds(8, 4, length=128) / rotary_speeds(8)).round(4)
    array([1.    , 0.5093, 0.25  , 0.25  ])
    """
    speeds = rotary_speeds(d_k, base=base)
    slow, fast = as_number("slow", slow, above=0), as_number("fast", fast, above=slow)
    turns = as_count("length", length) * speeds / (2 * math.pi)
    share = np.clip((turns - slow) / (fast - slow), 0, 1)
    return speeds * share + speeds / as_number("factor", factor, least=1) * (1 - share)


def yarn_sharpness(factor: float, *, mscale: float = 1) -> float:
    """Return YaRN's factor of queries and keys.

    Parameters
    ----------
    factor : float
        At least 1.
    mscale : float, default 1

    Returns
    -------
    float
        0.1 mscale ln(factor) + 1; the scores are multiplied by its square.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, or too small.

    References
    ----------
    Peng et al. (2024), section 3.3.

    Examples
    --------
    >>> round(yarn_sharpness(4), 4)
    1.1386
    """
    return 0.1 * as_number("mscale", mscale) * math.log(as_number("factor", factor, least=1)) + 1


def _pair_with_turns(d_k: int, base: float, length: int, turns: float) -> float:
    """Return the fractional index of the pair that makes `turns` full turns within the length."""
    as_number("base", base, above=1)
    logs = math.log(length) - math.log(2 * math.pi) - math.log(turns)
    return d_k * logs / (2 * math.log(base))
