"""Words of a chapter that stand for something else, and two directives of one sentence.

- ``{given}`2.5` ``: a number that is typed because it is given, not computed.
- ``{on-site}`cat.pdf` ``: files that the published site has beside its pages, with commas between;
  VERSION stands for the version of `mha`. Built pages show the names alone. `build.py site` finds
  them by `NAMED` and makes links of them; a notice of the class ``off-site`` it leaves out.
- ``{on-sheet}`0.81 <apple-walkthrough 110:query.0.2.0>` ``: a number that a document prints. On a
  page it leads to this number under the red pencil, opened; on paper it is the number. A document
  that does not print it there stops the build.
- ``{minutes}`mechanism/softmax` ``: how long a chapter takes to read, computed by `lead_and_aims`;
  ``{exercise-minutes}``: how long its exercises take.
- ``{repository}`` says where the book is developed, if CITATION.cff names an address.
- ``{printed-switch}`` is the wish for a switch that shows what sources print beside the numbers:
  the template `printed-switch.html` puts it into the bar above the text.
"""

import re
from functools import cache
from pathlib import Path

import yaml
from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import mha
from byhand.reading.values import Said
from mha.audit.judging import judgements
from mha.audit.sources import TITLES

logger = logging.getLogger(__name__)

NAMED = re.compile(r'<span class="on-site">([^<]+)</span>')
NOTICE = re.compile(r'<div class="[^"]*\boff-site\b[^"]*">.*?</div>\n?', re.DOTALL)
SHEETS = "sources/what-the-sources-print"  # the page
ON_SHEET = re.compile(r"(\S+) <([a-z0-9-]+) (\d+):([\w.]+(?::\d+)?)>")


def given(name: str, rawtext: str, text: str, *_: object) -> Said:
    """Show a typed number, on one line with its per cent sign."""
    whole = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return [nodes.inline(rawtext, whole, classes=["given"])], []


def on_site(name: str, rawtext: str, text: str, *_: object) -> Said:
    """Name files of the site."""
    made: list[nodes.Node] = []
    for file in text.replace("VERSION", mha.__version__).split(","):
        made += [nodes.inline(rawtext, file.strip(), classes=["on-site"]), nodes.Text(", ")]
    return made[:-1], []


def on_sheet(name: str, rawtext: str, text: str, line: int, inliner: Inliner, *_: object) -> Said:
    """Write a number that is to lead to its sheet."""
    found = ON_SHEET.fullmatch(text)
    if not found or found[1] not in printed(found[2], int(found[3]), found[4]):
        message = f"no document prints {text!r}; a number, <document line:place> is wanted"
        return [nodes.Text(text)], [inliner.reporter.warning(message, line=line)]
    state = f"#pencil=sources&document={found[2]}&at={found[3]}:{found[4]}"
    return [nodes.inline(rawtext, found[1], classes=["given", "on-sheet"], sheet=state)], []


@cache
def printed(document: str, line: int, place: str) -> tuple[str, ...]:
    """Return what a document prints on a line for a number."""
    if document not in TITLES:
        return ()
    found = [j.number for j in judgements(document) if str(j.place) == place]
    return tuple(number.printed for number in found if number.line == line)


def minutes(name: str, rawtext: str, text: str, *_: object) -> Said:
    """Wait for the minutes of a page, which may not have been read yet."""
    return [nodes.inline(rawtext, "", minutes=name, page=text)], []


def say(app: Sphinx, doctree: nodes.document, here: str) -> None:
    """Put in the minutes of pages, and on the screen the links to sheets."""
    for node in list(doctree.findall(nodes.inline)):
        if "minutes" in node:
            found = app.env.metadata.get(node["page"], {}).get(node["minutes"])
            if found is None:
                logger.warning("there is no page %s", node["page"], location=node)
            node.replace_self(nodes.Text(str(found)))
        elif "sheet" in node and app.builder.format == "html":
            path = "" if here == SHEETS else app.builder.get_relative_uri(here, SHEETS)
            link = nodes.reference("", *node.children, refuri=path + node["sheet"], internal=True)
            node.children = []
            node += link


class Repository(SphinxDirective):
    """``{repository}``: a sentence on where the book is developed."""

    def run(self) -> list[nodes.Node]:
        """Return the sentence."""
        file = Path(self.env.srcdir).parent / "CITATION.cff"
        address = yaml.safe_load(file.read_text(encoding="utf-8")).get("repository-code", "")
        if not address:
            return [nodes.paragraph("", "The book names no address where it is developed.")]
        link = nodes.reference("", address, refuri=address)
        return [nodes.paragraph("", "", nodes.Text("The book is developed at "), link)]


class PrintedSwitch(SphinxDirective):
    """``{printed-switch}``: a wish, which the page's template fulfils."""

    def run(self) -> list[nodes.Node]:
        """Note it; the text has nothing of it."""
        self.env.metadata[self.env.docname]["printed_switch"] = True
        return []


ROLES = {
    "given": given,
    "on-site": on_site,
    "on-sheet": on_sheet,
    "minutes": minutes,
    "exercise-minutes": minutes,
}
DIRECTIVES = {"repository": Repository, "printed-switch": PrintedSwitch}
