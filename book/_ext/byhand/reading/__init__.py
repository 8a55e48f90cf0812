"""From a page's source to its elements: cells and expressions run before anything is parsed.

`steps` takes a page apart into what runs. `results` runs it, in a process of its own (`running`)
unless what it gave last time still holds. `pages` hands MyST-NB the page as a notebook that has its
results, and says what a cell may not give; `values` shows expressions in the text. Which of their
numbers an explorer of the page has, `ties` finds out: `tied_numbers` know their place.
"""

from sphinx.application import Sphinx

from byhand.reading import pages, values


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    reader = pages.Reader()
    app.connect("env-get-outdated", pages.changed)
    app.connect("env-before-read-docs", reader.run_ahead)
    app.connect("source-read", reader.read)
    app.connect("env-updated", pages.note_sources)
    app.add_role("eval", values.show, override=True)
    app.add_role("holds", values.claim, override=True)
    app.add_node(values.tied, html=(values.visit_tied, values.depart_tied))
