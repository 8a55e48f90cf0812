"""Formulas: a reader sees them on a page and on paper, and hears them read aloud.

The chapters have TeX. `page` writes it as MathML with Temml, so that no script of mathematics runs
in a reader's browser; a displayed equation gets its number and a box that scrolls. `paper` writes
it as Typst with tex2typst, and gives each formula the words that `spoken` finds in its MathML:
"softmax of Q K transposed over root d k". Both libraries are JavaScript and run while something is
built, in an engine that `javascript` makes and closes.

What cannot be written is told at the formula's line: a page has a warning, which stops the build,
and the press an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # worksheets are printed without waiting for Sphinx
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Load what writes formulas on pages."""
    app.setup_extension(f"{__name__}.page")
