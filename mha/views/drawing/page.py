"""Figures on a page: inline SVG in the page's fonts and colours, with alternative text."""

import hashlib
import re
from html import escape
from typing import Any


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


def inline_svg(svg: str, alt: str, place: str = "") -> str:
    """Return a drawing as an element of an HTML page, which has its style sheet.

    Identifiers are made unique by the drawing's content and its place on the page.

    Examples
    --------
    >>> inline_svg('<svg width="9"><g id="a"/></svg>', "A dot")[-33:]
    '<g id="d8512534f-a"/></svg></div>'
    """
    body = re.sub(r"<style>.*?</style>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    mark = hashlib.sha256((place + svg).encode()).hexdigest()[:8]
    body = re.sub(r'\bid="([^"]+)"', rf'id="d{mark}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#d{mark}-\1)", body)
    body = re.sub(r'\bhref="#([^"]+)"', rf'href="#d{mark}-\1"', body)
    body = body.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    label = escape(alt, quote=True)
    body = body.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return f'<div class="drawing" role="group" aria-label="Figure" tabindex="0">{body}</div>'
