"""What a check returns, and what a check is."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What a check finds about a claim.

    Parameters
    ----------
    holds : bool
    because : str
        One sentence, with the numbers that decide it.
    by_half : bool, default False
        Whether a claim that does not hold is half right: true of a part of what it speaks about.

    Examples
    --------
    >>> Finding(False, "some grow and some shrink", by_half=True).verdict
    'half right'
    """

    holds: bool
    because: str
    by_half: bool = False

    @property
    def verdict(self) -> str:
        """What the book calls this finding: it holds, it is half right, or it does not hold."""
        if self.holds:
            return "holds"
        return "half right" if self.by_half else "does not hold"


Check = Callable[..., Finding]
"""Takes a claim's parameters by name, returns what it finds."""
