"""The MyST-NB plugin that puts figures on pages."""

from typing import Any

from mha.views.drawing.svg import inline_svg


class AltTextRenderer:
    """A MyST-NB plugin that puts figures on a page as inline SVG with alternative text.

    MyST-NB finds it by its entry point in pyproject.toml. The node has the drawing and its
    alternative text as attributes, from which the printed book makes its own form.
    """

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """Return the nodes of an SVG output, or None for other outputs.

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
