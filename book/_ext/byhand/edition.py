"""The edition of the book: its date and its version, from `CITATION.cff`.

The PDF, the EPUB, slides, cards and the wheel are dated with it, so that all name the same edition
and the same sources give the same bytes.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache

import yaml

from byhand.digests import ROOT


@dataclass(frozen=True)
class Edition:
    """The release date and the version of an edition."""

    released: date
    version: str

    def __str__(self) -> str:
        """Return the line of a title page that names the edition.

        Examples
        --------
        >>> str(Edition(date(2026, 11, 20), "0.1.0"))
        'Edition of 20 November 2026, version 0.1.0'
        """
        return f"Edition of {self.released:%-d %B %Y}, version {self.version}"

    @property
    def begins(self) -> datetime:
        """The modification time of generated files: midnight, in UTC, of the release date."""
        return datetime(self.released.year, self.released.month, self.released.day, tzinfo=UTC)


@cache
def edition() -> Edition:
    """Return the edition that `CITATION.cff` names."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return Edition(cited["date-released"], str(cited["version"]))
