"""Formulas of the pages as TeX, for papers and cards, and in print."""

import re

import pytest
from bs4 import BeautifulSoup
from packs.mathematics import as_tex

from byhand.mathematics.paper import formula as printed_formula
from byhand.press.markup import document
from byhand.press.pdf import press
from mha.views.colours import PAGE_COLOURS


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


@pytest.mark.parametrize(
    ("tex", "letters"),
    [
        (r"W_i^Q (W^K)^\top", {"Q": "query", "K": "key"}),
        (r"\text{not Q} + V_1", {"V": "value"}),
        (r"\mathrm{KL} + Q(x)", {"Q": "query"}),
    ],
)
def test_queries_keys_and_values_have_their_colours_in_print(tex, letters):
    code = printed_formula(tex)
    tints = dict(re.findall(r'rgb\("(#\w+)"\), \$(\w)\$', code))
    assert tints == {PAGE_COLOURS[role][0]: letter for letter, role in letters.items()}
    assert press(document("style", f"#{code}"))
