"""Figures on a page: inline SVG in the colour of the text around it, with alternative text."""

import hashlib
import re
from html import escape
from typing import Any

from mha.views.drawing.canvas import INK


class AltTextRenderer:
    """Put figures on a page as inline SVG in the text's colour, with their alternative text.

    A MyST-NB plugin, found by its entry point in pyproject.toml.
    """

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """Return a page's nodes for an SVG or PDF output, or None for any other.

        Parameters
        ----------
        renderer : myst_nb.core.render.NbElementRenderer
        data : myst_nb.core.render.MimeData
        inline : bool

        Returns
        -------
        list of docutils nodes, or None
        """
        if data.mime_type not in ("image/svg+xml", "application/pdf"):
            return None
        alt = data.output_metadata.get(data.mime_type, {}).get("alt")
        if not alt:
            renderer.logger.warning("a figure has no alternative text", line=data.line)
            return []
        if data.mime_type == "application/pdf":
            image = renderer.render_image(data)
            image[0]["alt"] = alt
            return image
        from docutils import nodes

        place = f"{data.line} {data.output_index}"
        return [nodes.raw("", inline_svg(data.content, alt, place), format="html")]


def inline_svg(svg: str, alt: str, place: str = "") -> str:
    """Return a drawing as an element of an HTML page.

    Identifiers are made unique by the drawing's content and its place on the page, and ink takes
    the text's colour.

    Examples
    --------
    >>> inline_svg('<svg width="9pt"><g id="a"/></svg>', "A dot")[-33:]
    '<g id="dc29a9c32-a"/></svg></div>'
    """
    body = svg[svg.index("<svg") :].replace(INK, "currentColor")
    mark = hashlib.sha256((place + svg).encode()).hexdigest()[:8]
    body = re.sub(r'\bid="([^"]+)"', rf'id="d{mark}-\1"', body)
    body = re.sub(r'href="#([^"]+)"', rf'href="#d{mark}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#d{mark}-\1)", body)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    label = escape(alt, quote=True)
    width = re.search(r'<svg[^>]*\bwidth="([^"]+)"', body)
    style = f' style="--natural-width: {width.group(1)}"' if width else ""
    body = body.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return f'<div class="drawing" role="group" aria-label="Figure" tabindex="0"{style}>{body}</div>'
