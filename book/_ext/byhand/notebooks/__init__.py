"""Notebooks of the pages that compute.

`writing` makes a notebook after its page has been written: the cells with their kept results,
references as text, and answers at the end. `text` writes the page's Markdown without the directives
and roles of this book.
"""
