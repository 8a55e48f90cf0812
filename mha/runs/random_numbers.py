"""Random numbers from a seed, the same in Python and in a browser, to the last bit.

The generator is SplitMix32: a 32-bit counter, each value of which is hashed. Its port is
`engine/draws.ts`. It draws examples and initial parameters that a page draws too; numbers that
Python alone draws come from NumPy's generators.
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
        """Return 32 random bits, as a whole number from 0 to 2**32 - 1."""
        self._state = (self._state + _STEP) % BITS
        mixed = self._state
        for shift, times in _ROUNDS:
            mixed ^= mixed >> shift
            mixed = mixed * times % BITS
        return mixed ^ mixed >> 15

    def uniform(self) -> float:
        """Return a number between 0 and 1, with 0 included and 1 excluded."""
        return self.bits() / BITS

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included, with equal probabilities.

        Parameters
        ----------
        low, high : int
            At most a million apart, so that the product is exact in a browser's float64.
        """
        return low + self.bits() * (high - low + 1) // BITS

    def normal(self) -> float:
        """Return a number of approximately normal distribution, with mean 0 and variance 1.

        It is the sum of twelve uniform numbers minus 6. This sum is exact on every machine;
        logarithms and cosines, as in the Box-Muller transform, differ in their last bits.
        """
        return sum(self.bits() for _ in range(12)) / BITS - 6
