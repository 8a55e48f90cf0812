"""The reference of the package, made from docstrings by the directive `{api}`.

    ```{api}
    softmax softmax_backward
    ```

gives each name a section: the line that imports it, its signature, its docstring, its code, and the
pages of the book that use it. The text of a docstring is read as Markdown. `docstrings` parses
docstrings, `names` lists the public names, and `linking` links the pages to them.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from byhand.chapter.code_folds import fold
from byhand.contents import read_contents
from byhand.digests import ROOT
from byhand.reference.docstrings import Entry, code_of, read_entries, read_sections, signature
from byhand.reference.linking import LinkNames, note_names, used_on
from byhand.reference.names import FOR_CHAPTERS, PACKAGE, Name, public_names

HEADINGS = {"References": "From"}  # headings that differ from the docstrings'
API = re.compile(r"^```\{api\}\s+([^`]*)```", re.MULTILINE)
ON_THE_SCREEN = (
    "What each of them takes, gives and refuses, with examples and its code, stands on the pages"
    " of the book, below this one."
)
ENTRIES = {"Parameters": True, "Returns": False, "Yields": False, "Raises": False}


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_directive("api", Api)
    app.add_directive("names-of-the-package", NamesOfThePackage)
    app.add_node(used_on)
    app.add_post_transform(LinkNames)
    app.connect("doctree-read", note_names)


def anchor_of(name: Name) -> str:
    """Return the id of a name's section, which does not depend on the rest of the page.

    It does not depend on the module either, so that a name that moves keeps its address.
    """
    package = FOR_CHAPTERS if name.home == FOR_CHAPTERS else PACKAGE
    return f"{package}.{name.short}".replace(".", "-")


def import_of(name: Name) -> str:
    """Return the line that imports a name, or "" if `mha` or a chapter's first cell gives it.

    Examples
    --------
    >>> import_of(Name("KeyValueCache", "mha.core.decoding"))
    'from mha.core.decoding import KeyValueCache'
    >>> import_of(Name("softmax"))
    ''
    """
    if name.home in (PACKAGE, FOR_CHAPTERS) or "." in name.short:
        return ""
    return f"from {name.home} import {name.short}"


class Api(SphinxDirective):
    """``{api}``: sections for public names of the package."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return one section per name."""
        known = {name.short: name for name in public_names()}
        sections: list[nodes.Node] = []
        for short in " ".join(self.content).split():
            if short not in known:
                raise self.error(f"{short} is no public name of {PACKAGE} or {FOR_CHAPTERS}")
            sections.append(self.section(known[short]))
        return sections

    def section(self, name: Name) -> nodes.section:
        """Return the section of a name."""
        heading = nodes.title("", "", nodes.literal("", name.short))
        section = nodes.section("", heading, ids=[anchor_of(name)], names=[name.full.lower()])
        section["classes"].append("api")
        self.note(name)
        if line := import_of(name):
            section += nodes.paragraph("", "", nodes.literal("", line), classes=["api-where"])
        section += self.body(name)
        if name.kind == "class":
            for member in name.members:
                section += self.member(member)
        section += used_on(name=name.short)
        if name.kind in ("function", "class"):
            section += self.code(name)
        return section

    def note(self, name: Name) -> None:
        """Register a name with Sphinx's Python domain, with and without the package."""
        domain = self.env.get_domain("py")
        anchor = anchor_of(name)
        domain.note_object(name.full, name.kind, anchor, location=self.get_location())  # type: ignore[attr-defined]
        if name.short != name.full:
            domain.note_object(name.short, name.kind, anchor, aliased=True)  # type: ignore[attr-defined]

    def body(self, name: Name) -> Iterator[nodes.Node]:
        """Yield the signature of a name and the parts of its docstring."""
        if name.kind not in ("module", "data"):
            called = name.short if name.kind == "property" else signature(name.short, name.thing)
            yield code_block(called, "python", "api-signature")
        if name.kind == "data":
            owner, kind = name.full.rpartition(".")[0], type(name.thing).__name__
            yield from self.prose(f"A constant of `{owner}`, a `{kind}`.")
            return
        for heading, text in read_sections(name.docstring).items():
            if heading:
                yield nodes.rubric("", HEADINGS.get(heading, heading), classes=["api-part"])
            if heading in ENTRIES:
                yield self.definitions(read_entries(text, named=ENTRIES[heading]))
            elif heading == "Examples":
                for piece in re.split(r"\n{2,}", text):
                    is_session = piece.startswith(">>>")
                    yield from [code_block(piece, "pycon")] if is_session else self.prose(piece)
            else:
                yield from self.prose(text)

    def member(self, member: Name) -> Iterator[nodes.Node]:
        """Yield the description of a method or property."""
        self.note(member)
        box = nodes.container("", *self.body(member), ids=[anchor_of(member)])
        box["classes"] += ["api-member"]
        yield box

    def definitions(self, entries: Iterator[Entry]) -> nodes.definition_list:
        """Return parameters, results or errors as a definition list."""
        found = nodes.definition_list(classes=["api-entries"])
        for entry in entries:
            term = nodes.term()
            for place, parameter in enumerate(entry.names):
                term += [nodes.Text(", ")] * bool(place)
                term += nodes.literal("", parameter)
            if entry.kind:
                term += nodes.Text(" " if entry.names else "")
                kind = nodes.inline(classes=["api-kind"])
                for place, text in enumerate(entry.kind.split("`")):  # names are in backticks
                    kind += nodes.literal("", text) if place % 2 else nodes.Text(text)
                term += kind
            item = nodes.definition_list_item("", term)
            item += nodes.definition("", *self.prose(entry.text))
            found += item
        return found

    def prose(self, text: str) -> list[nodes.Node]:
        """Return the nodes of a Markdown text."""
        return self.parse_text_to_nodes(text)

    def code(self, name: Name) -> Iterator[nodes.Node]:
        """Yield the folded code of a function or class, and its file."""
        file = Path(inspect.getsourcefile(name.thing) or "").resolve().relative_to(ROOT)
        where = nodes.paragraph("", "From ", nodes.literal("", file.as_posix()), nodes.Text(":"))
        where["classes"].append("api-where")
        yield from fold([where, code_block(code_of(name.thing), "python")])


class NamesOfThePackage(SphinxDirective):
    """Tables of all public names with a one-sentence description, one per page."""

    def run(self) -> list[nodes.Node]:
        """Return the tables, and on paper a sentence on the rest of the reference."""
        here = self.env.docname
        below = [page for part in read_contents().parts for page in part.below.get(here, ())]
        known = {name.short: name for name in public_names()}
        lines: list[str] = []
        for page in below:
            path = Path(self.env.doc2path(page))
            self.env.note_dependency(str(path))
            names = names_on(path.read_text(encoding="utf-8"))
            lines += ["", f"**{{doc}}`/{page}`**", "", "| Name | What it does |", "| --- | --- |"]
            lines += [f"| `{n}` | {summary_of(known[n])} |" for n in names if n in known]
        tables = self.parse_text_to_nodes("\n".join(lines))
        found = nodes.container("", *tables, classes=["names-of-the-package"])
        for table in found.findall(nodes.table):
            table["classes"] += ["words", "colwidths-given"]  # on paper a name is not broken
            for column, width in zip(table.findall(nodes.colspec), (48, 52), strict=True):
                column["colwidth"] = width
        return [found, addnodes.only("", nodes.paragraph("", ON_THE_SCREEN), expr="typst")]


def names_on(page: str) -> list[str]:
    r"""Return the names that a page documents, in their order.

    Examples
    --------
    >>> names_on("# A\n\n```{api}\nsoftmax\nentropy\n```\n")
    ['softmax', 'entropy']
    """
    return [name for names in API.findall(page) for name in names.split()]


def summary_of(name: Name) -> str:
    """Return the first sentence of a name's docstring, or a constant's type; and its module."""
    where = f" In `{name.home}`." if import_of(name) else ""
    if name.kind == "data":
        return f"a `{type(name.thing).__name__}`"
    first = read_sections(name.docstring)[""].split("\n\n")[0]
    return " ".join(first.split()).replace("|", r"\|") + where


def code_block(text: str, language: str, *classes: str) -> nodes.literal_block:
    """Return a node of highlighted code."""
    block = nodes.literal_block(text, text, language=language)
    block["classes"] += classes
    return block
