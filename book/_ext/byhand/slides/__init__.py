"""Slides: a chapter's lesson as a PDF, as its notes, and as a file that a teacher can change.

`checking/decks.py` reads a deck's source and tells what is wrong with it. `content` runs its cells
and expressions, with the machinery and the kept results of pages, and puts their values in: then a
slide has a title, texts, and one thing to look at. `paper` writes both PDFs and is told
by the press where everything stands; `powerpoint` puts the same things in the same places.
"""
