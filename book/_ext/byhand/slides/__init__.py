"""Slides of a chapter as PDF, as notes, and as an editable PowerPoint file.

`checking/decks.py` parses a deck and finds its faults. `content` runs its cells and expressions,
with the functions and the kept results of pages, and inserts their values: a slide then has a
title, texts and at most one object. `paper` writes both PDFs and gets the positions of all parts
from Typst; `powerpoint` puts the parts at the same positions.
"""
