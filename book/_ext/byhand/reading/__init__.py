"""Results of a page's cells and expressions, which are computed before the page is parsed.

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
    reader = pages.PageReader()
    app.connect("env-get-outdated", pages.changed_pages)
    app.connect("env-before-read-docs", reader.start_runs)
    app.connect("source-read", reader.read)
    app.connect("env-updated", pages.store_digests)
    app.add_role("eval", values.eval_role, override=True)
    app.add_role("holds", values.holds_role, override=True)
    app.add_node(values.live_number, html=(values.visit_live_number, values.depart_live_number))
