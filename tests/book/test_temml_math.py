"""The Sphinx extension that turns the book's TeX into MathML, and the font that shows it."""

import io
import os
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from byhand.mathematics import page as temml_math

BOOK = Path(__file__).resolve().parents[2] / "book"
MATH_STATIC = BOOK / "_static" / "math"

# TeX, and the elements and characters that its MathML must hold.
FORMULAS = [
    (
        r"\operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V",
        {"mfrac", "msqrt", "msup", "msub"},
        {"softmax", "⊤", "(", ")"},
    ),
    (r"Q \in \mathbb{R}^{n \times d_k}", {"msup"}, {"ℝ", "∈", "×"}),
    (
        r"\operatorname{Concat}(\mathrm{head}_1, \ldots, \mathrm{head}_h)\, W^O",
        {"msub", "msup"},
        {"Concat", "head", "…"},
    ),
    (r"a_{ij} = \frac{\exp(s_{ij})}{\sum_{l=1}^{n} \exp(s_{il})}", {"mfrac"}, {"∑", "exp"}),
    (
        r"\begin{aligned} s_{ij} &= q_i \cdot k_j \\ o_i &= \sum_j a_{ij} v_j \end{aligned}",
        {"mtable", "mtr", "mtd"},
        {"=", "⋅", "∑"},
    ),
    (
        r"M_{ij} = \begin{cases} 0 & \text{if } j \le i \\ -\infty & \text{else} \end{cases}",
        {"mtable", "mtext"},
        {"{", "≤", "∞", "−"},
    ),
    (r"\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}", {"mtable"}, {"[", "]"}),
    (r"\underbrace{X W^Q}_{n \times d_k}", {"munder"}, {"⏟"}),
    (r"\hat{y} + \bar{x} + \vec{v} + \tilde{w} + x'", {"mover"}, {"ˆ", "‾", "→", "~", "′"}),
    (
        r"\frac{\partial a_i}{\partial s_j} = a_i (\delta_{ij} - a_j)",
        {"mfrac"},
        {"∂", "δ", "−"},
    ),
    (r"\nabla_s L = a \odot (\nabla_a L)", {"msub"}, {"∇", "⊙"}),
    (
        r"\boldsymbol{\alpha} \mathbf{x} \mathcal{L} \mathsf{T} \mathtt{q}",
        {"mi"},
        {"𝜶", "𝐱", "ℒ", "𝖳", "𝚚"},
    ),
    (r"\mathbb{E}[x] = \int_0^\infty x\, p(x)\, dx", {"msubsup"}, {"𝔼", "∫"}),
    (r"\operatorname*{arg\,max}_j \left\lVert W^\intercal \right\rVert_2", {"munder"}, {"‖", "⊺"}),
    (r"\mathbf{1}, \ell, \theta, \epsilon, \varepsilon, \Sigma", {"mi"}, {"ℓ", "θ", "ϵ", "ε", "Σ"}),
    (r"a \to b \mapsto c \implies d \iff e \leftarrow f", {"mo"}, {"→", "↦", "⟹", "⟺", "←"}),
    (r"\forall i \neq j : a \approx b \propto c, \lfloor n / 2 \rfloor", {"mo"}, {"∀", "≠", "⌊"}),
    (r"\overline{ab} \sqrt[3]{x} \prod_{i} \bigoplus_{h} \cdots \vdots", {"mroot"}, {"∏", "⨁"}),
]

# TeX, and a piece of the reason that Temml gives.
BAD_TEX = [
    (r"\foo{x}", r"Unsupported function name: \foo"),
    (r"\frac{a", "expected '}'"),
    (r"\begin{nothing} x \end{nothing}", "No such environment: nothing"),
    (r"\left( x", r"Expected '\right'"),
    ("x_1_2", "Double subscript"),
    ("x^", "argument missing"),
]

PAGE = r"""# Page

In a sentence, $Q \in \mathbb{R}^{n}$ and $\operatorname{Attention}(Q, K, V) = A V = O$.

$$
\frac{QK^\top}{\sqrt{d_k}}
$$ (attention)

See {eq}`attention` and {eq}`second`.

```{math}
:label: second

a = b \\
c = d
```

$$ x = 1 $$

\begin{align}
a &= b \\
c &= d
\end{align}
"""

BAD_PAGE = r"""# Bad page

A good formula, $x^2$.

A bad one, $\foo{x}$.

$$
\frac{a
$$
"""


@pytest.fixture(scope="module")
def font():
    return TTFont(MATH_STATIC / "STIXTwoMath-book.woff2")  # reading it needs brotli


def build(folder, text, renderer="temml", **options):
    """Build a book of one page; return the page's HTML and the warnings."""
    source = folder / "source"
    source.mkdir()
    (source / "index.md").write_text(text, encoding="utf-8")
    config = {
        "extensions": ["myst_parser", "byhand.mathematics.page"],
        "html_math_renderer": renderer,
        "html_static_path": [str(BOOK / "_static")],
        "html_theme": "basic",
        "myst_enable_extensions": ["dollarmath", "amsmath"],
    }
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            source,
            None,
            folder / "html",
            folder / "doctrees",
            "html",
            confoverrides=config,
            status=None,
            warning=warnings,
            **options,
        )
        app.build()
    return (folder / "html" / "index.html").read_text(encoding="utf-8"), warnings.getvalue()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    html, warnings = build(tmp_path_factory.mktemp("temml"), PAGE)
    assert warnings == ""
    return html


@pytest.fixture(scope="module")
def mathjax_page(tmp_path_factory):
    html, _ = build(tmp_path_factory.mktemp("mathjax"), PAGE, renderer="mathjax")
    return html


def equation_numbers(html):
    """Return each displayed equation's start tag (up to its class) and number, with permalink."""
    return re.findall(
        r'<div class="[^"]*\bmath\b[^"]*"( id="[^"]*")?>\s*(<span class="eqno">.*?</span>)', html
    )


def shown_characters(mathml):
    """Return what a browser draws: a letter alone in an mi becomes a mathematical italic one."""
    italic = {
        unicodedata.decomposition(chr(code)).removeprefix("<font> "): chr(code)
        for code in [*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
        if unicodedata.decomposition(chr(code))
    }
    characters = set()
    for element in ET.fromstring(mathml).iter():
        text = (element.text or "") + (element.tail or "")
        if element.tag == "mi" and len(text) == 1 and element.get("mathvariant") != "normal":
            text = italic.get(f"{ord(text):04X}", text)
        characters.update(text)
    return characters


@pytest.mark.parametrize("display", [False, True])
@pytest.mark.parametrize(("tex", "elements", "texts"), FORMULAS)
def test_formula_becomes_wellformed_mathml(tex, elements, texts, display):
    root = ET.fromstring(temml_math.to_mathml(tex, display=display))
    tags = {element.tag for element in root.iter()}
    assert root.tag == "math"
    assert (root.get("display") == "block") is display
    assert "merror" not in tags
    # In a sentence, limits stand beside their operator.
    beside = {"munder": "msub", "mover": "msup"}
    assert all(tag in tags or (not display and beside.get(tag) in tags) for tag in elements)
    assert texts <= {(element.text or "").strip() for element in root.iter()}


@pytest.mark.parametrize(("tex", "reason"), BAD_TEX)
def test_bad_tex_raises_temmls_reason_on_one_line(tex, reason):
    with pytest.raises(temml_math.TemmlError, match=re.escape(reason)) as caught:
        temml_math.to_mathml(tex, display=True)
    assert "\n" not in str(caught.value)
    assert "\N{COMBINING LOW LINE}" not in str(caught.value)


def test_numbers_labels_and_permalinks_are_those_of_mathjax(page, mathjax_page):
    numbers = equation_numbers(page)
    assert [re.search(r"\((\d+)\)", number)[1] for _, number in numbers] == ["1", "2", "3"]
    assert numbers[0][0] == ' id="equation-attention"'
    assert 'class="headerlink" href="#equation-attention"' in numbers[0][1]
    # MyST gives an unlabelled amsmath block a random id, so that one cannot be compared.
    assert numbers[:2] == equation_numbers(mathjax_page)[:2]


def test_reference_leads_to_the_equation(page):
    assert re.search(r'href="#equation-second"[^>]*>(<span[^>]*>)?\(?2', page)


def test_displayed_equation_stands_in_a_named_box_that_keys_can_scroll(page):
    boxes = re.findall(r'<div class="math-scroll"([^>]*)><math display="block"', page)
    names = [re.search('aria-label="([^"]*)"', box)[1] for box in boxes]
    assert names == ["Equation 1", "Equation 2", "Equation", "Equation 3"]
    assert all('role="group"' in box and 'tabindex="0"' in box for box in boxes)


def test_only_a_long_formula_in_a_sentence_may_scroll(page):
    spans = re.findall(r'<span class="(math[^"]*)"><math>(.*?)</math>', page)
    assert [("math-wide" in classes, "Attention" in mathml) for classes, mathml in spans] == [
        (False, False),
        (True, True),
    ]


def test_the_mark_behind_a_formula_stays_with_it(page):
    held = re.findall(
        r'<span class="math-held"><span class="math[^>]*><math>.*?</math></span>(.*?)</span>', page
    )
    assert held == ["."]  # the page's other formula has a word behind it


def test_bad_tex_warns_with_file_and_line_and_shows_the_tex(tmp_path):
    html, warnings = build(tmp_path, BAD_PAGE)
    inline, block = warnings.strip().splitlines()
    assert re.search(r"index\.md:5: WARNING: TeX `\\foo\{x\}` cannot be turned", inline)
    assert r"Unsupported function name: \foo" in inline
    assert re.search(r"index\.md:7: WARNING: TeX `\\frac\{a` cannot be turned", block)
    assert r'<code class="math-error">\foo{x}</code>' in html
    assert "<msup>" in html


@pytest.mark.parametrize("tex", [tex for tex, _, _ in FORMULAS])
def test_fonts_have_every_character_of_a_formula(font, tex):
    rare = TTFont(MATH_STATIC / "STIXTwoMath-rare.woff2")
    shown = shown_characters(temml_math.to_mathml(tex, display=True))
    missing = {char for char in shown if ord(char) not in font.getBestCmap() | rare.getBestCmap()}
    assert missing == set()


@pytest.mark.parametrize("char", "√([{|‖∑∏∫⌊⟨")
def test_tall_characters_grow(font, char):
    variants = font["MATH"].table.MathVariants
    glyph = font.getBestCmap()[ord(char)]
    assert glyph in variants.VertGlyphCoverage.glyphs
    place = variants.VertGlyphCoverage.glyphs.index(glyph)
    growth = variants.VertGlyphConstruction[place]
    assert growth.GlyphAssembly or growth.MathGlyphVariantRecord[1:]


@pytest.mark.parametrize("char", "⏟⏞→‾")
def test_wide_characters_grow(font, char):
    variants = font["MATH"].table.MathVariants
    assert font.getBestCmap()[ord(char)] in variants.HorizGlyphCoverage.glyphs


def test_python_ends_where_mathematics_was_made():
    code = "from byhand.mathematics.paper import formula; formula('a')"  # by two engines
    environment = os.environ | {"PYTHONPATH": str(BOOK / "_ext")}
    # Several at once: where no engine was closed, about half of them waited for ever.
    ending = [subprocess.Popen([sys.executable, "-c", code], env=environment) for _ in range(8)]
    try:
        assert [process.wait(timeout=120) for process in ending] == [0] * 8
    finally:
        for process in ending:
            process.kill()
