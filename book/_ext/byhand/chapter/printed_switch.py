"""A switch that shows what the sources print, beside the true numbers of a page's tables.

``{printed-switch}`` asks for it. The template `printed-switch.html` puts it into the bar above the
text, and the style sheet does the rest, without a script. Tables mark the printed numbers with the
class ``printed``. In print they are left out.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class PrintedSwitch(SphinxDirective):
    """The wish for the switch."""

    def run(self) -> list[nodes.Node]:
        """Note it for the page's template; the text has nothing of it."""
        self.env.metadata[self.env.docname]["printed_switch"] = True
        return []


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_directive("printed-switch", PrintedSwitch)
