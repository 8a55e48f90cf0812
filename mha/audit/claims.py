"""What the source documents claim in words, decided by numbers.

``mha/audit/sources/claims.toml`` lists the claims. Each names the check of `mha.audit.checks` that
decides it, or says why numbers cannot. No verdict is stored: a check computes one, with its reason.
"""

import inspect
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from mha.audit.checks import CHECKS
from mha.audit.checks.finding import Finding
from mha.audit.sources import TITLES


@dataclass(frozen=True)
class Claim:
    """A claim in words.

    Parameters
    ----------
    source : str
        One of `mha.audit.sources.source_names`.
    line : int
        Line in the document, counted from 1.
    says : str
        The claim, in the words of this book.
    check : str, default ""
        The one of `mha.audit.checks.CHECKS` that decides it.
    given : mapping, default empty
        The check's parameters.
    untestable : str, default ""
        Why numbers cannot decide it, where there is no check.

    Raises
    ------
    ValueError
        If the parts do not fit together, naming the part, what came and what is wanted.

    Examples
    --------
    >>> claim = Claim("mha-tutorial", 1, "d_k is 64", "head_width",
    ...               {"d_model": 512, "num_heads": 8, "d_k": 64})
    >>> claim.finding()
    Finding(holds=True, because='512 / 8 = 64', by_half=False)
    """

    source: str
    line: int
    says: str
    check: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    untestable: str = ""

    def __post_init__(self) -> None:
        if self.source not in TITLES:
            raise ValueError(f"source is {self.source!r}; one of {', '.join(TITLES)} is wanted")
        if self.line < 1:
            raise ValueError(f"line is {self.line}; a number from 1 up is wanted")
        if bool(self.check) == bool(self.untestable):
            raise ValueError(
                f"{self.says!r} has check {self.check!r} and untestable {self.untestable!r};"
                " exactly one of them is wanted"
            )
        if self.check and self.check not in CHECKS:
            raise ValueError(f"check is {self.check!r}; one of {', '.join(CHECKS)} is wanted")
        if self.check:
            try:
                inspect.signature(CHECKS[self.check]).bind(**self.given)
            except TypeError as error:
                raise ValueError(
                    f"{self.says!r} does not fit check {self.check}: {error}"
                ) from error

    def finding(self) -> Finding | None:
        """Return what the check finds; None where numbers cannot decide.

        Returns
        -------
        Finding or None
        """
        return CHECKS[self.check](**self.given) if self.check else None


@cache
def load_claims() -> tuple[Claim, ...]:
    """Return every claim in words that the documents make and the project looks at.

    Returns
    -------
    tuple of Claim
        In the order of the documents' lines, one document after another.

    Raises
    ------
    ValueError
        If the file is not as it should be, naming the file.

    Examples
    --------
    >>> star = next(c for c in load_claims() if c.line == 592)
    >>> star.finding().holds
    False
    """
    text = resources.files("mha.audit.sources").joinpath("claims.toml").read_text(encoding="utf-8")
    return claims_from(text)


def claims_from(text: str) -> tuple[Claim, ...]:
    """Return the claims that a file lists.

    Parameters
    ----------
    text : str
        What stands in it.

    Returns
    -------
    tuple of Claim

    Raises
    ------
    ValueError
        If it is not as it should be, naming the file.
    """
    try:
        records = tomllib.loads(text)["claims"]
        return tuple(_claim(**record) for record in records)
    except KeyError as error:
        raise ValueError(f"mha/audit/sources/claims.toml has no {error}; it is wanted") from error
    except (RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"mha/audit/sources/claims.toml: {error}") from error


def _claim(
    *, source: str, line: int, says: str, check: str = "", untestable: str = "", **given: Any
) -> Claim:
    return Claim(source, line, says, check, given, untestable)
