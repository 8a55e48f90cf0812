"""The role ``{given}``: a number that is typed because it is given, not computed.

`byhand.checking.markup` refuses every other decimal or percentage that is typed into prose.
"""

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_role("given", given)


def given(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, *_: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Show a number that is given, not computed."""
    return [nodes.inline(rawtext, text, classes=["given"])], []
