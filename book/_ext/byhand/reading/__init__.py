"""From a page's source to its elements: cells and expressions run before anything is parsed.

`page_code` extracts a page's cells and expressions. `results` runs them in a separate process
(`page_runner`), or returns the kept results if nothing changed. `pages` gives MyST-NB the page as a
notebook with its results and refuses outputs that a page cannot have; `values` shows the values of
expressions in the text. `live_numbers` finds the numbers of the text that follow an interactive
figure of the page, by evaluating expressions on `traced_numbers`.
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
