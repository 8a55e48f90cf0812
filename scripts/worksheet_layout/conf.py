"""Sphinx's settings for worksheets: plain pages with room to write, in the book's fonts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "book" / "_ext"))

from byhand.print_book.style import FONTS

project = "Attention by Hand: worksheets"
author = "The Attention by Hand authors"
language = "en"
root_doc = "sheets"
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]

latex_engine = "xelatex"
latex_table_style = ["standard"]  # lines around each cell
latex_documents = [
    ("sheets", "sheets.tex", "Worksheets", author, "howto"),
    ("key", "key.tex", "Key to the worksheets", author, "howto"),
]
latex_elements = {
    "papersize": "a4paper",
    "pointsize": "11pt",
    "fontpkg": FONTS,
    "maketitle": "",
    "tableofcontents": "",
    "printindex": "",
    "sphinxsetup": "hmargin={22mm,22mm}, vmargin={20mm,22mm}",
    # Rows tall enough to write in; headings without numbers.
    "preamble": r"""
\setcounter{secnumdepth}{0}
\renewcommand{\arraystretch}{1.8}
\raggedbottom
\hypersetup{pdflang={en}, pdfdisplaydoctitle=true}
""",
}
