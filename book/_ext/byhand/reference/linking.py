"""Links from the package's names, wherever a page has them as code, to the reference."""

import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, chain
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from byhand.contents import read_contents
from byhand.reference.names import PACKAGE, Name, public_names

CELL = re.compile(r"^```\{code-cell\}.*?^```", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)|:pyobject:\s*(\S+)")
DOTTED = re.compile(r"(?<![\w.])[A-Za-z]\w*(?:\.\w+)*(?![\w=])")  # no keyword of a call
USED = "public names"  # the key of a page's names in its metadata
NO_LINKS_IN = (nodes.title, nodes.reference, nodes.caption, nodes.term, nodes.rubric)


class used_on(nodes.General, nodes.Element):  # noqa: N801 - as docutils names its nodes
    """A placeholder for the list of the pages that use a name."""


class LinkNames(SphinxPostTransform):
    """Link code that is a public name to the reference, and list the uses of each name."""

    default_priority = 5

    def run(self, **kwargs: object) -> None:
        """Change the document in place."""
        is_screen = self.app.builder.format == "html"
        for node in list(self.document.findall(used_on)):
            links = list(self.pages_that_use(node["name"])) if is_screen else []
            node.replace_self(list_of_pages(links))
        if is_screen:
            self.link_names()
            self.link_code()

    def link_names(self) -> None:
        """Link names in running text, except inside their own section."""
        for literal in list(self.document.findall(nodes.literal)):
            if literal.parent is None or any(isinstance(e, NO_LINKS_IN) for e in around(literal)):
                continue
            if "PyTorch" in literal.parent.astext():  # there a name is PyTorch's
                continue
            target = find(self.env, literal.astext())
            if target is None or any(target[1] in e.get("ids", ()) for e in around(literal)):
                continue
            link = make_refnode(
                self.app.builder, self.env.docname, *target, literal.deepcopy(), "In the reference"
            )
            link["classes"].append("api-link")
            is_role = isinstance(literal.parent, pending_xref)  # which would become a link around
            (literal.parent if is_role else literal).replace_self(link)

    def link_code(self) -> None:
        """Add the name of the function below code that a page includes from the package."""
        for block in list(self.document.findall(nodes.literal_block)):
            name = whose_code(block)
            if name and (target := find(self.env, name.short)):
                link = make_refnode(
                    self.app.builder, self.env.docname, *target, nodes.literal("", name.short)
                )
                link["classes"].append("api-link")
                sentence = nodes.paragraph("", "In the reference: ", link, classes=["api-where"])
                block.parent.insert(block.parent.index(block) + 1, sentence)

    def pages_that_use(self, name: str) -> Iterator[nodes.reference]:
        """Yield a link to each chapter that uses a name."""
        for page in read_contents().chapters:
            if name in self.env.metadata[page].get(USED, ()):
                title = nodes.Text(self.env.titles[page].astext())
                yield make_refnode(self.app.builder, self.env.docname, page, "", title)


def whose_code(block: nodes.literal_block) -> Name | None:
    """Return the function whose code a block shows, or None."""
    file, lines = block.get("source"), block.astext().split("\n")
    if not file:
        return None
    for name in public_names():
        if name.kind == "function" and Path(inspect.getfile(name.thing)) == Path(file).resolve():
            code = {line.strip() for line in inspect.getsource(name.thing).splitlines()}
            if all(line.strip() in code for line in lines):
                return name
    return None


@cache
def short_names() -> frozenset[str]:
    """Return all public names without their modules."""
    return frozenset(name.short for name in public_names())


def note_names(app: Sphinx, doctree: nodes.document) -> None:
    """Store the public names in the code of a page, for the pages that list their uses."""
    page = app.env.docname
    text = Path(app.env.doc2path(page)).read_text(encoding="utf-8")
    app.env.metadata[page][USED] = sorted(names_in_code(text) & short_names())


def names_in_code(text: str) -> frozenset[str]:
    """Return all names in the code of a page's source: in cells and in inline code."""
    quoted = ("".join(found) for found in QUOTED.findall(CELL.sub("", text)))
    names = DOTTED.findall("\n".join([*CELL.findall(text), *quoted]))
    beginnings = (accumulate(name.split("."), "{}.{}".format) for name in names)
    return frozenset(chain.from_iterable(beginnings))


def find(env: BuildEnvironment, code: str) -> tuple[str, str] | None:
    """Return page and anchor of the name that a piece of code refers to, or None."""
    objects = env.get_domain("py").objects  # type: ignore[attr-defined]
    code = code.removesuffix("()")
    inside = code.removeprefix(f"{PACKAGE}.").split(".")
    short = {code.removeprefix(f"{PACKAGE}.")}
    if code.startswith(f"{PACKAGE}."):  # by its module, as docstrings have it
        short |= {inside[-1], ".".join(inside[-2:])}
    for name in (code, *sorted(short, key=len, reverse=True)):
        found = objects.get(name)
        # The module mha.core.softmax is not the function of that name.
        if found and (name == code or code not in sys.modules or found.objtype == "module"):
            return found.docname, found.node_id
    return None


def around(node: nodes.Node) -> Iterator[nodes.Element]:
    """Yield the ancestors of a node, the nearest first."""
    while (node := node.parent) is not None:
        yield node


def list_of_pages(links: list[nodes.reference]) -> list[nodes.Node]:
    """Return a sentence that names the pages, or no node if there are none."""
    if not links:
        return []
    sentence = nodes.paragraph("", "In the book: ", classes=["api-used"])
    for place, link in enumerate(links):
        sentence += [nodes.Text(", ")] * bool(place)
        sentence += link
    sentence += nodes.Text(".")
    return [sentence]
