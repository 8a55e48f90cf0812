"""Frames for notebooks: a sandboxed `iframe` with an element, its scripts and its styles.

The frame runs its own scripts, loads no files, and cannot read the notebook. It sends its height to
the notebook and receives the notebook's theme.
"""

from html import escape

from mha.views.colours import notebook_style
from mha.widgets.assets import files_of, text_of

INITIAL_BUNDLES = {"mha-explorer": ("explorer",), "mha-instrument": ("explorer", "instrument")}
"""The bundles that run when a frame opens, by element."""

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"

_BARE = "body{margin:0;padding:.5rem;font:1rem/1.5 sans-serif;overflow-x:auto}"


def notebook_frame(
    element: str, title: str, *, bundles: tuple[str, ...], styles: tuple[str, ...]
) -> str:
    """Return a frame with an element of a page, and with all scripts and styles that it needs.

    Parameters
    ----------
    element : str
        Such as ``<mha-explorer>``.
    title : str
        The accessible name of the frame.
    bundles : tuple of str
        The bundles that run later, when a reader opens a part of the element.
    styles : tuple of str

    Examples
    --------
    >>> notebook_frame("<mha-explorer>", "Two words", bundles=(), styles=())[-9:]
    '</script>'
    """
    kind = element[1:].split(">")[0].split()[0]
    at_once = files_of(*INITIAL_BUNDLES[kind])
    later_scripts = "".join(
        f'<script type="text/plain" id="{name}">{text_of(name)}</script>'
        for name in files_of(*bundles)
        if name not in at_once
    )
    style_elements = "".join(f'<style id="{name}">{text_of(name)}</style>' for name in styles)
    first_scripts = "".join(f"<script>{text_of(name)}</script>" for name in ["loader.js", *at_once])
    page = (
        '<!doctype html><html lang="en" class="mha"><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{notebook_style()}{_BARE}</style>{style_elements}<title>{escape(title)}</title>"
        f"<script>{text_of('frame-inside.js')}</script>{element}{later_scripts}{first_scripts}"
    )
    return (
        f"<style>{notebook_style()}</style>"
        f'<iframe class="mha" title="{escape(title)}" sandbox="allow-scripts"'
        f' style="display:block;width:100%;height:32rem;border:0" srcdoc="{escape(page)}"></iframe>'
        f"<script>{text_of('frame-around.js')}</script>"
    )
