"""Figures and tables of the book are files of their own."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import printed_book
import pytest
from book_site import SITE
from bs4 import BeautifulSoup
from packs import figures, pages
from packs.mathematics import as_tex
from pypdf import PdfReader

from byhand.mathematics.page import to_mathml

pytestmark = pytest.mark.book


def test_every_named_figure_and_table_has_a_file_of_its_own_that_needs_no_style():
    names = Counter()
    for page in pages.read(SITE):
        drawn = list(figures.of_page(page))
        named = page.article.select("figure[id^=fig-]:has(svg.f-drawing)")
        assert len(drawn) >= len(named)
        assert len(named) > 1 or not page.name.startswith("mechanism/")
        for figure in drawn:
            names[page.name, "figure", figure.name] += 1
            root = ElementTree.fromstring(figure.svg)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert "var(--" not in figure.svg
        for name, table in figures.tables(page):
            names[page.name, "table", name] += 1
            rows = re.findall(r"^(.*) \\\\$", figures.in_tex(table), re.MULTILINE)
            assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1, name
            for formula in re.findall(r"(?<!\\)\$(.*?)(?<!\\)\$", "\n".join(rows)):
                to_mathml(formula, display=False)
    assert len(names) > 300
    assert [name for name, count in names.items() if count > 1] == []
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for _, _, name in names)


def test_the_files_are_written_under_speaking_names(tmp_path):
    page = next(page for page in pages.read(SITE) if page.name == "mechanism/what-attention-does")
    made = {path.relative_to(tmp_path).as_posix() for path in figures.write([page], tmp_path)}
    folder = "what-attention-does/"
    assert {f"{folder}river-bank-moved.{kind}" for kind in ("svg", "pdf")} < made
    assert f"{folder}river-bank-words.tex" in made
    pdf = tmp_path / f"{folder}river-bank-moved.pdf"
    assert len(PdfReader(pdf).pages) == 1
    assert "river" in printed_book.text_of(pdf)[0]


def test_signs_of_tex_are_text_in_a_cell():
    cell = BeautifulSoup("<td>[50 % &amp; x_1 ≈ −2<sub>k</sub> q₁</td>", "html.parser").td
    assert as_tex(cell) == r"{[}50 \% \& x\_1 $\approx$ $-$2$_{k}$ q$_{1}$"
