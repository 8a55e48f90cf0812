"""Boxes with a title that are numbered.

``{algorithm}`` has steps, ``{proposition}`` a statement with a proof beside it. Both have a title
and a ``:name:``, by which ``{numref}`` leads to them. The number is Sphinx's, as that of a figure
is; `numfig_format` in `_config.yml` says how it reads. In an algorithm ``[...]{.shape}`` at the end
of a step is the shape of what it gives.
"""

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator


class algorithm(nodes.Admonition, nodes.Element):  # noqa: N801 (docutils names nodes in lower case)
    """A numbered algorithm: its title, then what goes in, the steps, and where it is in code."""


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
