"""The Sphinx extension that turns the book's TeX into MathML, and the font that shows it."""

import os
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ET

import pytest
from book_site import ROOT
from fontTools.ttLib import TTFont
from one_book import build

from byhand.mathematics import page as temml_math

MATH_STATIC = ROOT / "book" / "_static" / "math"

# Of every kind that the book writes.
FORMULAS = [
    r"\operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V",
    r"Q \in \mathbb{R}^{n \times d_k}",
    r"\operatorname{Concat}(\mathrm{head}_1, \ldots, \mathrm{head}_h)\, W^O",
    r"a_{ij} = \frac{\exp(s_{ij})}{\sum_{l=1}^{n} \exp(s_{il})}",
    r"\begin{aligned} s_{ij} &= q_i \cdot k_j \\ o_i &= \sum_j a_{ij} v_j \end{aligned}",
    r"M_{ij} = \begin{cases} 0 & \text{if } j \le i \\ -\infty & \text{else} \end{cases}",
    r"\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}",
    r"\underbrace{X W^Q}_{n \times d_k}",
    r"\hat{y} + \bar{x} + \vec{v} + \tilde{w} + x'",
    r"\frac{\partial a_i}{\partial s_j} = a_i (\delta_{ij} - a_j)",
    r"\nabla_s L = a \odot (\nabla_a L)",
    r"\boldsymbol{\alpha} \mathbf{x} \mathcal{L} \mathsf{T} \mathtt{q}",
    r"\mathbb{E}[x] = \int_0^\infty x\, p(x)\, dx",
    r"\operatorname*{arg\,max}_j \left\lVert W^\intercal \right\rVert_2",
    r"\mathbf{1}, \ell, \theta, \epsilon, \varepsilon, \Sigma",
    r"a \to b \mapsto c \implies d \iff e \leftarrow f",
    r"\forall i \neq j : a \approx b \propto c, \lfloor n / 2 \rfloor",
    r"\overline{ab} \sqrt[3]{x} \prod_{i} \bigoplus_{h} \cdots \vdots",
]

PAGE = r"""# Page

In a sentence, $Q \in \mathbb{R}^{n}$ and $\operatorname{Attention}(Q, K, V) = A V = O$.

$$
\frac{QK^\top}{\sqrt{d_k}}
$$ (attention)

See {eq}`attention` and {eq}`second`.

```{math}
:label: second

a = b
```

$$ x = 1 $$
"""

BAD_PAGE = r"""# Bad page

A good formula, $x^2$.

A bad one, $\foo{x}$.

$$
\frac{a
$$
"""


def built(folder, text):
    """Build a book of one page; return the page's HTML and the warnings."""
    warnings = build(
        folder,
        {"index": text},
        extensions=["myst_nb", "byhand.mathematics.page"],
        html_math_renderer="temml",
        html_static_path=[str(ROOT / "book" / "_static")],
    )
    return (folder / "html" / "index.html").read_text(encoding="utf-8"), warnings


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    html, warnings = built(tmp_path_factory.mktemp("temml"), PAGE)
    assert warnings == ""
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


@pytest.mark.parametrize("tex", FORMULAS)
def test_a_formula_becomes_mathml_of_which_the_fonts_have_every_character(tex):
    faces = [TTFont(MATH_STATIC / f"STIXTwoMath-{kind}.woff2") for kind in ("book", "rare")]
    there = {chr(code) for font in faces for code in font.getBestCmap()}
    for display in (False, True):
        mathml = temml_math.to_mathml(tex, display=display)
        root = ET.fromstring(mathml)
        assert (root.tag, root.get("display") == "block") == ("math", display)
        assert not [element for element in root.iter() if element.tag == "merror"]
        assert shown_characters(mathml) - there == set()


def test_equations_have_numbers_labels_and_permalinks(page):
    numbers = equation_numbers(page)
    assert [re.search(r"\((\d+)\)", number)[1] for _, number in numbers] == ["1", "2"]
    assert numbers[0][0] == ' id="equation-attention"'
    assert 'class="headerlink" href="#equation-attention"' in numbers[0][1]
    assert re.search(r'href="#equation-second"[^>]*>(<span[^>]*>)?\(?2', page)


def test_displayed_equation_stands_in_a_named_box_that_keys_can_scroll(page):
    boxes = re.findall(r'<div class="math-scroll"([^>]*)><math display="block"', page)
    names = [re.search('aria-label="([^"]*)"', box)[1] for box in boxes]
    assert names == ["Equation 1", "Equation 2", "Equation"]
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
    html, warnings = built(tmp_path, BAD_PAGE)
    inline, block = warnings.strip().splitlines()
    assert re.search(r"index\.md:5: WARNING: TeX `\\foo\{x\}` cannot be turned", inline)
    assert r"Unsupported function name: \foo" in inline
    assert re.search(r"index\.md:7: WARNING: TeX `\\frac\{a` cannot be turned", block)
    assert r'<code class="math-error">\foo{x}</code>' in html
    assert "<msup>" in html


def test_python_ends_where_mathematics_was_made():
    code = "from byhand.mathematics.paper import formula; formula('a')"  # by two engines
    environment = os.environ | {"PYTHONPATH": str(ROOT / "book" / "_ext")}
    # Several at once: where no engine was closed, about half of them waited for ever.
    ending = [subprocess.Popen([sys.executable, "-c", code], env=environment) for _ in range(4)]
    try:
        assert [process.wait(timeout=120) for process in ending] == [0] * 4
    finally:
        for process in ending:
            process.kill()
