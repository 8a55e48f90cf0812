"""What the numbers of a set of worksheets follow from: a seed, or a secret that a teacher keeps.

Who knows a seed and a student's id can draw that student's sheet, and its key. A secret gives
nothing away: each sheet's numbers follow from a keyed hash of it, and on paper stands a check
number alone.
"""

import hmac
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SHEET, MODEL = 0, 2
"""What is drawn: a sheet, or the tasks from the trained model."""

SHORTEST = 32
"""Letters that a secret has at least, so that nobody finds it by trying."""


@dataclass(frozen=True)
class Seed:
    """What the numbers of a set of sheets follow from, beside the student.

    Parameters
    ----------
    number : int, default 0
        Not negative; of no account where there is a secret.
    lesson : int, default 0
        Another lesson has other numbers; 0 is none.
    secret : bytes, default empty

    Raises
    ------
    ValueError
        If the number is negative.

    Examples
    --------
    >>> str(Seed(7)), str(Seed(7, lesson=4)), Seed(7, lesson=4).file("key")
    ('seed 7', 'lesson 4, seed 7', 'lesson-04-key-7')
    """

    number: int = 0
    lesson: int = 0
    secret: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError(f"seed is {self.number}; a number that is not negative is wanted")

    def rng(self, drawn_by: int, what: int = SHEET) -> np.random.Generator:
        """Return what draws for one student.

        Parameters
        ----------
        drawn_by : int
            What tells the student from others.
        what : int, default SHEET
        """
        if self.secret:
            return np.random.default_rng(self._hashed(f"{self.lesson} {drawn_by} {what}"))
        return np.random.default_rng([self.number, drawn_by, what, self.lesson])

    def _hashed(self, text: str) -> int:
        return int.from_bytes(key_for(self.secret, text))

    @property
    def check(self) -> str:
        """Six digits that tell the sheets of a secret and a lesson from others."""
        return f"{self._hashed(f'{self.lesson} check') % 10**6:06}"

    def __str__(self) -> str:
        drawn = f"check {self.check}" if self.secret else f"seed {self.number}"
        return f"lesson {self.lesson}, {drawn}" if self.lesson else drawn

    def file(self, what: str) -> str:
        """Return what a file of the set is called, without its ending."""
        lesson = f"lesson-{self.lesson:02}-" if self.lesson else ""
        return f"{lesson}{what}-{f'check-{self.check}' if self.secret else self.number}"


GRADING = "grading of notebooks"
"""The purpose of the grading key; the purposes of worksheet keys begin with a lesson's number."""


def key_for(secret: bytes, purpose: str) -> bytes:
    """Return the key for one purpose; neither the secret nor another key can be computed from it.

    Parameters
    ----------
    secret : bytes
    purpose : str

    Returns
    -------
    bytes
        The HMAC-SHA-256 of the purpose.

    Examples
    --------
    >>> key_for(b"a secret", "1 2 0").hex()[:8], key_for(b"a secret", GRADING).hex()[:8]
    ('1165388d', '2cff6f67')
    """
    return hmac.digest(secret, purpose.encode(errors="surrogatepass"), "sha256")


def read_secret(path: Path) -> bytes:
    """Return the secret that a file holds, without white space around it.

    Parameters
    ----------
    path : pathlib.Path

    Raises
    ------
    ValueError
        If there is none, or a short one, with the command that makes one.
    """
    make = f'python3 -c "import secrets; print(secrets.token_hex())" > {path.name}'
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        said = f"{path} cannot be read: {error.strerror}; `{make}` makes a secret"
        raise ValueError(said) from None
    if len(secret) < SHORTEST:
        raise ValueError(
            f"{path.name} has {len(secret)} letters; a secret of at least {SHORTEST} is wanted,"
            f" such as `{make}` makes"
        )
    return secret
