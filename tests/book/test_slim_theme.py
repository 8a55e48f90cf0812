"""The built site without what its pages do not use: rules, properties, fonts, coloured names."""

import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter

from byhand.site import theme as slim_theme

PAGE = """<html><body><p class="lead a-b" id="top" style="--own: 1">Text of a b</p>
<details class='fold'><summary>More</summary></details></body></html>"""
SCRIPT = "const made = document.createElement('dialog'); made.className = `drawer ${x}`; // gone"


def site(folder, sheet, name="styles/pydata-sphinx-theme.css", own=""):
    """Write a small site: a page, a script, a style sheet of the theme's and one of ours."""
    static = folder / "_static"
    (static / "styles").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    (static / "a.js").write_text(SCRIPT, encoding="utf-8")
    (static / name).write_text(sheet, encoding="utf-8")
    (static / "book.css").write_text(own, encoding="utf-8")
    slim_theme.slim_sheets(folder)
    return (static / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "rule",
    [
        ".lead{top:0}",
        "#top > p::before{top:0}",
        "p.a-b:not(.gone):hover{top:0}",
        ":is(.gone, .fold) p{top:0}",
        "[data-gone] p{top:0}",
        "html[data-theme=dark] .lead{top:0}",
        "dialog.drawer{top:0}",
        "*{top:0}",
        ":root{--read:0}p{top:var(--read)}",
        "p{--own:0}",
        "@media print{.lead{top:0}}",
        "@font-face{font-family:Used;src:url(data:font/woff2;base64,d09G{MgABA)}p{font:1em Used}",
        "@keyframes turn{0%{top:0}}p{animation:turn 1s}",
        "@charset 'utf-8';",
    ],
)
def test_what_a_page_or_a_script_can_use_stays(tmp_path, rule):
    assert site(tmp_path, rule) == rule


@pytest.mark.parametrize(
    "rule",
    [
        ".gone{top:0}",
        "#gone p{top:0}",
        "p > table{top:0}",
        ".lead .gone:hover{top:0}",
        "@media print{.gone{top:0}}",
        "@media print{@supports (top:0){.gone{top:0}}}",
        "p{--unread:0}",
        "p{--unread:0;--more:var(--unread)}",
        "@font-face{font-family:Gone;src:url(gone.woff2)}",
        "@font-face{font-family:Font Awesome\\ 6 Free;src:url(fa-solid-900.woff2)}",
        "@keyframes gone{0%{top:0}}",
        "/* why */",
    ],
)
def test_what_nothing_uses_goes(tmp_path, rule):
    assert site(tmp_path, f"b,p{{top:0}}{rule}p{{left:0}}") == "p{top:0}p{left:0}"


def test_only_what_stands_out_in_code_is_an_element():
    lexer = slim_theme.QUIET["python"]()
    written = highlight("value = f(2, 'a')  # why\n", lexer, HtmlFormatter(nowrap=True))
    assert written == (
        'value = f(<span class="m">2</span>, <span class="s">\'a\'</span>)'
        '  <span class="c"># why</span>\n'
    )
