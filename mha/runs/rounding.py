"""Rounding of numbers for print, and labels of components.

Values stay in float64 and are rounded once, when they are shown, to a number of decimals, a tie to
the even digit. A number that differs from a tie by no more than the rounding errors of float64 is
rounded as that tie: a machine that adds in another order may give one bit less than 1.3715, and
both must print alike. Bounds alone are rounded outward, so that the printed bound holds.

Numbers are printed with a true minus sign, without a sign of zero, and without an exponent. Minus
infinity, the score of a masked key, is −∞; `inf` and `nan` are printed as NumPy prints them.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext

import numpy as np

from mha.core.checks import as_count
from mha.core.option_checks import as_string

PLACES = 4
"""Decimal places that the book shows unless a page says otherwise."""

TRUSTED = 14
"""Number of significant digits that are right after a calculation in float64."""


def shown(value: float, places: int = PLACES) -> str:
    """Return a number as the book prints it, with a fixed number of decimals.

    Parameters
    ----------
    value : float
    places : int, default 4

    Returns
    -------
    str

    Raises
    ------
    TypeError
        If `value` is no number, or `places` no whole number.
    ValueError
        If `places` is negative, or `value` too large for float64.

    Examples
    --------
    >>> shown(0.7310585786)
    '0.7311'
    >>> shown(-1.5, 2), shown(0.125, 2), shown(-0.00001)
    ('−1.50', '0.12', '0.0000')
    >>> shown(1.3715, 3), shown(0.5 * 2.743, 3), shown(1.3715 - 2e-16, 3)
    ('1.372', '1.372', '1.372')
    >>> shown(-math.inf), shown(math.inf), shown(math.nan)
    ('−∞', 'inf', 'nan')
    """
    places, value = as_count("places", places, least=0), _as_float(value)
    if value == -math.inf:
        return "−∞"
    text = f"{_drop_untrusted_digits(value, places):.{places}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "−")


def rounded(value: float, places: int = PLACES) -> float:
    """Return a number rounded as `shown` rounds it.

    Parameters
    ----------
    value : float
        A finite number.
    places : int, default 4

    Returns
    -------
    float

    Examples
    --------
    >>> rounded(1.3715, 3), round(1.3715, 3)
    (1.372, 1.371)
    """
    return float(f"{_drop_untrusted_digits(value, places):.{places}f}")


def is_tie(value: float | Decimal, places: int = PLACES) -> bool:
    """Return whether a number lies halfway between two numbers with `places` decimals.

    Parameters
    ----------
    value : float or Decimal
        A float is read as `shown` reads it, a Decimal exactly.
    places : int, default 4

    Returns
    -------
    bool

    Examples
    --------
    >>> is_tie(-1.505, 2), is_tie(-1.50499, 2), is_tie(Decimal("0.125"), 2), is_tie(0.5 * 0.25, 2)
    (True, False, True, True)
    """
    exact = value if isinstance(value, Decimal) else Decimal(_drop_untrusted_digits(value, places))
    if not exact.is_finite():
        return False
    with localcontext(prec=60):
        from_tie = abs(abs(exact.scaleb(places)) % 1 - Decimal("0.5"))
    return from_tie < Decimal("1e-30")


def _drop_untrusted_digits(value: float, places: int) -> float | Decimal:
    """Return a number rounded to its trusted digits if these reach beyond `places` decimals."""
    trusted = TRUSTED - len(str(int(abs(value)))) if math.isfinite(value) else 0
    return Decimal(f"{value:.{trusted}f}") if trusted > places else value


def _as_float(value: float) -> float:
    """Return a number as a Python float; NumPy's small integer types would overflow."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("value is a masked array; a number that is not hidden is wanted")
    if getattr(value, "ndim", 0):  # before version 2.4, NumPy converts an array of one number
        raise TypeError(f"value is {value!r}; a number is wanted")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("value is beyond what float64 holds; a smaller one is wanted") from None
    except (TypeError, ValueError):
        raise TypeError(f"value is {value!r}; a number is wanted") from None


class Percentage(str):
    """A string with a percentage, which a notebook shows as text, not by its repr."""

    def _repr_markdown_(self) -> str:
        return str(self)


def percent(value: float, places: int = 0) -> Percentage:
    r"""Return a share between 0 and 1 as a percentage, with a no-break space before its sign.

    Parameters
    ----------
    value : float
    places : int, default 0

    Returns
    -------
    Percentage
        A string.

    Examples
    --------
    >>> percent(0.7310585786)
    '73\xa0%'
    """
    return Percentage(f"{shown(100 * _as_float(value), places)}\N{NO-BREAK SPACE}%")


def at_least(value: float, places: int = 0) -> str:
    """Return a lower bound: the value rounded down, for a sentence with "at least".

    Parameters
    ----------
    value : float
        A finite number.
    places : int, default 0

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If `places` is below 0, or the value is not finite.

    Examples
    --------
    >>> at_least(1.683, 1), at_least(0.1 + 0.2, 1), at_least(-0.25, 1)
    ('1.6', '0.3', '−0.3')
    """
    return _round_outward(value, places, ROUND_FLOOR)


def at_most(value: float, places: int = 0) -> str:
    """Return an upper bound: the value rounded up, for a sentence with "at most".

    Parameters
    ----------
    value, places
        As for `at_least`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        As `at_least`.

    Examples
    --------
    >>> at_most(6.93, 1), at_most(-0.25, 1)
    ('7.0', '−0.2')
    """
    return _round_outward(value, places, ROUND_CEILING)


def at_least_percent(value: float, places: int = 0) -> Percentage:
    r"""Return a lower bound of a share as a percentage, as `percent` writes it.

    Examples
    --------
    >>> at_least_percent(0.0770)
    '7 %'
    """
    return Percentage(f"{_round_outward(value, places, ROUND_FLOOR, 100)}\N{NO-BREAK SPACE}%")


def at_most_percent(value: float, places: int = 0) -> Percentage:
    r"""Return an upper bound of a share as a percentage, as `percent` writes it.

    Examples
    --------
    >>> at_most_percent(0.9230)
    '93 %'
    """
    return Percentage(f"{_round_outward(value, places, ROUND_CEILING, 100)}\N{NO-BREAK SPACE}%")


def _round_outward(value: float, places: int, rounding: str, times: int = 1) -> str:
    """Return a number rounded in one direction, or to nearest if only float noise is rounded."""
    places, value = as_count("places", places, least=0), _as_float(value)
    if not math.isfinite(value):
        raise ValueError(f"value is {value}; a finite number is wanted")
    unit = Decimal(1).scaleb(-places)
    # The largest float64 has 309 digits before the point, and `quantize` needs all of them.
    with localcontext(prec=400):
        exact = times * Decimal(value)
        nearest = exact.quantize(unit)
        is_exact = abs(exact - nearest) <= Decimal("1e-14") * max(Decimal(1), abs(exact))
        bound = nearest if is_exact else exact.quantize(unit, rounding=rounding)
    return f"{abs(bound) if bound == 0 else bound:f}".replace("-", "−")


def short(value: float, places: int = PLACES) -> str:
    """Return a number without trailing zeros if `places` decimals are exact.

    An embedding's 0.6 is shown as 0.6, not as 0.6000; a number that `places` decimals only
    approximate keeps all of them. A number counts as exact if the error is at most 1e-14 of its
    size (1e-14 for numbers below 1), which is the noise of float64.

    Parameters
    ----------
    value : float
    places : int, default 4

    Returns
    -------
    str

    Examples
    --------
    >>> short(0.6), short(2.0), short(1 / 3), short(0.11100004)
    ('0.6', '2', '0.3333', '0.1110')
    """
    text = shown(value, places)
    if "." not in text:
        return text
    value = float(value)
    exact = abs(value - float(text.replace("−", "-"))) <= 1e-14 * max(1.0, abs(value))
    return text.rstrip("0").rstrip(".") if exact else text


def dimensions(symbol: str, count: int) -> tuple[str, ...]:
    """Return labels for a vector's components, counted from 1.

    Raises
    ------
    TypeError, ValueError
        If `symbol` is no string, or `count` no whole number of at least 0.

    Examples
    --------
    >>> dimensions("q", 3)
    ('q₁', 'q₂', 'q₃')
    """
    digits = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    symbol, count = as_string("symbol", symbol), as_count("count", count, least=0)
    return tuple(symbol + str(i).translate(digits) for i in range(1, count + 1))
