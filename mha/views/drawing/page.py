"""Figures on a page: inline SVG in the page's fonts and colours, with alternative text."""

from typing import Any

from mha.views.drawing.svg import inline_svg


class AltTextRenderer:
    """Put figures on a page as inline SVG, with their alternative text.

    A MyST-NB plugin, found by its entry point in pyproject.toml. The node that it makes carries the
    drawing and its alternative text as attributes, for who makes another form of it.
    """

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """Return a page's nodes for an SVG output, or None for any other.

        Parameters
        ----------
        renderer : myst_nb.core.render.NbElementRenderer
        data : myst_nb.core.render.MimeData
        inline : bool

        Returns
        -------
        list of docutils nodes, or None
        """
        if data.mime_type != "image/svg+xml":
            return None
        alt = data.output_metadata.get(data.mime_type, {}).get("alt")
        if not alt:
            renderer.logger.warning("a figure has no alternative text", line=data.line)
            return []
        from docutils import nodes

        page = inline_svg(data.content, alt, f"{data.line} {data.output_index}")
        return [nodes.raw("", page, format="html", drawing=data.content, alt=alt)]
