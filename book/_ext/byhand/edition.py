"""The edition: the date and the version that everything made of this book carries.

`CITATION.cff` has both. The PDF, the EPUB, slides, cards and the wheel take their dates from it, so
that they name the same edition and the same sources give the same bytes.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache

import yaml

from byhand.digests import ROOT


@dataclass(frozen=True)
class Edition:
    """An edition of the book."""

    released: date
    version: str

    def __str__(self) -> str:
        """Return how a title page names the edition.

        Examples
        --------
        >>> str(Edition(date(2026, 11, 20), "0.1.0"))
        'Edition of 20 November 2026, version 0.1.0'
        """
        return f"Edition of {self.released:%-d %B %Y}, version {self.version}"

    @property
    def begins(self) -> datetime:
        """The moment by which files are dated: midnight in UTC."""
        return datetime(self.released.year, self.released.month, self.released.day, tzinfo=UTC)


@cache
def edition() -> Edition:
    """Return the edition that the sources name."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return Edition(cited["date-released"], str(cited["version"]))
