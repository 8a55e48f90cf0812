"""Numbers of the source documents that lead to where they stand under the red pencil.

The role ``{on-sheet}`0.81 <apple-walkthrough 110:query.0.2.0>` `` writes a number that a document
prints. On a page it is a link to this number on the document's sheet, opened; on paper it is the
number. A document that does not print it there stops the build.
"""

from functools import cache
from re import fullmatch

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from mha.audit.judging import judgements
from mha.audit.sources import TITLES

PAGE = "sources/what-the-sources-print"
WANTED = r"(\S+) <([a-z0-9-]+) (\d+):([\w.]+(?::\d+)?)>"


@cache
def printed(document: str, line: int, place: str) -> tuple[str, ...]:
    """Return what a document prints on a line for a number."""
    if document not in TITLES:
        return ()
    found = [j.number for j in judgements(document) if str(j.place) == place]
    return tuple(number.printed for number in found if number.line == line)


def on_sheet(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, *_: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Write a number that leads to its sheet."""
    found = fullmatch(WANTED, text)
    if not found or found[1] not in printed(found[2], int(found[3]), found[4]):
        message = f"no document prints {text!r}; a number, <document line:place> is wanted"
        return [nodes.Text(text)], [inliner.reporter.warning(message, line=lineno)]
    state = f"#pencil=sources&document={found[2]}&at={found[3]}:{found[4]}"
    return [nodes.inline(rawtext, found[1], classes=["given", "on-sheet"], sheet=state)], []


class LeadToSheets(SphinxPostTransform):
    """Make links of the numbers on a page; paper has them as they are."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Change the document in place."""
        here = self.env.docname
        for node in list(self.document.findall(nodes.inline)):
            if "sheet" not in node:
                continue
            path = "" if here == PAGE else self.app.builder.get_relative_uri(here, PAGE)
            link = nodes.reference("", *node.children, refuri=path + node["sheet"], internal=True)
            node.children = []
            node += link


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_role("on-sheet", on_sheet)
    app.add_post_transform(LeadToSheets)
