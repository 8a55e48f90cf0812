"""The book's own Sphinx package, a room for each thing that it does for those who use the book.

`docs/architecture.md` has the rooms in their order and follows one number through the house; which
room may use which stands in `pyproject.toml`, and each room's own first page says the way through
it. On the ground floor stand four modules for all: `contents` reads `_toc.yml`, `document` says
what is to be printed, `bibliography` how works are cited, and `digests` what has changed. The
commands in `scripts/` use these, `checking` and `press` without Sphinx.

`_config.yml` names this package alone; it loads `PARTS`: a room, or the module of one that connects
to Sphinx. Each is an extension of its own, so that a small book can do with some of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the commands import this package without waiting for Sphinx
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

PARTS = (
    "mathematics.page",
    "reading",
    "bibliography",
    "site",
    "search",
    "chapter",
    "notebooks.writing",
    "tables",
    "quiz",
    "reference",
    "print_book",
)


def write_side_by_side(app: Sphinx, env: BuildEnvironment) -> None:
    """Let pages that have been read be written on all cores, two processes for each."""
    from mha.core.threads import usable_cores

    app.parallel = 2 * usable_cores()  # not from the beginning: two extensions cannot read so


def setup(app: Sphinx) -> None:
    """Load every room."""
    app.connect("env-updated", write_side_by_side)
    for part in PARTS:
        app.setup_extension(f"{__name__}.{part}")
