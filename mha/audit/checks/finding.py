"""The type of checks, and the type of their results."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """The result of a check of a claim.

    Parameters
    ----------
    holds : bool
        Whether the claim is true.
    because : str
        One sentence, with the numbers that decide it.
    half_right : bool, default False
        Whether a claim that does not hold is true of a part of its cases.

    Examples
    --------
    >>> Finding(False, "some grow and some shrink", half_right=True).verdict
    'half right'
    """

    holds: bool
    because: str
    half_right: bool = False

    @property
    def verdict(self) -> str:
        """The finding in words: "holds", "half right" or "does not hold"."""
        if self.holds:
            return "holds"
        return "half right" if self.half_right else "does not hold"


Check = Callable[..., Finding]
"""A function from the arguments of a claim, by keyword, to the finding."""
