"""A widget in a notebook: a frame that holds its element with the scripts and styles of the pages.

The frame is sandboxed: it runs its own scripts, loads nothing, and reads nothing of the notebook.
It says how high it is and is told the notebook's theme.
"""

from html import escape

from mha.views.colours import notebook_style
from mha.widgets.assets import files_of, text_of

AT_ONCE = {"mha-explorer": ("explorer",), "mha-instrument": ("explorer", "instrument")}
"""By the element, the bundles that run as the frame opens."""

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"

_BARE = "body{margin:0;padding:.5rem;font:1rem/1.5 sans-serif;overflow-x:auto}"


def framed(element: str, title: str, *, late: tuple[str, ...], styles: tuple[str, ...]) -> str:
    """Return an element of a page as a notebook shows it, with all that it needs.

    Parameters
    ----------
    element : str
        Such as ``<mha-explorer>``.
    title : str
        What the frame is called for who does not see it.
    late : tuple of str
        The bundles that run when a reader opens what they make.
    styles : tuple of str

    Examples
    --------
    >>> framed("<mha-explorer>", "Two words", late=(), styles=())[-9:]
    '</script>'
    """
    kind = element[1:].split(">")[0].split()[0]
    at_once = files_of(*AT_ONCE[kind])
    held = "".join(
        f'<script type="text/plain" id="{name}">{text_of(name)}</script>'
        for name in files_of(*late)
        if name not in at_once
    )
    dress = "".join(f'<style id="{name}">{text_of(name)}</style>' for name in styles)
    run = "".join(f"<script>{text_of(name)}</script>" for name in ["loader.js", *at_once])
    page = (
        '<!doctype html><html lang="en" class="mha"><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{notebook_style()}{_BARE}</style>{dress}<title>{escape(title)}</title>"
        f"<script>{text_of('frame-inside.js')}</script>{element}{held}{run}"
    )
    return (
        f"<style>{notebook_style()}</style>"
        f'<iframe class="mha" title="{escape(title)}" sandbox="allow-scripts"'
        f' style="display:block;width:100%;height:32rem;border:0" srcdoc="{escape(page)}"></iframe>'
        f"<script>{text_of('frame-around.js')}</script>"
    )
