"""Typesetting of the book, readers, worksheets and slides with Typst.

`pdf.press` turns Typst source into a tagged PDF. The source imports a template of this folder:
`style.typ` is common to all, and `book.typ`, `worksheets.typ` and `slides.typ` are for one kind of
document each. `markup` writes text, strings, lists and tables as Typst; `drawings` prepares the
figures of pages for print, and gives the tints of weights. `typefaces` cuts the fonts for print
from the fonts of the pages. `archives` writes zip files such as slides and the EPUB.

Nothing here needs Sphinx or knows a page.
"""
