"""Roles and short directives of chapters.

- ``{given}`2.5` ``: a number that is typed because it is given, not computed.
- ``{on-site}`cat.pdf` ``: files of the published site, separated by commas; VERSION is replaced by
  the version of `mha`. Built pages show the names only. `build.py site` finds the names by `NAMED`,
  makes them links, and omits notices of the class ``off-site``.
- ``{on-sheet}`0.81 <apple-walkthrough 110:query.0.2.0>` ``: a number that a document prints. On a
  page it links to this number in the figure *The red pencil*; on paper it is the number. The build
  stops if the document does not print it there.
- ``{minutes}`mechanism/softmax` ``: the minutes to read a chapter, from `lead_and_aims`;
  ``{exercise-minutes}``: the minutes for its exercises.
- ``{repository}``: a sentence with the address of the repository, if CITATION.cff has one.
- ``{printed-switch}``: requests the switch that shows the printed numbers of sources; the template
  `printed-switch.html` puts it into the bar above the text.
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
from byhand.reading.values import RoleResult
from mha.audit.judging import judgements
from mha.audit.sources import TITLES

logger = logging.getLogger(__name__)

NAMED = re.compile(r'<span class="on-site">([^<]+)</span>')
NOTICE = re.compile(r'<div class="[^"]*\boff-site\b[^"]*">.*?</div>\n?', re.DOTALL)
SHEETS = "sources/what-the-sources-print"  # the page
ON_SHEET = re.compile(r"(\S+) <([a-z0-9-]+) (\d+):([\w.]+(?::\d+)?)>")


def given_role(name: str, rawtext: str, text: str, *_: object) -> RoleResult:
    """Show a given number; a no-break space keeps its per cent sign on the same line."""
    whole = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return [nodes.inline(rawtext, whole, classes=["given"])], []


def on_site_role(name: str, rawtext: str, text: str, *_: object) -> RoleResult:
    """Show the names of files of the published site."""
    made: list[nodes.Node] = []
    for file in text.replace("VERSION", mha.__version__).split(","):
        made += [nodes.inline(rawtext, file.strip(), classes=["on-site"]), nodes.Text(", ")]
    return made[:-1], []


def on_sheet_role(
    name: str, rawtext: str, text: str, line: int, inliner: Inliner, *_: object
) -> RoleResult:
    """Return a number with its document and line, which `insert_minutes_and_links` makes a link."""
    found = ON_SHEET.fullmatch(text)
    if not found or found[1] not in printed_numbers(found[2], int(found[3]), found[4]):
        message = f"no document prints {text!r}; a number, <document line:place> is wanted"
        return [nodes.Text(text)], [inliner.reporter.warning(message, line=line)]
    state = f"#pencil=sources&document={found[2]}&at={found[3]}:{found[4]}"
    return [nodes.inline(rawtext, found[1], classes=["given", "on-sheet"], sheet=state)], []


@cache
def printed_numbers(document: str, line: int, place: str) -> tuple[str, ...]:
    """Return the strings that a document prints on a line for the number at a place."""
    if document not in TITLES:
        return ()
    found = [j.number for j in judgements(document) if str(j.place) == place]
    return tuple(number.printed for number in found if number.line == line)


def minutes_role(name: str, rawtext: str, text: str, *_: object) -> RoleResult:
    """Return a placeholder for the minutes of a page, which may not have been read yet."""
    return [nodes.inline(rawtext, "", minutes=name, page=text)], []


def insert_minutes_and_links(app: Sphinx, doctree: nodes.document, here: str) -> None:
    """Replace placeholders by minutes, and on the screen by links to the red pencil."""
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
    """``{repository}``: a sentence with the address of the repository."""

    def run(self) -> list[nodes.Node]:
        """Return the sentence."""
        file = Path(self.env.srcdir).parent / "CITATION.cff"
        address = yaml.safe_load(file.read_text(encoding="utf-8")).get("repository-code", "")
        if not address:
            return [nodes.paragraph("", "The book names no address where it is developed.")]
        link = nodes.reference("", address, refuri=address)
        return [nodes.paragraph("", "", nodes.Text("The book is developed at "), link)]


class PrintedSwitch(SphinxDirective):
    """``{printed-switch}``: a request that the page's template answers."""

    def run(self) -> list[nodes.Node]:
        """Store the request; the text shows nothing."""
        self.env.metadata[self.env.docname]["printed_switch"] = True
        return []


ROLES = {
    "given": given_role,
    "on-site": on_site_role,
    "on-sheet": on_sheet_role,
    "minutes": minutes_role,
    "exercise-minutes": minutes_role,
}
DIRECTIVES = {"repository": Repository, "printed-switch": PrintedSwitch}
