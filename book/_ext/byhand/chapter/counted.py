"""``{numref}`` says the number that Sphinx has counted: of a section, a figure, a table, a box.

Sphinx's own resolver reads the whole page that a reference leads to, once for each reference, to
find out what stands there. What it has counted says as much. A reference that nothing counted
answers to is left to it, and so is what is wrong with one.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.transforms.post_transforms import ReferencesResolver, SphinxPostTransform


class SayNumbers(SphinxPostTransform):
    """Put the numbers of what is referred to into a page."""

    default_priority = ReferencesResolver.default_priority - 1

    def run(self, **kwargs: object) -> None:
        """Resolve each reference to something that has been counted."""
        for node in list(self.document.findall(addnodes.pending_xref)):
            if node["reftype"] == "numref" and (reference := self.resolved(node)) is not None:
                node.replace_self(reference)

    def resolved(self, node: addnodes.pending_xref) -> nodes.Element | None:
        """Return what a reference says and where it leads, if that has a number."""
        standard: StandardDomain = self.env.get_domain("std")  # type: ignore[assignment]
        page, label, name = standard.labels.get(node["reftarget"], ("", "", ""))
        kind, number = self.counted(page, label)
        if not number:
            return None
        form = node.astext() if node["refexplicit"] else self.config.numfig_format[kind]
        places = ".".join(map(str, number))
        said = form.format(name=name, number=places) if "{" in form else form % places
        return standard.build_reference_node(
            self.env.docname,
            self.app.builder,
            page,
            label,
            said,
            "numref",
            nodeclass=addnodes.number_reference,
            title=form,
        )

    def counted(self, page: str, label: str) -> tuple[str, tuple[int, ...]]:
        """Return the kind of what has a label, and its number; an empty one if it has none."""
        for kind, numbers in self.env.toc_fignumbers.get(page, {}).items():
            if label in numbers:
                return kind, numbers[label]
        return "section", self.env.toc_secnumbers.get(page, {}).get(f"#{label}") or ()


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_post_transform(SayNumbers)
