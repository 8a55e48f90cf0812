"""Claims: the role ``{claim}`label` `` marks a sentence, and ``{ledger}`` lists all that are made.

`byhand.checking.claims` reads ``book/claims.toml`` and refuses a claim without a kind. Both are
made of what every writer knows: a reference, and a table.
"""

from collections import Counter
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst.states import Inliner
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx

from byhand.chapter.teaching import row, table
from byhand.checking.claims import FILE, KINDS, Claim, kind_of, marks, read, sentences
from byhand.checking.sources import Page
from byhand.contents import read_contents

COUNTED = ("computed", "quoted", "given")


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_role("claim", mark)
    app.add_directive("ledger", Ledger)


def mark(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, *_: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Show of which kind a claim is, and lead to its line in the ledger."""
    env = inliner.document.settings.env
    file = Path(env.srcdir).parent / FILE
    env.note_dependency(str(file))
    kinds = {claim.label: claim.kind for claim in read(file.read_text(encoding="utf-8"))}
    target = addnodes.pending_xref(
        rawtext, nodes.inline("", kinds.get(text, "claim")), refdomain="std", reftype="ref",
        reftarget=f"claim-{text}", refexplicit=True, refwarn=True, refdoc=env.docname,
    )  # fmt: skip
    return [nodes.inline("", "", target, classes=["claim-mark", "screen-only"])], []


class Ledger(Directive):
    """``{ledger}``: every claim with its kind and what holds it; what the pages' numbers are."""

    def run(self) -> list[nodes.Node]:
        """Return a table of each part of the book, and one of all numbers."""
        env = self.state.document.settings.env
        root = Path(env.srcdir).parent
        file = root / FILE
        env.note_dependency(str(file))
        claims = {claim.label: claim for claim in read(file.read_text(encoding="utf-8"))}
        options = ":name: tbl-claims", ":widths: 5 2 3"
        listed, counted = table("The claims of the book", *options, looks="words stacked"), []
        listed += row("Claim", "Kind, page", "What holds it")
        for name in read_contents(root / "_toc.yml").chapters:
            env.note_dependency(env.doc2path(name))
            page = Page(f"{name}.md", Path(env.doc2path(name)).read_text(encoding="utf-8"))
            for label, _ in marks(page):
                if label in claims:
                    listed += _claim(claims[label], name)
            kinds = Counter(kind_of(sentence) for _, sentence in sentences(page))
            if any(kinds[kind] for kind in COUNTED):
                counted += row(f"{{doc}}`/{name}`", *(str(kinds[kind]) for kind in COUNTED))
        kinds_of = [f"**{kind}**\n: {meaning}\n" for kind, meaning in KINDS.items()]
        head = table("Sentences with numbers, by how each number is written")
        lines = [*"\n".join(kinds_of).split("\n"), *listed, "```", ""]
        lines += [*head, *row("Page", *COUNTED), *counted, "```"]
        parent = nodes.Element()
        self.state.nested_parse(StringList(lines, self.state.document.current_source), 0, parent)
        return parent.children


def _claim(claim: Claim, page: str) -> list[str]:
    says = ["* - (claim-" + claim.label + ")=", f"    {claim.says}"]
    return [*says, f"  - {claim.kind}, {{doc}}`/{page}`", f"  - {claim.holds}"]
