"""Colours of the pages, and the colour and the hatch pattern of each head.

Queries, keys and values have a colour and a mark each: a triangle, a diamond and a disc.

Style sheets get the heads' colours from `head_properties`. In a notebook, which has none of the
book's style sheets, `in_notebook` adds the colours to an element.
"""

from functools import cache

PAGE_COLOURS = {
    "paper": ("#fffdf8", "#14161a"),
    "ink": ("#1c1b19", "#e6e1d6"),
    "soft": ("#5f5a52", "#a49d90"),
    "wash": ("#f6f1e7", "#1c1f25"),
    "rule": ("#d9d3c7", "#363a42"),
    "edge": ("#8b8478", "#787d87"),
    "shade": ("#8b8478", "#000"),
    "link": ("#17507f", "#a9c9ee"),
    "query": ("#00706b", "#5cc8bd"),
    "key": ("#7a5a00", "#d9b44a"),
    "value": ("#7a3e9d", "#c9a0e8"),
    "slip": ("#b3261e", "#ff6a61"),
    "focus": ("#0b5cad", "#8cc4ff"),
}
"""The other colours, for the light and the dark theme, equal to those in `tokens.css`."""

HEAD_COLOURS = ("#0b6ea8", "#c2570c", "#1f7a4d", "#8e2a6b", "#3f3600", "#4a3fd0")
"""One colour per head for the light theme, distinct for colour-blind readers too."""

HEAD_COLOURS_IN_DARK = ("#6db6e3", "#f0a35e", "#5fc29a", "#c46aa8", "#f3ecc0", "#4577c9")
"""The same for the dark theme."""

HEAT_FULL = 55
"""Per cent of the head's colour in the cell of a weight of 1, few enough to read text on it."""

HEAT_FULL_IN_DARK = 42
"""The same for the dark theme."""

NOTEBOOK_THEMES = {
    "light": (
        *('[data-jp-theme-light="true"]', '[theme="light"]'),
        *(".vscode-light", ".vscode-high-contrast-light"),
    ),
    "dark": (
        *('[data-jp-theme-light="false"]', '[theme="dark"]'),
        *(".vscode-dark", '[data-vscode-theme-kind="vscode-high-contrast"]'),
    ),
}
"""CSS selectors of the theme in Jupyter, Colab and VS Code; otherwise the system's applies."""

_NOTEBOOK_FONTS = (
    "@font-face{font-family:mha-arial;size-adjust:90%;"
    'src:local("Arial"),local("Liberation Sans"),local("Helvetica")}'
    "@font-face{font-family:mha-wide;size-adjust:80%;"
    'src:local("DejaVu Sans"),local("Verdana")}'
    '.mha{--font-interface:"Source Sans 3",mha-arial,mha-wide,sans-serif;'
    '--font-text:"STIX Two Text","Times New Roman","Liberation Serif",serif}'
)
"""System fonts, scaled to the size of the pages' fonts, which a notebook does not have."""

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++")
"""One hatch pattern per head, to distinguish heads in greyscale print."""


def head_colour(head: int) -> str:
    """Return the colour of a head, the same in the whole book. Heads count from 0.

    Examples
    --------
    >>> head_colour(0), head_colour(6)
    ('#0b6ea8', '#0b6ea8')
    """
    return HEAD_COLOURS[head % len(HEAD_COLOURS)]


def head_hatch(head: int) -> str:
    """Return the hatch pattern of a head, the same in the whole book. Heads count from 0.

    Examples
    --------
    >>> head_hatch(1), head_hatch(7)
    ('///', '///')
    """
    return HATCHES[head % len(HATCHES)]


def head_property(head: int) -> str:
    """Return the CSS property with the colour of a head. Heads count from 0.

    Examples
    --------
    >>> head_property(0), head_property(6)
    ('--head-1', '--head-1')
    """
    return f"--head-{head % len(HEAD_COLOURS) + 1}"


def head_properties() -> str:
    """Return a style sheet with the properties ``--head-1`` to ``--head-6``, by theme.

    Examples
    --------
    >>> print(head_properties()[:24])
    html{--head-1:#0b6ea8;--
    """
    light, dark = (
        ";".join(f"{head_property(i)}:{colour}" for i, colour in enumerate(colours))
        for colours in (HEAD_COLOURS, HEAD_COLOURS_IN_DARK)
    )
    return f'html{{{light}}}\nhtml[data-theme="dark"]{{{dark}}}\n'


@cache
def notebook_style() -> str:
    """Return the style sheet of elements in a notebook: the book's colours in its theme.

    Examples
    --------
    >>> "--paper:light-dark(#fffdf8,#14161a);" in notebook_style()
    True
    """
    heads = zip(HEAD_COLOURS, HEAD_COLOURS_IN_DARK, strict=True)
    colours = PAGE_COLOURS | {f"head-{i}": pair for i, pair in enumerate(heads, 1)}
    properties = "".join(f"--{name}:light-dark({a},{b});" for name, (a, b) in colours.items())
    themes = "".join(
        f":is({','.join(marks)}) .mha{{color-scheme:{theme}}}"
        for theme, marks in NOTEBOOK_THEMES.items()
    )
    return _NOTEBOOK_FONTS + (
        f".mha{{color-scheme:light dark;--heat-full:{HEAT_FULL_IN_DARK}%;{properties}"
        f"background:var(--paper);color:var(--ink)}}{themes}"
    )


def in_notebook(html: str, style: str = "") -> str:
    """Return an element with its own style sheet, for a notebook, which has not the book's.

    Examples
    --------
    >>> in_notebook("<p>One</p>")[:18], in_notebook("<p>One</p>")[-16:]
    ('<div class="mha"><', '<p>One</p></div>')
    """
    return f'<div class="mha"><style>{notebook_style()}{style}</style>{html}</div>'
