"""Formulas: a reader sees them on a page and on paper, and hears them read aloud.

The chapters have TeX. `page` writes it as MathML with Temml, so that no script of mathematics runs
in a reader's browser; a displayed equation gets its number and a box that scrolls. `paper` writes
it as Typst with tex2typst, and gives each formula the words that `spoken` finds in its MathML:
"softmax of Q K transposed over root d k". Both libraries are JavaScript and run while something is
built, in V8, as the package mini-racer brings it.

What cannot be written is told at the formula's line: a page has a warning, which stops the build,
and the press an error.
"""
