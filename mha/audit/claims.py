"""Claims that the source documents make in words, and their verdicts.

``mha/audit/sources/claims.toml`` lists the claims. Each names the check of `mha.audit.checks` that
decides it, or the reason that numbers cannot. No verdict is stored: a check computes one, with its
reason.
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
    """A claim that a document makes in words.

    Parameters
    ----------
    source : str
        One of `mha.audit.sources.source_names`.
    line : int
        Line in the document, counted from 1.
    says : str
        The claim, in this book's words.
    check : str, default ""
        Name of the check in `mha.audit.checks.CHECKS` that decides it.
    given : mapping, default empty
        Arguments of the check.
    untestable : str, default ""
        The reason that numbers cannot decide it, if there is no check.

    Raises
    ------
    ValueError
        If the arguments are not valid. The message names the argument, its value and the values
        that are valid.

    Examples
    --------
    >>> claim = Claim("mha-tutorial", 1, "d_k is 64", "head_width",
    ...               {"d_model": 512, "num_heads": 8, "d_k": 64})
    >>> claim.finding()
    Finding(holds=True, because='512 / 8 = 64', half_right=False)
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
        """Run the check and return its finding, or None if there is no check.

        Returns
        -------
        Finding or None
        """
        return CHECKS[self.check](**self.given) if self.check else None


@cache
def load_claims() -> tuple[Claim, ...]:
    """Return all claims of the documents that the audit covers.

    Returns
    -------
    tuple of Claim
        Document by document, in the order of their lines.

    Raises
    ------
    ValueError
        If the file is not valid. The message names the file.

    Examples
    --------
    >>> star = next(c for c in load_claims() if c.line == 592)
    >>> star.finding().holds
    False
    """
    text = resources.files("mha.audit.sources").joinpath("claims.toml").read_text(encoding="utf-8")
    return claims_from(text)


def claims_from(text: str) -> tuple[Claim, ...]:
    """Parse the text of ``claims.toml``.

    Parameters
    ----------
    text : str
        Contents of the file.

    Returns
    -------
    tuple of Claim

    Raises
    ------
    ValueError
        If the text is not valid. The message names the file.
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
