"""Formulas of the pages as TeX, for papers and cards."""

import pytest
from bs4 import BeautifulSoup
from packs.mathematics import as_tex


@pytest.mark.parametrize(
    ("formula", "tex"),
    [
        ("<mi>log</mi><mo>\u2061</mo><mspace></mspace><mn>2</mn>", r"$\log 2$"),
        ("<msub><mi>max</mi><mi>j</mi></msub>", r"$\max _{j}$"),
        ("<msub><mi>d</mi><mi>model</mi></msub>", r"$d_{\mathrm{model}}$"),
    ],
)
def test_functions_are_set_apart_and_words_are_upright(formula, tex):
    found = BeautifulSoup(f"<math>{formula}</math>", "html.parser").math
    assert as_tex(found) == tex
