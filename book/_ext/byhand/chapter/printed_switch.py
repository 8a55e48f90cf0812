"""A switch that shows what the sources print, beside the true numbers of a page's tables.

``{printed-switch}`` puts a checkbox on an HTML page, which `site.assets` moves to the bar above the
text; the style sheet does the rest, without a script. Tables mark the printed numbers with the
class ``printed``. In print they are left out.
"""

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

SWITCH = """<div class="printed-switch">
<label><input type="checkbox" autocomplete="off">
<span><span class="when-wide">Show </span>what the source prints<span class="when-wide">
(≈ agrees, ≠ does not)</span></span></label>
</div>"""


class PrintedSwitch(Directive):
    """The checkbox, for HTML alone."""

    def run(self) -> list[nodes.Node]:
        """Return the checkbox as raw HTML."""
        return [nodes.raw("", SWITCH, format="html")]


class LeaveOutPrinted(SphinxPostTransform):
    """Outside HTML nobody can ask for the printed numbers: take them out."""

    default_priority = 400

    def run(self, **kwargs: object) -> None:
        """Remove every inline text of the class ``printed``."""
        if self.app.builder.format == "html":
            return
        for node in list(self.document.findall(nodes.inline)):
            if "printed" in node.get("classes", []):
                node.parent.remove(node)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_directive("printed-switch", PrintedSwitch)
    app.add_post_transform(LeaveOutPrinted)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
