"""Formulas for pages, for paper, and as spoken words.

The chapters contain TeX. `page` writes it as MathML with Temml, so that a page needs no mathematics
script; a displayed equation gets its number and a box that scrolls. `paper` writes it as Typst with
tex2typst, and adds the words that `spoken` derives from the MathML, such as "softmax of Q K
transposed over root d k". Both libraries are JavaScript. `scripts` runs them during the build, with
Deno, which also bundles the scripts of the pages.

An invalid formula is reported at its line: a page gives a warning, which stops the build, and print
an error.
"""
