"""The book's Sphinx package: one subpackage for each part of a page or of the printed book.

`docs/architecture.md` lists the subpackages in the order in which they may import each other. Each
subpackage's docstring lists its modules. The modules `contents`, `document`, `bibliography`,
`digests`, `reuse`, `edition` and `terms` serve all of them. The commands in `scripts/` use these
modules, `checking` and `press` without Sphinx.

`_config.yml` names this package alone, and `setup` loads the extensions in `PARTS`. Each is an
extension of its own, so that the small books of the tests can load a few of them.
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
    """Let Sphinx write pages in parallel, with two processes per core."""
    from mha.core.threads import usable_cores

    app.parallel = 2 * usable_cores()  # not from the beginning: two extensions cannot read so


def setup(app: Sphinx) -> None:
    """Load all extensions of the book."""
    app.connect("env-updated", write_side_by_side)
    for part in PARTS:
        app.setup_extension(f"{__name__}.{part}")
