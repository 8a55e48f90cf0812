"""Numbered boxes, and the resolution of ``{numref}``.

``{algorithm}`` has steps, ``{proposition}`` a statement with its proof. Both have a title and a
``:name:``, the target of ``{numref}``. Sphinx numbers them as it numbers figures; `numfig_format`
in `_config.yml` gives the words. In an algorithm ``[...]{.shape}`` at the end of a step is the
shape of its result.
"""

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.domains.std import StandardDomain
from sphinx.transforms.post_transforms import ReferencesResolver, SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator


class algorithm(nodes.Admonition, nodes.Element):  # noqa: N801 (docutils names nodes in lower case)
    """A numbered algorithm: title, input, steps and the name of the function."""


class proposition(nodes.Admonition, nodes.Element):  # noqa: N801
    """A numbered statement."""


KINDS: dict[str, type[nodes.Element]] = {"algorithm": algorithm, "proposition": proposition}
AS_ADMONITION = HTML5Translator.visit_admonition, HTML5Translator.depart_admonition


class NumberedBox(SphinxDirective):
    """``{algorithm} Title`` and ``{proposition} Title``, with a ``:name:``."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"name": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the box."""
        if "name" not in self.options:
            raise self.error(f"{self.name} has no name; a line such as :name: alg-x is wanted")
        box = KINDS[self.name](classes=["numbered-box", self.name])
        self.set_source_info(box)
        self.add_name(box)
        words, messages = self.parse_inline(self.arguments[0])
        box += [nodes.title(self.arguments[0], "", *words), *self.parse_content_to_nodes()]
        return [box, *messages]


class ResolveNumbers(SphinxPostTransform):
    """Resolve ``{numref}`` from the numbers that Sphinx has assigned.

    Sphinx's own resolver loads the whole target page for each reference. It still resolves, and
    reports, references without an assigned number.
    """

    default_priority = ReferencesResolver.default_priority - 1

    def run(self, **kwargs: object) -> None:
        """Resolve each reference to a numbered target."""
        for node in list(self.document.findall(addnodes.pending_xref)):
            if node["reftype"] == "numref" and (reference := self.resolve(node)) is not None:
                node.replace_self(reference)

    def resolve(self, node: addnodes.pending_xref) -> nodes.Element | None:
        """Return the resolved reference, or None if the target has no number."""
        standard: StandardDomain = self.env.get_domain("std")  # type: ignore[assignment]
        page, label, name = standard.labels.get(node["reftarget"], ("", "", ""))
        kind, number = self.number_of_label(page, label)
        if not number:
            return None
        form = node.astext() if node["refexplicit"] else self.config.numfig_format[kind]
        places = ".".join(map(str, number))
        text = form.format(name=name, number=places) if "{" in form else form % places
        here, builder, as_number = self.env.docname, self.app.builder, addnodes.number_reference
        return standard.build_reference_node(
            here, builder, page, label, text, "numref", nodeclass=as_number, title=form
        )

    def number_of_label(self, page: str, label: str) -> tuple[str, tuple[int, ...]]:
        """Return the kind and the number of a label's target; the number may be empty."""
        for kind, numbers in self.env.toc_fignumbers.get(page, {}).items():
            if label in numbers:
                return kind, numbers[label]
        return "section", self.env.toc_secnumbers.get(page, {}).get(f"#{label}") or ()
