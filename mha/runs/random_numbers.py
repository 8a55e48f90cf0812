"""Numbers drawn from a seed, the same in Python and in a browser, to the last bit.

The generator is SplitMix32: a counter of 32 bits, each value of which is stirred. It is small
enough to be written twice, here and in `engine/draws.ts`, and is for examples and
starts of training that a page draws too; whatever Python alone draws takes NumPy's generators.
"""

from mha.core.checks import as_count

BITS = 2**32
_STEP = 0x9E3779B9
_ROUNDS = ((16, 0x21F0AAAD), (15, 0x735A2D97))


class Draws:
    """A generator of numbers from a seed.

    Parameters
    ----------
    seed : int
        From 0 to 4 294 967 295.

    Raises
    ------
    TypeError, ValueError
        If `seed` is no such number.

    Examples
    --------
    >>> draws = Draws(7)
    >>> [draws.whole(-3, 3) for _ in range(8)]
    [3, 3, -2, -1, -1, 2, -2, -1]
    >>> round(draws.normal(), 4)
    -0.5198
    """

    def __init__(self, seed: int) -> None:
        self._state = as_count("seed", seed, least=0)
        if self._state >= BITS:
            raise ValueError(f"seed is {seed}; at most {BITS - 1} is wanted")

    def bits(self) -> int:
        """Return 32 bits, as a whole number from 0 on."""
        self._state = (self._state + _STEP) % BITS
        mixed = self._state
        for shift, times in _ROUNDS:
            mixed ^= mixed >> shift
            mixed = mixed * times % BITS
        return mixed ^ mixed >> 15

    def share(self) -> float:
        """Return a number from 0 up to 1, which is left out."""
        return self.bits() / BITS

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included, each as likely.

        Parameters
        ----------
        low, high : int
            At most a million numbers apart, so that a browser counts them exactly.
        """
        return low + self.bits() * (high - low + 1) // BITS

    def normal(self) -> float:
        """Return a number that is spread like a normal one: mean 0, variance 1, within 6.

        It is the sum of twelve shares less 6, which every machine adds without rounding; logarithms
        and cosines differ in their last bits from one to the next.
        """
        return sum(self.bits() for _ in range(12)) / BITS - 6
