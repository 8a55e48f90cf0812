"""Each page that computes as a notebook, to take along and to run.

`writing` makes the notebook once the page has been written: the cells with the results that
`reading` kept, the answers at the end, references as what they say on the page. `text` writes the
page's Markdown without the directives and roles that only this book's Sphinx knows.
"""
