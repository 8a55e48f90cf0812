"""The book's own Sphinx package: how pages are read, checked and written, and how they are printed.

`_config.yml` names it alone; it loads its parts. Each part is an extension of its own, so that a
small book can do with some of them. Beside the parts stand what the commands in `scripts/` share
with them: `contents`, which reads `_toc.yml`, and `document`, which says what is to be printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the commands import this package without waiting for Sphinx
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PARTS = (
    "temml_math",
    "reading",
    "references",
    "bibliography",
    "given",
    "claims",
    "numbered_boxes",
    "page_assets",
    "slim_theme",
    "outside",
    "site_address",
    "section_search",
    "printed_switch",
    "code_folds",
    "section_folds",
    "openings",
    "difficulty",
    "teaching",
    "page_notebooks",
    "tables",
    "quiz",
    "package_reference",
    "print_book",
)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Load every part."""
    for part in PARTS:
        app.setup_extension(f"{__name__}.{part}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
