"""Files that the published site has beside its pages.

The role ``{on-site}`cat.pdf` `` names one or several, with commas between them; VERSION stands for
the version of `mha`. Built pages show the names alone. `build.py site` finds them by the patterns
below and makes links of them; a notice of the class ``off-site`` it leaves out. The directive
``{repository}`` says where the book is developed, if CITATION.cff names an address.
"""

import re
from pathlib import Path

import yaml
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx

import mha

NAMED = re.compile(r'<span class="on-site">([^<]+)</span>')
NOTICE = re.compile(r'<div class="[^"]*\boff-site\b[^"]*">.*?</div>\n?', re.DOTALL)


def on_site(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, *_: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Name files of the site."""
    made: list[nodes.Node] = []
    for file in text.replace("VERSION", mha.__version__).split(","):
        made += [nodes.inline(rawtext, file.strip(), classes=["on-site"]), nodes.Text(", ")]
    return made[:-1], []


class Repository(Directive):
    """``{repository}``: a sentence on where the book is developed."""

    def run(self) -> list[nodes.Node]:
        """Return the sentence."""
        env = self.state.document.settings.env
        file = Path(env.srcdir).parent / "CITATION.cff"
        address = yaml.safe_load(file.read_text(encoding="utf-8")).get("repository-code", "")
        if not address:
            return [nodes.paragraph("", "The book names no address where it is developed.")]
        link = nodes.reference("", address, refuri=address)
        return [nodes.paragraph("", "", nodes.Text("The book is developed at "), link)]


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_role("on-site", on_site)
    app.add_directive("repository", Repository)
