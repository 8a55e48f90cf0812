"""The built site without what its pages do not use: rules, fonts, coloured names."""

from itertools import zip_longest
from types import SimpleNamespace

import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter

from byhand.site.highlighting import QUIET
from byhand.site.theme import slim

PAGE = """<html><body><p class="lead a-b" id="top">Text of a b</p>
<details class='fold'><summary>More</summary></details></body></html>"""
SCRIPT = "const made = document.createElement('dialog'); made.className = `drawer ${x}`;"


@pytest.fixture
def slimmed(tmp_path):
    """Return what becomes of a theme's style sheet on a site of a page and a script."""

    def write(sheet):
        file = tmp_path / "_static" / "styles" / "pydata-sphinx-theme.css"
        file.parent.mkdir(parents=True)
        (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")
        (tmp_path / "_static" / "a.js").write_text(SCRIPT, encoding="utf-8")
        file.write_text(sheet, encoding="utf-8")
        slim(SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html")), None)
        return file.read_text(encoding="utf-8")

    return write


USED = [
    ".lead{top:0}",
    "#top > p::before{top:0}",
    "p.a-b:not(.gone):hover{top:0}",
    ":is(.gone, .fold) p{top:0}",
    "[data-gone] p{top:0}",
    "html[data-theme=dark] .lead{top:0}",
    "dialog.drawer{top:0}",
    ".gone,.lead{top:0}",
    "*{top:0}",
    "@media print{.lead{top:0}}",
    '@font-face{font-family:Used;src:url("data:font/woff2;base64,d09G{MgABA")}',
    "@keyframes turn{0%{top:0}}",
]
UNUSED = [
    ".gone{top:0}",
    "#gone p{top:0}",
    "p > table{top:0}",
    ".lead .gone:hover{top:0}",
    "@media print{@supports (top:0){.gone{top:0}}}",
    "@font-face{font-family:Font Awesome\\ 6 Free;src:url(fa-solid-900.woff2)}",
    "/* why */",
]


def test_what_a_page_or_a_script_can_use_stays_and_all_else_goes(slimmed):
    assert slimmed("".join(f"{used}{unused}" for used, unused in zip_longest(USED, UNUSED,
        fillvalue="/* no more */"))).replace("\n", "") == "".join(USED)  # fmt: skip


def test_only_what_stands_out_in_code_is_an_element():
    written = highlight("value = f(2, 'a')  # why\n", QUIET["python"](), HtmlFormatter(nowrap=True))
    assert written == (
        'value = f(<span class="m">2</span>, <span class="s">\'a\'</span>)'
        '  <span class="c"># why</span>\n'
    )
