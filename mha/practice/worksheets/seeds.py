"""Seeds and secrets, from which the numbers of a set of worksheets are drawn.

Anyone who knows a seed and a student's id can draw that student's sheet and its key. From a secret,
each sheet's numbers are drawn by a keyed hash, and the sheet shows only a check number, from which
the secret cannot be computed.
"""

import hmac
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SHEET, MODEL = 0, 2  # 1 had a purpose in an earlier version; sheets of old seeds stay the same
"""The purposes of random numbers: a sheet, or the tasks from the trained model."""

MIN_SECRET_LENGTH = 32
"""The fewest letters of a secret, so that nobody finds it by trial."""


@dataclass(frozen=True)
class Seed:
    """The seed or secret of a set of sheets.

    Parameters
    ----------
    number : int, default 0
        Not negative; ignored if there is a secret.
    lesson : int, default 0
        The number of the lesson, or 0; the sheets of each lesson have other numbers.
    secret : bytes, default empty

    Raises
    ------
    ValueError
        If the number is negative.

    Examples
    --------
    >>> str(Seed(7)), str(Seed(7, lesson=4)), Seed(7, lesson=4).file_stem("key")
    ('seed 7', 'lesson 4, seed 7', 'lesson-04-key-7')
    """

    number: int = 0
    lesson: int = 0
    secret: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError(f"seed is {self.number}; a number that is not negative is wanted")

    def rng(self, entropy: int, purpose: int = SHEET) -> np.random.Generator:
        """Return the random generator of one student.

        Parameters
        ----------
        entropy : int
            A number that differs from student to student.
        purpose : int, default SHEET
        """
        if self.secret:
            return np.random.default_rng(self._hashed(f"{self.lesson} {entropy} {purpose}"))
        return np.random.default_rng([self.number, entropy, purpose, self.lesson])

    def _hashed(self, text: str) -> int:
        return int.from_bytes(key_for(self.secret, text))

    @property
    def check(self) -> str:
        """Six digits that identify the secret and the lesson of a sheet."""
        return f"{self._hashed(f'{self.lesson} check') % 10**6:06}"

    def __str__(self) -> str:
        drawn = f"check {self.check}" if self.secret else f"seed {self.number}"
        return f"lesson {self.lesson}, {drawn}" if self.lesson else drawn

    def file_stem(self, kind: str) -> str:
        """Return the name of a file without its extension; `kind` is a word such as "key"."""
        lesson = f"lesson-{self.lesson:02}-" if self.lesson else ""
        return f"{lesson}{kind}-{f'check-{self.check}' if self.secret else self.number}"


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
    """Return the secret in a file, without white space around it.

    Parameters
    ----------
    path : pathlib.Path

    Raises
    ------
    ValueError
        If there is no secret or it is too short. The message has a command that makes one.
    """
    make = f'python3 -c "import secrets; print(secrets.token_hex())" > {path.name}'
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}; `{make}` makes a secret"
        raise ValueError(message) from None
    if len(secret) < MIN_SECRET_LENGTH:
        raise ValueError(
            f"{path.name} has {len(secret)} letters; a secret of at least {MIN_SECRET_LENGTH} is"
            f" wanted, such as `{make}` makes"
        )
    return secret
