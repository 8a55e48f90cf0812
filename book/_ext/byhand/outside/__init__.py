"""What comes from outside: nothing while a page is read; of what the book carries, all is named.

`policy` is what a page may run and load, and `early` what runs in it first; `vendored` lists the
files and packages of others, and `notices` is the page of the site that names them, with their
licences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the commands import this package without waiting for Sphinx
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Load every part."""
    for part in ("early", "policy", "notices"):
        app.setup_extension(f"{__name__}.{part}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
