"""The press: everything printed is set here, the book, readers, worksheets and slides alike.

`pdf.press` turns Typst's source into a tagged PDF. Such a source imports one of the templates in
this folder: `style.typ` says how everything printed looks, `book.typ`, `worksheets.typ` and
`slides.typ` how each kind differs. Pieces of a source are written by `markup` (text, strings,
lists, tables) and `drawings` (a figure of a page with its looks in itself, and how strongly a
weight tints). `typefaces` cuts the fonts for print out of the pages' own. `archives` packs files of
several parts, slides and the EPUB among them.

Nothing here needs Sphinx or knows a page.
"""
