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
    """

    holds: bool
    because: str


Check = Callable[..., Finding]
"""Takes a claim's parameters by name, returns what it finds."""
